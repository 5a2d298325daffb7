import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writtenTimes } from '../../src/speaking/spoken-text.js';
import { languageOf } from '../../src/text/normalize/languages.js';
import { normalize } from '../../src/text/normalize/normalize.js';

/** [written word, its offset, index of the first word that was said for it]. */
function timed(text: string, tag: string): (string | number)[][] {
  const language = languageOf(tag);
  assert.ok(language !== undefined);
  const normalized = normalize(text, language);
  const words = [...normalized.text.matchAll(/\S+/g)].map(({ 0: word, index }, nth) => ({
    word,
    textOffset: index,
    startMs: nth,
  }));
  return writtenTimes(words, text, normalized).map(({ word, textOffset, startMs }) => [
    word,
    textOffset,
    startMs,
  ]);
}

test('words that stand for one written word are one, from the time of the first', () => {
  assert.deepEqual(timed('Pay $3.50 on 1/2/2024 please.', 'en'), [
    ['Pay', 0, 0],
    ['$3.50', 4, 1],
    ['on', 10, 6],
    ['1/2/2024', 13, 7],
    ['please.', 22, 11],
  ]);
});

test('several written words that are said as one token are one', () => {
  assert.deepEqual(timed('Das gilt z. B. hier.', 'de'), [
    ['Das', 0, 0],
    ['gilt', 4, 1],
    ['z. B.', 9, 2],
    ['hier.', 15, 4],
  ]);
});

test('marks that are not spoken belong to no word', () => {
  assert.deepEqual(timed('**Well** done 🎉 Bob', 'en'), [
    ['Well', 2, 0],
    ['done', 9, 1],
    ['Bob', 17, 2],
  ]);
});
