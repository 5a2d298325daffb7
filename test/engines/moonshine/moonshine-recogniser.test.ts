// The recogniser Moonshine with its workers, on toy models that hear each tone as a word.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import type { EngineNews } from '../../../src/engines/engine-lifecycle.js';
import {
  MoonshineRecogniser,
  type MoonshineOptions,
} from '../../../src/engines/moonshine/moonshine-recogniser.js';
import type { RecognisedText, RecognitionOptions, SpeechFinder } from '../../../src/engines/recogniser.js';
import { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { toy, toySound } from '../../onnx/toys.js';

const RATE = 16_000;
const ENGLISH = { directory: toy('moonshine-a'), language: 'en' };
const GERMAN = { directory: toy('moonshine-b'), language: 'de' };
const SPEECH = 'alphas char bravo to deltas';

async function openRecogniser(t: TestContext, changes: Partial<MoonshineOptions> = {}) {
  const recogniser = await MoonshineRecogniser.open({
    models: [ENGLISH],
    workers: 1,
    partialIntervalMs: 320,
    maxSessions: 16,
    stallMs: 20_000,
    ...changes,
  });
  t.after(() => recogniser.close());
  return recogniser;
}

function silence(seconds: number): Float32Array {
  return new Float32Array(seconds * RATE);
}

function joined(...sounds: readonly Float32Array[]): Float32Array {
  return Float32Array.from(sounds.flatMap((sound) => [...sound]));
}

/** A session with everything that it tells, and a ring for its sound. */
function listen(t: TestContext, recogniser: MoonshineRecogniser, options: Partial<RecognitionOptions> = {}) {
  const finals: RecognisedText[] = [];
  const partials: RecognisedText[] = [];
  const pauses: RecognisedText[] = [];
  const rate = options.sampleRate ?? RATE;
  const ring = PcmRing.open(rate, rate * 60);
  t.after(() => ring.close());
  const session = recogniser.open(
    { sampleRate: rate, use: 'file', ...options },
    {
      final: (text) => finals.push(text),
      partial: (text) => partials.push(text),
      pause: (text) => pauses.push(text),
    },
  );
  return { session, ring, finals, partials, pauses };
}

function textsOf(texts: readonly RecognisedText[]): string[] {
  return texts.map(({ text }) => text);
}

async function transcribe(
  t: TestContext,
  recogniser: MoonshineRecogniser,
  samples: Float32Array,
  options: Partial<RecognitionOptions> = {},
) {
  const { session, ring, finals } = listen(t, recogniser, options);
  ring.write(samples);
  ring.end();
  session.push(ring);
  await session.ended;
  return finals;
}

function codeOf(code: string, text: RegExp) {
  return (error: unknown) => {
    assert(error instanceof ParleyError);
    assert.equal(error.code, code);
    assert.match(error.message, text);
    return true;
  };
}

test('a file becomes its text, with its language and its times', async (t) => {
  const recogniser = await openRecogniser(t);
  assert.deepEqual(await transcribe(t, recogniser, toySound('speech')), [
    { part: 0, text: SPEECH, stable: SPEECH.length, language: 'en', beginSeconds: 0, endSeconds: 3.8 },
  ]);
  assert.equal(recogniser.sessions, 0);
  assert.equal(recogniser.device, 'cpu');
});

test('a ring of any rate is resampled', async (t) => {
  const recogniser = await openRecogniser(t);
  const sound = toySound('speech');
  for (const rate of [8000, 48_000, 192_000]) {
    const count = (sound.length * rate) / RATE;
    const samples = Float32Array.from({ length: count }, (_, n) => sound[Math.floor((n * RATE) / rate)] ?? 0);
    const finals = await transcribe(t, recogniser, samples, { sampleRate: rate });
    assert.deepEqual(textsOf(finals), [SPEECH], String(rate));
  }
});

test('each session has the model of its language, and the first without one', async (t) => {
  const recogniser = await openRecogniser(t, { models: [GERMAN, ENGLISH] });
  assert.deepEqual(recogniser.languages, ['de', 'en']);
  const sound = joined(toySound('umlaut'), silence(0.4));
  const [german] = await transcribe(t, recogniser, sound);
  assert.deepEqual([german?.text, german?.language], ['einsßeü Straße', 'de']);
  const [english] = await transcribe(t, recogniser, sound, { language: 'en-US' });
  assert.equal(english?.language, 'en');
  assert.notEqual(english.text, german?.text);
});

test('a gated turn is told as it is spoken, at its pauses and at its end', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals, partials, pauses } = listen(t, recogniser, {
    use: 'live',
    gated: true,
    partials: true,
    context: 'names that the model does not take',
  });
  session.push(ring);
  ring.write(silence(1));
  await until(() => ring.status()?.readable === 0);
  ring.write(silence(0.3)); // half a second before the order is of the turn
  session.turn('begin');
  const speech = joined(silence(0.3), toySound('speech'));
  for (let at = 0; at < speech.length; at += 12_800) {
    const before = partials.length;
    ring.write(speech.subarray(at, at + 12_800)); // it has a new word
    if (at >= 12_800 && at + 12_800 < speech.length) await until(() => partials.length > before);
  }
  session.turn('pause');
  await until(() => pauses.length === 1);
  ring.write(silence(0.3));
  session.turn('end');
  await until(() => finals.length === 1);
  assert.deepEqual(textsOf(pauses), [SPEECH]);
  assert.deepEqual(finals, [
    { part: 0, text: SPEECH, stable: SPEECH.length, language: 'en', beginSeconds: 0.8, endSeconds: 5.4 },
  ]);
  assert(partials.length >= 4);
  let promised = '';
  for (const { text, stable } of [...partials, ...pauses, ...finals]) {
    assert(text.startsWith(promised), `${text} does not begin with ${promised}`);
    promised = text.slice(0, stable);
  }
  assert.notEqual(partials.at(-1)?.stable, 0);
  await session.end();
  assert.equal(finals.length, 1);
});

test('speech that goes on after a pause has the text of speech without a pause', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals, pauses } = listen(t, recogniser, { use: 'live', gated: true });
  session.push(ring);
  ring.write(silence(0.4));
  session.turn('begin');
  const speech = joined(silence(0.4), toySound('speech'));
  const place = 1280 * 17;
  ring.write(speech.subarray(0, place));
  session.turn('pause');
  await until(() => pauses.length === 1);
  session.turn('resume');
  ring.write(speech.subarray(place));
  session.turn('pause');
  session.turn('resume'); // at once: its text may be given up
  session.turn('end');
  await until(() => finals.length === 1);
  assert.deepEqual(textsOf(finals), [SPEECH]);
  assert.equal(finals[0]?.endSeconds, 4.6);
});

test('an order is about the sound that was written before it, also before the load', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals } = listen(t, recogniser, { use: 'live', gated: true });
  const first = joined(silence(0.8), toySound('speech'));
  const second = joined(silence(0.8), toySound('speech').subarray(0, 12_800), silence(0.4));
  session.turn('begin'); // before there is a ring
  session.push(ring);
  ring.write(first);
  session.turn('pause');
  session.turn('end');
  session.turn('begin');
  ring.write(second);
  session.turn('end');
  ring.write(first);
  await session.end();
  const borders = [first.length / RATE, (first.length + second.length) / RATE];
  assert.deepEqual(
    finals.map(({ part, text, beginSeconds, endSeconds }) => [part, text, beginSeconds, endSeconds]),
    [
      [0, SPEECH, 0, borders[0]],
      [1, 'alphas', borders[0], borders[1]],
    ],
  );
});

test('a session without gates is one turn until it is ended', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  ring.write(joined(silence(0.8), toySound('speech')));
  session.turn('end');
  ring.write(silence(1));
  await session.end();
  assert.deepEqual(textsOf(finals), [SPEECH, '']);
  assert.deepEqual(finals[1]?.language, undefined);
});

test('speech of a minute is cut into segments, in a turn and in a file', async (t) => {
  const recogniser = await openRecogniser(t);
  const sentence = joined(toySound('speech'), silence(0.2));
  const sound = joined(silence(0.5), ...Array.from({ length: 12 }, () => sentence));
  const live = listen(t, recogniser, { use: 'live', partials: true });
  live.session.push(live.ring);
  for (let at = 0; at < sound.length; at += RATE) {
    live.ring.write(sound.subarray(at, at + RATE));
    await until(() => live.ring.status()?.readable === 0);
  }
  await live.session.end();
  const told = live.finals[0]?.text ?? '';
  // Each sentence has one tone of 1200 Hz. A cut that moves the grid of the toy may tell it as two.
  const tones = told.match(/char|lie/g)?.length ?? 0;
  assert(tones >= 12 && tones <= 24, told);
  const pieces = await transcribe(t, recogniser, sound);
  assert(pieces.length >= 4);
  assert(pieces.every(({ beginSeconds, endSeconds }) => endSeconds - beginSeconds <= 14));
  assert.equal(pieces.at(-1)?.endSeconds, sound.length / RATE);
});

test('the pieces of a file are cut at its speech, and silence is not recognised', async (t) => {
  const recogniser = await openRecogniser(t);
  const speech: SpeechFinder = {
    find: () => Promise.resolve([{ beginSeconds: 3.25, endSeconds: 6.6 }]),
  };
  const sound = joined(silence(3), toySound('speech'), silence(3));
  const finals = await transcribe(t, recogniser, sound, { speech });
  assert.deepEqual(textsOf(finals), ['', SPEECH, '']);
  assert.deepEqual(finals[1]?.speech, [{ beginSeconds: 3.25, endSeconds: 6.6 }]);
});

test('silence, steady noise and a click have no text', async (t) => {
  const recogniser = await openRecogniser(t);
  const noise = silence(3).map((_, n) => Math.sin(n * n) * 0.3);
  const click = silence(3);
  click.fill(0.9, 8000, 8400);
  for (const sound of [silence(3), noise, click, Float32Array.of(0.5)])
    assert.deepEqual(textsOf(await transcribe(t, recogniser, sound)), ['']);
});

test('a sound that cannot be used is named, and others go on', async (t) => {
  const recogniser = await openRecogniser(t);
  const good = transcribe(t, recogniser, toySound('speech'));
  const bad = Float32Array.of(0, NaN);
  for (const options of [{ use: 'file' }, { use: 'live', gated: true }] as const)
    await assert.rejects(transcribe(t, recogniser, bad, options), codeOf('AUDIO_INVALID', /no numbers/));
  const empty = transcribe(t, recogniser, new Float32Array(0));
  await assert.rejects(empty, codeOf('AUDIO_INVALID', /no samples/));
  const live = listen(t, recogniser, { use: 'live' });
  live.session.push(live.ring);
  live.ring.end('ENGINE_FAILED');
  await assert.rejects(live.session.ended, codeOf('ABORTED', /broke off: ENGINE_FAILED/));
  assert.deepEqual(textsOf(await good), [SPEECH]);
  assert.equal(recogniser.sessions, 0);
});

test('options that are not allowed are refused before anything runs', async (t) => {
  const recogniser = await openRecogniser(t, { maxSessions: 1 });
  const open = (options: Partial<RecognitionOptions>) => () => listen(t, recogniser, options);
  assert.throws(open({ sampleRate: 4000 }), codeOf('INVALID_FIELD', /from 8000 to 192000 Hz, not 4000/));
  assert.throws(open({ language: 'tlh' }), codeOf('INVALID_FIELD', /"tlh" is none of the model's: en/));
  assert.throws(open({ pieceSeconds: 5 }), codeOf('INVALID_FIELD', /10 to 1200 seconds/));
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  assert.throws(open({}), codeOf('ENGINE_BUSY', /1 sounds are being recognised/));
  const slow = PcmRing.open(8000, 8000);
  t.after(() => slow.close());
  assert.throws(() => session.push(slow), codeOf('INVALID_FIELD', /the ring has 8000 Hz.*says 16000/));
  session.push(ring);
  assert.throws(() => session.push(ring), codeOf('WRONG_STATE', /a ring already/));
  await session.end();
  assert.equal(recogniser.sessions, 0);
});

test('a session that is closed frees its place and its ring', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  ring.write(toySound('speech'));
  session.close();
  await assert.rejects(session.ended, codeOf('ABORTED', /./));
  await until(() => ring.status()?.aborted === true);
  const unused = recogniser.open({ sampleRate: RATE, use: 'live' }, { final: () => undefined });
  unused.close();
  await assert.rejects(unused.ended, codeOf('ABORTED', /given up/));
  assert.deepEqual([recogniser.sessions, finals.length], [0, 0]);
});

test('a listener that throws ends its session, and no other', async (t) => {
  const recogniser = await openRecogniser(t);
  for (const use of ['live', 'file'] as const) {
    const ring = PcmRing.open(RATE, RATE * 4);
    t.after(() => ring.close());
    const final = () => {
      throw new TypeError('mine');
    };
    const session = recogniser.open({ sampleRate: RATE, use }, { final });
    session.push(ring);
    ring.write(toySound('speech'));
    ring.end();
    await assert.rejects(session.ended, codeOf('ENGINE_FAILED', /./));
  }
  assert.deepEqual(textsOf(await transcribe(t, recogniser, toySound('speech'))), [SPEECH]);
});

test('eight callers at once hear the same as one alone', async (t) => {
  const recogniser = await openRecogniser(t, { workers: 2 });
  await recogniser.load();
  assert((recogniser.mostLive ?? 0) >= 8);
  const sound = joined(silence(0.8), toySound('speech'));
  const all = Array.from({ length: 8 }, async () => {
    const { session, ring, finals } = listen(t, recogniser, { use: 'live', partials: true });
    session.push(ring);
    for (let at = 0; at < sound.length; at += 3200) {
      ring.write(sound.subarray(at, at + 3200));
      await until(() => ring.status()?.readable === 0);
    }
    await session.end();
    return textsOf(finals);
  });
  assert.deepEqual(
    await Promise.all(all),
    Array.from({ length: 8 }, () => [SPEECH]),
  );
});

test('a model is loaded for a session, idled out, and loaded again', async (t) => {
  const time = new ManualTime();
  const news: EngineNews[] = [];
  const recogniser = await openRecogniser(t, { time, idleMs: 60_000, onNews: (one) => news.push(one) });
  assert.deepEqual([recogniser.loaded, recogniser.device], [false, undefined]);
  await transcribe(t, recogniser, toySound('speech'));
  assert.equal(recogniser.loaded, true);
  time.advance(60_000);
  await until(() => news.some(({ what }) => what === 'unloaded'));
  assert.equal(recogniser.loaded, false);
  assert.deepEqual(textsOf(await transcribe(t, recogniser, toySound('speech'))), [SPEECH]);
  assert.equal(news.filter(({ what }) => what === 'loaded').length, 2);
});

test('sessions of a recogniser that closes end, and none opens after', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  await until(() => recogniser.loaded);
  const ended = assert.rejects(session.ended, codeOf('ABORTED', /./));
  await recogniser.close();
  await ended;
  assert.equal(recogniser.usable, false);
});

/** A copy of a toy in a folder of its own. */
function copyOf(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-moonshine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(toy(name), folder, { recursive: true });
  return folder;
}

test('files that are missing, damaged or of another model are named', async (t) => {
  const open = (directory: string) => openRecogniser(t, { models: [{ directory, language: 'en' }] });
  const unusable = (text: RegExp) => codeOf('ENGINE_UNAVAILABLE', text);
  await assert.rejects(open('/nowhere'), unusable(/\/nowhere cannot be used: .*streaming_config\.json/));
  const torn = copyOf(t, 'moonshine-a');
  writeFileSync(join(torn, 'tokenizer.bin'), 'x');
  await assert.rejects(open(torn), /tokenizer\.bin: token 0 is cut off/);
  for (const [file, change, message] of [
    ['encoder.ort', (path: string) => rmSync(path), /has no encoder\.ort and no encoder\.onnx/],
    ['decoder_kv.ort', (path: string) => writeFileSync(path, 'x'), /decoder_kv\.ort is no ONNX model/],
    ['adapter.ort', (path: string) => cpSync(join(toy('moonshine-b'), 'encoder.ort'), path), /input encoded/],
  ] as const) {
    const folder = copyOf(t, 'moonshine-b');
    change(join(folder, file));
    const recogniser = await open(folder);
    await assert.rejects(recogniser.load(), unusable(message));
    assert.equal(recogniser.usable, false);
    assert.match(recogniser.trouble ?? '', message);
  }
});

test('a model that changed under a running server is refused when it is loaded again', async (t) => {
  const directory = copyOf(t, 'moonshine-a');
  const recogniser = await openRecogniser(t, { models: [{ directory, language: 'en' }] });
  await recogniser.load();
  const path = join(directory, 'encoder.onnx');
  writeFileSync(path, readFileSync(path).fill(0, 100, 200));
  assert.deepEqual(textsOf(await transcribe(t, recogniser, toySound('speech'))), [SPEECH]);
  await recogniser.unload();
  await assert.rejects(
    recogniser.load(),
    /encoder\.onnx (has changed since the server started|is no ONNX model)/,
  );
});

/** Changes the last byte of a piece, so that the file can still be read. */
function changePiece(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) === 0x61 ? 0x62 : 0x61;
  writeFileSync(path, bytes);
}

test('a tokenizer that changed under a running server is refused, too', async (t) => {
  const directory = copyOf(t, 'moonshine-a');
  const recogniser = await openRecogniser(t, { models: [{ directory, language: 'en' }] });
  await recogniser.load();
  await recogniser.unload();
  changePiece(join(directory, 'tokenizer.bin'));
  await assert.rejects(recogniser.load(), /tokenizer\.bin has changed since the server started/);
});

test('a file that is not as it was pulled is refused', async (t) => {
  const directory = copyOf(t, 'moonshine-a');
  const path = join(directory, 'tokenizer.bin');
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  writeFileSync(join(directory, 'SHA256SUMS'), `${digest}  tokenizer.bin\n`);
  const recogniser = await openRecogniser(t, { models: [{ directory, language: 'en' }] });
  await recogniser.load();
  await recogniser.unload();
  changePiece(path);
  await assert.rejects(recogniser.load(), /tokenizer\.bin is not as pulled/);
});

test('a worker that dies costs its own sessions, and is started again', async (t) => {
  const news: EngineNews[] = [];
  const workerFile = new URL('./mortal-worker.js', import.meta.url);
  const recogniser = await openRecogniser(t, { workers: 2, workerFile, onNews: (one) => news.push(one) });
  await recogniser.load();
  const [first, second] = [0, 1].map(() => listen(t, recogniser, { use: 'live', gated: true }));
  assert(first !== undefined && second !== undefined);
  const dying = assert.rejects(first.session.ended, codeOf('ENGINE_LOST', /worker.*has ended/));
  for (const { session, ring } of [first, second]) {
    session.push(ring);
    session.turn('begin');
    ring.write(silence(0.8));
    await until(() => ring.status()?.readable === 0);
  }
  first.ring.write(silence(0.1).fill(0.123)); // the sound that the worker dies of
  await dying;
  second.ring.write(toySound('speech'));
  await second.session.end();
  assert.deepEqual(textsOf(second.finals), [SPEECH]);
  assert.equal(news.filter(({ what }) => what === 'lost').length, 1);
  await until(() => news.filter(({ what }) => what === 'loaded').length === 2);
  assert.deepEqual(textsOf(await transcribe(t, recogniser, toySound('speech'))), [SPEECH]);
});

test('a worker that hangs is ended, and the next session has a new one', async (t) => {
  const time = new ManualTime();
  const workerFile = new URL('./mortal-worker.js', import.meta.url);
  const recogniser = await openRecogniser(t, { time, stallMs: 1000, workerFile });
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  await until(() => recogniser.loaded);
  ring.write(silence(0.1).fill(0.321)); // the sound that the worker hangs at
  const ended = assert.rejects(session.ended, codeOf('ENGINE_LOST', /nothing was recognised for 1000 ms/));
  await until(() => ring.status()?.readable === 0);
  time.advance(1000); // the first question may have been answered
  time.advance(1000);
  await ended;
  time.advance(2000); // it does not end by itself
  assert.deepEqual(textsOf(await transcribe(t, recogniser, toySound('speech'))), [SPEECH]);
});
