import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { chatServerAt, findChatServers } from '../../src/talk/chat-servers.js';
import { systemTime } from '../../src/time.js';
import { freePorts } from '../fakes/free-port.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { FakeChatServer, models, status } from './fake-chat-server.js';

const PARTS = { fetch: globalThis.fetch, time: systemTime };

async function found(server: FakeChatServer, name = 'vLLM or llama.cpp') {
  return await findChatServers(PARTS, [{ name, port: server.port }]);
}

test('servers of this machine are found with the models that can chat', async (t) => {
  const ollama = await FakeChatServer.open(t, {
    'GET /v1/models': models('library', 'qwen3:4b', 'nomic-embed-text:latest', 'llama3.2:latest'),
  });
  const bare = await FakeChatServer.open(t, { 'GET /models': models('llamacpp', '/models/Qwen 3 4B.gguf') });
  const usual = [
    { name: 'Ollama', port: ollama.port },
    { name: 'vLLM or llama.cpp', port: bare.port },
    { name: 'LM Studio', port: await freePorts() },
  ];
  assert.deepEqual(await findChatServers(PARTS, usual), {
    servers: [
      {
        name: 'Ollama',
        baseUrl: `${ollama.url}/v1`,
        apiKey: undefined,
        models: ['qwen3:4b', 'llama3.2:latest'],
      },
      { name: 'llama.cpp', baseUrl: bare.url, apiKey: undefined, models: ['/models/Qwen 3 4B.gguf'] },
    ],
    notes: [],
  });
});

test('the models say which program serves them, not the port', async (t) => {
  for (const [owner, program] of [
    ['vllm', 'vLLM'],
    ['organization_owner', 'LM Studio'],
    ['somebody', 'Ollama'],
  ] as const) {
    const server = await FakeChatServer.open(t, { 'GET /v1/models': models(owner, 'a') });
    assert.equal((await found(server, 'Ollama')).servers[0]?.name, program);
  }
});

test('a server that hangs is given up after two seconds and named', async (t) => {
  const time = new ManualTime();
  const server = await FakeChatServer.open(t, { 'GET /v1/models': () => undefined });
  const search = findChatServers({ fetch: globalThis.fetch, time }, [
    { name: 'LM Studio', port: server.port },
  ]);
  await until(() => server.asked.length === 1);
  time.advance(2000);
  assert.deepEqual((await search).notes, [
    `127.0.0.1:${server.port} (usually LM Studio) accepts connections, and does not answer within 2 s: restart it.`,
  ]);
  assert.equal(server.asked.length, 1);
  assert.equal(time.waiting, 0);
});

test('a server that begins its list and hangs is given up as well', async (t) => {
  const time = new ManualTime();
  const server = await FakeChatServer.open(t, {
    'GET /v1/models': (response) => void response.writeHead(200).write('{"data": ['),
  });
  const search = findChatServers({ fetch: globalThis.fetch, time }, [{ name: 'Ollama', port: server.port }]);
  await until(() => server.asked.length === 1);
  time.advance(2000);
  assert.match((await search).notes.join(), /does not answer within 2 s/);
});

test('servers that lie, want a key, redirect or have nothing that chats are named with what to do', async (t) => {
  const at = (port: number) => `127.0.0.1:${port}`;
  const cases: [answers: Parameters<typeof FakeChatServer.open>[1], note: (port: number) => string][] = [
    [
      { 'GET /v1/models': status(200, '<html>welcome</html>') },
      (port) =>
        `${at(port)} (usually Ollama) lists no models: it is no chat server, or --llm URL states the path of its API.`,
    ],
    [
      { 'GET /v1/models': status(200, { data: 'many' }) },
      (port) =>
        `${at(port)} (usually Ollama) lists no models: it is no chat server, or --llm URL states the path of its API.`,
    ],
    [
      { 'GET /v1/models': status(401), 'GET /models': status(401) },
      (port) =>
        `${at(port)} (usually Ollama) wants a key: set AGENT_LLM_API_KEY, and state --llm http://${at(port)}/v1.`,
    ],
    [
      {
        'GET /v1/models': (response) =>
          void response.writeHead(302, { location: 'http://192.0.2.1/v1/models' }).end(),
      },
      (port) =>
        `${at(port)} (usually Ollama) lists no models: it is no chat server, or --llm URL states the path of its API.`,
    ],
    [
      { 'GET /v1/models': models('library', 'nomic-embed-text', 'bge-m3', 'qwen3-reranker:0.6b') },
      (port) =>
        `Ollama (${at(port)}) has no model that can chat (3 listed): fetch one with: ollama pull qwen3:4b.`,
    ],
    [
      { 'GET /v1/models': models('library') },
      (port) => `Ollama (${at(port)}) has no model: fetch one with: ollama pull qwen3:4b.`,
    ],
    [
      { 'GET /v1/models': models('somebody', '\u001b[2Jqwen', '', 7, null, 'x'.repeat(201), ' padded') },
      (port) =>
        `Ollama (${at(port)}) has no model that can chat (6 listed): fetch one with: ollama pull qwen3:4b.`,
    ],
    [
      { 'GET /v1/models': models('parley', 'parley') },
      (port) => `${at(port)} is a server of Parley, which is no chat server.`,
    ],
    [
      { 'GET /v1/models': status(200, `{"data": ["${'x'.repeat(5 << 20)}"]}`) },
      (port) => `Ollama (${at(port)}) lists more than 4 MiB of models: state --llm and --model.`,
    ],
  ];
  for (const [answers, note] of cases) {
    const server = await FakeChatServer.open(t, answers);
    assert.deepEqual(await found(server, 'Ollama'), { servers: [], notes: [note(server.port)] });
  }
});

test('of a list that does not end a thousand models are kept', async (t) => {
  const ids = Array.from({ length: 1500 }, (_, index) => `model-${index}`);
  const server = await FakeChatServer.open(t, { 'GET /v1/models': models('vllm', ...ids) });
  assert.equal((await found(server)).servers[0]?.models.length, 1000);
});

async function stated(t: TestContext, answers: Parameters<typeof FakeChatServer.open>[1], path: string) {
  const server = await FakeChatServer.open(t, answers);
  return { server, result: await chatServerAt(`${server.url}${path}`, 'secret', PARTS) };
}

test('a stated server is found with and without /v1, and gets its key', async (t) => {
  for (const path of ['', '/', '/v1', '/v1/']) {
    const { server, result } = await stated(t, { 'GET /v1/models': models('vllm', 'a') }, path);
    const expected = { name: 'vLLM', baseUrl: `${server.url}/v1`, apiKey: 'secret', models: ['a'] };
    assert.deepEqual(result, { server: expected }, path);
    assert.deepEqual([...new Set(server.asked.map((one) => one.authorization))], ['Bearer secret']);
  }
  const { server, result } = await stated(t, { 'GET /api/models': models('x', 'a') }, '/api');
  const name = `127.0.0.1:${server.port}`;
  assert.deepEqual(result, {
    server: { name, baseUrl: `${server.url}/api`, apiKey: 'secret', models: ['a'] },
  });
});

test('a stated server may list no models at all', async (t) => {
  const { server, result } = await stated(t, { 'GET /v1/models': status(200, { data: [] }) }, '');
  const name = `127.0.0.1:${server.port}`;
  assert.deepEqual(result, { server: { name, baseUrl: `${server.url}/v1`, apiKey: 'secret', models: [] } });
});

test('a stated server that cannot be used is named with what to do', async (t) => {
  const refused = await stated(t, { 'GET /v1/models': status(401), 'GET /models': status(404) }, '');
  assert.deepEqual(refused.result, {
    trouble: `127.0.0.1:${refused.server.port} refuses the key (401): set AGENT_LLM_API_KEY.`,
  });
  const none = await stated(t, {}, '/v1');
  assert.deepEqual(none.result, {
    trouble: `127.0.0.1:${none.server.port} lists no models at ${none.server.url}/v1/models (404): is this the address of its API?`,
  });
  const port = await freePorts();
  assert.deepEqual(await chatServerAt(`http://127.0.0.1:${port}`, undefined, PARTS), {
    trouble: `127.0.0.1:${port} cannot be reached (ECONNREFUSED): is it running?`,
  });
});
