// Models of Moonshine by the configuration: from the cache, by name and as folders, and the choice between
// recognisers.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { moonshineFolder } from '../../src/config/onnx-cache.js';
import { moonshineModelNamed } from '../../src/config/onnx-catalog.js';
import { ParleyError } from '../../src/errors.js';

type Env = Record<string, string>;

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-moonshine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const GRAPHS = ['encoder', 'adapter', 'cross_kv', 'decoder_kv', 'frontend'].map((name) => `${name}.onnx`);
const FILES = ['streaming_config.json', 'tokenizer.bin', ...GRAPHS];

/** Makes a folder of Moonshine in a folder of its own, as an operator might. */
function own(t: TestContext, name: string, files = FILES): string {
  const folder = join(scratch(t), name);
  mkdirSync(folder);
  for (const file of files) writeFileSync(join(folder, file), 'a file');
  return folder;
}

/** Puts models into a cache as `parley pull` leaves them, with sparse files. */
function cacheWith(t: TestContext, ...names: readonly string[]): string {
  const cache = scratch(t);
  for (const name of names) {
    const model = moonshineModelNamed(name);
    assert.ok(model !== undefined);
    const folder = moonshineFolder(cache, model);
    mkdirSync(folder, { recursive: true });
    for (const file of model.files) {
      writeFileSync(join(folder, file.name), '');
      truncateSync(join(folder, file.name), file.bytes);
    }
    const sums = model.files.map((file) => `${'0'.repeat(64)}  ${file.name}\n`).join('');
    writeFileSync(join(folder, 'SHA256SUMS'), sums);
  }
  return cache;
}

function modelsOf(env: Env) {
  const { moonshine } = readConfig(env).recognition;
  return moonshine?.models.map(({ language, size }) => `${language} ${size}`);
}

function problemsOf(env: Env): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('without MOONSHINE_MODELS all models that are complete in the cache hear, one for a language', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-de', 'moonshine-tiny-en', 'moonshine-small-en');
  assert.deepEqual(modelsOf({ HF_HUB_CACHE }), ['en small', 'de small']);
  const [english] = readConfig({ HF_HUB_CACHE }).recognition.moonshine?.models ?? [];
  assert.equal(
    english?.directory,
    join(HF_HUB_CACHE, 'moonshine', 'small-streaming-en', 'quantized_26_08_21'),
  );
  truncateSync(join(english.directory, 'encoder.ort'), 5);
  assert.deepEqual(modelsOf({ HF_HUB_CACHE }), ['en tiny', 'de small']);
  assert.equal(modelsOf({ HF_HUB_CACHE: scratch(t) }), undefined);
  assert.equal(modelsOf({ HF_HUB_CACHE, MOONSHINE_MODELS: 'none' }), undefined);
});

test('MOONSHINE_MODELS names models of the cache and folders, preferred ones first', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-tiny-en', 'moonshine-small-en', 'moonshine-small-de');
  const spanish = own(t, 'small-streaming-es');
  assert.deepEqual(modelsOf({ HF_HUB_CACHE, MOONSHINE_MODELS: `Moonshine-Tiny-EN, ${spanish}` }), [
    'en tiny',
    'es small',
  ]);
  const pair = FILES.map((name) => (name === 'frontend.onnx' ? 'frontend.model.onnx' : name));
  const french = own(t, 'mine_FR', [...pair, 'frontend.weights.ort']);
  assert.deepEqual(modelsOf({ MOONSHINE_MODELS: french }), ['fr undefined']);
});

test('what MOONSHINE_MODELS cannot name is told with what it may be', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en');
  const of = (MOONSHINE_MODELS: string) => problemsOf({ HF_HUB_CACHE, MOONSHINE_MODELS });
  assert.deepEqual(of('moonshine-small-de'), [
    `MOONSHINE_MODELS names moonshine-small-de, which is not in ${HF_HUB_CACHE}; fetch it with: npm run parley -- pull moonshine-small-de`,
  ]);
  assert.deepEqual(of('/nowhere'), [
    'MOONSHINE_MODELS must be folders with streaming_config.json and tokenizer.bin, or of moonshine-small-en, moonshine-medium-en, moonshine-tiny-en, moonshine-small-de, moonshine-small-es, moonshine-small-ja; not "/nowhere"',
  ]);
  const nameless = own(t, 'moonshine-b');
  assert.deepEqual(of(nameless), [
    `MOONSHINE_MODELS must lead to a folder of Moonshine with a name that ends with its language, such as small-streaming-en, not ${nameless}`,
  ]);
  const noTongue = own(t, 'small-zz');
  assert.match(of(noTongue)[0] ?? '', /a name that ends with its language/);
  const second = own(t, 'small-en');
  assert.match(of(`moonshine-small-en,${second}`)[0] ?? '', /must have one model for each language, not two/);
  assert.deepEqual(of('moonshine-small-en,none'), [
    'MOONSHINE_MODELS must be none alone, or models without it',
  ]);
});

test('a folder that lacks a file is named with the file', (t) => {
  for (const [name, lacking] of [
    ['tokenizer.bin', 'tokenizer.bin'],
    ['decoder_kv.onnx', 'decoder_kv.ort'],
    ['frontend.onnx', 'frontend.ort, or frontend.model.ort and frontend.weights.ort'],
  ]) {
    const folder = own(
      t,
      'small-streaming-en',
      FILES.filter((file) => file !== name),
    );
    assert.deepEqual(problemsOf({ ASR_MODEL_DIR: folder }), [
      `ASR_MODEL_DIR leads to a folder of Moonshine that lacks ${lacking}: ${folder}`,
    ]);
  }
});

test('ASR_MODEL_DIR and ASR_MODEL_ID take a folder of Moonshine, by its files, and a short name', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en', 'moonshine-small-de', 'moonshine-small-es');
  const japanese = own(t, 'small-streaming-ja');
  const moonshine = { directory: japanese, language: 'ja', size: 'small' };
  for (const name of ['ASR_MODEL_DIR', 'ASR_MODEL_ID']) {
    const { recognition } = readConfig({ HF_HUB_CACHE, [name]: japanese });
    assert.deepEqual(recognition.moonshine?.models, [moonshine]);
    assert.equal(recognition.recogniser, undefined);
  }
  const env = { HF_HUB_CACHE, ASR_MODEL_ID: 'moonshine-small-de' };
  assert.deepEqual(modelsOf(env), ['de small']);
  assert.deepEqual(modelsOf({ ...env, MOONSHINE_MODELS: 'moonshine-small-es' }), ['de small', 'es small']);
  assert.match(
    problemsOf({ ...env, MOONSHINE_MODELS: 'moonshine-small-de' })[0] ?? '',
    /^MOONSHINE_MODELS must have one model for each language, not two for de: /,
  );
  assert.deepEqual(problemsOf({ HF_HUB_CACHE, ASR_MODEL_ID: 'moonshine-tiny-en' }), [
    `ASR_MODEL_ID names moonshine-tiny-en, which is not in ${HF_HUB_CACHE}; fetch it with: npm run parley -- pull moonshine-tiny-en`,
  ]);
});

test('ASR_ENGINE decides between recognisers; auto takes what is stated, and else Moonshine', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en');
  const remote = { ASR_BASE_URL: 'http://127.0.0.1:8000/v1', ASR_MODEL: 'whisper-1' };
  const checkpoint = { ASR_MODEL_DIR: scratch(t) };
  const chosen = (env: Env) => {
    const { recognition } = readConfig({ HF_HUB_CACHE, ...env });
    return (['recogniser', 'moonshine', 'remote'] as const).filter((name) => recognition[name] !== undefined);
  };
  assert.deepEqual(chosen({}), ['moonshine']);
  assert.deepEqual(chosen(remote), ['remote']);
  assert.deepEqual(chosen(checkpoint), ['recogniser']);
  const all = { ...remote, ...checkpoint };
  assert.deepEqual(chosen({ ...all, ASR_ENGINE: 'moonshine' }), ['moonshine']);
  assert.deepEqual(chosen({ ...all, ASR_ENGINE: 'qwen3' }), ['recogniser']);
  assert.deepEqual(chosen({ ...all, ASR_ENGINE: 'OpenAI' }), ['remote']);
  assert.match(problemsOf(all)[0] ?? '', /^ASR_BASE_URL and a checkpoint .* exclude each other$/);
});

test('an ASR_ENGINE without its model or server is a mistake', (t) => {
  const HF_HUB_CACHE = scratch(t);
  const of = (ASR_ENGINE: string, env: Env = {}) => problemsOf({ HF_HUB_CACHE, ASR_ENGINE, ...env });
  const needsCheckpoint = [
    'ASR_ENGINE must not be qwen3 without its checkpoint (ASR_MODEL_DIR, ASR_MODEL_ID)',
  ];
  assert.deepEqual(of('qwen3'), needsCheckpoint);
  assert.deepEqual(of('qwen3', { ASR_MODEL_DIR: own(t, 'small-en') }), needsCheckpoint);
  assert.deepEqual(of('openai'), ['ASR_ENGINE must not be openai without ASR_BASE_URL']);
  assert.deepEqual(of('moonshine'), [
    'ASR_ENGINE must not be moonshine without a model; fetch one with: npm run parley -- pull moonshine-small-en',
  ]);
  assert.deepEqual(of('moonshine', { MOONSHINE_MODELS: '/nowhere' }).length, 1);
  assert.match(of('whisper')[0] ?? '', /^ASR_ENGINE must be one of auto, qwen3, moonshine, openai, not /);
});

test('settings of other recognisers are told as without effect, and do not stop the server', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en');
  const env = {
    HF_HUB_CACHE,
    ASR_STREAMING: 'official',
    ASR_MEMORY: '4G',
    ASR_FAST_MODEL_ID: 'Qwen/Qwen3-ASR-0.6B',
    ASR_FAST_MEMORY: '1G',
  };
  assert.deepEqual(readConfig(env).notices, [
    'ASR_MEMORY has no effect: Moonshine recognises speech',
    'ASR_STREAMING has no effect: Moonshine recognises speech',
    'ASR_FAST_MODEL_ID has no effect: Moonshine recognises speech',
    'ASR_FAST_MEMORY has no effect: Moonshine recognises speech',
  ]);
  assert.equal(readConfig(env).recognition.fast, undefined);
  const qwen = { ASR_MODEL_DIR: scratch(t), ASR_WORKERS: '2', MOONSHINE_MODELS: 'none' };
  assert.deepEqual(readConfig(qwen).notices, ['ASR_WORKERS has no effect: Qwen3-ASR recognises speech']);
});

test('partial texts come each 480 ms with Moonshine, and the workers follow the cores', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en');
  const { recognition } = readConfig({ HF_HUB_CACHE });
  assert.equal(recognition.partialIntervalMs, 480);
  assert.equal(recognition.moonshine?.workers, availableParallelism() < 4 ? 1 : 2);
  const stated = readConfig({ HF_HUB_CACHE, ASR_WORKERS: '8', ASR_PARTIAL_INTERVAL_MS: '320' }).recognition;
  assert.deepEqual([stated.moonshine?.workers, stated.partialIntervalMs], [8, 320]);
  assert.equal(readConfig({ HF_HUB_CACHE, MOONSHINE_MODELS: 'none' }).recognition.partialIntervalMs, 320);
  assert.deepEqual(problemsOf({ HF_HUB_CACHE, ASR_WORKERS: '9' }), [
    'ASR_WORKERS must be a number from 1 to 8, not "9"',
  ]);
});

test('a language with a voice and without a model that hears it is told, with the remedy', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'moonshine-small-en');
  const voices = ['english_mine', 'german', 'french_24l'].map((name) =>
    own(t, name, ['model.safetensors', 'tokenizer.model']),
  );
  const env = { HF_HUB_CACHE, POCKET_MODELS: voices.join() };
  assert.deepEqual(readConfig(env).notices, [
    'German is spoken and not understood: fetch its model with: npm run parley -- pull moonshine-small-de',
    'French is spoken and not understood: Moonshine has no model of it; ASR_MODEL_ID and ASR_BASE_URL name other recognisers',
  ]);
  assert.deepEqual(readConfig({ ...env, MOONSHINE_MODELS: 'none' }).notices, []);
  assert.deepEqual(readConfig({ ...env, ASR_MODEL_DIR: scratch(t) }).notices, []);
});

test('a model of Moonshine does not speak: the message names the variable that takes it', (t) => {
  const folder = own(t, 'small-streaming-en');
  for (const name of ['MODEL_DIR', 'MODEL_ID'])
    assert.deepEqual(problemsOf({ [name]: folder }), [
      `${name} must not lead to a model of Moonshine, which is a recogniser and belongs in ASR_MODEL_DIR: ${folder}`,
    ]);
});

test('a model of Pocket TTS recognises nothing: the message names the variable that takes it', (t) => {
  const folder = own(t, 'german', ['model.safetensors', 'tokenizer.model']);
  for (const name of ['ASR_MODEL_DIR', 'ASR_MODEL_ID', 'ALIGNER_MODEL_DIR'])
    assert.deepEqual(problemsOf({ [name]: folder }), [
      `${name} must not lead to a model of Pocket TTS, which is a voice and belongs in MODEL_DIR: ${folder}`,
    ]);
});

test('a fast recogniser or an aligner cannot be a model of Moonshine', (t) => {
  const folder = own(t, 'small-streaming-en');
  for (const name of ['ALIGNER_MODEL_DIR', 'ALIGNER_MODEL_ID'])
    assert.deepEqual(problemsOf({ [name]: folder }), [
      `${name} must not lead to a model of Moonshine, which is a recogniser and belongs in ASR_MODEL_DIR: ${folder}`,
    ]);
  assert.match(
    problemsOf({ ASR_MODEL_DIR: scratch(t), ASR_FAST_MODEL_DIR: folder })[0] ?? '',
    /^ASR_FAST_MODEL_DIR must not lead to a model of Moonshine/,
  );
});
