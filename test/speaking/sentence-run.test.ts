// Runs of sentences without encoders: the sentences of a generation, and their estimated places in its sound.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Continuity } from '../../src/speaking/continuity.js';
import type { SpokenSentence } from '../../src/speaking/line-piece.js';
import { LineSegment } from '../../src/speaking/line-segment.js';
import {
  RunPart,
  SentenceRun,
  SpeechPace,
  type LinePiece,
  type LinePieces,
} from '../../src/speaking/sentence-run.js';
import { spokenText } from '../../src/speaking/spoken-text.js';
import { UNHURRIED } from '../../src/engines/engine.js';
import { StreamingEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';

const SAMPLES_PER_MS = 8;
const NO_PLACE = { index: 0, firstFrame: 0, frames: 0, trimmedStartMs: 0, startMs: 0, endMs: 0 };

let gone: AbortController;
beforeEach(() => (gone = new AbortController()));
afterEach(() => gone.abort());

function runOf(engine: StreamingEngine, pace = new SpeechPace('en')): SentenceRun {
  return new SentenceRun({ voice: engine.resolve(), options: undefined, pace, signal: gone.signal });
}

function sentence(engine: StreamingEngine, text: string, language = 'en'): SpokenSentence {
  return { text, voice: { engine, voice: 'buzz', language } };
}

test('while a run is spoken its places follow the pace of the voice, and then the share of the characters', async () => {
  const engine = new StreamingEngine({ msPerCharacter: 40 });
  const run = runOf(engine);
  const [first, second] = [run.add({ text: 'One is here.' }), run.add({ text: 'Two is there.' })];
  const reported: number[] = [];
  first.onEndAt = (endAt) => reported.push(endAt);
  assert.equal(first.endAt, 12 * 65 * SAMPLES_PER_MS);
  assert.equal(second.endAt, undefined); // with the ring
  run.end();
  run.begin(() => UNHURRIED);
  await run.synthesized;
  assert.deepEqual(reported, [12 * 40 * SAMPLES_PER_MS]);
  assert.equal(first.shareMs, 12 * 40);
  assert.equal(second.shareMs, 14 * 40); // and the space before it
});

test('what was read as part of a sentence stays part of it, and the words of the others count from there', async () => {
  const engine = new StreamingEngine({ msPerCharacter: 40, wordTimes: true });
  const run = runOf(engine);
  const [first, second] = [run.add({ text: 'One is here.' }), run.add({ text: 'Two is there.' })];
  run.end();
  assert.deepEqual(first.words, []);
  run.begin(() => UNHURRIED);
  await run.synthesized;
  assert.equal(first.soundMs, undefined);
  first.done({ samplesIn: 540 * SAMPLES_PER_MS });
  second.done({ samplesIn: 460 * SAMPLES_PER_MS });
  assert.deepEqual([first.soundMs, second.soundMs], [540, 460]);
  assert.deepEqual(
    first.words.map(({ word, startMs }) => [word, startMs]),
    [
      ['One', 0],
      ['is', 160],
      ['here.', 280],
    ],
  );
  assert.deepEqual(second.words, [
    { word: 'Two', textOffset: 0, startMs: 0 }, // 520 of the run: before the sentence's place
    { word: 'is', textOffset: 4, startMs: 140 },
    { word: 'there.', textOffset: 7, startMs: 260 },
  ]);
});

test('a sentence for which the estimate left no sound was spoken when the one before it was', () => {
  const run = runOf(new StreamingEngine());
  const segments = [run.add({ text: 'One is here.' }), run.add({ text: 'Two.' })].map(
    (part) => new LineSegment(part, part),
  );
  segments[0]?.encoded({ ...NO_PLACE, frames: 10, samplesIn: 1600 });
  segments[1]?.encoded({ ...NO_PLACE, index: 1, firstFrame: 10, samplesIn: 0 });
  assert.equal(spokenText(segments, 10, 20), 'One is here. Two.');
  assert.equal(spokenText(segments, 9, 20).includes('Two'), false);
});

test('a pace is learnt from what was heard of a voice', async () => {
  const continuity = new Continuity('utterance');
  const engine = new StreamingEngine({ msPerCharacter: 45 });
  const pace = continuity.paceOf(engine.resolve());
  assert.equal(pace.msPerCharacter, 65);
  for (let n = 0; n < 8; n++) {
    const run = runOf(engine, pace);
    run.add({ text: 'One is here, and goes on.' });
    run.end();
    run.begin(() => UNHURRIED);
    await run.synthesized;
    run.giveUp();
  }
  assert.ok(pace.msPerCharacter > 45 && pace.msPerCharacter < 50, `${pace.msPerCharacter}`);
  assert.equal(continuity.paceOf(engine.resolve()), pace);
  assert.equal(continuity.paceOf(engine.resolve({ language: 'fr' })).msPerCharacter, 65);
  assert.equal(new SpeechPace('zh').msPerCharacter, 220);
});

test('sentences of a writing without spaces are joined without one', async () => {
  const engine = new StreamingEngine();
  const run = runOf(engine);
  run.add({ text: '你好。' });
  run.begin(() => UNHURRIED);
  run.add({ text: '今天好吗？' });
  run.add({ text: 'Fine.' });
  run.add({ text: 'Good.' });
  run.end();
  await run.synthesized;
  assert.deepEqual(engine.texts, ['你好。今天好吗？Fine. Good.']);
});

test('a run takes what has the same voice, up to the room of its engine, until its text ends', () => {
  const engine = new StreamingEngine({ mostText: 30 });
  const run = runOf(engine);
  run.add({ text: 'One is here.' });
  assert.equal(run.takes(sentence(engine, 'Two is here, too.')), true); // 30 with the space
  assert.equal(run.takes(sentence(engine, 'Two is here, also.')), false);
  assert.equal(run.takes(sentence(engine, 'Zwölf ist hier.')), true);
  assert.equal(run.takes(sentence(engine, 'ZwölfÄÖÜist hier.')), false); // bytes, not characters
  assert.equal(run.takes(sentence(engine, 'Two.', 'fr')), false);
  assert.equal(run.takes(sentence(new StreamingEngine(), 'Two.')), false);
  const reference = { kind: 'prompt', hash: 'a', prompt: 'An old man.' } as const;
  assert.equal(run.takes({ text: 'Two.', voice: { ...engine.resolve(), reference } }), false);
  run.end();
  assert.equal(run.takes(sentence(engine, 'Two.')), false);
});

test('a run whose engine ends it early takes no more', async () => {
  const engine = new StreamingEngine();
  const run = runOf(engine);
  run.add({ text: 'One is here.' });
  engine.failsAt = 'One';
  run.begin(() => UNHURRIED);
  await assert.rejects(run.synthesized, { code: 'ENGINE_FAILED' });
  assert.equal(run.takes(sentence(engine, 'Two.')), false);
});

/** The place of a sentence in its run, the state of the run's text, and the sentence. */
function described(piece: LinePiece): string {
  if ('write' in piece) return 'sound';
  if (!(piece instanceof RunPart)) return piece.text;
  let index = 0;
  for (let part = piece.previous; part !== undefined; part = part.previous) index++;
  return `${index}/${piece.run.open ? 'open' : 'whole'} ${piece.text}`;
}

function join(pieces: LinePieces, options?: { maxNewTokens: number }): LinePieces {
  return new Continuity('utterance').join(pieces, { options, signal: gone.signal });
}

test('what is said in one breath: neither a sound, nor a sentence by itself, nor one with a limit of its own', async () => {
  const engine = new StreamingEngine({ mostText: 20 });
  const [one, two] = [sentence(engine, 'One.'), sentence(engine, 'Two.')];
  const long = sentence(engine, 'This sentence has no room.');
  const sound = { sampleRate: 8000, write: () => Promise.reject(new Error('not played')) };
  const whole = async (pieces: readonly LinePiece[], options?: { maxNewTokens: number }) => {
    const joined: string[] = [];
    for await (const piece of join(pieces, options)) joined.push(described(piece));
    return joined;
  };
  assert.deepEqual(await whole([one, two, sound, one, long, one, two]), [
    '0/whole One.',
    '1/whole Two.',
    'sound',
    'One.',
    'This sentence has no room.',
    '0/whole One.',
    '1/whole Two.',
  ]);
  assert.deepEqual(await whole([one]), ['One.']);
  assert.deepEqual(await whole([one, two], { maxNewTokens: 100 }), ['One.', 'Two.']);
});

test('what arrives is read ahead while a run takes it, and no further', async () => {
  const engine = new StreamingEngine({ mostText: 20 });
  const read: string[] = [];
  async function* arriving(): AsyncGenerator<SpokenSentence> {
    for (const text of ['One.', 'Two.', 'Three.', 'Four is not in it.', 'Five is nowhere.', 'Six.']) {
      read.push(text);
      yield sentence(engine, text);
    }
  }
  const joined = (join(arriving()) as AsyncIterable<LinePiece>)[Symbol.asyncIterator]();
  const first = await joined.next();
  assert.equal(first.done === true ? '' : described(first.value), '0/open One.');
  await until(() => read.length === 4);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(read.length, 4); // the last one belongs to the next run, which begins when these are taken
  const rest: string[] = [];
  for (let next = await joined.next(); next.done !== true; next = await joined.next())
    rest.push(described(next.value));
  assert.deepEqual(
    rest.map((one) => one.replace(/open|whole/, '')),
    ['1/ Two.', '2/ Three.', '0/ Four is not in it.', '0/ Five is nowhere.', '0/ Six.'],
  );
});

test('a reader that leaves, or gets a failure, leaves the source', async () => {
  const engine = new StreamingEngine();
  let left = 0;
  async function* endless(): AsyncGenerator<SpokenSentence> {
    try {
      yield sentence(engine, 'One.');
      await new Promise<void>((resolve) => gone.signal.addEventListener('abort', () => resolve()));
    } finally {
      left++;
    }
  }
  for await (const piece of join(endless())) {
    assert.equal(described(piece), '0/open One.');
    break;
  }
  engine.failsAt = 'One';
  await assert.rejects(
    async () => {
      for await (const piece of join(endless())) {
        if (piece instanceof RunPart) piece.run.begin(() => UNHURRIED);
      }
    },
    { code: 'ENGINE_FAILED' },
  );
  gone.abort();
  await until(() => left === 2);
});
