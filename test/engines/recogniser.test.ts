// The recogniser and the aligner through the addon, on the tiny checkpoints that answer in the words of their
// clips.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { readWav } from '../../src/codecs/wav.js';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import {
  Qwen3Aligner,
  Qwen3Recogniser,
  type Qwen3RecogniserOptions,
} from '../../src/engines/qwen3/qwen3-recogniser.js';
import type { RecognisedText, RecognitionOptions } from '../../src/engines/recogniser.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { GOLDEN } from './golden.js';

const RATE = 16_000;

interface Case {
  readonly clip: string;
  readonly result_text: string;
  readonly result_language: string;
}
interface Aligned {
  readonly clip: string;
  readonly text: string;
  readonly items: readonly (readonly [string, number, number])[];
}

const manifest = JSON.parse(readFileSync(join(GOLDEN, 'recognition/manifest.json'), 'utf8')) as {
  readonly cases: Readonly<Record<string, Case>>;
  readonly align: Readonly<Record<string, Aligned>>;
  readonly transcribe: Readonly<Record<string, Aligned>>;
};

function clip(name: string): Float32Array {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips', `${name}.wav`)));
  const samples = new Float32Array(wav.frames);
  wav.read(0, 0, samples);
  return samples;
}

function expected(name: string): string {
  const found = manifest.cases[`tiny-asr-a__${name}`];
  assert(found !== undefined);
  return found.result_text;
}

function optionsOf(model: string, changes: Partial<Qwen3RecogniserOptions> = {}): Qwen3RecogniserOptions {
  const directory = model.startsWith('/') ? model : join(GOLDEN, model);
  const native = {
    directory,
    quantize: 'none',
    cacheFormat: 'f32',
    threads: 1,
    cores: [],
    warmUp: false,
  } as const;
  return { native, maxSessions: 8, stallMs: 20_000, ...changes };
}

async function openRecogniser(
  t: TestContext,
  model = 'tiny-asr-a',
  changes: Partial<Qwen3RecogniserOptions> = {},
) {
  const recogniser = await Qwen3Recogniser.open(optionsOf(model, changes));
  t.after(() => recogniser.close());
  return recogniser;
}

/** A session with everything that it tells, and a ring that holds the sound. */
function listen(
  t: TestContext,
  recogniser: Qwen3Recogniser,
  options: Partial<RecognitionOptions> = {},
  seconds = 40,
) {
  const finals: RecognisedText[] = [];
  const partials: RecognisedText[] = [];
  const pauses: RecognisedText[] = [];
  const ring = PcmRing.open(RATE, RATE * seconds);
  t.after(() => ring.close());
  const session = recogniser.open(
    { sampleRate: RATE, use: 'file', ...options },
    {
      final: (text) => finals.push(text),
      partial: (text) => partials.push(text),
      pause: (text) => pauses.push(text),
    },
  );
  return { session, ring, finals, partials, pauses };
}

const textsOf = (texts: readonly RecognisedText[]) => texts.map(({ text }) => text);

async function transcribe(t: TestContext, recogniser: Qwen3Recogniser, samples: Float32Array) {
  const { session, ring, finals } = listen(t, recogniser);
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
  const [text, ...more] = await transcribe(t, recogniser, clip('odd37'));
  assert.deepEqual(text, {
    part: 0,
    text: expected('odd37'),
    stable: expected('odd37').length,
    language: 'en',
    beginSeconds: 0,
    endSeconds: 59_279 / RATE,
  });
  assert.equal(more.length, 0);
  assert.equal(recogniser.sessions, 0);
});

test('several files are recognised at once, each as alone', async (t) => {
  const recogniser = await openRecogniser(t);
  const names = ['yes03', 'tag10', 'edge101', 'odd37', 'zh52', 'en91'];
  const all = await Promise.all(names.map((name) => transcribe(t, recogniser, clip(name))));
  assert.deepEqual(
    all.map((finals) => finals.map(({ text }) => text)),
    names.map((name) => [expected(name)]),
  );
  assert((recogniser.stats?.soundSeconds ?? 0) > 20);
});

test('a turn is told as it is spoken, and its beginning stays', async (t) => {
  const recogniser = await openRecogniser(t, 'tiny-asr-a', {
    native: { ...optionsOf('tiny-asr-a').native, leastIntervalMs: 20 },
  });
  const { session, ring, finals, partials } = listen(t, recogniser, { use: 'live', partials: true });
  session.push(ring);
  const samples = clip('stream13');
  for (let at = 0; at < samples.length; at += RATE) {
    const before = recogniser.stats?.passes ?? 0;
    ring.write(samples.subarray(at, at + RATE));
    await until(() => (recogniser.stats?.passes ?? 0) > before);
  }
  session.turn('pause');
  session.turn('end');
  await until(() => finals.length === 1);
  let stable = '';
  for (const partial of partials) {
    assert(partial.text.startsWith(stable));
    stable = partial.text.slice(0, partial.stable);
  }
  assert.notEqual(stable, '');
  assert(finals[0]?.text.startsWith(stable));
  await session.end();
  assert.equal(finals.length, 1);
});

test('the whole text of a turn is told at each of its pauses, with and without partial texts', async (t) => {
  const recogniser = await openRecogniser(t);
  for (const partials of [true, false]) {
    const told = listen(t, recogniser, { use: 'live', gated: true, partials });
    told.session.push(told.ring);
    told.session.turn('begin');
    told.ring.write(clip('odd37'));
    told.session.turn('pause');
    await until(() => told.pauses.length === 1);
    assert.deepEqual(told.finals, []);
    told.session.turn('end');
    await until(() => told.finals.length === 1);
    assert.deepEqual(textsOf(told.pauses), textsOf(told.finals));
    assert.deepEqual(textsOf(told.partials), partials ? textsOf(told.finals) : []);
    await told.session.end();
  }
});

test('a gated session hears its turns only', async (t) => {
  const recogniser = await openRecogniser(t);
  const plain = listen(t, recogniser, { use: 'live' });
  plain.session.push(plain.ring);
  plain.ring.write(clip('odd37'));
  await plain.session.end();
  const { session, ring, finals } = listen(t, recogniser, { use: 'live', gated: true });
  session.turn('begin'); // before there is a ring
  ring.write(clip('odd37'));
  session.push(ring);
  await until(() => ring.status()?.readable === 0);
  session.turn('end');
  await until(() => finals.length === 1);
  ring.write(clip('tag10'));
  await session.end();
  assert.deepEqual(finals, plain.finals);
});

test('an order is about the sound that was written before it', async (t) => {
  const recogniser = await openRecogniser(t); // which is loaded for this session, after all that is said
  const { session, ring, finals } = listen(t, recogniser, { use: 'live', gated: true });
  session.push(ring);
  const [first, second] = [clip('odd37'), clip('en91')];
  session.turn('begin');
  ring.write(first);
  session.turn('pause');
  session.turn('end');
  session.turn('begin');
  ring.write(second);
  session.turn('end');
  ring.write(clip('tag10'));
  await session.end();
  const lastSecond = (first.length + second.length) / RATE;
  assert.deepEqual(
    finals.map(({ part, text, beginSeconds, endSeconds }) => [part, text, beginSeconds, endSeconds]),
    [
      [0, expected('odd37'), 0, first.length / RATE],
      [1, finals[1]?.text, first.length / RATE, lastSecond],
    ],
  );
  assert.match(finals[1]?.text ?? '', /^Please hold the line while I transfer your call/);
});

test('a listener that throws ends its session, and no other', async (t) => {
  const recogniser = await openRecogniser(t);
  const other = transcribe(t, recogniser, clip('odd37'));
  const ring = PcmRing.open(RATE, RATE * 4);
  t.after(() => ring.close());
  const session = recogniser.open(
    { sampleRate: RATE, use: 'file' },
    {
      final: () => {
        throw new TypeError('mine');
      },
    },
  );
  session.push(ring);
  ring.write(clip('odd37'));
  ring.end();
  await assert.rejects(session.ended, codeOf('ENGINE_FAILED', /./));
  assert.equal((await other)[0]?.text, expected('odd37'));
  assert.equal(recogniser.sessions, 0);
});

test('a session that is closed frees its place and its ring', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  ring.write(clip('odd37'));
  session.close();
  await assert.rejects(session.ended, codeOf('ABORTED', /./));
  assert.equal(ring.status()?.aborted, true);
  await until(() => recogniser.sessions === 0);
  const unused = recogniser.open({ sampleRate: RATE, use: 'live' }, { final: () => undefined });
  unused.close();
  await assert.rejects(unused.ended, codeOf('ABORTED', /given up/));
});

test('a sound that cannot be used is named, and others go on', async (t) => {
  const recogniser = await openRecogniser(t);
  const good = transcribe(t, recogniser, clip('odd37'));
  const cases: (readonly [Float32Array, RegExp])[] = [
    [new Float32Array(0), /the sound is empty/],
    [new Float32Array(1), /shorter than 13 ms/],
    [Float32Array.of(0, Number.NaN), /sample 1 is no finite number/],
  ];
  for (const [samples, text] of cases) {
    await assert.rejects(transcribe(t, recogniser, samples), codeOf('AUDIO_INVALID', text));
  }
  const { session, ring } = listen(t, recogniser);
  session.push(ring);
  ring.end('ENGINE_FAILED');
  await assert.rejects(session.ended, codeOf('AUDIO_INVALID', /the sound broke off: ENGINE_FAILED/));
  assert.equal((await good)[0]?.text, expected('odd37'));
});

test('options that are not allowed are refused before anything runs', async (t) => {
  const recogniser = await openRecogniser(t, 'tiny-asr-a', { maxSessions: 1 });
  const open = (options: Partial<RecognitionOptions>) => () => listen(t, recogniser, options);
  assert.throws(open({ sampleRate: 4000 }), codeOf('INVALID_FIELD', /from 8000 to 192000 Hz, not 4000/));
  assert.throws(open({ language: 'tlh' }), codeOf('INVALID_FIELD', /"tlh" is none of the model's: zh, en/));
  assert.throws(open({ pieceSeconds: 5 }), codeOf('INVALID_FIELD', /10 to 1200 seconds/));
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  assert.throws(open({}), codeOf('ENGINE_BUSY', /1 sounds are being recognised/));
  const slow = PcmRing.open(8000, 8000);
  t.after(() => slow.close());
  assert.throws(() => session.push(slow), codeOf('INVALID_FIELD', /the ring has 8000 Hz.*says 16000/));
  session.push(ring);
  assert.throws(() => session.push(ring), codeOf('WRONG_STATE', /a ring already/));
  assert.throws(open({}), codeOf('ENGINE_BUSY', /1 sounds are being recognised/));
  await session.end();
  assert.equal(recogniser.sessions, 0);
});

test('a checkpoint that is wrong is named with its variable', async () => {
  await assert.rejects(
    Qwen3Recogniser.open(optionsOf('tiny-aligner')),
    codeOf(
      'ENGINE_UNAVAILABLE',
      /ASR_MODEL_DIR or ASR_MODEL_ID.*a recogniser, found one of a forced aligner/,
    ),
  );
  await assert.rejects(
    Qwen3Aligner.open(optionsOf('tiny-asr-a')),
    codeOf('ENGINE_UNAVAILABLE', /ALIGNER_MODEL_DIR.*a forced aligner, found one of a recogniser/),
  );
  await assert.rejects(
    Qwen3Recogniser.open(optionsOf('tiny-base')),
    codeOf('ENGINE_UNAVAILABLE', /config.json: model_type: expected "qwen3_asr"/),
  );
});

test('a model is loaded for a session, idled out, and loaded again', async (t) => {
  const awake = setInterval(() => undefined, 1000); // the time is a fake, and nothing else holds the process
  t.after(() => clearInterval(awake));
  const time = new ManualTime();
  const news: EngineNews[] = [];
  const options = { time, idleMs: 60_000, onNews: (one: EngineNews) => news.push(one) };
  const recogniser = await openRecogniser(t, 'tiny-asr-a', options);
  assert.equal(recogniser.loaded, false);
  await transcribe(t, recogniser, clip('yes03'));
  assert.equal(recogniser.loaded, true);
  time.advance(60_000);
  await until(() => news.some(({ what }) => what === 'unloaded'));
  assert.equal(recogniser.loaded, false);
  const again = await transcribe(t, recogniser, clip('yes03'));
  assert.equal(again[0]?.text, expected('yes03'));
  assert.equal(news.filter(({ what }) => what === 'loaded').length, 2);
  assert.match(JSON.stringify(news.at(-1)), /"model":"[^"]*tiny-asr-a"/);
});

test('sessions of a recogniser that closes end, and none opens after', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring } = listen(t, recogniser, { use: 'live' });
  session.push(ring);
  await until(() => recogniser.loaded);
  const ended = assert.rejects(session.ended, (error: unknown) => error instanceof ParleyError);
  await recogniser.close();
  await ended;
  assert.equal(recogniser.usable, false);
});

test('weights that change under a running model end its sessions', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-asr-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(GOLDEN, 'tiny-asr-a'), folder, { recursive: true });
  const news: EngineNews[] = [];
  const recogniser = await openRecogniser(t, folder, { onNews: (one) => news.push(one) });
  await transcribe(t, recogniser, clip('yes03'));
  const weights = join(folder, 'model.safetensors');
  writeFileSync(weights, readFileSync(weights).reverse());
  await assert.rejects(transcribe(t, recogniser, clip('yes03')), codeOf('ENGINE_LOST', /lost its model/));
  await until(() => news.some(({ what }) => what === 'lost'));
});

async function openAligner(t: TestContext): Promise<Qwen3Aligner> {
  const aligner = await Qwen3Aligner.open(optionsOf('tiny-aligner'));
  t.after(() => aligner.close());
  return aligner;
}

/** The words of a clip as the reference's vectors have them. */
async function aligned(t: TestContext, aligner: Qwen3Aligner, name: string, text: string, language?: string) {
  const ring = PcmRing.open(RATE, RATE * 40);
  t.after(() => ring.close());
  ring.write(clip(name));
  ring.end();
  const request = { text, language, sampleRate: RATE };
  const words = await aligner.align(request, ring, new AbortController().signal);
  return words.map(({ word, beginSeconds, endSeconds }) => [word, beginSeconds, endSeconds]);
}

test('the words of a text are timed', async (t) => {
  const aligner = await openAligner(t);
  const never = new AbortController().signal;
  for (const { clip: name, text, items } of Object.values(manifest.align))
    assert.deepEqual(await aligned(t, aligner, name, text), items);
  const ring = PcmRing.open(RATE, RATE);
  t.after(() => ring.close());
  ring.write(clip('yes03'));
  ring.end();
  const nothing = aligner.align({ text: '?!', sampleRate: RATE }, ring, never);
  await assert.rejects(nothing, codeOf('AUDIO_INVALID', /has no words/));
});

test('a recognised text gets the times that the reference gives it', async (t) => {
  const [recogniser, aligner] = [await openRecogniser(t), await openAligner(t)];
  for (const name of ['timestamps_odd37', 'timestamps_zh52']) {
    const wanted = manifest.transcribe[name];
    assert(wanted !== undefined);
    const [recognised] = await transcribe(t, recogniser, clip(wanted.clip));
    assert.equal(recognised?.text, wanted.text);
    const words = await aligned(t, aligner, wanted.clip, recognised.text, recognised.language);
    assert.deepEqual(words, wanted.items);
  }
});

test('a file of Korean words that cannot be read is named with its variable', async (t) => {
  const options = optionsOf('tiny-aligner');
  const native = { ...options.native, koreanDictionary: '/nowhere/words.txt' };
  const aligner = await Qwen3Aligner.open({ ...options, native });
  t.after(() => aligner.close());
  await assert.rejects(aligner.load(), /ALIGNER_KOREAN_WORDS: .nowhere.words.txt: cannot be opened/);
});

test('an aborted alignment gives its ring up', async (t) => {
  const aligner = await openAligner(t);
  const ring = PcmRing.open(RATE, RATE);
  t.after(() => ring.close());
  const given = new AbortController();
  const aligned = aligner.align({ text: 'Yes.', sampleRate: RATE }, ring, given.signal);
  given.abort();
  await assert.rejects(aligned, codeOf('ABORTED', /./));
  assert.equal(ring.status()?.aborted, true);
});
