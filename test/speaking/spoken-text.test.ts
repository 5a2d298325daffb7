import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { estimatedTimes } from '../../src/speaking/estimated-words.js';
import {
  type SpokenSegment,
  spokenText,
  unfinishedWordFrame,
  writtenTimes,
} from '../../src/speaking/spoken-text.js';
import { languageOf } from '../../src/text/normalize/languages.js';
import { normalize } from '../../src/text/normalize/normalize.js';

const FRAME_MS = 20;

function segment(text: string, firstFrame: number, rest: Partial<SpokenSegment> = {}): SpokenSegment {
  return {
    text,
    firstFrame,
    frames: 50,
    soundMs: 1000,
    madeMs: 1000,
    trimmedStartMs: 0,
    words: [],
    pauses: [],
    ...rest,
  };
}

test('nothing was spoken before the first frame left', () => {
  assert.equal(spokenText([segment('Hello there.', 0)], 0, FRAME_MS), '');
});

test('a sentence whose last frame left was spoken whole', () => {
  assert.equal(spokenText([segment('Hello there.', 0)], 50, FRAME_MS), 'Hello there.');
});

test('sentences before the one that was cut are whole, those after it absent', () => {
  const segments = [segment('One.', 0), segment('Two three four five.', 60), segment('Six.', 120)];
  assert.equal(spokenText(segments, 60 + 25, FRAME_MS), 'One. Two three');
});

test('the pause after a sentence belongs to nothing', () => {
  const segments = [segment('One.', 0), segment('Two.', 60)];
  assert.equal(spokenText(segments, 55, FRAME_MS), 'One.');
});

test('with word times a word counts once half of it was sent', () => {
  const words = [
    { word: 'Good', textOffset: 0, startMs: 100 },
    { word: 'morning', textOffset: 5, startMs: 400 },
    { word: 'everybody', textOffset: 13, startMs: 800 },
  ];
  // The trimmer cut 100 ms: "morning" sounds from 300 to 700 ms of what is sent.
  const segments = [segment('Good morning everybody.', 0, { words, trimmedStartMs: 100 })];
  assert.equal(spokenText(segments, 24, FRAME_MS), 'Good');
  assert.equal(spokenText(segments, 25, FRAME_MS), 'Good morning');
});

test('a pause is no part of the word before it', () => {
  const words = [
    { word: 'Hello', textOffset: 0, startMs: 0, endMs: 300 },
    { word: 'there', textOffset: 7, startMs: 600, endMs: 1000 },
  ];
  const segments = [segment('Hello, there.', 0, { words })];
  assert.equal(spokenText(segments, 7, FRAME_MS), '');
  assert.equal(spokenText(segments, 8, FRAME_MS), 'Hello');
  assert.equal(spokenText(segments, 39, FRAME_MS), 'Hello');
  assert.equal(spokenText(segments, 40, FRAME_MS), 'Hello, there');
});

test('the unfinished word is the one in which the sound stopped', () => {
  const words = [
    { word: 'Hello', textOffset: 0, startMs: 100, endMs: 400 },
    { word: 'there', textOffset: 7, startMs: 700, endMs: 1000 },
  ];
  const timed = [segment('One.', 0), segment('Hello, there.', 60, { words, trimmedStartMs: 100 })];
  const startOf = (frame: number) => unfinishedWordFrame(timed, frame, FRAME_MS);
  assert.deepEqual([60, 61, 74].map(startOf), [60, 60, 60], 'in "Hello", which begins where the trimmer cut');
  assert.deepEqual([75, 90].map(startOf), [75, 90], 'between two words');
  assert.deepEqual([91, 104].map(startOf), [90, 90], 'in "there"');
  assert.deepEqual([55, 0, 200].map(startOf), [55, 0, 200], 'in no sentence');
  const untimed = [segment('alpha beta', 10)];
  assert.equal(unfinishedWordFrame(untimed, 10 + 20, FRAME_MS), 10, 'in the first word');
  // Both words have two syllables, and the first has a letter more.
  assert.equal(unfinishedWordFrame(untimed, 10 + 40, FRAME_MS), 10 + 26);
});

test('a sentence not yet encoded whole is measured by the length of its sound', () => {
  const half = segment('alpha beta', 0, { frames: undefined });
  assert.equal(spokenText([half], 25, FRAME_MS), 'alpha');
});

test('a sentence of unknown length is measured by a usual pace', () => {
  const unknown = segment('alpha beta', 0, { frames: undefined, soundMs: undefined, madeMs: 0 });
  assert.equal(spokenText([unknown], 1, FRAME_MS), '');
  assert.equal(spokenText([unknown], 17, FRAME_MS), 'alpha');
});

test('a text without spaces is cut between its words', () => {
  const text = '今日はいい天気ですね';
  const spoken = spokenText([segment(text, 0)], 25, FRAME_MS);
  assert.ok(text.startsWith(spoken));
  assert.ok(spoken.length > 0 && spoken.length < text.length, spoken);
});

/** The text up to a place in a second of sound, with words as the segmenter finds them in any text. */
function byReference(text: string, sentMs: number): string {
  const segments = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)];
  const words = segments
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment: word, index }) => ({ start: index, end: index + word.length }));
  const times = estimatedTimes(text, words, { lengthMs: 1000, isWhole: true, pauses: [] });
  const sent = times.filter(({ startMs, endMs }) => (startMs + endMs) / 2 <= sentMs).length;
  return text.slice(0, words[sent - 1]?.end ?? 0);
}

test('words of plain sentences are those of the segmenter', () => {
  const piece = fc.constantFrom(
    "it's",
    "o'clock",
    'Gate',
    'B12',
    '90s',
    "'tis",
    'x.y',
    '3.5',
    'a_b',
    '.',
    ',',
    '! ',
    ': ',
    ' ',
    '  ',
    "'",
    'é',
    '-',
    '日本',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 49 }),
      (pieces, sent) => {
        const text = pieces.join('');
        assert.equal(spokenText([segment(text, 0)], sent, FRAME_MS), byReference(text, sent * FRAME_MS));
      },
    ),
    { numRuns: 2000 },
  );
});

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
