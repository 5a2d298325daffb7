import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableText, withEnds, wordTimes } from '../../src/engines/espeak/espeak-text.js';

test('what espeak would obey is replaced by as many spaces', () => {
  for (const [text, readable] of [
    ['<b>5 < 6</b>', ' b 5   6 /b '],
    ['AT&T &amp; Co &#65; R&D', 'AT&T  amp; Co  #65; R&D'],
    ['[[h@]] [ok]', '  h@   [ok]'],
    ['ok 👍 fine\nnext', 'ok   fine next'],
    ['© 2026, 1 # 2 *', '© 2026, 1 # 2 *'],
  ] as const) {
    assert.equal(readableText(text), readable);
  }
});

function event(text_position: number, word_length: number, audio_position: number) {
  return { text_position, word_length, audio_position };
}

test('positions in code points become offsets in UTF-16', () => {
  assert.deepEqual(wordTimes('a 😀 bé c', [event(1, 1, 0), event(5, 2, 10), event(8, 1, 20)]), [
    { word: 'a', textOffset: 0, startMs: 0 },
    { word: 'bé', textOffset: 5, startMs: 10 },
    { word: 'c', textOffset: 8, startMs: 20 },
  ]);
});

test('a word ends with its last sample that is not silence, before the pause behind it', () => {
  const samples = new Int16Array(1000); // 1 s
  samples.fill(3000, 100, 300).fill(-3000, 500, 700).fill(90, 700, 1000);
  const words = [
    { word: 'a', textOffset: 0, startMs: 100 },
    { word: 'b', textOffset: 2, startMs: 480 },
    { word: 'c', textOffset: 4, startMs: 2000 },
  ];
  assert.deepEqual(
    withEnds(words, samples, 1000).map(({ endMs }) => endMs),
    [300, 700, 1000],
  );
});

test('a word that is told several times counts once, at its first time', () => {
  const events = [
    event(1, 4, 0),
    event(1, 4, 30),
    event(3, 2, 40),
    event(5, 1, 50),
    event(6, 9, 60),
    event(40, 2, 70),
  ];
  assert.deepEqual(wordTimes('1999 bc', events), [
    { word: '1999', textOffset: 0, startMs: 0 },
    { word: 'bc', textOffset: 5, startMs: 60 },
  ]);
});
