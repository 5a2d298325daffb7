import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeWords, shareTime, TextTimes, type TimedWord } from '../../src/transcribing/timed-text.js';

function aligned(words: string) {
  return words.split(' ').map((word, n) => ({ word, beginSeconds: n, endSeconds: n + 0.5 }));
}

function placed(text: string, words: readonly TimedWord[] | undefined): string[] | undefined {
  return words?.map(({ start, end, beginSeconds }) => `${beginSeconds} ${text.slice(start, end)}`);
}

for (const [text, words, places] of [
  ['Hello, world!', 'Hello world', ['0 Hello', '1 world']],
  ["I don't know…", "I don't know", ['0 I', "1 don't", '2 know']],
  ['“Yes”, she said.', 'Yes she said', ['0 Yes', '1 she', '2 said']],
  ['the A1b2-c3_d4 part', 'the A1b2c3d4 part', ['0 the', '1 A1b2-c3_d4', '2 part']],
  ['world今天', 'world 今 天', ['0 world', '1 今', '2 天']],
  ['学校に行く', '学 校 に 行 く', ['0 学', '1 校', '2 に', '3 行', '4 く']],
  ['학교에서 공부', '학교 에서 공부', ['0 학교', '1 에서', '2 공부']],
  ['नमस्ते दुनिया', 'नमसत दनय', ['0 नमस्ते', '1 दुनिया']],
  ['It is 3.5 km', 'It is 35 km', ['0 It', '1 is', '2 3.5', '3 km']],
  ['café au lait', 'café au lait', ['0 café', '1 au', '2 lait']],
  ['', '', []],
  ['…', '', []],
] as const) {
  test(`an aligner's words are found in "${text}"`, () => {
    assert.deepEqual(placed(text, placeWords(text, words === '' ? [] : aligned(words))), places);
  });
}

for (const [text, words] of [
  ['Hello, world!', 'Hello'],
  ['Hello', 'Hello world'],
  ['Hello, world!', 'Hello word'],
  ['Hello', 'hello'],
] as const) {
  test(`"${words}" are not the words of "${text}"`, () => {
    assert.equal(placeWords(text, aligned(words)), undefined);
  });
}

test('the time of a text is shared out by letters and stops', () => {
  const text = 'One two. Three';
  const words = shareTime(text, 10, 27); // 3 letters, 3, a pause of 6, 5
  assert.deepEqual(
    words.map(({ start, end, beginSeconds, endSeconds }) => [
      text.slice(start, end),
      beginSeconds,
      endSeconds,
    ]),
    [
      ['One', 10, 13],
      ['two', 13, 16],
      ['Three', 22, 27],
    ],
  );
});

test('an ideograph has a share of its own, as long as three letters', () => {
  const text = '今天OK。';
  assert.deepEqual(
    shareTime(text, 0, 8).map(({ start, end, beginSeconds, endSeconds }) => [
      text.slice(start, end),
      beginSeconds,
      endSeconds,
    ]),
    [
      ['今', 0, 3],
      ['天', 3, 6],
      ['OK', 6, 8],
    ],
  );
});

test('more words than anybody can say are shared out in bounded time', () => {
  const stretches = Array.from({ length: 20 }, (_, n) => ({ beginSeconds: n, endSeconds: n + 0.8 }));
  const began = performance.now();
  for (const text of ['ab '.repeat(50_000), '字'.repeat(50_000)]) {
    const words = shareTime(text, 0, 20, stretches);
    assert.equal(words.length, 50_000);
    assert.ok(words.every(({ beginSeconds, endSeconds }) => beginSeconds <= endSeconds && endSeconds <= 20));
  }
  const ms = performance.now() - began;
  assert.ok(ms < 3000, `${ms} ms`); // without a bound it is a minute
});

test('text without a letter has no words', () => {
  assert.deepEqual(shareTime(' … — !', 0, 1), []);
});

test('a stretch within a word has its share of the time, and a mark that of the gap around it', () => {
  const text = 'abcd — efgh';
  const words = [
    { start: 0, end: 4, beginSeconds: 0, endSeconds: 4 },
    { start: 7, end: 11, beginSeconds: 6, endSeconds: 8 },
  ];
  const times = new TextTimes({ text, words, beginSeconds: 0, endSeconds: 10 });
  assert.deepEqual(times.of(1, 3), { beginSeconds: 1, endSeconds: 3 });
  assert.deepEqual(times.of(0, 11), { beginSeconds: 0, endSeconds: 8 });
  assert.deepEqual(times.of(5, 6), { beginSeconds: 4, endSeconds: 6 });
  const none = new TextTimes({ text: '—', words: [], beginSeconds: 1, endSeconds: 2 });
  assert.deepEqual(none.of(0, 1), { beginSeconds: 1, endSeconds: 2 });
});
