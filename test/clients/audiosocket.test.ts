// Calls over Asterisk's AudioSocket, through the whole server: the embedded voice, a tiny recogniser, a
// scripted model, and a far end that writes what Asterisk writes.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  type AudioSocketMessage,
  AudioSocketReader,
  KIND,
  messageOf,
} from '../../src/api/audiosocket/audiosocket-messages.js';
import type { Server } from '../../src/main.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { speakingServer } from './speaking-server.js';
import { FOX, spoken } from './spoken-clip.js';

const UUID = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Started {
  readonly server: Server;
  readonly port: number;
}

async function start(t: TestContext, environment: Record<string, string> = {}): Promise<Started> {
  const port = await freePort();
  const server = await speakingServer({ AUDIOSOCKET_PORT: String(port), ...environment });
  t.after(() => server.close());
  return { server, port };
}

interface FarEnd {
  readonly socket: Socket;
  readonly messages: AudioSocketMessage[];
  /** Kinds that came, each once. */
  kinds(): number[];
  isClosed(): boolean;
  loud(from?: number): boolean;
}

async function call(t: TestContext, port: number, first = messageOf(KIND.uuid, UUID)): Promise<FarEnd> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const messages: AudioSocketMessage[] = [];
  const reader = new AudioSocketReader();
  let closed = false;
  socket.on('data', (bytes) => void messages.push(...reader.push(bytes)));
  socket.on('close', () => (closed = true));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(first);
  return {
    socket,
    messages,
    kinds: () => [...new Set(messages.map(({ kind }) => kind))],
    isClosed: () => closed,
    loud: (from = 0) =>
      messages.slice(from).some(({ payload }) => payload.some((byte) => byte > 8 && byte < 247)),
  };
}

for (const [name, kind, rate] of [
  ['slin', KIND.slin8, 8000],
  ['slin24', KIND.slin24, 24_000],
] as const) {
  test(`an agent talks with a caller whose channel has ${name}, and hangs up`, async (t) => {
    const chat = await ChatEndpoint.open(t);
    const { server, port } = await start(t, {
      ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-b'),
      INFERENCE_THREADS: '1',
      ASR_PARTIAL_INTERVAL_MS: '60000', // which words a partial text fixes depends on the machine
      AGENT_LLM_URL: chat.baseUrl,
      AGENT_LLM_MODEL: 'scripted',
      AGENT_GREETING: 'Good morning.',
    });
    const far = await call(t, port);
    await until(() => far.loud());
    await until(() => far.messages.length > 100 && !far.loud(far.messages.length - 25));
    assert.deepEqual(far.kinds(), [KIND.slin8]);
    assert.ok(far.messages.every(({ payload }) => payload.length === 320));
    for (const piece of spoken({ rate, pieceMs: 20 })) far.socket.write(messageOf(kind, piece));
    const question = await chat.asked(0);
    assert.deepEqual(question.question.messages.at(-1), { role: 'user', content: FOX });
    const before = far.messages.length;
    question.say('Well ', 'jumped.').call('hang_up', {}).done();
    await until(() => far.isClosed());
    assert.ok(far.loud(before));
    assert.equal(far.messages[before]?.kind, kind);
    assert.deepEqual(far.messages.at(-1), { kind: KIND.hangUp, payload: Buffer.alloc(0) });
    await until(() => server.switchboard.size === 0);
  });
}

test('keys reach the agent, and a caller who hangs up ends the call', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const { server, port } = await start(t, { AGENT_LLM_URL: chat.baseUrl, AGENT_LLM_MODEL: 'scripted' });
  const far = await call(t, port);
  await until(() => server.switchboard.size === 1);
  for (const key of ['4', 'x', '2', '#']) far.socket.write(messageOf(KIND.key, Buffer.from(key)));
  const question = await chat.asked(0);
  assert.match(String(question.question.messages.at(-1)?.content), /pressed 4 2\]/);
  far.socket.write(messageOf(KIND.hangUp));
  await until(() => far.isClosed() && server.switchboard.size === 0);
});

for (const [what, message] of [
  ['sound before the UUID', messageOf(KIND.slin8, Buffer.alloc(320))],
  ['half a UUID', messageOf(KIND.uuid, UUID.subarray(8))],
] as const) {
  test(`${what} is no call`, async (t) => {
    const { server, port } = await start(t);
    const far = await call(t, port, message);
    await until(() => far.isClosed());
    assert.deepEqual(far.kinds(), [KIND.hangUp]);
    assert.equal(server.switchboard.size, 0);
  });
}

for (const [what, message] of [
  ['sound at another rate', messageOf(0x12, Buffer.alloc(640))],
  ['half a sample', messageOf(KIND.slin8, Buffer.alloc(319))],
  ['an error of the far end', messageOf(KIND.error, Buffer.of(1))],
  [
    'more than a minute of sound at once',
    Buffer.concat(Array(20).fill(messageOf(KIND.slin8, Buffer.alloc(64_000)))),
  ],
] as const) {
  test(`${what} ends the call`, async (t) => {
    const { server, port } = await start(t);
    const far = await call(t, port);
    await until(() => server.switchboard.size === 1);
    far.socket.write(message);
    await until(() => far.isClosed() && server.switchboard.size === 0);
    assert.equal(far.messages.at(-1)?.kind, KIND.hangUp);
  });
}

test('a far end that breaks off in the middle of a message ends its call', async (t) => {
  const { server, port } = await start(t);
  const far = await call(t, port);
  await until(() => server.switchboard.size === 1);
  far.socket.write(messageOf(KIND.slin8, Buffer.alloc(320)).subarray(0, 100));
  far.socket.destroy();
  await until(() => server.switchboard.size === 0);
});

test('where no call is free the far end is hung up', async (t) => {
  const { server, port } = await start(t, { MAX_CALLS: '1' });
  await call(t, port);
  await until(() => server.switchboard.size === 1);
  const second = await call(t, port);
  await until(() => second.isClosed());
  assert.deepEqual(second.kinds(), [KIND.hangUp]);
});

test('an address that is not named is refused', async (t) => {
  const { server, port } = await start(t, { AUDIOSOCKET_ALLOW: '192.0.2.0/24' });
  const far = await call(t, port);
  await until(() => far.isClosed());
  assert.deepEqual([far.messages, server.switchboard.size], [[], 0]);
});

test('the server does not start with an agent that it has not, or open to anybody', async () => {
  await assert.rejects(
    speakingServer({ AUDIOSOCKET_PORT: '0', AUDIOSOCKET_AGENT: 'sales' }),
    /AUDIOSOCKET_AGENT/,
  );
  await assert.rejects(
    async () => speakingServer({ AUDIOSOCKET_PORT: '0', AUDIOSOCKET_HOST: '0.0.0.0' }),
    /AUDIOSOCKET_ALLOW must be set/,
  );
});

test('the end of the server ends its calls', async (t) => {
  const { server, port } = await start(t);
  const far = await call(t, port);
  await until(() => server.switchboard.size === 1);
  await server.close();
  await until(() => far.isClosed());
  assert.equal(far.messages.at(-1)?.kind, KIND.hangUp);
});
