// Connections of AudioSocket that become no call, and one whose far end stops reading; time is the test's.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { KIND, messageOf } from '../../../src/api/audiosocket/audiosocket-messages.js';
import { openAudioSocket } from '../../../src/api/audiosocket/audiosocket-server.js';
import type { SoundCall, SoundCallRequest } from '../../../src/call/sound-calls.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';

const LOOPBACK = '127.0.0.1';

async function open(t: TestContext) {
  const time = new ManualTime(0);
  const requests: SoundCallRequest[] = [];
  const closed: string[] = [];
  const server = await openAudioSocket(
    { host: LOOPBACK, port: 0, allow: [], agent: undefined },
    {
      soundCalls: {
        open: (request) => {
          requests.push(request);
          const close = (reason: string) => Promise.resolve(void closed.push(reason));
          const call = { id: 'call_1', closed: new Promise(() => undefined), close };
          return { call, formats: request } as unknown as SoundCall;
        },
      },
      handler: { usual: undefined, has: () => false, handle: () => assert.fail('there is no agent') },
      time,
      log: { info: () => undefined, warn: () => undefined },
    },
  );
  assert.ok(server !== undefined);
  t.after(() => server.close());
  const socket = connect(server.port, LOOPBACK);
  t.after(() => socket.destroy());
  const received: Buffer[] = [];
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { time, socket, received, requests, closed };
}

test('a connection without a UUID is given up after five seconds', async (t) => {
  const { time, socket, requests } = await open(t);
  await until(() => time.waiting > 0);
  time.advance(4999);
  socket.on('data', () => undefined);
  let isClosed = false;
  socket.on('close', () => (isClosed = true));
  assert.equal(isClosed, false);
  time.advance(1);
  await until(() => isClosed);
  assert.deepEqual(requests, []);
});

test('a far end that does not read is hung up before much of its sound waits', async (t) => {
  const { socket, requests, closed } = await open(t);
  socket.pause();
  socket.write(messageOf(KIND.uuid, Buffer.alloc(16)));
  await until(() => requests.length > 0);
  const [request = assert.fail()] = requests;
  assert.equal(request.from, 'audiosocket:00000000-0000-0000-0000-000000000000');
  const frame = new Uint8Array(160).fill(0xff);
  await until(() => {
    for (let n = 0; n < 1000; n++) request.onFrame(frame);
    return closed.length > 0;
  });
  assert.deepEqual(closed, ['peer reads nothing']);
});
