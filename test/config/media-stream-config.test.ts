// Agents of AGENTS_FILE that are bots of Media Streams.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Agents } from '../../src/agents/agents.js';
import { readConfig } from '../../src/config/config.js';
import { ManualTime } from '../fakes/manual-time.js';
import { SILENT_LOG } from '../../src/log.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'parley-streams-'));
const FILE = join(FOLDER, 'agents.json');
after(() => rmSync(FOLDER, { recursive: true }));

function read(agents: object, env: Record<string, string> = {}) {
  writeFileSync(FILE, JSON.stringify({ agents, default: Object.keys(agents)[0] }));
  return readConfig({ ...env, AGENTS_FILE: FILE }).agents;
}

const URL = 'wss://bot.example.com/media';

test('a media stream has a failure phrase, the sound of the caller, and no signature unless it is asked for', () => {
  const { mediaStreams, agents, relays, usual } = read({ bot: { mediaStream: { url: URL } } });
  assert.deepEqual([agents.size, relays.size, usual], [0, 0, 'bot']);
  assert.deepEqual(mediaStreams.get('bot'), {
    name: 'bot',
    url: URL,
    authToken: undefined,
    parameters: {},
    track: 'inbound_track',
    failurePhrase: 'I am sorry, we have a technical problem. Please call again later.',
    voice: undefined,
    language: undefined,
  });
});

test('every field of a media stream is taken, and the token comes from the environment', () => {
  const mediaStream = {
    url: 'ws://127.0.0.1:8765/media',
    authTokenEnv: 'STREAM_TOKEN',
    parameters: { tenant: 'acme' },
    track: 'both_tracks',
    failurePhrase: 'Bis bald.',
    voice: 'anna',
    language: 'de',
  };
  const { mediaStreams } = read({ bot: { mediaStream } }, { STREAM_TOKEN: 'secret' });
  const { authTokenEnv: _variable, ...fields } = mediaStream;
  assert.deepEqual(mediaStreams.get('bot'), { name: 'bot', authToken: 'secret', ...fields });
});

test('it takes the place of the agent of the environment if it has its name', () => {
  const env = { AGENT_LLM_URL: 'http://127.0.0.1:9/v1', AGENT_LLM_MODEL: 'm' };
  const { mediaStreams, agents } = read({ default: { mediaStream: { url: URL } } }, env);
  assert.deepEqual([mediaStreams.has('default'), agents.has('default')], [true, false]);
});

for (const [what, mediaStream, problem] of [
  ['no object', 7, /bot\.mediaStream must be an object/],
  ['no URL', {}, /bot\.mediaStream\.url must be a wss URL/],
  ['a URL of the network in the clear', { url: 'ws://bot.example.com/media' }, /url must be a wss URL/],
  ['a user in its URL', { url: 'wss://a:b@bot.example.com/media' }, /without user and fragment/],
  ['a query', { url: `${URL}?tenant=acme` }, /must have no query, as with Twilio: "parameters"/],
  [
    'a token that is not set',
    { url: URL, authTokenEnv: 'NOT_SET' },
    /authTokenEnv names the variable NOT_SET/,
  ],
  ['an unknown track', { url: URL, track: 'inbound' }, /track must be one of inbound_track, outbound_track/],
  ['parameters that are no texts', { url: URL, parameters: { a: 1 } }, /parameters must be an object of at/],
  ['an empty phrase', { url: URL, failurePhrase: ' ' }, /failurePhrase must be a text of 1 to 1000/],
  ['a misspelt field', { url: URL, tracks: 'x' }, /"tracks" is none of url, authTokenEnv/],
] as const) {
  test(`a media stream with ${what} is refused with the place`, () => {
    assert.throws(() => read({ bot: { mediaStream } }), problem);
  });
}

test('an agent cannot be a bot and a model at once', () => {
  assert.throws(
    () => read({ bot: { mediaStream: { url: URL }, prompt: 'Hi' } }),
    /"prompt" is none of mediaStream/,
  );
});

test('a call is given to the bot of its name, and a server of bots alone does not ask for a recogniser', () => {
  const config = read({ bot: { mediaStream: { url: URL } } });
  const logged: string[] = [];
  const write = (_fields: unknown, message: string) => void logged.push(message);
  const opened: unknown[] = [];
  const talk = { typed: () => undefined };
  const agents = new Agents({
    config,
    callerTexts: { isCallerRecognised: false } as never,
    time: new ManualTime(),
    log: { ...SILENT_LOG, info: write, warn: write },
    metrics: {
      answered: () => undefined,
      failed: () => undefined,
      toolCalled: () => undefined,
      earlyAnswer: () => undefined,
    },
    openCalls: {
      opened: () => undefined,
      conductedBy: () => undefined,
      isConducted: () => false,
      talksIn: () => undefined,
    },
    warmTransfers: () => undefined,
    openRelay: () => assert.fail('it is no relay'),
    openMediaStream: (handled, stream) => (opened.push([handled, stream]), talk),
  });
  assert.deepEqual([agents.has('bot'), agents.has('other'), agents.usual], [true, false, 'bot']);
  const handled = { call: { id: 'call-1' } } as never;
  assert.equal(agents.handle('bot', handled), talk);
  assert.deepEqual(opened, [[handled, config.mediaStreams.get('bot')]]);
  assert.deepEqual(logged, ['agents ready']);
});
