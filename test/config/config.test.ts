import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { SECTIONS, VARIABLES } from '../../src/config/variables.js';
import { ParleyError } from '../../src/errors.js';
import { temporaryFolder } from '../api/http/tls-files.js';
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
  const config = readConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.equal(config.engine, 'auto');
  assert.ok(Object.isFrozen(config));
});

test('every mistake is reported at once, with the variable and what it may be', () => {
  assert.deepEqual(problemsOf({ PORT: 'http', ENGINE: 'sam', MAX_CALLS: '0', OPUS_COMPLEXITY: '3.5' }), [
    'PORT must be a number from 0 to 65535, not "http"',
    'ENGINE must be one of auto, qwen3, openai, flite, espeak, not "sam"',
    'MAX_CALLS must be a number from 1 to 100000, not "0"',
    'OPUS_COMPLEXITY must be a whole number, not "3.5"',
  ]);
});

test('a switch may be written as users of older servers write it', () => {
  const preloads = (word: string) => readConfig({ PRELOAD_MODEL: word }).preloadModel;
  assert.deepEqual(['1', 'true', 'Yes', 'on'].map(preloads), [true, true, true, true]);
  assert.deepEqual(['0', 'False', 'no', 'OFF'].map(preloads), [false, false, false, false]);
  assert.deepEqual(problemsOf({ PRELOAD_MODEL: 'maybe' }), ['PRELOAD_MODEL must be 1 or 0, not "maybe"']);
});

test('an open address wants a key or an explicit word', () => {
  const [problem] = problemsOf({ HOST: '0.0.0.0' });
  assert.match(
    problem ?? '',
    /^HOST 0\.0\.0\.0 is open to others: set API_KEYS or API_KEYS_FILE, or ALLOW_OPEN=1/,
  );
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', API_KEYS: 'k'.repeat(16) }), []);
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', API_KEYS_FILE: '/run/keys' }), []);
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', ALLOW_OPEN: '1' }), []);
});

test('a key that could be guessed is refused', () => {
  assert.deepEqual(problemsOf({ API_KEYS: 'secret' }), [
    'API_KEYS must be keys of at least 16 characters each',
  ]);
  assert.deepEqual(problemsOf({ API_KEYS: 'sixteen or more characters' }), [
    'API_KEYS must be keys of ASCII without spaces: others cannot be sent',
  ]);
});

test('a key may have a name before it, which makes it no longer', () => {
  assert.deepEqual(problemsOf({ API_KEYS: `acme ${'k'.repeat(16)}, admin ${'a'.repeat(16)}` }), []);
  assert.deepEqual(problemsOf({ API_KEYS: 'a-name-that-is-long short' }), [
    'API_KEYS must be keys of at least 16 characters each',
  ]);
  assert.deepEqual(problemsOf({ API_KEYS: `10.0.0.1 ${'k'.repeat(16)}` }), [
    'API_KEYS must be keys of ASCII without spaces: others cannot be sent',
  ]);
});

test('a certificate without its key is refused, and a key without its certificate', () => {
  const problem = ['TLS_CERT and TLS_KEY must be set together'];
  assert.deepEqual(problemsOf({ TLS_CERT: '/a.pem' }), problem);
  assert.deepEqual(problemsOf({ TLS_KEY: '/a.key' }), problem);
  assert.deepEqual(problemsOf({ TLS_CERT: '/a.pem', TLS_KEY: '/a.key' }), []);
});

test('the path of a Unix socket is as long as the system can hold, counted in bytes', () => {
  assert.deepEqual(problemsOf({ UDS_PATH: `/${'a'.repeat(106)}` }), []);
  assert.deepEqual(problemsOf({ UDS_PATH: `/${'é'.repeat(54)}` }), [
    'UDS_PATH must have at most 107 bytes, not 109',
  ]);
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

test('call records go to an address of HTTP, and only signed', () => {
  const CALL_WEBHOOK_URL = 'https://example.org/calls';
  const CALL_WEBHOOK_SECRET = 's'.repeat(16);
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL, CALL_WEBHOOK_SECRET }), []);
  const both = ['CALL_WEBHOOK_URL and CALL_WEBHOOK_SECRET must be set together'];
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL }), both);
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_SECRET }), both);
  for (const url of ['ftp://example.org', 'example.org', 'https://user:secret@example.org/']) {
    const [problem = '', ...more] = problemsOf({ CALL_WEBHOOK_URL: url, CALL_WEBHOOK_SECRET });
    assert.match(problem, /^CALL_WEBHOOK_URL must be an address such as https:/, url);
    assert.equal(problem.includes('secret'), false);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL, CALL_WEBHOOK_SECRET: 'short' }), [
    'CALL_WEBHOOK_SECRET must have at least 16 characters',
  ]);
});

test('the names of an older server keep their meaning', () => {
  const old = { QUANTIZE: 'FP8', CUDA_GRAPHS: 'false', INFERENCE_CPU_CORES: '0-2, 6', MAX_QUEUE_DEPTH: '0' };
  const config = readConfig(old);
  assert.equal(config.model.quantize, 'fp8');
  assert.equal(config.model.cudaGraphs, false);
  assert.deepEqual(config.model.cores, [0, 1, 2, 6]);
  assert.equal(config.maxQueueDepth, 100_000, 'without a limit there, with the highest here');
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

test('telephone calls have ports below those that the system gives away, and sound that no silence ends soon', () => {
  assert.deepEqual(readConfig({}).phoneMedia, {
    rtpPorts: [16_384, 32_767],
    rtpPortDrainMs: 30_000,
    rtpDscp: 46,
    rtpTimeoutMs: 300_000,
    rtpLatchNetworks: [],
    srtp: 'prefer',
    srtpKeying: undefined,
    comfortNoise: false,
    sipCodecs: ['G722', 'opus', 'PCMU', 'PCMA'],
  });
  assert.deepEqual(readConfig({ SRTP_KEYING: 'SDES, dtls,sdes' }).phoneMedia.srtpKeying, ['sdes', 'dtls']);
  assert.deepEqual(problemsOf({ SRTP_KEYING: 'sdes,zrtp' }), [
    'SRTP_KEYING must be of sdes, dtls, not "zrtp"',
  ]);
  assert.equal(readConfig({ RTP_COMFORT_NOISE: '1' }).phoneMedia.comfortNoise, true);
  const { phoneMedia } = readConfig({ SIP_CODECS: 'pcma, Opus,PCMA', RTP_TIMEOUT: '0', SRTP: 'Require' });
  assert.deepEqual(
    [phoneMedia.sipCodecs, phoneMedia.rtpTimeoutMs, phoneMedia.srtp],
    [['PCMA', 'opus'], 0, 'require'],
  );
});

test('networks that media may come from are networks', () => {
  const { phoneMedia } = readConfig({ RTP_LATCH_NETWORKS: '10.0.0.0/8, fe80::1%eth0' });
  assert.deepEqual(phoneMedia.rtpLatchNetworks, ['10.0.0.0/8', 'fe80::1']);
  assert.deepEqual(problemsOf({ RTP_LATCH_NETWORKS: '10.0.0.0/33' }), [
    'RTP_LATCH_NETWORKS must be addresses or networks such as 10.0.0.0/8, not "10.0.0.0/33"',
  ]);
});

test('which destinations may be called is a list of prefixes, each with its calls a minute', () => {
  const { sip } = readConfig({
    SIP_DESTINATIONS: '+49=60, +49900=0,Sales,@SIP.example.com,@[2001:DB8::1]=5,*=1',
  });
  assert.deepEqual(sip.destinations, [
    { prefix: '+49', callsPerMinute: 60 },
    { prefix: '+49900', callsPerMinute: 0 },
    { prefix: 'sales', callsPerMinute: undefined },
    { prefix: '@sip.example.com', callsPerMinute: undefined },
    { prefix: '@2001:db8::1', callsPerMinute: 5 },
    { prefix: '*', callsPerMinute: 1 },
  ]);
  for (const wrong of ['+49=', '=5', '+49=x', 'bob@example.com', '@', '+49=1=2', '+49=-1']) {
    const problem = `SIP_DESTINATIONS must be prefixes such as +49 or +49=60, not "${wrong}"`;
    assert.deepEqual(problemsOf({ SIP_DESTINATIONS: `+43,${wrong}` }), [problem]);
  }
  assert.deepEqual(problemsOf({ SIP_DESTINATIONS: '+49,+49=5' }), ['SIP_DESTINATIONS names "+49" twice']);
  const free = readConfig({}).sip;
  assert.deepEqual(
    [free.directCalls, free.redirections, free.destinations, free.callsPerMinute],
    [true, false, [], 0],
  );
  const strict = readConfig({ SIP_DIRECT_CALLS: '0', SIP_REDIRECTIONS: '1', SIP_CALLS_PER_MINUTE: '30' }).sip;
  assert.deepEqual([strict.directCalls, strict.redirections, strict.callsPerMinute], [false, true, 30]);
});

test('a range of media ports holds at least one pair, and codecs are known ones', () => {
  assert.deepEqual(problemsOf({ RTP_PORT_MIN: '20001', RTP_PORT_MAX: '20002' }), [
    'RTP_PORT_MAX leaves no pair of ports from RTP_PORT_MIN=20001 on',
  ]);
  assert.deepEqual(problemsOf({ RTP_PORT_MIN: '20000', RTP_PORT_MAX: '20001' }), []);
  assert.deepEqual(problemsOf({ SIP_CODECS: 'PCMU,GSM' }), [
    'SIP_CODECS must be of G722, opus, PCMU, PCMA, not "GSM"',
  ]);
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

test('applications are shown the header fields of callers that are usual, or those that are named', () => {
  const usual = ['X-*', 'Diversion', 'User-to-User', 'P-Asserted-Identity'];
  assert.deepEqual(readConfig({}).sip.callHeaders, usual);
  assert.deepEqual(readConfig({ SIP_CALL_HEADERS: '-' }).sip.callHeaders, []);
  assert.deepEqual(readConfig({ SIP_CALL_HEADERS: 'X-Tenant, x-*-id' }).sip.callHeaders, [
    'X-Tenant',
    'x-*-id',
  ]);
  assert.deepEqual(problemsOf({ SIP_CALL_HEADERS: 'X-A,X B' }), [
    'SIP_CALL_HEADERS must be names of header fields, such as X-Tenant or X-*, not "X B"',
  ]);
});

test('callers are challenged with MD5, or with the hashes that SIP_DIGEST names, in its order and once each', () => {
  assert.deepEqual(readConfig({}).sip.digests, ['MD5']);
  assert.deepEqual(readConfig({ SIP_DIGEST: 'sha-256, MD5,SHA-256' }).sip.digests, ['SHA-256', 'MD5']);
  assert.deepEqual(problemsOf({ SIP_DIGEST: 'MD5,MD4' }), [
    'SIP_DIGEST must be some of MD5, SHA-256, SHA-512-256, not "MD4"',
  ]);
});

test("a file may map ids of ElevenLabs' voices, and its mistakes are reported with all others", (t) => {
  const file = join(temporaryFolder(t), 'voices.json');
  const problems = (text: string, env: Record<string, string> = {}) => {
    writeFileSync(file, text);
    return problemsOf({ ELEVENLABS_VOICES_FILE: file, ...env }).map((problem) =>
      problem.replace(`ELEVENLABS_VOICES_FILE ${file} `, ''),
    );
  };
  assert.deepEqual(problems('\uFEFF{"21m00Tcm4TlvDq8ikWAM": "slt", "a-b_c": "Ryan"}'), []);
  const { elevenLabsVoices } = readConfig({ ELEVENLABS_VOICES_FILE: file });
  assert.deepEqual(
    [...elevenLabsVoices],
    [
      ['21m00Tcm4TlvDq8ikWAM', 'slt'],
      ['a-b_c', 'Ryan'],
    ],
  );
  assert.deepEqual([...readConfig({}).elevenLabsVoices], []);
  assert.deepEqual(problems('{"a b": "slt", "": "slt", "ok": "slt", "c": 7, "d": " "}', { PORT: 'x' }), [
    'PORT must be a number from 0 to 65535, not "x"',
    '"a b" must be an id of 1 to 64 letters, digits, "-" and "_"',
    '"" must be an id of 1 to 64 letters, digits, "-" and "_"',
    '"c" must be the name of a voice, of 1 to 200 characters',
    '"d" must be the name of a voice, of 1 to 200 characters',
  ]);
  const shape = 'must be a JSON object of ids and names of voices, such as {"21m00Tcm4TlvDq8ikWAM": "slt"}';
  for (const text of ['[]', 'null', '"slt"']) assert.deepEqual(problems(text), [shape]);
  assert.match(problems('{"a": ').join(), /^is not JSON: /);
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`id${i}`, 'slt']));
  assert.deepEqual(problems(JSON.stringify(many)), ['must have at most 10000 ids, not 10001']);
  assert.deepEqual(problems(' '.repeat(2 ** 20 + 1)), ['must have at most 1048576 bytes']);
  rmSync(file);
  assert.deepEqual(problemsOf({ ELEVENLABS_VOICES_FILE: file }), [
    `ELEVENLABS_VOICES_FILE ${file} cannot be read: ENOENT`,
  ]);
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

test('nothing is captured unless somebody says so, and secrets only where they are asked for', () => {
  assert.deepEqual(readConfig({}).captures, { collector: undefined, files: undefined, keys: false });
  assert.equal(readConfig({ PCAP_DIR: '/x', PCAP_CALLS: 'off' }).captures.files, undefined);
  const files = {
    folder: '/x',
    calls: 'marked',
    rtp: false,
    bytesPerFile: 33_554_432,
    keepMs: 2_592_000_000,
    keepBytes: 10_737_418_240,
  };
  assert.deepEqual(readConfig({ PCAP_DIR: '/x' }).captures.files, files);
});

test('how long captures are kept, and how many bytes of them, can be set or left without limit', () => {
  const kept = (env: Record<string, string>) => {
    const { keepMs, keepBytes } = readConfig({ PCAP_DIR: '/x', ...env }).captures.files ?? {};
    return [keepMs, keepBytes];
  };
  assert.deepEqual(kept({ PCAP_KEEP_DAYS: '0.5', PCAP_KEEP_BYTES: '1000' }), [43_200_000, 1000]);
  assert.deepEqual(kept({ PCAP_KEEP_DAYS: '0', PCAP_KEEP_BYTES: '0' }), [0, 0]);
  assert.deepEqual(problemsOf({ PCAP_KEEP_DAYS: '1' }), [
    'PCAP_KEEP_DAYS needs PCAP_DIR, the folder of the files',
  ]);
});

test('calls are chosen by a word or by patterns', () => {
  const calls = (PCAP_CALLS: string) => readConfig({ PCAP_DIR: '/x', PCAP_CALLS }).captures.files?.calls;
  assert.equal(calls('ALL'), 'all');
  assert.deepEqual(calls('to:1*, From:sip?@h'), [
    { field: 'to', pattern: '1*' },
    { field: 'from', pattern: 'sip?@h' },
  ]);
  const words = 'must be off, all, marked, or patterns such as to:100,from:+49*';
  assert.deepEqual(problemsOf({ PCAP_DIR: '/x', PCAP_CALLS: 'some' }), [`PCAP_CALLS ${words}, not "some"`]);
  assert.deepEqual(problemsOf({ PCAP_DIR: '/x', PCAP_CALLS: 'all,to:1' }), [
    `PCAP_CALLS ${words}, not "all"`,
  ]);
});

test('a collector is a host and a port', () => {
  const place = (HEP_COLLECTOR: string) => {
    const { host, port } = readConfig({ HEP_COLLECTOR }).captures.collector ?? {};
    return [host, port];
  };
  assert.deepEqual(place('192.0.2.1:9061'), ['192.0.2.1', 9061]);
  assert.deepEqual(place('homer.example.org'), ['homer.example.org', 9060]);
  assert.deepEqual(place('[2001:db8::1]:9'), ['2001:db8::1', 9]);
  for (const wrong of ['http://homer', 'h:0', 'h:65536', '2001:db8::1', '[h]:9', ':9']) {
    assert.deepEqual(problemsOf({ HEP_COLLECTOR: wrong }), [
      `HEP_COLLECTOR must be host:port, such as 192.0.2.1:9060, not "${wrong}"`,
    ]);
  }
});

test('a variable without effect is a mistake, reported with the others', () => {
  assert.deepEqual(problemsOf({ HEP_KEY: 'k', HEP_ID: '-1', PCAP_RTP: '1', PCAP_BYTES: '5' }), [
    'HEP_ID must be a number from 0 to 4294967295, not "-1"',
    'HEP_ID needs HEP_COLLECTOR, the address of the collector',
    'HEP_KEY needs HEP_COLLECTOR, the address of the collector',
    'PCAP_BYTES must be a number from 100000 to 1099511627776, not "5"',
    'PCAP_RTP needs PCAP_DIR, the folder of the files',
    'PCAP_BYTES needs PCAP_DIR, the folder of the files',
  ]);
});

test('a call begins to speak a text in tokens with its first clause, or as the setting says', () => {
  assert.equal(readConfig({}).firstPiece, 'clause');
  assert.equal(readConfig({ FIRST_PIECE: 'sentence' }).firstPiece, 'sentence');
  assert.match(problemsOf({ FIRST_PIECE: 'word' })[0] ?? '', /^FIRST_PIECE must be one of clause, sentence/);
});
