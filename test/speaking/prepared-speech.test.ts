// Greetings that are ready before the call: everything real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameCache, type KeptSentence } from '../../src/speaking/frame-cache.js';
import { PreparedSpeech } from '../../src/speaking/prepared-speech.js';
import { OPUS, PCMU, type Codec } from '../../src/codecs/codec.js';
import { type CallUnderTest, openCalls } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { buzz, ScriptedEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';

const TEXT = 'Good morning. How may I help you?';
const SENTENCES = ['Good morning.', 'How may I help you?'];
const LIMITS = { maxTextLength: 100, textIdleMs: 1000 };

const calls = openCalls();

function preparing(bytes = 1_000_000) {
  const engine = new ScriptedEngine();
  for (const text of SENTENCES) engine.sounds.set(text, buzz(123, 0.5));
  const frames = new FrameCache(bytes, calls.encoders.settings);
  const time = new ManualTime();
  return {
    engine,
    frames,
    prepared: new PreparedSpeech({ routing: engine, encoders: calls.encoders, frames, limits: LIMITS, time }),
  };
}

function callWith(frames: FrameCache, codec: Codec = PCMU): CallUnderTest {
  const under = calls.open(frames, { codec });
  for (const text of SENTENCES) under.engine.sounds.set(text, buzz(123, 0.5));
  return under;
}

function keptIn(frames: FrameCache, engine: ScriptedEngine, codec: Codec, text: string): KeptSentence {
  const voice = engine.resolve();
  const key = frames.of(codec, 20)?.keyOf({ text, voice, options: undefined, trimSilence: true });
  return frames.find(key ?? '') ?? assert.fail(`"${text}" is not kept`);
}

for (const codec of [PCMU, OPUS]) {
  test(`what is prepared in ${codec.name} is what a call would have kept`, async () => {
    const { engine, frames, prepared } = preparing();
    assert.equal(await prepared.prepare({ text: TEXT, codec, frameMs: 20 }), 2);
    const others = new FrameCache(1_000_000, calls.encoders.settings);
    const under = callWith(others, codec);
    await under.call.speak(TEXT).pushed;
    await until(() => others.figures.entries === 2);
    for (const text of SENTENCES) {
      const ours = keptIn(frames, engine, codec, text);
      const theirs = keptIn(others, under.engine, codec, text);
      assert.deepEqual(ours, theirs);
      assert.deepEqual(new Uint8Array(ours.frames.packed), new Uint8Array(theirs.frames.packed));
    }
  });
}

test('a call that speaks what was prepared needs no engine', async () => {
  const { frames, prepared } = preparing();
  await prepared.prepare({ text: TEXT, codec: PCMU, frameMs: 20 });
  const { call, engine, pass } = callWith(frames);
  const utterance = call.speak(TEXT);
  await utterance.pushed;
  pass(2000);
  assert.equal((await utterance.ended).text, TEXT);
  assert.deepEqual(engine.begun, []);
});

test('what was prepared is not prepared again, and what a call kept need not be', async () => {
  const { engine, frames, prepared } = preparing();
  const under = callWith(frames);
  await under.call.speak('Good morning.').pushed;
  await until(() => frames.figures.entries === 1);
  assert.equal(await prepared.prepare({ text: TEXT, codec: PCMU, frameMs: 20 }), 1);
  assert.equal(await prepared.prepare({ text: TEXT, codec: PCMU, frameMs: 20 }), 0);
  assert.deepEqual(engine.begun, ['How may I help you?']);
  assert.equal(frames.pinned, 2);
});

test('other sentences push nothing out that was prepared, nor does a clear; once released it may leave', async () => {
  const { engine, frames, prepared } = preparing(8000); // four of these sentences
  await prepared.prepare({ text: 'Good morning.', codec: PCMU, frameMs: 20 });
  const { call, engine: other, pass } = callWith(frames);
  for (const text of ['One.', 'Two.', 'Three.', 'Four.', 'Five.']) {
    other.sounds.set(text, buzz(123, 0.5));
    await call.speak(text).pushed;
    pass(1000);
  }
  assert.ok(frames.figures.bytes <= 8000);
  frames.clear();
  assert.deepEqual([frames.figures.entries, frames.pinned], [1, 1]);
  keptIn(frames, engine, PCMU, 'Good morning.');
  await prepared.close();
  assert.deepEqual([frames.figures.entries, frames.pinned], [1, 0]);
  frames.clear();
  assert.deepEqual([frames.figures.entries, frames.figures.bytes], [0, 0]);
});

test('what cannot be prepared is refused by name', async () => {
  const off = preparing(0).prepared;
  const speech = { text: TEXT, codec: PCMU, frameMs: 20 };
  await assert.rejects(off.prepare(speech), { code: 'WRONG_STATE', message: /FRAME_CACHE_BYTES=0/ });
  const { engine, frames, prepared } = preparing(5000);
  await assert.rejects(prepared.prepare(speech), { code: 'TOO_LARGE' }); // two of them are more than half
  assert.equal(frames.pinned, 1);
  await assert.rejects(prepared.prepare({ ...speech, text: '...' }), { code: 'TEXT_EMPTY' });
  await assert.rejects(prepared.prepare({ ...speech, text: 'x'.repeat(101) }), { code: 'TEXT_TOO_LONG' });
  engine.failing.add('Bad.');
  await assert.rejects(prepared.prepare({ ...speech, text: 'Bad.' }), { code: 'ENGINE_FAILED' });
  engine.gate = () => new Promise(() => undefined);
  const waiting = Array.from({ length: 16 }, () => prepared.prepare({ ...speech, text: 'Never.' }));
  await assert.rejects(prepared.prepare(speech), { code: 'QUEUE_FULL' });
  const given = Promise.allSettled(waiting);
  await prepared.close();
  for (const one of await given) assert.equal(one.status, 'rejected');
  await assert.rejects(prepared.prepare(speech), { code: 'WRONG_STATE' });
});
