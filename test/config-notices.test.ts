import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.js';

function noticesIn(env: Record<string, string>): readonly string[] {
  return readConfig(env).notices;
}

test('a name that is nearly one of ours is told with the one that was meant', () => {
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
