// A socket to an application, whose owner throws.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocketServer } from 'ws';
import { ApplicationSocket } from '../../../src/api/relay/application-socket.js';
import { systemTime } from '../../../src/time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';

test('a message whose handling throws ends its socket, and is reported', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  server.on('connection', (socket) => socket.send('a message'));
  const closed: number[] = [];
  const listener = {
    opened: () => undefined,
    message: () => {
      throw new Error('a defect');
    },
    failed: () => undefined,
    closed: (code: number) => void closed.push(code),
  };
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = { url, authToken: undefined, mostMessageBytes: 1000, mostUnreadBytes: 1000 };
  const rejections = await rejectionsOf(async () => {
    new ApplicationSocket(target, listener, systemTime);
    await until(() => closed.length > 0);
  });
  assert.deepEqual(rejections.map(String), ['Defect: application socket: a defect']);
  assert.deepEqual(closed, [1006]);
});
