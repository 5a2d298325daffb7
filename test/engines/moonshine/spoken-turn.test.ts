// One turn of a caller: where long speech is cut, what a pause changes, and what cannot be speech.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoonshineModel } from '../../../src/engines/moonshine/moonshine-model.js';
import type { Work } from '../../../src/engines/moonshine/run-queue.js';
import { SpokenTurn, type TurnText } from '../../../src/engines/moonshine/spoken-turn.js';
import { scriptedModel, silence, textOf, words } from './scripted-model.js';

const RATE = 16_000;
const WORK: Work = { rank: 'final', sinceMs: 0, signal: new AbortController().signal };

function turnOf(model: MoonshineModel = scriptedModel()): SpokenTurn {
  return new SpokenTurn(model, () => model.graphs);
}

/** The texts of passes after each piece of the sound. */
async function hear(turn: SpokenTurn, sound: Float32Array, seconds = 0.48): Promise<TurnText[]> {
  const told: TurnText[] = [];
  const piece = seconds * RATE;
  for (let at = 0; at < sound.length; at += piece) {
    turn.add(sound.subarray(at, at + piece));
    const got = await turn.partialText(WORK);
    if (got !== undefined) told.push(got);
  }
  return told;
}

function joined(...sounds: readonly Float32Array[]): Float32Array {
  return Float32Array.from(sounds.flatMap((sound) => [...sound]));
}

function assertPromisesKept(told: readonly TurnText[]): void {
  let promised = '';
  for (const { text, stable } of told) {
    assert(text.startsWith(promised), `"${text}" does not begin with "${promised}"`);
    assert(stable >= promised.length);
    promised = text.slice(0, stable);
  }
}

test('speech without a pause has each word once, however many passes came before its cuts', async () => {
  for (const seconds of [0.32, 0.48, 0.96]) {
    const turn = turnOf();
    const told = await hear(turn, joined(silence(0.5), words(0, 100)), seconds);
    turn.end();
    told.push(await turn.finalText(WORK));
    assert.equal(told.at(-1)?.text, textOf(0, 100));
    assertPromisesKept(told);
    assert(told.every(({ stable }, n) => n < 40 || stable > 0));
  }
});

test('a word that was promised before the cut is told once, and stays', async () => {
  const turn = turnOf();
  const told = await hear(turn, words(0, 27));
  assert.equal(told.at(-1)?.text, textOf(0, 27));
  assert(turn.waiting < 14 * RATE);
  const { stable = 0 } = told.at(-1) ?? {};
  assert(stable > textOf(0, 15).length);
  told.push(...(await hear(turn, words(27, 40))));
  turn.end();
  told.push(await turn.finalText(WORK));
  assertPromisesKept(told);
  assert.equal(told.at(-1)?.text, textOf(0, 40));
});

test('speech is cut in the middle of its quietest tenth of a second between 10 and 14 s', async () => {
  const turn = turnOf();
  const sound = words(0, 28).map((sample) => (sample === 0 ? 0.005 : sample));
  sound.fill(0, 12.3 * RATE, 12.5 * RATE);
  turn.add(sound);
  const got = await turn.partialText(WORK);
  assert.equal(got?.text, textOf(0, 28));
  const place = 12.34 * RATE; // a whole feature in the middle of the first tenth
  assert.equal(turn.waiting, 14 * RATE - place);
});

test('speech without a quiet place is cut at 14 s', async () => {
  const turn = turnOf();
  turn.add(joined(silence(4), new Float32Array(12 * RATE).fill(0.5)));
  await turn.partialText(WORK);
  assert.equal(turn.waiting, 2 * RATE);
});

test('a pause after 6 s ends the segment, and its last 200 ms begin the next', async () => {
  const turn = turnOf();
  await hear(turn, joined(words(0, 13), silence(0.1)));
  turn.pause();
  assert.deepEqual(await turn.pauseText(WORK), { text: textOf(0, 13), stable: textOf(0, 12).length });
  turn.add(silence(0.2));
  turn.resume();
  turn.resumeText();
  assert.equal(turn.waiting, 0.4 * RATE);
  await hear(turn, words(13, 20));
  turn.end();
  assert.equal((await turn.finalText(WORK)).text, textOf(0, 20));
});

test('a pause before 6 s ends no segment', async () => {
  const turn = turnOf();
  await hear(turn, words(0, 6));
  turn.pause();
  assert.equal((await turn.pauseText(WORK)).text, textOf(0, 6));
  turn.resume();
  turn.resumeText();
  assert.equal(turn.waiting, 3 * RATE);
  turn.add(words(6, 8));
  turn.end();
  assert.equal((await turn.finalText(WORK)).text, textOf(0, 8));
});

test('the sound behind a pause is not of a turn that ends in it', async () => {
  const turn = turnOf();
  turn.add(words(0, 3));
  turn.pause();
  turn.add(words(3, 5));
  assert.equal((await turn.pauseText(WORK)).text, textOf(0, 3));
  assert.deepEqual(turn.end(), words(3, 5));
  assert.deepEqual(await turn.finalText(WORK), { text: textOf(0, 3), stable: textOf(0, 3).length });
});

test('more words than anybody says in the time are dropped', async () => {
  const many = (count: number) => {
    const logits = (rows: number, said: number) => {
      const all = new Float32Array(rows * 256);
      for (let row = 0; row < rows; row++) all[row * 256 + (said + row < count ? 3 + said + row : 2)] = 1;
      return all;
    };
    return scriptedModel({
      decoder: (tokens, self) => {
        const frames = (self?.frames ?? 0) + tokens.length;
        const cache = { frames, keys: new Float32Array(frames), values: new Float32Array(frames) };
        return Promise.resolve({ logits: logits(tokens.length, self?.frames ?? 0), self: cache });
      },
    });
  };
  for (const [count, text] of [
    [10, textOf(0, 10)],
    [11, ''],
  ] as const) {
    const model = { ...many(count), rules: { tokensPerSecond: 20 } };
    const turn = turnOf(model);
    turn.add(words(0, 2)); // one second
    turn.end();
    assert.equal((await turn.finalText(WORK)).text, text);
  }
});

test('silence and steady noise cost no run of the decoder and have no text', async () => {
  let runs = 0;
  const decoder = () => {
    runs++;
    return Promise.reject(new Error('the decoder ran'));
  };
  for (const level of [0, 0.3]) {
    const turn = turnOf(scriptedModel({ decoder }));
    const sound = silence(30).map((_, n) => level * Math.sin(n * n));
    assert.deepEqual(await hear(turn, sound), []);
    turn.end();
    assert.deepEqual(await turn.finalText(WORK), { text: '', stable: 0 });
  }
  assert.equal(runs, 0);
});
