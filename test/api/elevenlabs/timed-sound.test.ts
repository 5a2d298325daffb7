import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CharacterTimeline,
  type CharacterTimes,
  type TimedSentence,
} from '../../../src/api/elevenlabs/timed-sound.js';

function sentence(text: string, startMs: number, endMs: number, words: TimedSentence['words'] = []) {
  return { text, startMs, endMs, words };
}

/** Each character with its times, as "a 0-100". */
function shown({ characters, startsMs, endsMs }: CharacterTimes): string[] {
  assert.equal(startsMs.length, characters.length);
  assert.equal(endsMs.length, characters.length);
  return characters.map((character, at) => `${character} ${startsMs[at]}-${endsMs[at]}`);
}

test('without words, time runs evenly over the characters of a sentence', () => {
  assert.deepEqual(shown(new CharacterTimeline('Hey.').push([sentence('Hey.', 0, 400)])), [
    'H 0-100',
    'e 100-200',
    'y 200-300',
    '. 300-400',
  ]);
});

test('a word begins when the engine says so, and ends where the next one begins', () => {
  const words = [
    { textOffset: 0, startMs: 20 },
    { textOffset: 3, startMs: 80 },
  ];
  assert.deepEqual(shown(new CharacterTimeline('to me').push([sentence('to me', 0, 120, words)])), [
    't 20-40',
    'o 40-60',
    '  60-80',
    'm 80-100',
    'e 100-120',
  ]);
});

test('what stands between two sentences has their pause, and nothing before the first takes time', () => {
  const alignment = new CharacterTimeline('\nA. \nB.');
  assert.deepEqual(shown(alignment.push([sentence('A.', 0, 200), sentence('B.', 360, 560)])), [
    '\n 0-0',
    'A 0-100',
    '. 100-200',
    '  200-280',
    '\n 280-360',
    'B 360-460',
    '. 460-560',
  ]);
  assert.deepEqual(shown(alignment.end()), []);
});

test('where nothing stands between two sentences, the pause belongs to no character', () => {
  const sentences = [sentence('A.', 0, 200), sentence('B.', 360, 560)];
  assert.deepEqual(shown(new CharacterTimeline('A.B.').push(sentences)), [
    'A 0-100',
    '. 100-200',
    'B 360-460',
    '. 460-560',
  ]);
});

test('spaces and line breaks inside a sentence may be more than are spoken', () => {
  const words = [
    { textOffset: 0, startMs: 0 },
    { textOffset: 2, startMs: 40 },
  ];
  assert.deepEqual(shown(new CharacterTimeline('a \n b').push([sentence('a b', 0, 60, words)])), [
    'a 0-10',
    '  10-20',
    '\n 20-30',
    '  30-40',
    'b 40-60',
  ]);
});

test('sentences that come one by one have the same times as all at once, and the end has the rest', () => {
  const text = 'One. Two (2)?  Three! ...';
  const sentences = [sentence('One.', 0, 250), sentence('Two (2)?', 410, 800), sentence('Three!', 960, 1300)];
  const whole = new CharacterTimeline(text);
  const atOnce = [...shown(whole.push(sentences)), ...shown(whole.end())];
  const parts = new CharacterTimeline(text);
  const turns = [...sentences.map((each) => parts.push([each])), parts.push([]), parts.end()];
  assert.deepEqual(turns.flatMap(shown), atOnce);
  assert.equal(turns.flatMap(({ characters }) => characters).join(''), text);
  assert.deepEqual(shown(parts.end()), []);
});

test('a sentence spoken otherwise than it is written shares what the text has in its place', () => {
  const alignment = new CharacterTimeline('A. 12%? B.');
  const first = alignment.push([sentence('A.', 0, 200), sentence('twelve percent?', 400, 1000)]);
  assert.deepEqual(shown(first), ['A 0-100', '. 100-200']); // the second one's end is not known yet
  assert.deepEqual(shown(alignment.push([sentence('B.', 1160, 1360)])), [
    '  400-500',
    '1 500-600',
    '2 600-700',
    '% 700-800',
    '? 800-900',
    '  900-1000',
    'B 1160-1260',
    '. 1260-1360',
  ]);
});

test('the last sentence may be one that is not found', () => {
  const alignment = new CharacterTimeline('$5');
  assert.deepEqual(shown(alignment.push([sentence('five dollars', 0, 500)])), []);
  assert.deepEqual(shown(alignment.end()), ['$ 0-250', '5 250-500']);
});

test('a character outside the basic plane is one character', () => {
  const words = [{ textOffset: 3, startMs: 300 }];
  assert.deepEqual(shown(new CharacterTimeline('😀 a').push([sentence('😀 a', 0, 400, words)])), [
    '😀 0-200',
    '  200-300',
    'a 300-400',
  ]);
});

test('times never run backwards, whatever an engine tells of its words', () => {
  const words = [
    { textOffset: 1, startMs: 900 },
    { textOffset: 0, startMs: 50 },
    { textOffset: 99, startMs: 10 },
  ];
  const { startsMs, endsMs, characters } = new CharacterTimeline('a b').push([
    sentence('a b', 100, 400, words),
  ]);
  assert.equal(characters.join(''), 'a b');
  for (const [at, start] of startsMs.entries()) {
    assert.ok(start <= (endsMs[at] ?? 0) && start >= (startsMs[at - 1] ?? 0) && start <= 400);
  }
});
