// ConversationRelay on a WebSocket that is the call itself, through the whole server: the embedded voice and
// a tiny recogniser.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import type { Server } from '../../src/main.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { KEY, speakingServer } from './speaking-server.js';
import { FOX, spoken } from './spoken-clip.js';

type Message = Readonly<Record<string, unknown>>;

let server: Server;

before(async () => {
  server = await speakingServer({
    ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-b'),
    INFERENCE_THREADS: '1',
    ASR_PARTIAL_INTERVAL_MS: '60000', // which words a partial text fixes depends on the machine
    MAX_CALLS: '1',
  });
});
after(() => server.close());

function socketOf(t: TestContext, query: string): WebSocket {
  const url = `${server.url.replace('http', 'ws')}/v1/relay${query}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${KEY}` } });
  t.after(async () => {
    socket.terminate();
    await until(() => server.switchboard.size === 0);
  });
  return socket;
}

interface Client {
  readonly messages: Message[];
  readonly sound: Buffer[];
  closed(): number | undefined;
  send(message: object | Buffer): void;
  told(type: string): Promise<Message>;
}

async function open(t: TestContext, query = ''): Promise<Client> {
  const socket = socketOf(t, query);
  const messages: Message[] = [];
  const sound: Buffer[] = [];
  let code: number | undefined;
  socket.on('close', (given) => (code = given));
  socket.on('message', (data, isBinary) => {
    if (isBinary) sound.push(data as Buffer);
    else messages.push(JSON.parse((data as Buffer).toString()) as Message);
  });
  const told = async (type: string) => {
    await until(() => messages.some((message) => message['type'] === type));
    return messages.find((message) => message['type'] === type) ?? {};
  };
  const send = (message: object | Buffer) =>
    socket.send(message instanceof Buffer ? message : JSON.stringify(message));
  await until(() => socket.readyState !== WebSocket.CONNECTING);
  return { messages, sound, closed: () => code, send, told };
}

const isLoud = (frame: Buffer) => frame.some((byte) => byte !== 0 && byte !== 0xff);

test('a client is the application and carries the sound of its caller', async (t) => {
  const client = await open(t, '?welcomeGreeting=Good%20morning.&transcriptionLanguage=en');
  const setup = await client.told('setup');
  assert.equal(setup['callSid'], server.switchboard.get(String(setup['callSid']))?.id);
  assert.equal(setup['callType'], 'CLIENT');
  await until(() => client.sound.some(isLoud));
  assert.ok(client.sound.every(({ length }) => length === 960));
  await until(() => client.sound.length > 20 && !client.sound.slice(-20).some(isLoud));
  for (const piece of spoken()) client.send(piece);
  const prompt = await client.told('prompt');
  assert.deepEqual([prompt['voicePrompt'], prompt['last']], [FOX, true]);
  const before = client.sound.length;
  client.send({ type: 'text', token: 'It jumped.', last: true });
  client.send({ type: 'mark', name: 'jumped' });
  await client.told('mark');
  assert.ok(client.sound.slice(before).some(isLoud));
  client.send({ type: 'end' });
  await until(() => client.closed() !== undefined);
  assert.equal(client.closed(), 1000);
});

test('frames are G.711 where the client wants it, and come without a pause', async (t) => {
  const client = await open(t, '?format=ulaw');
  await until(() => client.sound.length >= 10);
  assert.ok(client.sound.every((frame) => frame.equals(Buffer.alloc(160, 0xff))));
});

test('a mistake in the URL is refused before there is a call', async (t) => {
  for (const [query, named] of [
    ['?format=mp3', 'format'],
    ['?voices=7', 'voices'],
    ['?interruptible=often', 'interruptible'],
  ] as const) {
    const socket = socketOf(t, query);
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.equal(response.statusCode, 400);
    let body = '';
    for await (const text of response) body += String(text);
    assert.match(body, new RegExp(named));
  }
  assert.equal(server.switchboard.size, 0);
});

test('ten messages in a row that cannot be read end the call', async (t) => {
  const client = await open(t);
  for (let n = 0; n < 10; n++) client.send({ type: 'sing' });
  await until(() => client.closed() !== undefined);
  assert.equal(client.closed(), 1007);
  assert.ok(client.messages.filter(({ type }) => type === 'error').length >= 9);
});

test('half a sample is an error', async (t) => {
  const client = await open(t);
  client.send(Buffer.alloc(3));
  assert.match(String((await client.told('error'))['description']), /whole samples/);
  client.send({ type: 'mark', name: 'still there' });
  await client.told('mark');
});

test('sound without end ends the call with the reason', async (t) => {
  const fast = await open(t, '?format=alaw');
  for (let n = 0; n < 7; n++) fast.send(Buffer.alloc(80_000, 0xd5));
  await until(() => fast.closed() !== undefined);
  assert.match(String((await fast.told('error'))['description']), /more than 60 s of sound/);
});

test('where no call is free the client is told', async (t) => {
  await open(t);
  const second = await open(t);
  await until(() => second.closed() !== undefined);
  assert.equal(second.closed(), 1013);
  assert.deepEqual(await second.told('error'), { type: 'error', description: '1 calls are open' });
});
