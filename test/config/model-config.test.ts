// Which checkpoint the variables name, and which cores and memory: against a
// cache and a machine that are made for each test.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig, type Config } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';
import { LINUX, type MachineFiles, numaNodes } from '../../src/config/model-config.js';

const ID = 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice';
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-model-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Makes a cache as `hf download` leaves it. Returns the checkpoint's own folder. */
function fetchInto(cache: string, id: string, commit = COMMIT): string {
  const model = join(cache, `models--${id.replace('/', '--')}`);
  write(join(model, 'refs', 'main'), `${commit}\n`);
  return dirname(write(join(model, 'snapshots', COMMIT, 'config.json'), '{}'));
}

type Env = Record<string, string>;

function problemsOf(env: Env, machine?: MachineFiles): string[] {
  try {
    readConfig(env, machine);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

function directoryOf(env: Env): string | undefined {
  return readConfig(env).model.directory;
}

test('an id of the hub is the checkpoint that the cache has of it, wherever the cache is', (t) => {
  const home = temporaryFolder(t);
  for (const [cache, env] of [
    ['own', { HF_HUB_CACHE: join(home, 'own') }],
    ['old', { HUGGINGFACE_HUB_CACHE: join(home, 'old') }],
    ['hf/hub', { HF_HOME: join(home, 'hf') }],
    ['xdg/huggingface/hub', { XDG_CACHE_HOME: join(home, 'xdg') }],
    ['.cache/huggingface/hub', { HOME: home }],
    ['tilde/hub', { HOME: home, HF_HOME: '~/tilde' }],
  ] as const) {
    const all = { ...env, MODEL_ID: ID };
    assert.equal(directoryOf(all), undefined, `nothing is in ${cache} yet`);
    const snapshot = fetchInto(join(home, cache), ID);
    for (const ENGINE of ['auto', 'qwen3']) assert.equal(directoryOf({ ...all, ENGINE }), snapshot);
  }
  const both = { HF_HUB_CACHE: join(home, 'empty'), HF_HOME: join(home, 'hf'), MODEL_ID: ID };
  assert.equal(directoryOf(both), undefined, 'the first that is set is the cache, and no other is');
});

test('an id that the cache lacks is only a name, unless the engine needs a checkpoint', (t) => {
  const HF_HUB_CACHE = temporaryFolder(t);
  const { engines, model, notices } = readConfig({ HF_HUB_CACHE, MODEL_ID: ID });
  assert.deepEqual([engines.modelId, model.directory], [ID, undefined]);
  assert.deepEqual(notices, [
    `MODEL_ID names a checkpoint that is not in ${HF_HUB_CACHE}/models--Qwen--Qwen3-TTS-12Hz-0.6B-CustomVoice; ` +
      `fetch it with: npm run parley -- pull ${ID}`,
  ]);
  for (const env of [
    { ENGINE: 'flite' },
    { ENGINE: 'espeak' },
    { MODEL_ID: 'parley' },
    { MODEL_DIR: 'elsewhere' },
  ]) {
    assert.deepEqual(readConfig({ HF_HUB_CACHE, MODEL_ID: ID, ...env }).notices, [], JSON.stringify(env));
  }
  assert.deepEqual(problemsOf({ HF_HUB_CACHE, MODEL_ID: ID, ENGINE: 'QWEN3' }), [
    `MODEL_ID names a checkpoint that is not in ${HF_HUB_CACHE}/models--Qwen--Qwen3-TTS-12Hz-0.6B-CustomVoice; ` +
      `fetch it with: npm run parley -- pull ${ID}`,
  ]);
  assert.deepEqual(problemsOf({ HF_HUB_CACHE, MODEL_ID: 'parley', ENGINE: 'qwen3' }), []);
});

test('a reference that leads to no snapshot of the model is as good as none', (t) => {
  const HF_HUB_CACHE = temporaryFolder(t);
  write(join(HF_HUB_CACHE, 'secret', 'config.json'), '{}');
  for (const commit of ['fedcba98', '../../secret', '', '.']) {
    fetchInto(HF_HUB_CACHE, ID, commit);
    assert.equal(directoryOf({ HF_HUB_CACHE, MODEL_ID: ID }), undefined, commit);
  }
});

test('a cache that cannot be read is a mistake, and no missing checkpoint', (t) => {
  const HF_HUB_CACHE = temporaryFolder(t);
  mkdirSync(join(HF_HUB_CACHE, `models--${ID.replace('/', '--')}`, 'refs', 'main'), { recursive: true });
  assert.match(problemsOf({ HF_HUB_CACHE, MODEL_ID: ID })[0] ?? '', /^MODEL_ID cannot be looked for: EISDIR/);
});

test('a folder with a checkpoint may be named as well, and a path that is none is a mistake', (t) => {
  const folder = temporaryFolder(t);
  write(join(folder, 'model', 'config.json'), '{}');
  const MODEL_ID = join(folder, 'model');
  assert.equal(directoryOf({ MODEL_ID }), MODEL_ID);
  assert.equal(directoryOf({ MODEL_ID: '~/model', HOME: folder }), MODEL_ID);
  for (const none of [join(folder, 'other'), './nowhere', '../nowhere']) {
    assert.deepEqual(problemsOf({ MODEL_ID: none }), [
      `MODEL_ID must be a name or the folder of a checkpoint: there is no ${none}/config.json`,
    ]);
  }
});

test('MODEL_DIR goes before MODEL_ID, which then is only the name', (t) => {
  const HF_HUB_CACHE = temporaryFolder(t);
  fetchInto(HF_HUB_CACHE, ID);
  const { engines, model } = readConfig({ HF_HUB_CACHE, MODEL_ID: ID, MODEL_DIR: 'elsewhere' });
  assert.deepEqual([engines.modelId, model.directory], [ID, 'elsewhere']);
  const path = { MODEL_ID: '/nowhere', MODEL_DIR: 'elsewhere', ENGINE: 'qwen3' };
  assert.deepEqual(problemsOf(path), []);
});

test('settings of the native engine are no news where MODEL_ID names its checkpoint', (t) => {
  const HF_HUB_CACHE = temporaryFolder(t);
  const env = { HF_HUB_CACHE, MODEL_ID: ID, QUANTIZE: 'int8' };
  assert.deepEqual(
    readConfig(env).notices.map((notice) => notice.split(' ')[0]),
    ['QUANTIZE', 'MODEL_ID'],
  );
  fetchInto(HF_HUB_CACHE, ID);
  assert.deepEqual(readConfig(env).notices, []);
});

/** Two nodes of four cores, and one that has only memory; `allowed`: what the process may use. */
function machine(t: TestContext, allowed = '0-7'): MachineFiles {
  const folder = temporaryFolder(t);
  const nodes = join(folder, 'node');
  write(join(nodes, 'node0', 'cpulist'), '0-1,4-5\n');
  write(join(nodes, 'node1', 'cpulist'), '2-3,6-7\n');
  write(join(nodes, 'node2', 'cpulist'), '\n');
  write(join(nodes, 'has_cpu'), '0-1\n');
  const status = write(
    join(folder, 'status'),
    `Name:\tnode\nCpus_allowed_list:\t${allowed}\nMems_allowed:\t1\n`,
  );
  return { nodes, status };
}

function placesOf(env: Env, files: MachineFiles): Pick<Config['model'], 'threads' | 'cores' | 'numaNode'> {
  const { threads, cores, numaNode } = readConfig(env, files).model;
  return { threads, cores, numaNode };
}

test('a NUMA node gives the engine a thread for each of its cores, or as many as are asked for', (t) => {
  const files = machine(t);
  const node = { INFERENCE_NUMA_NODE: '1' };
  assert.deepEqual(placesOf(node, files), { threads: 4, cores: [2, 3, 6, 7], numaNode: 1 });
  assert.deepEqual(placesOf({ ...node, INFERENCE_THREADS: '2' }, files), {
    threads: 2,
    cores: [2, 3],
    numaNode: 1,
  });
  assert.deepEqual(placesOf({ ...node, INFERENCE_CPU_CORES: '6-7' }, files), {
    threads: 2,
    cores: [6, 7],
    numaNode: 1,
  });
  assert.deepEqual(placesOf({ INFERENCE_CPU_CORES: '1-2' }, files), {
    threads: 2,
    cores: [1, 2],
    numaNode: undefined,
  });
});

test('of a NUMA node only those cores count that the process may use', (t) => {
  const node = { INFERENCE_NUMA_NODE: '0' };
  assert.deepEqual(placesOf(node, machine(t, '1-4')).cores, [1, 4]);
  assert.deepEqual(placesOf(node, { ...machine(t), status: '/nowhere' }).cores, [0, 1, 4, 5]);
  assert.deepEqual(problemsOf(node, machine(t, '2-3')), [
    'INFERENCE_NUMA_NODE must be a node with cores that this process may use, not 0',
  ]);
});

test('a NUMA node that there is not, or that does not have what else is asked for, is a mistake', (t) => {
  const files = machine(t);
  const problemsWith = (env: Env) => problemsOf({ INFERENCE_NUMA_NODE: '1', ...env }, files);
  assert.deepEqual(problemsWith({ INFERENCE_NUMA_NODE: '3' }), [
    'INFERENCE_NUMA_NODE must be a NUMA node of this machine, which has 0, 1, 2, not 3',
  ]);
  assert.deepEqual(problemsOf({ INFERENCE_NUMA_NODE: '0' }, { nodes: '/nowhere', status: '/nowhere' }), [
    'INFERENCE_NUMA_NODE must be a NUMA node of this machine, which does not tell of any, not 0',
  ]);
  assert.deepEqual(problemsWith({ INFERENCE_NUMA_NODE: '2' }), [
    'INFERENCE_NUMA_NODE must be a node with cores that this process may use, not 2',
  ]);
  assert.deepEqual(problemsWith({ INFERENCE_CPU_CORES: '1-3' }), [
    'INFERENCE_CPU_CORES must be cores that INFERENCE_NUMA_NODE=1 has: 2, 3, 6, 7; not 1',
  ]);
  assert.deepEqual(problemsWith({ INFERENCE_THREADS: '5' }), [
    'INFERENCE_THREADS must be at most 4, the cores of INFERENCE_NUMA_NODE=1, not 5',
  ]);
  assert.match(
    problemsWith({ INFERENCE_NUMA_NODE: 'all' })[0] ?? '',
    /^INFERENCE_NUMA_NODE must be a number/,
  );
});

test('the nodes are those of this machine, where it tells of them', () => {
  const [first] = numaNodes(LINUX);
  const env = { INFERENCE_NUMA_NODE: String(first ?? 0) };
  if (first === undefined) assert.match(problemsOf(env)[0] ?? '', /does not tell of any/);
  else assert.ok(readConfig(env).model.cores.length > 0);
});

test('recogniser and aligner have checkpoints of their own', (t) => {
  const cache = temporaryFolder(t);
  const folder = fetchInto(cache, 'Qwen/Qwen3-ASR-0.6B');
  const env = { HF_HUB_CACHE: cache, ASR_MODEL_ID: 'Qwen/Qwen3-ASR-0.6B', ALIGNER_MODEL_DIR: '/srv/aligner' };
  const { recognition } = readConfig(env);
  assert.deepEqual(recognition, {
    recogniser: { directory: folder, memory: undefined },
    moonshine: undefined,
    remote: undefined,
    fast: undefined,
    aligner: { directory: '/srv/aligner', memory: undefined },
    streaming: 'draft',
    partialIntervalMs: 320,
    smartFormat: false,
    koreanWords: undefined,
    files: { maxAtOnce: 32, maxBytes: 256 * 1024 * 1024, maxSeconds: 4 * 3600 },
    translation: undefined,
  });
  const none = readConfig({}).recognition;
  assert.equal(none.recogniser, undefined);
  assert.equal(none.aligner, undefined);
  assert.equal(readConfig({ ...env, ASR_SMART_FORMAT: '1' }).recognition.smartFormat, true);
});

test('a recogniser that is named and not there is a mistake', (t) => {
  const cache = temporaryFolder(t);
  const problem = (env: Env) => problemsOf({ HF_HUB_CACHE: cache, ...env }).join();
  assert.match(
    problem({ ASR_MODEL_ID: 'Qwen/Qwen3-ASR-0.6B' }),
    /ASR_MODEL_ID names a checkpoint that is not in/,
  );
  assert.match(
    problem({ ALIGNER_MODEL_ID: './nothing' }),
    /ALIGNER_MODEL_ID.*there is no \.\/nothing\/config.json/,
  );
  assert.match(problem({ ASR_MODEL_ID: 'whisper' }), /ASR_MODEL_ID must be a folder, or a name such as/);
  assert.match(problem({ ASR_STREAMING: 'fast' }), /ASR_STREAMING must be one of draft, official/);
});

test('every model has its memory, in bytes or as a share of the device', () => {
  const { model, recognition } = readConfig({
    SPEECH_MEMORY: '40G',
    ASR_MODEL_DIR: '/srv/large',
    ASR_MEMORY: '25%',
    ASR_FAST_MODEL_DIR: '/srv/small',
    ASR_FAST_MEMORY: '1.5g',
    ALIGNER_MODEL_DIR: '/srv/aligner',
    ALIGNER_MEMORY: '3221225472',
  });
  assert.deepEqual(model.memory, { bytes: 40 * 2 ** 30 });
  assert.deepEqual(recognition.recogniser?.memory, { share: 0.25 });
  assert.deepEqual(recognition.fast?.memory, { bytes: 1.5 * 2 ** 30 });
  assert.deepEqual(recognition.aligner?.memory, { bytes: 3 * 2 ** 30 });
  assert.equal(readConfig({}).model.memory, undefined);
});

test('memory without a unit that makes sense, and of a model that is not there, is a mistake', () => {
  for (const value of ['0%', '101%', '40', '40X', 'half', '-1G', '1e3G', '0', '9000000T'])
    assert.deepEqual(problemsOf({ SPEECH_MEMORY: value }), [
      `SPEECH_MEMORY must be at least 1M, such as 40G, or a share of the device, such as 50%, not "${value}"`,
    ]);
  for (const name of ['ASR', 'ASR_FAST', 'ALIGNER'])
    assert.deepEqual(problemsOf({ [`${name}_MEMORY`]: '4G' }), [
      `${name}_MEMORY has no effect without ${name}_MODEL_DIR or ${name}_MODEL_ID`,
    ]);
});

test('a fast recogniser needs another one beside it', (t) => {
  const folder = fetchInto(temporaryFolder(t), 'Qwen/Qwen3-ASR-0.6B');
  const both = { ASR_MODEL_DIR: '/srv/large', ASR_FAST_MODEL_DIR: folder };
  assert.equal(readConfig(both).recognition.fast?.directory, folder);
  assert.deepEqual(problemsOf({ ASR_FAST_MODEL_DIR: folder }), [
    'ASR_FAST_MODEL_DIR has no effect without ASR_MODEL_DIR, ASR_MODEL_ID or ASR_BASE_URL',
  ]);
});

test('texts are translated by a chat server that is named whole', () => {
  const env = { TRANSLATE_BASE_URL: 'https://host/v1/', TRANSLATE_MODEL: 'qwen3' };
  const server = { baseUrl: 'https://host/v1', model: 'qwen3' };
  assert.deepEqual(readConfig(env).recognition.translation, { ...server, apiKey: undefined });
  assert.deepEqual(problemsOf({ TRANSLATE_BASE_URL: env.TRANSLATE_BASE_URL }), [
    'TRANSLATE_MODEL must name the model of TRANSLATE_BASE_URL',
  ]);
  const options = { chat_template_kwargs: { enable_thinking: false } };
  const withOptions = readConfig({ ...env, TRANSLATE_OPTIONS: JSON.stringify(options) });
  assert.deepEqual(withOptions.recognition.translation, { ...server, apiKey: undefined, options });
  assert.deepEqual(problemsOf({ TRANSLATE_OPTIONS: '{}' }), [
    'TRANSLATE_OPTIONS has no effect without TRANSLATE_BASE_URL',
  ]);
  assert.deepEqual(problemsOf({ TRANSLATE_API_KEY: 'key' }), [
    'TRANSLATE_API_KEY has no effect without TRANSLATE_BASE_URL',
  ]);
  assert.deepEqual(problemsOf({ ...env, TRANSLATE_BASE_URL: 'host' }), [
    'TRANSLATE_BASE_URL must be an http or https URL without user, query and fragment',
  ]);
});

test('speech may be recognised by an OpenAI-compatible server instead', (t) => {
  const env = { ASR_BASE_URL: 'http://127.0.0.1:8000/v1/', ASR_MODEL: 'whisper-1' };
  const server = { baseUrls: ['http://127.0.0.1:8000/v1'], model: 'whisper-1' };
  assert.deepEqual(readConfig(env).recognition.remote, { ...server, apiKey: undefined, realtime: undefined });
  const more = { ...env, ASR_API_KEY: 'sk-1', ASR_REALTIME: 'vllm' };
  assert.deepEqual(readConfig(more).recognition.remote, { ...server, apiKey: 'sk-1', realtime: 'vllm' });
  const problems = (changes: Env) => problemsOf({ ...env, ...changes });
  assert.deepEqual(problems({ ASR_MODEL: '' }), ['ASR_MODEL must name the model of ASR_BASE_URL']);
  assert.deepEqual(problems({ ASR_MODEL_DIR: temporaryFolder(t) }), [
    'ASR_BASE_URL and a checkpoint (ASR_MODEL_DIR, ASR_MODEL_ID) exclude each other',
  ]);
  for (const url of ['127.0.0.1', 'ws://host/v1', 'https://user@host/v1', 'https://host/v1?key=1'])
    assert.match(problems({ ASR_BASE_URL: url }).join(), /^ASR_BASE_URL must be http or https URLs without/);
  assert.match(problems({ ASR_API_KEY: 'two words' }).join(), /^ASR_API_KEY must be ASCII without spaces/);
  assert.match(problems({ ASR_REALTIME: 'grpc' }).join(), /^ASR_REALTIME must be one of off, openai, vllm/);
  for (const name of ['ASR_API_KEY', 'ASR_MODEL', 'ASR_REALTIME'])
    assert.deepEqual(problemsOf({ [name]: 'openai' }), [`${name} has no effect without ASR_BASE_URL`]);
});

test('a recogniser uses some settings of the native engine without a voice', () => {
  const noticed = (env: Env) => readConfig({ QUANTIZE: 'int8', MAX_STREAMS: '2', ...env }).notices.join();
  assert.match(noticed({}), /QUANTIZE concerns the native engine/);
  assert.doesNotMatch(noticed({ ALIGNER_MODEL_DIR: '/srv/aligner' }), /QUANTIZE/);
  const voiceOnly = noticed({ ALIGNER_MODEL_DIR: '/srv/aligner', QUANTIZE: 'FP8' });
  assert.match(
    voiceOnly,
    /QUANTIZE is for the voice with this value; recogniser and aligner keep the weights/,
  );
  assert.match(noticed({ ALIGNER_MODEL_DIR: '/srv/aligner' }), /MAX_STREAMS concerns the native engine/);
});
