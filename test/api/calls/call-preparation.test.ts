import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentConfig, AgentsConfig } from '../../../src/config/agent-config.js';
import type { MediaStreamConfig } from '../../../src/config/media-stream-config.js';
import { openApp } from '../app-under-test.js';
import { FakeTranscriber } from '../fake-transcriber.js';

const KEY = 'key-one-0123456789';
const MODEL = { baseUrl: 'http://10.0.0.1/v1', apiKey: 'a secret', model: 'qwen3:4b' };
const AGENTS: AgentsConfig = {
  agents: new Map([['shop', { name: 'shop', model: MODEL, prompt: 'a secret' } as AgentConfig]]),
  relays: new Map(),
  mediaStreams: new Map([['bot', { url: 'ws://10.0.0.1/' } as MediaStreamConfig]]),
  usual: 'shop',
};

for (const recognises of [true, false]) {
  test(`agents are listed by name with what they hear ${recognises ? 'with' : 'without'} a recogniser, to those with a key`, async (t) => {
    const transcription = {
      transcriber: new FakeTranscriber(),
      translator: undefined,
      maxBytes: 1,
      maxRequests: 1,
    };
    const given = { agents: AGENTS, apiKeys: [KEY], ...(recognises ? { transcription } : {}) };
    const { app } = await openApp(t, given);
    assert.equal((await app.inject('/v1/agents')).statusCode, 401);
    const answer = await app.inject({ url: '/v1/agents', headers: { authorization: `Bearer ${KEY}` } });
    assert.deepEqual(answer.json(), {
      object: 'list',
      data: [
        { id: 'shop', object: 'agent', model: 'qwen3:4b', default: true, hears: recognises },
        { id: 'bot', object: 'agent', default: false, hears: true },
      ],
    });
  });
}

test('a server without agents lists none', async (t) => {
  const { app } = await openApp(t);
  assert.deepEqual((await app.inject('/v1/agents')).json(), { object: 'list', data: [] });
});
