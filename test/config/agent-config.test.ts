// The variables of agents, and AGENTS_FILE.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'agents-'));
after(() => rmSync(FOLDER, { recursive: true }));

const OWN = { AGENT_LLM_URL: 'http://127.0.0.1:11434/v1/', AGENT_LLM_MODEL: 'small' };
const FILE = join(FOLDER, 'agents.json');

function fileOf(content: unknown): string {
  writeFileSync(FILE, typeof content === 'string' ? content : JSON.stringify(content));
  return FILE;
}

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('without variables there is no agent', () => {
  const { agents, usual } = readConfig({}).agents;
  assert.deepEqual([agents.size, usual], [0, undefined]);
});

test('two variables make an agent that takes every call', () => {
  const { agents, usual } = readConfig(OWN).agents;
  assert.equal(usual, 'default');
  const agent = agents.get('default');
  assert.deepEqual(agent?.model, { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: undefined, model: 'small' });
  assert.match(agent.prompt, /telephone call/);
  assert.deepEqual([agent.greeting, agent.interruptible, agent.fillerMs], [undefined, 'any', 3000]);
});

test('a prompt may be a file', () => {
  const path = join(FOLDER, 'prompt.txt');
  writeFileSync(path, '\uFEFFYou sell tea.\n');
  const env = { ...OWN, AGENT_PROMPT: `@${path}`, AGENT_GREETING: 'Hello.', AGENT_VOICE: 'slt' };
  const agent = readConfig(env).agents.agents.get('default');
  assert.deepEqual([agent?.prompt, agent?.greeting, agent?.voice], ['You sell tea.', 'Hello.', 'slt']);
  assert.deepEqual(problemsOf({ ...OWN, AGENT_PROMPT: '@/missing.txt' }), [
    'AGENT_PROMPT names the file /missing.txt, which cannot be read: ENOENT',
  ]);
});

test('variables that have no effect, or are wrong, are named', () => {
  assert.deepEqual(problemsOf({ AGENT_GREETING: 'Hello.' }), [
    'AGENT_GREETING has no effect without AGENT_LLM_URL',
  ]);
  assert.deepEqual(problemsOf({ AGENT_LLM_URL: 'http://a/v1' }), [
    'AGENT_LLM_MODEL must name the model of AGENT_LLM_URL',
  ]);
  assert.deepEqual(problemsOf({ AGENT_IDLE_TIMEOUT: '9' }), [
    'AGENT_IDLE_TIMEOUT has no effect without AGENT_LLM_URL',
  ]);
  assert.deepEqual(problemsOf({ ...OWN, AGENT_IDLE_TIMEOUT: '-1' }), [
    'AGENT_IDLE_TIMEOUT must be a number from 0 to 3600, not "-1"',
  ]);
  assert.deepEqual(problemsOf({ ...OWN, AGENT_LLM_URL: 'ftp://a' }), [
    'AGENT_LLM_URL must be an http or https URL without user, query and fragment',
  ]);
});

test('agents of a file have the model of the environment, or their own with their own key', () => {
  const path = fileOf({
    agents: {
      sales: {
        prompt: 'Sell tea.',
        greeting: 'Good morning.',
        transfers: { person: 'sip:200@pbx.example.com' },
        tools: [{ name: 'order_status', url: 'https://shop.example.com/order', authorizationEnv: 'SHOP' }],
        filler: '-',
        fillerSeconds: 1.5,
      },
      support: {
        url: 'https://models.example.com/v1',
        model: 'large',
        keyEnv: 'SUPPORT_KEY',
        interruptible: 'dtmf',
      },
    },
    default: 'sales',
  });
  const env = {
    ...OWN,
    AGENT_LLM_API_KEY: 'own',
    AGENTS_FILE: path,
    SHOP: 'Bearer shop',
    SUPPORT_KEY: 'theirs',
  };
  const { agents, usual } = readConfig(env).agents;
  assert.equal(usual, 'sales');
  assert.deepEqual([...agents.keys()], ['default', 'sales', 'support']);
  const [sales, support] = [agents.get('sales'), agents.get('support')];
  assert.deepEqual(sales?.model.apiKey, 'own');
  assert.deepEqual([...(sales?.transfers ?? [])], [['person', 'sip:200@pbx.example.com']]);
  assert.deepEqual(sales?.tools, [
    {
      name: 'order_status',
      description: 'order_status',
      parameters: { type: 'object', properties: {} },
      url: 'https://shop.example.com/order',
      authorization: 'Bearer shop',
      timeoutMs: 10_000,
    },
  ]);
  assert.deepEqual([sales?.filler, sales?.fillerMs], [undefined, 1500]);
  assert.deepEqual(support?.model, {
    baseUrl: 'https://models.example.com/v1',
    apiKey: 'theirs',
    model: 'large',
  });
  assert.equal(support?.interruptible, 'dtmf');
});

test('a silent caller is asked where seconds are set, in the words of the agent', () => {
  const usual = {
    idleMs: 10_000,
    phrase: 'Are you still there?',
    times: 2,
    goodbye: 'I do not hear you any more. Goodbye.',
  };
  const path = fileOf({
    agents: {
      same: {},
      own: { idleSeconds: 7.5, idlePhrase: 'Noch da?', idleTimes: 1, goodbye: 'Auf Wiederhören.' },
      words: { idlePhrase: 'Hello?' },
      patient: { idleSeconds: 0 },
      bot: { relay: { url: 'wss://bot.example.com/', idleSeconds: 20 } },
      plain: { relay: { url: 'wss://bot.example.com/' } },
    },
  });
  assert.equal(readConfig(OWN).agents.agents.get('default')?.idle, undefined);
  const { agents, relays } = readConfig({ ...OWN, AGENT_IDLE_TIMEOUT: '10', AGENTS_FILE: path }).agents;
  const idleOf = (name: string) => agents.get(name)?.idle;
  assert.deepEqual(['default', 'same', 'patient'].map(idleOf), [usual, usual, undefined]);
  assert.deepEqual(idleOf('words'), { ...usual, phrase: 'Hello?' });
  assert.deepEqual(idleOf('own'), {
    idleMs: 7500,
    phrase: 'Noch da?',
    times: 1,
    goodbye: 'Auf Wiederhören.',
  });
  assert.deepEqual(relays.get('bot')?.idle, { ...usual, idleMs: 20_000 });
  assert.equal(relays.get('plain')?.idle, undefined, 'an application decides for itself');
});

test('the key of one server is not sent to another', () => {
  const path = fileOf({ agents: { other: { url: 'https://other.example.com/v1', model: 'm' } } });
  const { agents } = readConfig({ ...OWN, AGENT_LLM_API_KEY: 'own', AGENTS_FILE: path }).agents;
  assert.equal(agents.get('other')?.model.apiKey, undefined);
});

test('requests have the options of the environment, or those of the agent, at their own server', () => {
  const off = { reasoning_effort: 'none' };
  const own = { chat_template_kwargs: { enable_thinking: false } };
  const url = 'https://other.example.com/v1';
  const path = fileOf({
    agents: {
      same: {},
      own: { options: own },
      plain: { options: {} },
      other: { url, model: 'm' },
      both: { url, model: 'm', options: own },
    },
  });
  const env = { ...OWN, AGENT_LLM_OPTIONS: JSON.stringify(off), AGENTS_FILE: path };
  const { agents } = readConfig(env).agents;
  assert.deepEqual(
    [...agents].map(([name, { model }]) => [name, model.options]),
    [
      ['default', off],
      ['same', off],
      ['own', own],
      ['plain', {}],
      ['other', undefined],
      ['both', own],
    ],
  );
});

test('options that are no JSON object, or name a field of each request, are refused without their text', () => {
  const what = 'must be a JSON object of at most 16384 characters, such as {"reasoning_effort":"none"}';
  for (const wrong of ['{"key":"secret"', '[]', '7', 'null', JSON.stringify({ stop: 'x'.repeat(20_000) })])
    assert.deepEqual(problemsOf({ ...OWN, AGENT_LLM_OPTIONS: wrong }), [`AGENT_LLM_OPTIONS ${what}`]);
  assert.deepEqual(problemsOf({ ...OWN, AGENT_LLM_OPTIONS: '{"stream":false}' }), [
    'AGENT_LLM_OPTIONS must not have "stream": model, messages, stream, tools are set for each request',
  ]);
  assert.deepEqual(problemsOf({ AGENT_LLM_OPTIONS: '{}' }), [
    'AGENT_LLM_OPTIONS has no effect without AGENT_LLM_URL',
  ]);
});

for (const [what, content, problem] of [
  ['no JSON', '{', /^the file is not JSON/],
  ['a list', [], /^the file must be an object/],
  ['no agents', { agents: [] }, /^agents must be an object of at most 1000 agents by name/],
  ['a misspelt field', { agents: { a: { promt: 'x' } } }, /^agents\.a: "promt" is none of url, model/],
  [
    'a wrong time of silence',
    { agents: { a: { idleSeconds: -1 } } },
    /^agents\.a\.idleSeconds must be a number from 0 to 3600/,
  ],
  [
    'a goodbye that is never said',
    { agents: { a: { goodbye: 'Bye.' } } },
    /^agents\.a\.goodbye has no effect without idleSeconds/,
  ],
  [
    'options that are no object',
    { agents: { a: { options: 'none' } } },
    /^agents\.a\.options must be a JSON object of at most 16384 characters/,
  ],
  ['a strange name', { agents: { 'a b': {} } }, /^agents\.a b must be named by letters/],
  ['an unknown default', { agents: {}, default: 'x' }, /^default names "x", which is no agent/],
  [
    'a missing secret',
    { agents: { a: { keyEnv: 'NONE' } } },
    /^agents\.a\.keyEnv names the variable NONE, which must be set/,
  ],
  [
    'a tool of a built-in name',
    { agents: { a: { tools: [{ name: 'hang_up', url: 'http://a' }] } } },
    /must not be that of a built-in tool/,
  ],
  [
    'two tools of one name',
    {
      agents: {
        a: {
          tools: [
            { name: 'f', url: 'http://a' },
            { name: 'f', url: 'http://b' },
          ],
        },
      },
    },
    /has two tools of the name "f"/,
  ],
  [
    'a tool without an address',
    { agents: { a: { tools: [{ name: 'f' }] } } },
    /tools\[0\]\.url must be an http or https URL/,
  ],
  [
    'two prompts',
    { agents: { a: { prompt: 'x', promptFile: 'y' } } },
    /must have at most one of prompt, promptFile/,
  ],
  [
    'a missing prompt file',
    { agents: { a: { promptFile: 'none.txt' } } },
    /promptFile cannot be read: ENOENT/,
  ],
] as const) {
  test(`a file with ${what} is refused with the place`, () => {
    const problems = problemsOf({ ...OWN, AGENTS_FILE: fileOf(content) });
    assert.equal(problems.length, 1, problems.join('\n'));
    const [found = ''] = problems;
    assert.ok(found.startsWith(`AGENTS_FILE (${FILE}): `), found);
    assert.match(found.slice(`AGENTS_FILE (${FILE}): `.length), problem);
  });
}

test('a relay has the defaults of ConversationRelay', () => {
  const { relays, agents, usual } = readConfig({
    AGENTS_FILE: fileOf({
      agents: { bot: { relay: { url: 'wss://bot.example.com/calls' } } },
      default: 'bot',
    }),
  }).agents;
  assert.deepEqual([agents.size, usual], [0, 'bot']);
  const { holdPhrase: _hold, failurePhrase: _failure, ...rest } = relays.get('bot') ?? assert.fail();
  assert.deepEqual(rest, {
    name: 'bot',
    url: 'wss://bot.example.com/calls',
    authToken: undefined,
    action: undefined,
    welcomeGreeting: undefined,
    welcomeGreetingInterruptible: 'any',
    ttsLanguage: 'en-US',
    transcriptionLanguage: 'en-US',
    voice: undefined,
    languages: [],
    hints: undefined,
    idle: undefined,
    speechTimeoutMs: undefined,
    partialPrompts: false,
    interruptible: 'any',
    interruptSensitivity: 'high',
    reportInputDuringAgentSpeech: 'none',
    ignoreBackchannel: false,
    preemptible: false,
    dtmfDetection: false,
    events: new Set(),
    parameters: {},
    lostSocket: 'resume',
  });
});

test('every attribute of ConversationRelay is taken, with booleans of older versions', () => {
  const relay = {
    url: 'wss://bot.example.com/calls',
    authTokenEnv: 'RELAY_TOKEN',
    action: 'https://bot.example.com/next',
    welcomeGreeting: 'Hello.',
    welcomeGreetingInterruptible: false,
    language: 'de-DE',
    ttsLanguage: 'de-AT',
    voice: 'slt',
    languages: [{ code: 'fr-FR', voice: 'fr', ttsProvider: 'Google' }],
    hints: 'Parley, SIP',
    speechTimeout: 1200,
    partialPrompts: true,
    interruptible: true,
    interruptSensitivity: 'low',
    reportInputDuringAgentSpeech: 'speech',
    ignoreBackchannel: true,
    preemptible: true,
    dtmfDetection: true,
    debug: 'speaker-events tokens-played',
    parameters: { tenant: 'acme' },
    lostSocket: 'end',
    ttsProvider: 'ElevenLabs',
    transcriptionProvider: 'Deepgram',
    speechModel: 'nova-3-general',
    eotThreshold: 0.8,
    elevenlabsTextNormalization: 'off',
  };
  const env = { RELAY_TOKEN: 'token', AGENTS_FILE: fileOf({ agents: { bot: { relay } } }) };
  const bot = readConfig(env).agents.relays.get('bot') ?? assert.fail();
  assert.deepEqual(
    [
      bot.authToken,
      bot.ttsLanguage,
      bot.transcriptionLanguage,
      bot.welcomeGreetingInterruptible,
      bot.interruptible,
    ],
    ['token', 'de-AT', 'de-DE', 'none', 'any'],
  );
  assert.deepEqual([...bot.events], ['speaker-events', 'tokens-played']);
  assert.deepEqual([bot.languages, bot.speechTimeoutMs], [[{ code: 'fr-FR', voice: 'fr' }], 1200]);
});

for (const [what, relay, problem] of [
  ['an address in the clear', { url: 'ws://bot.example.com/' }, /relay\.url must be a wss URL/],
  ['a web address', { url: 'https://bot.example.com/' }, /relay\.url must be a wss URL/],
  ['a misspelt attribute', { url: 'wss://a/', welcomGreeting: 'x' }, /"welcomGreeting" is none of url/],
  [
    'an unknown event',
    { url: 'wss://a/', events: 'all' },
    /relay\.events may have speaker-events and tokens-played/,
  ],
  ['a speech timeout that is too short', { url: 'wss://a/', speechTimeout: 100 }, /from 600 to 5000/],
  [
    'a parameter that is no text',
    { url: 'wss://a/', parameters: { n: 1 } },
    /relay\.parameters must be an object/,
  ],
  [
    'a token that is not set',
    { url: 'wss://a/', authTokenEnv: 'NONE' },
    /names the variable NONE, which is not set/,
  ],
] as const) {
  test(`a relay with ${what} is refused with the place`, () => {
    const [found = ''] = problemsOf({ AGENTS_FILE: fileOf({ agents: { bot: { relay } } }) });
    assert.match(found, problem);
  });
}

test('without a model of the environment each agent must name its own', () => {
  assert.deepEqual(problemsOf({ AGENTS_FILE: fileOf({ agents: { a: {} } }) }), [
    `AGENTS_FILE (${FILE}): agents.a needs "url" and "model", or AGENT_LLM_URL and AGENT_LLM_MODEL`,
  ]);
});
