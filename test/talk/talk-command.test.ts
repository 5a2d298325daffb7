import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { talkCommand, type TalkSurroundings } from '../../src/talk/talk-command.js';
import { systemTime, type Time } from '../../src/time.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { FakeChatServer, models, says, status, thinks } from './fake-chat-server.js';

type Answers = Parameters<typeof FakeChatServer.open>[1];

const OLLAMA: Answers = {
  'GET /v1/models': models('library', 'qwen3:4b'),
  'POST /v1/chat/completions': says('Yes.'),
};
const NO_MODELS = { HF_HOME: '/nowhere' };

interface Situation {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Ports on which chat servers usually listen. */
  readonly usual?: readonly FakeChatServer[];
  /** Of the person; undefined: there is no terminal. */
  readonly answers?: readonly string[];
  readonly taken?: readonly number[];
  readonly pullStatus?: number;
  readonly hasBrowser?: boolean;
  readonly fetch?: typeof globalThis.fetch;
  readonly time?: Time;
}

async function talk(situation: Situation) {
  const { args = [], usual = [], taken = [], hasBrowser = true } = situation;
  let [out, err] = ['', ''];
  const [questions, pulled, opened]: [string[], string[], string[]] = [[], [], []];
  const answers = [...(situation.answers ?? [])];
  const surroundings: TalkSurroundings = {
    fetch: situation.fetch ?? globalThis.fetch,
    time: situation.time ?? systemTime,
    usualServers: usual.map(({ port }) => ({ name: 'Ollama', port })),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    ask:
      situation.answers &&
      (async (question) => {
        questions.push(question);
        return answers.shift();
      }),
    pull: async (name) => {
      pulled.push(name);
      return situation.pullStatus ?? 0;
    },
    openBrowser: async (url) => {
      opened.push(url);
      return hasBrowser;
    },
    isFreePort: async (_host, port) => !taken.includes(port),
    ownAddresses: ['127.0.0.1', '192.0.2.7'],
  };
  const result = await talkCommand(args, { ...NO_MODELS, ...situation.env }, surroundings);
  if ('opened' in result) await result.opened('http://127.0.0.1:8080');
  const env: Readonly<Record<string, string | undefined>> = 'env' in result ? result.env : {};
  const exit = 'status' in result ? result.status : undefined;
  return { env, exit, out, err, questions, pulled, opened };
}

/** Chat servers of the Internet, which answer the requests that would go there. */
function internet(fake: FakeChatServer, hosts: string[]): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(input as string);
    if (url.hostname === '127.0.0.1') return await fetch(input, init);
    hosts.push(url.host);
    return await fetch(`${fake.url}${url.pathname}`, init);
  };
}

test('with a chat server on this machine the server starts with its model, and the page is opened', async (t) => {
  const ollama = await FakeChatServer.open(t, OLLAMA);
  const { env, out, err, opened } = await talk({ usual: [ollama] });
  assert.deepEqual(env, {
    HF_HOME: '/nowhere',
    LOG_LEVEL: 'warn',
    AGENT_LLM_URL: `${ollama.url}/v1`,
    AGENT_LLM_MODEL: 'qwen3:4b',
    AGENT_LLM_API_KEY: undefined,
    AGENT_LLM_OPTIONS: '{"reasoning_effort":"none"}',
    PORT: '8080',
  });
  assert.deepEqual(opened, ['http://127.0.0.1:8080']);
  assert.equal(err, '');
  assert.equal(
    out,
    `Model: qwen3:4b at Ollama (${ollama.url}/v1). Waiting for its first word.
Voice: a plain one, which is embedded.
Ears: none; without them you type, and the answers are spoken.
A neural voice and ears for English come with 409.1 MB:
  pocket-en  245.0 MB  Pocket TTS by Kyutai, CC BY 4.0
  moonshine-small-en  142.3 MB  Moonshine, MIT
  turn-en  21.8 MB  turn-1-mini by p99lab, Apache-2.0
This fetches them: npm run parley -- pull light
Talk to qwen3:4b: http://127.0.0.1:8080
`,
  );
});

test('without a chat server a demo is an agent like any other', async () => {
  const { env, out } = await talk({});
  const { agents } = readConfig(env);
  const { model, greeting } = agents.agents.get('default') ?? {};
  assert.equal(model?.model, 'parley-demo');
  assert.match(greeting ?? '', /I am a demo, without a language model/);
  assert.match(out, /^No chat server was found: a demo repeats what you say\./);
  assert.match(out, /Talk to the demo: http:\/\/127\.0\.0\.1:8080\n$/);
  const answer = await fetch(`${model?.baseUrl}/models`);
  assert.equal(answer.status, 200);
});

test('servers that cannot be used are named before the demo', async (t) => {
  const none = await FakeChatServer.open(t, { 'GET /v1/models': models('library', 'bge-m3') });
  const liar = await FakeChatServer.open(t, { 'GET /v1/models': status(200, 'hello') });
  const { env, out } = await talk({ usual: [none, liar] });
  assert.equal(env['AGENT_LLM_MODEL'], 'parley-demo');
  assert.match(
    out,
    /^Ollama \(127.* has no model that can chat \(1 listed\): .*\n127.* lists no models: .*\nNo chat/,
  );
});

test('a stated server is asked in place of the usual ones, with or without /v1', async (t) => {
  const [ollama, other] = [await FakeChatServer.open(t, OLLAMA), await FakeChatServer.open(t, OLLAMA)];
  for (const llm of [other.url, `${other.url}/v1`]) {
    const { env } = await talk({ usual: [ollama], args: ['--llm', llm] });
    assert.equal(env['AGENT_LLM_URL'], `${other.url}/v1`);
  }
  const { env } = await talk({
    usual: [ollama],
    env: { AGENT_LLM_URL: other.url, AGENT_LLM_MODEL: 'qwen3:4b' },
  });
  assert.equal(env['AGENT_LLM_URL'], `${other.url}/v1`);
  assert.deepEqual(ollama.asked, []);
});

test('a server elsewhere is not even asked for its models without a yes that names it', async (t) => {
  const elsewhere = await FakeChatServer.open(t, OLLAMA);
  for (const [args, answers] of [
    [['--llm', 'https://gpu.example.com/v1'], undefined],
    [['--llm', 'https://gpu.example.com/v1', '--yes'], undefined],
    [['--llm', 'https://gpu.example.com/v1', '--allow-host', 'example.com'], undefined],
    [['--llm', 'https://gpu.example.com/v1'], ['']],
    [['--llm', 'https://gpu.example.com/v1', '-y'], ['n']],
    [['--llm', 'http://localhost.example.com:8080'], ['no']],
  ] as const) {
    const hosts: string[] = [];
    const asked = await talk({ args, fetch: internet(elsewhere, hosts), ...(answers && { answers }) });
    assert.equal(asked.exit, 1);
    assert.match(
      asked.err,
      /is not this machine, and what you say would be sent to it; --allow-host \S+ agrees/,
    );
    assert.deepEqual(hosts, []);
    if (answers !== undefined) assert.match(asked.questions.join(), /^\S+example\.com is not this machine\./);
  }
});

test('a server elsewhere is used after a yes, or with the flag that names its host', async (t) => {
  const elsewhere = await FakeChatServer.open(t, OLLAMA);
  const url = 'https://gpu.example.com/v1';
  for (const more of [{ answers: ['y', 'n'] }, { args: ['--llm', url, '--allow-host', 'GPU.example.com'] }]) {
    const { env } = await talk({ args: ['--llm', url], fetch: internet(elsewhere, []), ...more });
    assert.equal(env['AGENT_LLM_URL'], url);
  }
});

test('an address of this machine needs no yes', async (t) => {
  const own = await FakeChatServer.open(t, OLLAMA);
  for (const host of ['192.0.2.7', 'localhost', '0.0.0.0', '[::1]']) {
    const { env } = await talk({ args: ['--llm', `http://${host}:9000`], fetch: internet(own, []) });
    assert.equal(env['AGENT_LLM_URL'], `http://${host}:9000/v1`);
  }
});

test('OPENAI_API_KEY alone sends nothing anywhere, and says how to', async (t) => {
  const openAi = await FakeChatServer.open(t, OLLAMA);
  const hosts: string[] = [];
  const parts = { env: { OPENAI_API_KEY: 'sk-1' }, fetch: internet(openAi, hosts) };
  for (const more of [{}, { args: ['--yes'] }, { answers: ['n', 'n'] }]) {
    const { env, out } = await talk({ ...parts, ...more });
    assert.equal(env['AGENT_LLM_MODEL'], 'parley-demo');
    assert.match(
      out,
      /OPENAI_API_KEY suggests api\.openai\.com, which is not used: --allow-host api\.openai\.com/,
    );
  }
  assert.deepEqual(hosts, []);
  const { env } = await talk({ ...parts, args: ['--allow-host', 'api.openai.com'] });
  assert.equal(env['AGENT_LLM_URL'], 'https://api.openai.com/v1');
  assert.equal(env['AGENT_LLM_API_KEY'], 'sk-1');
  assert.equal(openAi.asked[0]?.authorization, 'Bearer sk-1');
});

test('a server of this machine goes before the one that OPENAI_API_KEY suggests', async (t) => {
  const ollama = await FakeChatServer.open(t, OLLAMA);
  const { env, questions } = await talk({
    usual: [ollama],
    env: { OPENAI_API_KEY: 'sk-1' },
    answers: ['n'],
  });
  assert.equal(env['AGENT_LLM_URL'], `${ollama.url}/v1`);
  assert.deepEqual(questions, ['Fetch them now? [y/N] ']);
  assert.deepEqual([...new Set(ollama.asked.map((one) => one.authorization))], [undefined]);
});

test('each key goes to its own host only', async (t) => {
  const fake = await FakeChatServer.open(t, OLLAMA);
  const keys = { AGENT_LLM_API_KEY: 'own', OPENAI_API_KEY: 'sk-1' };
  for (const [env, key] of [
    [{ ...keys }, 'Bearer own'],
    [{ ...keys, AGENT_LLM_URL: fake.url }, 'Bearer own'],
    [{ ...keys, AGENT_LLM_URL: 'http://127.0.0.1:1' }, undefined],
    [{ OPENAI_API_KEY: 'sk-1' }, undefined],
    [{ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: `${fake.url}/v1` }, 'Bearer sk-1'],
  ] as const) {
    fake.asked.length = 0;
    await talk({ env, args: ['--llm', fake.url] });
    assert.deepEqual([...new Set(fake.asked.map((one) => one.authorization))], [key], JSON.stringify(env));
  }
});

test('a model that cannot be talked with ends the command with what to do', async (t) => {
  const answers: Answers = {
    ...OLLAMA,
    'POST /v1/chat/completions': status(404, { error: { message: 'model not found' } }),
  };
  const { exit, err } = await talk({ usual: [await FakeChatServer.open(t, answers)] });
  assert.equal(exit, 1);
  assert.equal(
    err,
    'parley: qwen3:4b at Ollama cannot be talked with: it answers 404 (model not found); try another model with --model NAME, or another server with --llm URL.\n',
  );
});

test('a model that hangs is said with what to do, and the server starts', async (t) => {
  const answers: Answers = { ...OLLAMA, 'POST /v1/chat/completions': () => undefined };
  const ollama = await FakeChatServer.open(t, answers);
  const time = new ManualTime();
  const talking = talk({ usual: [ollama], time });
  await until(() => ollama.asked.some(({ method }) => method === 'POST'));
  time.advance(30_000);
  const { out, env } = await talking;
  assert.match(out, /It said nothing for 30 s\. .*If it stays silent, restart Ollama\.\n/);
  assert.equal(env['AGENT_LLM_MODEL'], 'qwen3:4b');
});

test('thinking that goes on is said, and stated options stay as they are', async (t) => {
  const thinking = await FakeChatServer.open(t, {
    ...OLLAMA,
    'POST /v1/chat/completions': thinks('reasoning'),
  });
  const { out, env } = await talk({ usual: [thinking], env: { AGENT_LLM_OPTIONS: '{"top_p": 0.5}' } });
  assert.match(out, /It thinks before it speaks, and that cannot be switched off from here/);
  assert.equal(env['AGENT_LLM_OPTIONS'], '{"top_p":0.5}');
});

test('a taken port gives way to the next free one, and a stated one does not', async () => {
  assert.equal((await talk({ taken: [8080, 8081] })).env['PORT'], '8082');
  const all = Array.from({ length: 20 }, (_, index) => 8080 + index);
  assert.equal((await talk({ taken: all })).env['PORT'], '0');
  assert.equal((await talk({ taken: [8080], args: ['--port', '8080'] })).env['PORT'], '8080');
  assert.equal((await talk({ taken: [9000], env: { PORT: '9000' } })).env['PORT'], '9000');
});

test('missing models are fetched after a yes, and never without one', async () => {
  assert.deepEqual((await talk({})).pulled, []);
  assert.deepEqual((await talk({ answers: ['n'] })).pulled, []);
  assert.deepEqual((await talk({ answers: [''] })).pulled, []);
  assert.deepEqual((await talk({ answers: ['y'] })).pulled, ['light']);
  assert.deepEqual((await talk({ args: ['--yes'] })).pulled, ['light']);
  const ears = { args: ['--yes'], env: { ENGINE: 'flite' } };
  assert.deepEqual((await talk(ears)).pulled, ['moonshine-small-en', 'turn-en']);
});

test('a download that breaks is said with the command that goes on, and the server starts', async () => {
  const { out, env } = await talk({ args: ['--yes'], pullStatus: 1 });
  assert.match(
    out,
    /The download did not end\. This goes on where it stopped: npm run parley -- pull light\n/,
  );
  assert.equal(env['PORT'], '8080');
});

test('Ctrl-C in a question or in a download ends the command as a shell expects', async () => {
  const inQuestion = await talk({ answers: [] });
  assert.deepEqual([inQuestion.exit, inQuestion.err], [130, '']);
  const inDownload = await talk({ args: ['--yes'], pullStatus: 130 });
  assert.deepEqual([inDownload.exit, inDownload.pulled], [130, ['light']]);
});

test('without a browser the address is there to be opened', async () => {
  const none = await talk({ hasBrowser: false });
  assert.match(
    none.out,
    /Talk to the demo: http:\/\/127\.0\.0\.1:8080\nNo browser was opened: open the address in one\.\n$/,
  );
  const off = await talk({ args: ['--no-open'] });
  assert.deepEqual(off.opened, []);
  assert.match(off.out, /Talk to the demo: http:\/\/127\.0\.0\.1:8080\n$/);
});

test('a wrong option is refused with what is allowed', async () => {
  for (const [args, env, what] of [
    [['--bogus'], {}, /--bogus/],
    [['now'], {}, /now/],
    [
      ['--llm', 'gpu:8000'],
      {},
      /--llm must be an http or https URL without user, query and fragment, not "gpu:8000"/,
    ],
    [['--llm', 'http://a:b@c/'], {}, /--llm must be an http/],
    [[], { AGENT_LLM_URL: 'ftp://a' }, /AGENT_LLM_URL must be an http/],
    [['--port', '65536'], {}, /--port must be a number from 0 to 65535, not "65536"/],
    [['--model', ' '], {}, /--model must be the name of a model/],
  ] as const) {
    const { exit, err } = await talk({ args, env });
    assert.equal(exit, 2, args.join(' '));
    assert.match(err, what);
    assert.match(err, /^parley: .*\nusage: parley talk /);
  }
});

test('a configuration that cannot be used is refused as at any start', async () => {
  await assert.rejects(talk({ env: { MAX_CALLS: 'many' } }), { code: 'CONFIG_INVALID' });
});

test('a stated server that is away ends the command, and the demo is no substitute', async (t: TestContext) => {
  const fake = await FakeChatServer.open(t, {});
  const { exit, err } = await talk({ args: ['--llm', fake.url] });
  assert.equal(exit, 1);
  assert.match(err, /^parley: 127\.0\.0\.1:\d+ lists no models at \S+ and \S+ \(404\)/);
});
