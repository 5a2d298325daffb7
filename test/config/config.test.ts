import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { SECTIONS, VARIABLES } from '../../src/config/variables.js';
import { ParleyError } from '../../src/errors.js';
import { configurationPage, FIRST_OF_SECTION, FIRST_TEN, PAGE } from '../docs/configuration-page.js';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('an empty environment serves loopback on port 8080', () => {
  const { access, engines } = readConfig({});
  assert.deepEqual([access.host, access.port, engines.engine], ['127.0.0.1', 8080, 'auto']);
});

test('the value has one group for each reader, and nobody can change the value or a group', () => {
  const config = readConfig({});
  assert.deepEqual(Object.keys(config), [
    'access',
    'engines',
    'model',
    'pocket',
    'voices',
    'texts',
    'limits',
    'caches',
    'encoders',
    'webrtc',
    'recording',
    'hearing',
    'recognition',
    'agents',
    'namedRelays',
    'applications',
    'ivr',
    'audioSocket',
    'sip',
    'phoneMedia',
    'captures',
    'log',
    'operation',
    'weights',
    'notices',
  ]);
  const groups = Object.entries({ ...config, config });
  const values = groups.filter(([, group]) => group !== undefined && typeof group !== 'object');
  assert.deepEqual(values, []);
  const open = groups.filter(([, group]) => !Object.isFrozen(group)).map(([name]) => name);
  assert.deepEqual(open, []);
});

test('a sentence has 2048 codec frames at most, or as many as the model is allowed', () => {
  assert.equal(readConfig({}).engines.maxNewTokens, 2048);
  const { engines, model } = readConfig({ MAX_NEW_TOKENS: '300' });
  assert.deepEqual([engines.maxNewTokens, model.maxNewTokens], [300, 300]);
});

test('every mistake is reported at once, with the variable and what it may be', () => {
  assert.deepEqual(problemsOf({ PORT: 'http', ENGINE: 'sam', MAX_CALLS: '0', OPUS_COMPLEXITY: '3.5' }), [
    'PORT must be a number from 0 to 65535, not "http"',
    'ENGINE must be one of auto, qwen3, openai, pocket, flite, espeak, not "sam"',
    'MAX_CALLS must be a number from 1 to 100000, not "0"',
    'OPUS_COMPLEXITY must be a whole number, not "3.5"',
  ]);
});

test('a switch may be written as users of older servers write it', () => {
  const preloads = (word: string) => readConfig({ PRELOAD_MODEL: word }).engines.preloadModel;
  assert.deepEqual(['1', 'true', 'Yes', 'on'].map(preloads), [true, true, true, true]);
  assert.deepEqual(['0', 'False', 'no', 'OFF'].map(preloads), [false, false, false, false]);
  assert.deepEqual(problemsOf({ PRELOAD_MODEL: 'maybe' }), ['PRELOAD_MODEL must be 1 or 0, not "maybe"']);
});

test('the store of renderings must be a Redis, and its password is in no message', () => {
  for (const url of ['redis://localhost', 'rediss://user:secret@cache.example:6380/2']) {
    assert.deepEqual(problemsOf({ REDIS_URL: url }), [], url);
  }
  for (const url of ['localhost:6379', 'http://user:secret@localhost', 'redis://', 'redis']) {
    const [problem = '', ...more] = problemsOf({ REDIS_URL: url });
    assert.match(problem, /^REDIS_URL must be an address such as redis:/, url);
    assert.equal(problem.includes('secret'), false);
    assert.deepEqual(more, []);
  }
});

test('the names of an older server keep their meaning', () => {
  const old = { QUANTIZE: 'FP8', CUDA_GRAPHS: 'false', INFERENCE_CPU_CORES: '0-2, 6', MAX_QUEUE_DEPTH: '0' };
  const config = readConfig(old);
  assert.equal(config.model.quantize, 'fp8');
  assert.equal(config.model.cudaGraphs, false);
  assert.deepEqual(config.model.cores, [0, 1, 2, 6]);
  assert.equal(config.engines.maxQueueDepth, 100_000, 'without a limit there, with the highest here');
  for (const cores of ['3-1', 'all', '0-', '-1', '1024', '0-99999']) {
    assert.match(
      problemsOf({ INFERENCE_CPU_CORES: cores })[0] ?? '',
      /^INFERENCE_CPU_CORES must be cores such as/,
    );
  }
  assert.deepEqual(problemsOf({ QUANTIZE: 'int4' }), [
    'QUANTIZE must be one of none, int8, int8-talker, fp8, not "int4"',
  ]);
});

test('origins and addresses that could match nothing are refused', () => {
  assert.deepEqual(problemsOf({ CORS_ORIGINS: 'https://a.example/', ICE_HOST_ADDRESSES: '10.0.0.1, here' }), [
    'CORS_ORIGINS must be origins such as https://example.org, without a path, not "https://a.example/"',
    'ICE_HOST_ADDRESSES must be IP addresses, not "here"',
  ]);
  assert.deepEqual(problemsOf({ CORS_ORIGINS: 'https://a.example, http://localhost:3000' }), []);
});

test('the guide documents every variable and no other', () => {
  const page = readFileSync('public/docs/configuration.md', 'utf8');
  const [, sections = ''] = page.split(/^(?=## Address and access$)/m);
  const rows = [...sections.matchAll(/^\| `([A-Z_]+)` \|/gmu)].map((match) => match[1]);
  assert.deepEqual(new Set(rows), new Set(Object.keys(VARIABLES)));
  assert.equal(rows.length, new Set(rows).size);
});

test('the page begins with ten variables, and each section with the three that matter', () => {
  assert.equal(new Set(FIRST_TEN).size, 10);
  for (const [title, variables] of Object.entries(SECTIONS)) {
    const names = Object.keys(variables);
    const first: readonly string[] = FIRST_OF_SECTION[title as keyof typeof SECTIONS];
    assert.equal(new Set(first).size, names.length > 3 ? 3 : 0, title);
    assert.deepEqual(
      first.filter((name) => !names.includes(name)),
      [],
      title,
    );
  }
});

test('the page of variables is the one that the table and the readers make', () => {
  const hint = 'run: npm run docs:configuration';
  assert.equal(readFileSync(PAGE, 'utf8'), configurationPage(), hint);
});

function noticesIn(env: Record<string, string>): readonly string[] {
  return readConfig(env).notices;
}

test('a mistyped name is reported with the one that was meant', () => {
  for (const [name, meant] of [
    ['MAX_CALL', 'MAX_CALLS'],
    ['API_KEY', 'API_KEYS'],
    ['API_KEYS_FIEL', 'API_KEYS_FILE'],
    ['REQUEST_TIMOUT', 'REQUEST_TIMEOUT'],
    ['REQUST_TIMEOUT', 'REQUEST_TIMEOUT'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['MAX_QUEUE_DEPHT', 'MAX_QUEUE_DEPTH'],
    ['REDIS_URI', 'REDIS_URL'],
    ['TLS_KEYS', 'TLS_KEY'],
    ['ENGINES', 'ENGINE'],
    ['MAXCALLS', 'MAX_CALLS'],
    ['max_calls', 'MAX_CALLS'],
    ['AGENT_VOCIE', 'AGENT_VOICE'],
    ['AGNET_VOICE', 'AGENT_VOICE'],
    ['VOICE_AGENT', 'AGENT_VOICE'],
    ['AGENT_LANG', 'AGENT_LANGUAGE'],
    ['GREETING_LANG', 'GREETING_LANGUAGE'],
    ['AGENT_URL', 'AGENT_LLM_URL'],
    ['AGENT_API_KEY', 'AGENT_LLM_API_KEY'],
    ['ASR_URL', 'ASR_BASE_URL'],
    ['TTS_URL', 'TTS_BASE_URL'],
    ['GREETING_VOCIE', 'GREETING_VOICE'],
    ['AGENT_FILE', 'AGENTS_FILE'],
    ['LOG_STYEL', 'LOG_STYLE'],
  ] as const) {
    assert.deepEqual(noticesIn({ [name]: '7' }), [`${name} is no setting; did you mean ${meant}?`]);
  }
});

test('names of the system and of other programs are passed over', () => {
  const names = `
    HOME HOST PATH PWD SHELL USER LOGNAME LANG LC_ALL TERM TMPDIR MAIL _ OLDPWD COLUMNS SHLVL
    HOSTNAME HOSTS PORTS POST EDITOR DEBUG MACHTYPE NODE_ENV NODE_OPTIONS npm_config_cache
    http_proxy HTTP_PROXY NO_PROXY SSL_CERT_FILE KUBERNETES_PORT KUBERNETES_SERVICE_HOST
    KUBERNETES_PORT_443_TCP_PORT PARLEY_PORT REDIS_HOST REDIS_PORT REDIS_TLS REDIS_DB MODEL_DIR
    MODEL_PATH LOG_DIR LOG_FORMAT API_URL TLS_CA UDP_PORT MAX_MEM CACHE_DIR CUDA_HOME
    HOST_NAME LOG_FILE AGENT_NAME AGENT_ID AGENT_VERSION AGENT_WORKFOLDER SSH_AGENT_PID SSH_AUTH_SOCK
    MAX_BYTES MAX_SECONDS REDIS_PASSWORD DEFAULT_LANG HOST_IP CALL_ID TTS_HOME VOICE_ID SIP_USER SIP_PASSWORD
    CUDA_VISIBLE_DEVICES AUDIO_DRIVER IDLE_TIME OPENAI_API_KEY DEFAULT_USER SECRET_KEY ${'X'.repeat(5000)}`;
  const env = Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, name === 'HOST' ? '127.0.0.1' : 'x']),
  );
  assert.deepEqual(noticesIn(env), []);
});

test('a name without a value is as good as not set', () => {
  assert.deepEqual(noticesIn({ MAX_CALL: '', TORCH_COMPILE: ' ' }), []);
});

test('what an older server had and this one has not is said to change nothing, or where it went', () => {
  const notices = noticesIn({
    TORCH_COMPILE: 'true',
    TORCH_COMPILE_MODE: 'max',
    SSL_KEYFILE: '/a',
    QUANTIZE: 'INT8',
  });
  assert.deepEqual(notices, [
    'QUANTIZE concerns the native engine; flite and espeak take no account of it',
    'SSL_KEYFILE is no setting; it is called TLS_KEY here',
    'TORCH_COMPILE has no effect: nothing here is compiled by PyTorch',
    'TORCH_COMPILE_MODE has no effect: nothing here is compiled by PyTorch',
  ]);
});

test('what only the native engine takes account of is said where there is none, or another one is wanted', () => {
  const concerns = 'CONTINUITY concerns the native engine; flite and espeak take no account of it';
  const asked = { CONTINUITY: 'utterance' };
  assert.deepEqual(noticesIn(asked), [concerns]);
  assert.deepEqual(noticesIn({ ...asked, MODEL_DIR: '/model', ENGINE: 'flite' }), [concerns]);
  for (const ENGINE of ['auto', 'qwen3', '']) {
    assert.deepEqual(noticesIn({ ...asked, MODEL_DIR: '/model', ENGINE }), []);
  }
});

test('a call begins to speak a text in tokens with its first clause, or as the setting says', () => {
  assert.equal(readConfig({}).texts.firstPiece, 'clause');
  assert.equal(readConfig({ FIRST_PIECE: 'sentence' }).texts.firstPiece, 'sentence');
  assert.match(problemsOf({ FIRST_PIECE: 'word' })[0] ?? '', /^FIRST_PIECE must be one of clause, sentence/);
});
