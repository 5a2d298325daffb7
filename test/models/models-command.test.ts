// `parley models`: what it lists of the cache and of MODEL_DIR, and how it computes memory and speed.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { modelsCommand } from '../../src/models/models-command.js';
import { measuredReadingRate } from '../../src/models/reading-rate.js';
import { COMMIT } from './fake-hub.js';
import { ID, NAME, PullUnderTest } from './pull-under-test.js';

const POCKETS = ['en', 'de', 'fr', 'es', 'it', 'pt', 'en-cloning'].map((end) => `pocket-${end}`);
const MOONSHINES = ['small-en', 'medium-en', 'tiny-en', 'small-de', 'small-es', 'small-ja'].map(
  (end) => `moonshine-${end}`,
);
const TURNS = ['turn-en', 'turn-23'];
const RATE = { bytesPerSecond: 1e6, threads: 3 };

interface Model {
  readonly name: string;
  readonly id?: string;
  readonly kind?: string;
  readonly state: string;
  readonly reason?: string;
  readonly revision?: string;
  readonly refs?: readonly string[];
  readonly folder?: string;
  readonly bytes: number;
  readonly memoryBytes?: number;
  readonly realTimeFactorAtMost?: number;
}

async function run(args: readonly string[], env: Record<string, string>) {
  let [out, err] = ['', ''];
  const output = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    columns: undefined,
  };
  const status = await modelsCommand(args, env, output, () => Promise.resolve(RATE));
  return { status, out, err };
}

async function listed(env: Record<string, string>): Promise<readonly Model[]> {
  const { status, out, err } = await run(['--json'], env);
  assert.equal(status, 0, err);
  return (JSON.parse(out) as { models: readonly Model[] }).models;
}

async function named(name: string, env: Record<string, string>): Promise<Model | undefined> {
  return (await listed(env)).find((model) => model.name === name);
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-models-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

type Shapes = Readonly<Record<string, readonly number[]>>;

/** A file with tensors of zeros, two bytes for each element unless stated. */
function safetensors(shapes: Shapes, elementBytes = 2): Buffer {
  let at = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = at;
    at += elementBytes * shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: elementBytes === 2 ? 'BF16' : 'F32', shape, data_offsets: [begin, at] }];
  });
  const header = Buffer.from(
    JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(at)]);
}

function write(folder: string, files: Readonly<Record<string, Uint8Array | string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

// Elements: talker 100 + 10, predictor layers 30, heads 2 x 4, others 50; the codec has 20, 6 and 3.
const VOICE = safetensors({
  'talker.model.layers.0.mlp.up_proj.weight': [10, 10],
  'talker.codec_head.weight': [2, 5],
  'talker.code_predictor.model.layers.0.self_attn.q_proj.weight': [5, 6],
  'talker.code_predictor.lm_head.0.weight': [2, 2],
  'talker.code_predictor.lm_head.1.weight': [2, 2],
  'talker.model.text_embedding.weight': [5, 10],
});
const CODEC = safetensors(
  { 'decoder.conv.weight': [20], 'encoder.conv.weight': [6], 'decoder.quantizer.codebook': [3] },
  4,
);

function voiceFiles(type = 'custom_voice', weights: Uint8Array = VOICE): Record<string, Buffer> {
  return {
    'config.json': Buffer.from(JSON.stringify({ tts_model_type: type })),
    'model.safetensors': Buffer.from(weights),
    'speech_tokenizer/model.safetensors': CODEC,
  };
}

function recogniserConfig(type: string, isTied: boolean): string {
  const thinker_config = { model_type: type, text_config: { tie_word_embeddings: isTied } };
  return JSON.stringify({ model_type: 'qwen3_asr', thinker_config });
}

test('without a cache the published models are absent, with what they take and need', async (t) => {
  const models = await listed({ HF_HOME: join(temporaryFolder(t), 'none') });
  assert.deepEqual(
    models.map(({ name, kind, state }) => [name, kind, state]),
    [
      ['qwen3-tts-0.6b', 'voice', 'absent'],
      ['qwen3-tts-1.7b', 'voice', 'absent'],
      ['qwen3-asr-0.6b', 'recogniser', 'absent'],
      ['qwen3-asr-1.7b', 'recogniser', 'absent'],
      ['qwen3-aligner', 'aligner', 'absent'],
      ...POCKETS.map((name) => [name, 'voice', 'absent']),
      ...MOONSHINES.map((name) => [name, 'recogniser', 'absent']),
      ...TURNS.map((name) => [name, 'turn', 'absent']),
    ],
  );
  assert.ok(models.slice(0, 5).every(({ bytes, memoryBytes = 0 }) => bytes > 1e9 && memoryBytes > 1e9));
});

test('a pull makes an absent model complete, by way of a partial one', async (t) => {
  const under = await PullUnderTest.open(t, voiceFiles());
  const env = { HF_HUB_CACHE: under.cache };
  const partial = join(under.model, 'blobs', 'abc.incomplete');
  write(under.cache, { [partial.slice(under.cache.length)]: Buffer.alloc(1234) });
  const before = await named(NAME, env);
  assert.deepEqual([before?.state, before?.bytes, before?.id], ['partial', 1234, ID]);
  assert.equal(await under.run(), 0, under.err);
  const { state, revision, refs, folder, bytes } = (await named(NAME, env)) ?? {};
  const files = Object.values(voiceFiles());
  assert.deepEqual([state, revision, refs], ['complete', COMMIT, ['main']]);
  assert.equal(folder, join(under.model, 'snapshots', COMMIT));
  assert.equal(
    bytes,
    files.reduce((sum, { length }) => sum + length, 0),
  );
});

test('a voice needs its weights and the decoder of the codec, and reads the predictor in each pass', async (t) => {
  const MODEL_DIR = write(temporaryFolder(t), voiceFiles());
  const speedOf = (stepBytes: number) => RATE.bytesPerSecond / (stepBytes * 12.5);
  for (const [env, memoryBytes, stepBytes] of [
    [{}, 2 * 198 + 92, 2 * 110 + 2 * 60 + 16 + 80],
    [{ QUANTIZE: 'int8' }, 148 + 100 + 92, 110 + 2 * 30 + 8 + 80],
    [{ QUANTIZE: 'int8-talker' }, 110 + 2 * 88 + 92, 110 + 2 * 60 + 16 + 80],
    [{ CODEC_FORMAT: 'bf16' }, 2 * 198 + 46, 2 * 110 + 2 * 60 + 16 + 40],
  ] as const) {
    const model = await named(MODEL_DIR, { HF_HOME: '/nowhere', MODEL_DIR, ...env });
    assert.deepEqual([model?.kind, model?.state], ['voice', 'complete']);
    assert.deepEqual([model?.memoryBytes, model?.realTimeFactorAtMost], [memoryBytes, speedOf(stepBytes)]);
  }
  const base = write(temporaryFolder(t), voiceFiles('base'));
  const cloning = await named(base, { HF_HOME: '/nowhere', MODEL_DIR: base });
  assert.equal(cloning?.memoryBytes, 2 * 198 + 92 + 24, 'cloning needs the encoder of the codec');
});

test('a recogniser reads its layers and its head for a token; a tied head counts once', async (t) => {
  const shapes = {
    'thinker.model.layers.0.mlp.up_proj.weight': [10, 10],
    'thinker.model.embed_tokens.weight': [30],
    'thinker.lm_head.weight': [30],
    'thinker.audio_tower.conv_out.weight': [7],
  };
  for (const [type, isTied, env, expected] of [
    ['qwen3_asr', true, {}, ['recogniser', 2 * 137, 2 * 130]],
    ['qwen3_asr', false, {}, ['recogniser', 2 * 167, 2 * 130]],
    ['qwen3_asr', true, { QUANTIZE: 'int8' }, ['recogniser', 100 + 2 * 37, 100 + 2 * 30]],
    ['qwen3_forced_aligner', false, {}, ['aligner', 2 * 167, undefined]],
  ] as const) {
    const MODEL_DIR = write(temporaryFolder(t), {
      'config.json': recogniserConfig(type, isTied),
      'model.safetensors': safetensors(shapes),
    });
    const model = await named(MODEL_DIR, { HF_HOME: '/nowhere', MODEL_DIR, ...env });
    const [kind, memoryBytes, stepBytes] = expected;
    const speed = stepBytes === undefined ? undefined : RATE.bytesPerSecond / (stepBytes * 4);
    assert.deepEqual(
      [model?.kind, model?.memoryBytes, model?.realTimeFactorAtMost],
      [kind, memoryBytes, speed],
    );
  }
});

test('the shards that an index names are one checkpoint, and a missing one makes it unusable', async (t) => {
  const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  const MODEL_DIR = write(temporaryFolder(t), {
    'config.json': recogniserConfig('qwen3_forced_aligner', false),
    'model.safetensors.index.json': JSON.stringify({ weight_map: { a: first, b: second, c: first } }),
    [first]: safetensors({ a: [10], c: [1] }),
    [second]: safetensors({ b: [5] }),
  });
  const env = { HF_HOME: '/nowhere', MODEL_DIR };
  assert.equal((await named(MODEL_DIR, env))?.memoryBytes, 32);
  rmSync(join(MODEL_DIR, second));
  const { state, reason } = (await named(MODEL_DIR, env)) ?? {};
  assert.equal(state, 'unusable');
  assert.match(reason ?? '', /model-00002-of-00002\.safetensors cannot be read \(ENOENT/);
});

test('weights that are cut off or no safetensors, and folders of other models, are unusable with the reason', async (t) => {
  const huge = Buffer.alloc(16, 0xff);
  for (const [files, reason] of [
    [voiceFiles('base', VOICE.subarray(0, VOICE.length - 1)), /is cut off, or no safetensors file$/],
    [voiceFiles('base', huge), /is cut off, or no safetensors file$/],
    [voiceFiles('base', Buffer.alloc(3)), /is cut off, or no safetensors file$/],
    [
      voiceFiles('base', Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('[}')])),
      /is no safetensors file$/,
    ],
    [voiceFiles('base', safetensors({}).fill('{"a":{"shape":1}}      ', 8)), /safetensors/],
    [{ 'config.json': '{' }, /config\.json cannot be read as JSON$/],
    [{ 'config.json': '{"model_type":"llama"}' }, /^no model that Parley reads$/],
    [{ 'config.json': 'null' }, /^no model that Parley reads$/],
    [{}, /^no config\.json$/],
  ] as const) {
    const MODEL_DIR = write(temporaryFolder(t), files);
    const model = await named(MODEL_DIR, { HF_HOME: '/nowhere', MODEL_DIR });
    assert.equal(model?.state, 'unusable');
    assert.match(model?.reason ?? '', reason);
  }
});

test('other checkpoints of the cache are listed by owner/name; models of other engines are not', async (t) => {
  const cache = temporaryFolder(t);
  const own = join('models--me--my-voice', 'snapshots', COMMIT);
  const other = join('models--you--llama', 'snapshots', COMMIT);
  for (const [path, content] of Object.entries(voiceFiles())) write(join(cache, own), { [path]: content });
  write(join(cache, other), { 'config.json': '{"model_type":"llama"}' });
  write(cache, { 'models--me--my-voice/refs/pr/1': COMMIT, 'version.txt': '1' });
  const found = (await listed({ HF_HUB_CACHE: cache })).slice(
    5 + POCKETS.length + MOONSHINES.length + TURNS.length,
  );
  assert.deepEqual(
    found.map(({ name, state, refs }) => [name, state, refs]),
    [['me/my-voice', 'complete', ['pr/1']]],
  );
});

test('the table has a line for each model, and says what its figures assume', async (t) => {
  const MODEL_DIR = write(temporaryFolder(t), voiceFiles());
  const { status, out, err } = await run([], { HF_HOME: '/nowhere', MODEL_DIR });
  assert.deepEqual([status, err], [0, '']);
  const lines = out.split('\n');
  assert.match(lines[0] ?? '', /^name +kind +state +revision +disk +memory +speed on this CPU$/);
  assert.match(
    lines[1] ?? '',
    /^qwen3-tts-0\.6b +voice +absent +- +2\.50 GB to fetch +2\.27 GB +at most 0\.0 x real time$/,
  );
  assert.match(lines[5] ?? '', /^qwen3-aligner .* -$/);
  assert.match(out, /^Speed: an upper limit for one stream\. 3 threads read 0\.0 GB\/s of memory now\./m);
});

test('wrong arguments and settings are refused', async () => {
  const wrong = await run(['all'], {});
  assert.deepEqual([wrong.status, wrong.out], [2, '']);
  assert.match(wrong.err, /^parley: .*\nusage: parley models \[--json\]\n$/);
  const setting = await run([], { QUANTIZE: 'int3' });
  assert.deepEqual([setting.status, setting.out], [1, '']);
  assert.match(setting.err, /^parley: QUANTIZE must be one of none, int8/);
});

test('the reading rate is that of memory, and its threads end', async () => {
  const { bytesPerSecond, threads } = await measuredReadingRate(1);
  assert.equal(threads, 1);
  assert.ok(bytesPerSecond > 1e8 && bytesPerSecond < 1e12, `${bytesPerSecond} bytes a second`);
});
