// The cache of sentences, by itself, in calls, and with sentences that are prepared before a call. In calls
// everything is real but the engine, the network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Codec, OPUS, PCMU } from '../../src/codecs/codec.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import type { EncoderSettings } from '../../src/encoding/encoder-messages.js';
import { FrameCache, type KeptSentence, type SentenceSettings } from '../../src/speaking/frame-cache.js';
import { PreparedSpeech } from '../../src/speaking/prepared-speech.js';
import { SENTENCE_PAUSE_MS } from '../../src/speaking/speech-pipeline.js';
import { type CallUnderTest, FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { buzz, InstantEngine, ScriptedEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';

const SETTINGS: EncoderSettings = { opus: OPUS_SPEECH, trim: { thresholdDb: -50 } };
const ENTRY_BYTES = 1024; // counted for an entry in addition to its payloads

const voice = { engine: new InstantEngine(), voice: 'instant', language: 'en' };
const PLAIN: SentenceSettings = { text: 'Hello.', voice, options: undefined, trimSilence: true };

/** A sentence of one payload. */
function sentence(bytes: number, soundMs = 20): KeptSentence {
  const packed = new SharedArrayBuffer(bytes);
  return {
    frames: { packed, frames: 1, samples: 160, samplesIn: 160, trimmedStartMs: 0 },
    soundMs,
    words: [],
    pauses: [],
  };
}

test('what is kept is found until the room is needed; the least recently used leave first', () => {
  const cache = new FrameCache(3 * (ENTRY_BYTES + 100), SETTINGS);
  for (const key of ['a', 'b', 'c']) cache.keep(key, sentence(100));
  assert.ok(cache.find('a') !== undefined);
  cache.keep('d', sentence(100));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.find(key) !== undefined),
    [true, false, true, true],
  );
  assert.deepEqual(cache.figures, { entries: 3, bytes: 3 * (ENTRY_BYTES + 100), hits: 4, misses: 1 });
  cache.keep('wide', sentence(2 * (ENTRY_BYTES + 100)));
  assert.deepEqual(
    ['c', 'd', 'wide'].map((key) => cache.find(key) !== undefined),
    [false, false, true],
  );
  cache.keep('too wide', sentence(4 * (ENTRY_BYTES + 100)));
  assert.equal(cache.find('too wide'), undefined);
  assert.ok(cache.find('wide') !== undefined, 'nothing leaves for what does not fit');
  assert.equal(cache.clear(), 1);
  assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
});

test('the words of a sentence count too', () => {
  const cache = new FrameCache(10_000, SETTINGS);
  const words = [{ word: 'Hello', textOffset: 0, startMs: 0 }];
  cache.keep('plain', sentence(100));
  const { bytes } = cache.figures;
  cache.keep('words', { ...sentence(100), words });
  assert.ok(cache.figures.bytes > 2 * bytes);
});

test('the first rendering of a sentence stays, and one without sound is not kept', () => {
  const cache = new FrameCache(10_000, SETTINGS);
  cache.keep('a', sentence(100, 1));
  cache.keep('a', sentence(100, 2));
  assert.equal(cache.find('a')?.soundMs, 1);
  const { frames } = sentence(0);
  cache.keep('silent', { ...sentence(0), frames: { ...frames, frames: 0 } });
  assert.equal(cache.find('silent'), undefined);
});

test('everything that changes the payloads is another sentence', () => {
  const cache = new FrameCache(1000, SETTINGS);
  const keyOf = (changes: Partial<SentenceSettings>, codec = PCMU, frameMs = 20, settings = SETTINGS) =>
    new FrameCache(1000, settings).of(codec, frameMs)?.keyOf({ ...PLAIN, ...changes });
  const reference = { kind: 'prompt', hash: 'one', prompt: 'A calm voice.' } as const;
  const keys = [
    keyOf({}),
    keyOf({ text: 'Hello!' }),
    keyOf({
      spoken: { text: 'Hello to all', replacements: [], sourceSpan: (start, end) => ({ start, end }) },
    }),
    keyOf({ trimSilence: false }),
    keyOf({ voice: { ...voice, voice: 'other' } }),
    keyOf({ voice: { ...voice, language: 'de' } }),
    keyOf({ voice: { ...voice, engine: Object.assign(new InstantEngine(), { name: 'other' }) } }),
    keyOf({ voice: { ...voice, reference } }),
    keyOf({ voice: { ...voice, reference: { ...reference, hash: 'two' } } }),
    keyOf({ options: { seed: 1 } }),
    keyOf({ options: { topK: 1 } }),
    keyOf({}, OPUS),
    keyOf({}, PCMU, 40),
    ...Object.entries({ application: 'voip', complexity: 9, bitsPerSecond: 24_000, inBandFec: true }).map(
      ([name, value]) => keyOf({}, PCMU, 20, { ...SETTINGS, opus: { ...OPUS_SPEECH, [name]: value } }),
    ),
    keyOf({}, PCMU, 20, { ...SETTINGS, trim: { thresholdDb: -40 } }),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.ok(!keys.includes(undefined));
  assert.equal(
    cache.of(PCMU, 20)?.keyOf({ ...PLAIN, options: { seed: 1, topK: 2 } }),
    cache.of(PCMU, 20)?.keyOf({ ...PLAIN, options: { topK: 2, seed: 1 } }),
    'the order in which options were written says nothing',
  );
});

test('a cache without room serves no encoder session', () => {
  assert.equal(new FrameCache(0, SETTINGS).of(PCMU, 20), undefined);
});

const PAUSE_FRAMES = SENTENCE_PAUSE_MS / FRAME_MS;

const calls = openCalls();

function openCall(frames?: FrameCache): CallUnderTest {
  return calls.open(frames);
}

function openCache(bytes = 1_000_000): FrameCache {
  return new FrameCache(bytes, calls.encoders.settings);
}

/** Everything that a call sends for a text, from its first packet on, and what it tells of it. */
async function spoken({ call, events, pass, sent }: CallUnderTest, text: string) {
  sent();
  events.length = 0;
  const utterance = call.speak(text);
  await utterance.pushed;
  pass(2000);
  return {
    payloads: sent().map(({ payload, marker }) => [marker, ...payload]),
    events: events.map(({ type, ...rest }) => [type, 'text' in rest ? rest.text : '']),
    end: await utterance.ended,
  };
}

test('what one call said is said by another without its engine, packet for packet', async () => {
  const frames = openCache();
  const first = openCall(frames);
  const second = openCall(frames);
  // 57.5 and 31.25 ms: neither ends with its frame.
  first.engine.sounds.set('Hello there.', buzz(57.5, 0.5));
  first.engine.sounds.set('Goodbye.', buzz(31.25, 0.25));
  const rendered = await spoken(first, 'Hello there. Goodbye.');
  await until(() => frames.figures.entries === 2);
  const repeated = await spoken(second, 'Hello there. Goodbye.');
  assert.deepEqual(second.engine.begun, []);
  assert.deepEqual(repeated, rendered);
  assert.equal(repeated.end.durationMs, (3 + PAUSE_FRAMES + 2) * FRAME_MS);
  assert.deepEqual(frames.figures, {
    entries: 2,
    bytes: 2 * 1024 + 5 * (2 + 160),
    hits: 2,
    misses: 2,
  });
});

test('a call says the same whether sentences are kept or not, as long as they end with their frames', async () => {
  const keeping = openCall(openCache());
  const plain = openCall();
  for (const { engine } of [keeping, plain]) {
    engine.sounds.set('Hello there.', buzz(60, 0.5));
    engine.sounds.set('Goodbye.', buzz(40, 0.25));
  }
  const text = 'Hello there. Goodbye. Hello there.';
  assert.deepEqual(await spoken(keeping, text), await spoken(plain, text));
});

test('a sentence among others is taken from there, and the others are rendered', async () => {
  const frames = openCache();
  const { call, engine, pass } = openCall(frames);
  await call.speak('Press one.').pushed;
  await until(() => frames.figures.entries === 1);
  const utterance = call.speak('Hello John. Press one. Thank you.');
  await utterance.pushed;
  assert.deepEqual(engine.begun, ['Press one.', 'Hello John.', 'Thank you.']);
  pass(5000);
  assert.equal((await utterance.ended).text, 'Hello John. Press one. Thank you.');
});

test('an interruption in a kept sentence answers with what was heard of it, by the times of its words', async () => {
  const frames = openCache();
  const first = openCall(frames);
  const words = [
    { word: 'One', textOffset: 0, startMs: 0 },
    { word: 'two', textOffset: 4, startMs: 300 }, // by the letters it would begin at 100
  ];
  first.engine.sounds.set('One two.', buzz(400, 0.5));
  first.engine.words.set('One two.', words);
  await first.call.speak('One two.').pushed;
  await until(() => frames.figures.entries === 1);
  const { call, engine, pass, ended } = openCall(frames);
  const utterance = call.speak('One two.');
  await utterance.pushed;
  pass(260);
  assert.equal(call.interrupt('caller spoke').text, 'One');
  assert.equal((await utterance.ended).durationMs, 260);
  assert.deepEqual([ended, engine.begun], [['interrupted'], []]);
});

test('without word times an interruption follows the pauses of the sound, in a kept sentence too', async () => {
  const frames = openCache();
  const sound = new Float32Array([...buzz(200, 0.5), ...new Float32Array(500 * 8), ...buzz(600, 0.5)]);
  const heard = async ({ call, pass }: CallUnderTest, ms: number): Promise<string> => {
    const utterance = call.speak('Well, take this home.');
    await utterance.pushed;
    pass(ms);
    const { text } = call.interrupt('caller spoke');
    await utterance.ended;
    return text;
  };
  const first = openCall(frames);
  first.engine.sounds.set('Well, take this home.', sound);
  // By its letters "take" would be heard in the pause.
  assert.equal(await heard(first, 680), 'Well');
  await until(() => frames.figures.entries === 1);
  const second = openCall(frames);
  assert.equal(await heard(second, 680), 'Well');
  assert.equal(await heard(second, 900), 'Well, take');
  assert.deepEqual(second.engine.begun, []);
});

test('after an interruption in kept sentences nothing of them follows', async () => {
  const frames = openCache();
  const { call, engine, pass, sent } = openCall(frames);
  engine.sounds.set('Old one.', buzz(1000, 0.5));
  await call.speak('Old one.').pushed;
  await until(() => frames.figures.entries === 1);
  pass(1000);
  call.speak('Old one. Old one. Old one. Old one.');
  await until(() => call.stats().queuedMs > 1000);
  pass(500);
  call.interrupt('caller spoke');
  sent();
  pass(3000);
  assert.ok(sent().every(({ payload }) => payload.every((byte) => byte === 0xff)));
});

test('a sentence that was interrupted before all of it was made is not kept', async () => {
  const frames = openCache();
  const { call, engine } = openCall(frames);
  engine.sounds.set('A long one.', buzz(4000, 0.5));
  const utterance = call.speak('A long one.');
  await until(() => call.stats().queuedMs === 1500);
  call.interrupt('caller spoke');
  await utterance.ended;
  const next = call.speak('Short.');
  await next.pushed;
  await until(() => frames.figures.entries === 1);
  engine.begun.length = 0;
  await call.speak('Short.').pushed;
  call.speak('A long one.');
  await until(() => engine.begun.length > 0);
  assert.deepEqual(engine.begun, ['A long one.']);
});

test('a sentence whose engine failed is not kept', async () => {
  const frames = openCache();
  const { call, engine, pass } = openCall(frames);
  engine.failing.add('Bad.');
  const failed = call.speak('Bad.');
  await failed.pushed;
  pass(1000);
  assert.equal((await failed.ended).end, 'failed');
  engine.failing.clear();
  const utterance = call.speak('Bad.');
  await utterance.pushed;
  pass(1000);
  assert.equal((await utterance.ended).end, 'spoken');
  assert.deepEqual(engine.begun, ['Bad.', 'Bad.']);
});

test('the first rendering is the one that is heard again', async () => {
  const frames = openCache();
  const calls = [openCall(frames), openCall(frames)] as const;
  calls[0].engine.sounds.set('Hello.', buzz(40, 0.5));
  calls[1].engine.sounds.set('Hello.', buzz(40, 0.25)); // an engine that samples says it a little differently
  const first = await spoken(calls[0], 'Hello.');
  await until(() => frames.figures.entries === 1);
  assert.deepEqual((await spoken(calls[1], 'Hello.')).payloads, first.payloads);
});

test('a kept sentence after a wait for more text is silence before, not an underrun', async () => {
  const frames = openCache();
  const { call, engine, pass } = openCall(frames);
  engine.sounds.set('Hello there.', buzz(40, 0.5));
  await call.speak('Hello there.').pushed;
  await until(() => frames.figures.entries === 1);
  pass(2000);
  const tokens = new TokenSource();
  const utterance = call.speak(tokens);
  tokens.push('Hello there. H');
  // Two frames are too few to start with, unless nothing follows for now.
  await until(() => call.stats().queuedMs === 40);
  await quiet();
  pass(1000);
  tokens.push('ello there.');
  tokens.end();
  await utterance.pushed;
  pass(1000);
  assert.equal((await utterance.ended).text, 'Hello there. Hello there.');
  assert.deepEqual([call.stats().underruns, engine.begun.length], [0, 1]);
});

test('many calls send one memory at once', async () => {
  const frames = openCache();
  const first = openCall(frames);
  const rendered = await spoken(first, 'Please hold the line.');
  await until(() => frames.figures.entries === 1);
  const calls = Array.from({ length: 20 }, () => openCall(frames));
  const said = await Promise.all(calls.map((call) => spoken(call, 'Please hold the line.')));
  for (const one of said) assert.deepEqual(one, rendered);
  assert.equal(frames.figures.hits, 20);
});

/** A round trip through the encoder worker: everything that was on its way has arrived. */
async function quiet(): Promise<void> {
  const session = calls.encoders.open({ kind: 'bytes', ring: 0, container: 'pcm', rate: 8000 });
  await session.end().catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
}

// Prepared sentences: greetings that are ready before the call.

const TEXT = 'Good morning. How may I help you?';
const SENTENCES = ['Good morning.', 'How may I help you?'];
const LIMITS = { maxTextLength: 100, textIdleMs: 1000 };

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
