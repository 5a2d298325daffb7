// The engine Pocket TTS through the addon, on a tiny checkpoint with random weights: languages, voices, their
// licences, and names of other products. Sound quality is not tested.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { readConfig } from '../../../src/config/config.js';
import type { PocketConfig } from '../../../src/config/pocket-config.js';
import type { SynthesisRequest } from '../../../src/engines/engine.js';
import type { EngineNews } from '../../../src/engines/engine-lifecycle.js';
import { enginesOf, type EngineSetup } from '../../../src/engines/engine-setup.js';
import { PocketEngine } from '../../../src/engines/pocket/pocket.js';
import { ParleyError } from '../../../src/errors.js';
import { readAll } from '../read-ring.js';
import {
  addVoice,
  dropEncoder,
  type Models,
  pocketFolders,
  VOICE_OF_ANOTHER_MODEL,
} from './pocket-folders.js';

const RATE = 24_000;
const FRAME = 1920;
const NATIVE = {
  quantize: 'none',
  threads: 1,
  cores: [],
  maxStreams: 4,
  maxNewTokens: 0,
  maxVoices: 4,
  warmUp: false,
};
const LIMITS = { maxWaiting: 8, renderTimeoutMs: 20_000 };
async function openPocket(t: TestContext, models: Models, news: EngineNews[] = []) {
  const config = { stated: undefined, models: pocketFolders(t, models), nonCommercial: false };
  const onNews = (one: EngineNews) => news.push(one);
  const engine = await PocketEngine.open(config, { native: NATIVE, ...LIMITS, onNews });
  t.after(() => engine.close());
  return engine;
}

async function spoken(engine: PocketEngine, request: Partial<SynthesisRequest> & { voice: string }) {
  const ring = PcmRing.open(RATE, RATE);
  try {
    const whole = { text: 'Good morning.', language: 'en', options: { seed: 7 }, ...request };
    const work = engine.synthesize(whole, ring, new AbortController().signal);
    const [{ samples }] = await Promise.all([readAll(ring), work]);
    return samples;
  } finally {
    ring.close();
  }
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => (error instanceof ParleyError ? `${error.code} ${error.message}` : String(error)),
  );
}

test('one voice speaks each language in which it has a file, with the model of the language', async (t) => {
  const news: EngineNews[] = [];
  const engine = await openPocket(t, { english: ['alba', 'vera'], german: ['juergen', 'alba'] }, news);
  assert.deepEqual(engine.capabilities.languages, ['en', 'de']);
  const voices = await engine.voices();
  assert.deepEqual(
    voices.map(({ name, languages, usualFor }) => [name, languages, usualFor]),
    [
      ['alba', ['en', 'de'], ['en']],
      ['juergen', ['de'], ['de']],
      ['vera', ['en'], []],
    ],
  );
  const loaded = () => news.map((one) => [one.what, 'language' in one ? one['language'] : undefined]);
  assert.equal(engine.loaded, false);
  const english = await spoken(engine, { voice: 'alba' });
  assert.ok(english.length > 0 && english.length % FRAME === 0);
  assert.deepEqual(loaded(), [['loaded', 'en']]);
  assert.ok((await spoken(engine, { voice: 'alba', language: 'de' })).length > 0);
  assert.deepEqual(loaded(), [
    ['loaded', 'en'],
    ['loaded', 'de'],
  ]);
  assert.deepEqual(await spoken(engine, { voice: 'alba' }), english);
  const french = spoken(engine, { voice: 'alba', language: 'fr' });
  assert.match(await problemOf(french), /^LANGUAGE_UNAVAILABLE .*"fr"$/);
});

async function enginesWith(t: TestContext, models: Models, more: Partial<EngineSetup & PocketConfig> = {}) {
  const { nonCommercial = false, ...setup } = more;
  const config = { stated: undefined, models: pocketFolders(t, models), nonCommercial };
  const engines = await enginesOf({
    engine: 'auto',
    ...LIMITS,
    pocket: { config, native: NATIVE },
    ...setup,
  });
  t.after(() => engines.close());
  return engines;
}

test('each language has its own voice unless one is named, and comes before flite', async (t) => {
  const engines = await enginesWith(t, { english: ['alba', 'vera'], german: ['juergen', 'alba'] });
  const chosen = (request: Parameters<typeof engines.resolve>[0]) => {
    const { engine, voice, language } = engines.resolve(request);
    return `${engine.name} ${voice} ${language}`;
  };
  assert.equal(chosen({}), 'pocket alba en');
  assert.equal(chosen({ language: 'en-GB' }), 'pocket alba en');
  assert.equal(chosen({ language: 'de' }), 'pocket juergen de');
  assert.equal(chosen({ language: 'de', voice: 'alba' }), 'pocket alba de');
  assert.equal(chosen({ voice: 'slt' }), 'flite slt en');
  assert.equal(chosen({ voice: 'coral' }), 'pocket vera en');
  assert.equal(chosen({ voice: 'rachel' }), 'pocket alba en');
  assert.equal(chosen({ voice: 'onyx', language: 'de' }), 'pocket juergen de');
  // The voice that stands for it has no file here.
  assert.equal(chosen({ voice: 'onyx' }), 'flite kal16 en');
  engines.useDefault('alba');
  assert.equal(chosen({ language: 'de' }), 'pocket alba de');
});

test('a voice for non-commercial use speaks only where the operator states it', async (t) => {
  const models = { english: ['jean', 'marius'] };
  const engines = await enginesWith(t, models);
  assert.equal(engines.resolve({}).voice, 'marius');
  const message = /CC BY-NC 4\.0.*POCKET_NONCOMMERCIAL=1/;
  const refusal = { code: 'CAPABILITY_MISSING', field: 'voice', message };
  assert.throws(() => engines.resolve({ voice: 'jean' }), refusal);
  assert.throws(() => engines.useDefault('jean'), refusal);
  const listed = (await engines.voices()).find(({ name }) => name === 'jean');
  assert.equal(listed?.licence, 'CC BY-NC 4.0');
  const free = await enginesWith(t, models, { nonCommercial: true });
  assert.equal(free.resolve({ voice: 'jean' }).voice, 'jean');
});

test('a language without a model is told with the command that fetches one', async (t) => {
  const engines = await enginesWith(t, { english: ['alba'] });
  const command = /the engine pocket would: fetch a model with: npm run parley -- pull pocket-it/;
  assert.throws(() => engines.resolve({ language: 'it' }), {
    code: 'LANGUAGE_UNAVAILABLE',
    message: command,
  });
  assert.deepEqual(engines.health(), { espeak: false, flite: true, pocket: true });
  assert.equal(
    await problemOf(enginesOf({ engine: 'pocket', ...LIMITS })),
    'ENGINE_UNAVAILABLE ENGINE=pocket lacks its engine: fetch a model with: npm run parley -- pull pocket-en',
  );
  const flite = await enginesWith(t, { english: ['alba'] }, { engine: 'flite' });
  assert.equal(flite.resolve({}).engine.name, 'flite');
});

test('where no voice is neural, the command for the intended language is known', async (t) => {
  const commandOf = async (models: Models, more: Partial<EngineSetup> & { isOff?: boolean } = {}) => {
    const { isOff = false, ...setup } = more;
    const config = { stated: undefined, models: pocketFolders(t, models), nonCommercial: false, isOff };
    const all = { engine: 'auto', ...LIMITS, pocket: { config, native: NATIVE }, ...setup } as const;
    const engines = await enginesOf(all);
    t.after(() => engines.close());
    assert.equal(engines.figures.voiceCommand, engines.voiceCommand);
    return engines.voiceCommand;
  };
  const pull = 'npm run parley -- pull pocket-';
  assert.equal(await commandOf({}), `${pull}en`);
  assert.equal(await commandOf({}, { intended: ['de-AT', 'en'] }), `${pull}de`);
  assert.equal(await commandOf({}, { intended: ['ja'] }), undefined);
  assert.equal(await commandOf({}, { engine: 'flite' }), undefined);
  assert.equal(await commandOf({}, { isOff: true }), undefined);
  assert.equal(await commandOf({ english: ['alba'] }), undefined);
  assert.equal(await commandOf({ english: ['alba'] }, { intended: ['en', 'de'] }), `${pull}de`);
  assert.equal(await commandOf({ german: ['juergen'] }, { intended: ['de'] }), undefined);
});

test('a model that cannot be used is refused at the start, with its variable and the file', async (t) => {
  const [model] = pocketFolders(t, { english: ['alba'] });
  assert.ok(model !== undefined);
  const file = join(model.directory, 'model.safetensors');
  const options = { native: NATIVE, ...LIMITS };
  const refusal = (variable: string) =>
    new RegExp(`^ENGINE_UNAVAILABLE the model of ${variable} cannot be used: ${file}`);
  const named = { stated: undefined, models: [model], nonCommercial: false };
  const stated = { stated: model, models: [], nonCommercial: false };
  truncateSync(file, 1000);
  assert.match(await problemOf(PocketEngine.open(named, options)), refusal('POCKET_MODELS'));
  assert.match(await problemOf(PocketEngine.open(stated, options)), refusal('MODEL_DIR or MODEL_ID'));
  renameSync(file, `${file}.gone`);
  assert.match(await problemOf(PocketEngine.open(named, options)), /model\.safetensors/);
});

test('a damaged model of the cache is left out, with news of it', async (t) => {
  const models = pocketFolders(t, { english: ['alba'], german: ['juergen'] });
  const [english] = models;
  assert.ok(english !== undefined);
  truncateSync(join(english.directory, 'model.safetensors'), 1000);
  const news: EngineNews[] = [];
  const onNews = (_engine: string, one: EngineNews) => void news.push(one);
  const open = async (all: typeof models) => {
    const config = { stated: undefined, models: all, nonCommercial: false, isFound: true };
    const setup = { engine: 'auto', ...LIMITS, pocket: { config, native: NATIVE }, onNews } as const;
    const engines = await enginesOf(setup);
    t.after(() => engines.close());
    return engines;
  };
  const both = await open(models);
  assert.equal(both.resolve({ language: 'de' }).engine.name, 'pocket');
  assert.equal(both.resolve({ language: 'en' }).engine.name, 'flite');
  assert.deepEqual(
    news.map(({ what }) => what),
    ['model refused'],
  );
  assert.match(JSON.stringify(news), /english\/model\.safetensors/);
  assert.equal((await open([english])).resolve({}).engine.name, 'flite');
});

test('a language whose model cannot be loaded is spoken by flite, and the other goes on', async (t) => {
  const models = pocketFolders(t, { english: ['alba'], german: ['juergen', 'alba'] });
  const config = { stated: undefined, models, nonCommercial: false };
  const engines = await enginesOf({ engine: 'auto', ...LIMITS, pocket: { config, native: NATIVE } });
  t.after(() => engines.close());
  truncateSync(join(models[0]?.directory ?? assert.fail(), 'model.safetensors'), 1000);
  await engines.load().catch(() => undefined);
  const chosen = (request: Parameters<typeof engines.resolve>[0]) => engines.resolve(request).engine.name;
  assert.deepEqual([{}, { language: 'en' }, { language: 'de' }].map(chosen), ['flite', 'flite', 'pocket']);
  assert.equal(chosen({ voice: 'alloy' }), 'flite');
  const inTrouble = engines.missing.find(({ remedy }) => remedy.startsWith('mend this: en: '));
  assert.deepEqual(inTrouble?.languages, ['en']);
});

test('a folder without voices speaks with recordings, or is refused by its name', async (t) => {
  const models = pocketFolders(t, { english: [] });
  const directory = models[0]?.directory ?? assert.fail();
  const config = { stated: undefined, models, nonCommercial: false };
  const engine = await PocketEngine.open(config, { native: NATIVE, ...LIMITS });
  t.after(() => engine.close());
  assert.deepEqual(await engine.voices(), []);
  const samples = Float32Array.from({ length: 3 * RATE }, (_, n) => 0.3 * Math.sin(n / 20));
  const reference = { kind: 'sample', hash: 'hum', samples, rate: RATE } as const;
  assert.ok((await spoken(engine, { voice: '', reference })).length > 0);
  dropEncoder(directory);
  assert.equal(
    await problemOf(PocketEngine.open(config, { native: NATIVE, ...LIMITS })),
    `ENGINE_UNAVAILABLE the model of POCKET_MODELS cannot be used: ${directory} has no voice in embeddings, and no encoder, which would clone one`,
  );
});

const SENTENCE = 'Your three books are ready for you!';

test('speech that skips words is made again unless the request has a seed, and counted', async (t) => {
  // The speech of the golden weights ends at once, with any noise as small as this.
  const engine = await openPocket(t, { english: ['alba'] });
  const chunks = () => {
    const { chunksCutShort, chunksRepeated, chunksEndless } = engine.device().work ?? assert.fail();
    return { chunksCutShort, chunksRepeated, chunksEndless };
  };
  await spoken(engine, { voice: 'alba', text: SENTENCE, options: { seed: 1, temperature: 0.001 } });
  assert.deepEqual(chunks(), { chunksCutShort: 1, chunksRepeated: 0, chunksEndless: 0 });
  await spoken(engine, { voice: 'alba', text: SENTENCE, options: { temperature: 0.001 } });
  assert.deepEqual(chunks(), { chunksCutShort: 2, chunksRepeated: 1, chunksEndless: 0 });
  await engine.unload();
  const counted = { chunksCutShort: 2, chunksRepeated: 1, chunksEndless: 0 };
  assert.deepEqual([engine.device().work, engine.device().chunks], [undefined, counted]);
  await engine.load();
  assert.deepEqual(chunks(), counted, 'a counter never falls');
});

/** Changes the model of the folder so that its speech never ends. */
function removeEnds(directory: string): void {
  const file = join(directory, 'model.safetensors');
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length)) as Record<
    string,
    { readonly data_offsets: readonly [number, number] }
  >;
  const [from] = header['flow_lm.out_eos.bias']?.data_offsets ?? assert.fail();
  bytes.writeUInt16LE(0xc974, 8 + length + from); // -1e6 in bf16
  writeFileSync(file, bytes);
}

test('speech without an end is stopped, kept, and told in the log', async (t) => {
  const models = pocketFolders(t, { english: ['alba'] });
  removeEnds(models[0]?.directory ?? assert.fail());
  const news: EngineNews[] = [];
  const config = { stated: undefined, models, nonCommercial: false };
  const onNews = (one: EngineNews) => news.push(one);
  const engine = await PocketEngine.open(config, { native: NATIVE, ...LIMITS, onNews });
  t.after(() => engine.close());
  const samples = await spoken(engine, { voice: 'alba', text: SENTENCE });
  const frames = samples.length / FRAME;
  const runaways = news.flatMap((one) => (one.what === 'runaway' ? [one.reason] : []));
  assert.equal(runaways.length, 1);
  const [, told, tokens] =
    /^no end after (\d+) frames of a text of (\d+) tokens$/.exec(runaways[0] ?? '') ?? [];
  assert.equal(Number(told), frames);
  assert.equal(frames, Math.ceil((Number(tokens) / 3 + 2) * 12.5));
  assert.equal(engine.device().work?.chunksEndless, 1);
});

test('texts of one letter, one digit or one word are spoken', async (t) => {
  const engine = await openPocket(t, { english: ['alba'] });
  for (const text of ['a', '7', 'Hi.', 'é']) {
    const samples = await spoken(engine, { voice: 'alba', text });
    // The end counts from the seventh frame on; a short text has five more.
    assert.ok(samples.length >= 11 * FRAME, text);
  }
});

test('a text that no chunk can hold is refused, and others go on', async (t) => {
  const engine = await openPocket(t, { english: ['alba'] });
  const [refused, whole] = await Promise.all([
    problemOf(spoken(engine, { voice: 'alba', text: 'x'.repeat(10_000) })),
    spoken(engine, { voice: 'alba' }),
  ]);
  assert.match(
    refused,
    /^TEXT_TOO_LONG a sentence has \d+ tokens and no mark that divides it; 400 are the most$/,
  );
  assert.ok(whole.length > 0);
  for (const temperature of [0, 100]) {
    const samples = await spoken(engine, { voice: 'alba', options: { seed: 1, temperature } });
    assert.ok(samples.length > 0);
  }
});

test('a voice of another model is left out with its file named, and the others speak', async (t) => {
  const models = pocketFolders(t, { english: ['alba'] });
  const [model] = models;
  assert.ok(model !== undefined);
  const file = addVoice(model.directory, 'vera', VOICE_OF_ANOTHER_MODEL);
  const news: EngineNews[] = [];
  const onNews = (one: EngineNews) => news.push(one);
  const config = { stated: undefined, models, nonCommercial: false };
  const engine = await PocketEngine.open(config, { native: NATIVE, ...LIMITS, onNews });
  t.after(() => engine.close());
  const names = (await engine.voices()).map(({ name }) => name);
  assert.deepEqual(names, ['alba']);
  const reason = `${file}: transformer.layers.0.self_attn/cache: expected F32 [2, 1, 13 or more, 4, 16]: this may be a voice of another model`;
  assert.deepEqual(news, [{ what: 'voice refused', reason }]);
  assert.ok((await spoken(engine, { voice: 'alba' })).length > 0);
});

test('a folder of Phonon is refused by its name, wherever it is stated', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-phonon-31m-en-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'config.json'), '{"hidden_size": 512}');
  writeFileSync(join(folder, 'tokenizer.json'), '{}');
  writeFileSync(join(folder, 'model.safetensors'), '');
  for (const variable of ['MODEL_DIR', 'MODEL_ID']) {
    const config = readConfig({ [variable]: folder, POCKET_MODELS: 'none' });
    const setup = { engine: 'auto', ...LIMITS, native: { ...NATIVE, directory: folder } } as const;
    assert.equal(config.model.directory, folder);
    assert.equal(
      await problemOf(enginesOf(setup)),
      `ENGINE_UNAVAILABLE the checkpoint of MODEL_DIR or MODEL_ID cannot be used: ${folder}/config.json: expected "tts_model_type" of Qwen3-TTS; a folder of Pocket TTS has no config.json. Phonon has one, and another graph than Pocket TTS, which no engine here runs`,
    );
  }
  assert.throws(
    () => readConfig({ POCKET_MODELS: folder }),
    /POCKET_MODELS must be folders with model\.safetensors and tokenizer\.model, /,
  );
});
