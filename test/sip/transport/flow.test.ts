import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { CloseListeners } from '../../../sip/transport/flow.js';
import { KeepAlive } from '../../../sip/transport/keep-alive.js';
import { StreamFlow } from '../../../sip/transport/stream-flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { Network } from '../transaction/network.js';
import { openTransports, options, sent } from './transports-under-test.js';

test('a peer that answers keeps its connection, and one that does not any more loses it', async (t) => {
  const pings: string[] = [];
  const peers: Socket[] = [];
  const server = createServer((socket) => peers.push(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = await openTransports(t, []);
  const target = { transport: 'tcp', address: '127.0.0.1', port } as const;
  const { flow } = await sent(client.transports.send(target, options(client.transports)));
  assert.ok(flow instanceof StreamFlow);
  await until(() => peers.length === 1);
  const [peer] = peers;
  await once(peer as Socket, 'data'); // the request
  peer?.on('data', (data: Buffer) => {
    pings.push(data.toString());
    if (pings.length < 3) peer.write('\r\n');
  });
  const time = new ManualTime();
  let answers = 0;
  const counted = Object.assign(plain(flow), {
    ping: (answered: () => void) =>
      flow.ping(() => {
        answers++;
        answered();
      }),
  });
  const keepAlive = new KeepAlive(counted, { time });
  for (let count = 1; count <= 2; count++) {
    time.advance(95_000);
    await until(() => answers === count);
  }
  time.advance(95_000);
  await until(() => pings.length === 3);
  assert.deepEqual(pings, ['\r\n\r\n', '\r\n\r\n', '\r\n\r\n']);
  assert.equal(flow.closed, false);
  time.advance(10_000);
  assert.equal(flow.closed, true);
  assert.equal(time.waiting, 0);
  keepAlive.close();
});

test('a peer that never answers keeps its connection: it may know nothing of keep-alives', () => {
  const time = new ManualTime();
  let [pings, abandoned] = [0, 0];
  const flow = {
    ...new Network().flow('192.0.2.1', '192.0.2.2', 'tcp'),
    ping: () => ++pings > 0,
    abandon: () => void abandoned++,
  };
  const keepAlive = new KeepAlive(flow, { time });
  time.advance(1_000_000);
  assert.deepEqual([pings, abandoned], [9, 0]);
  keepAlive.close();
  keepAlive.close();
  assert.equal(time.waiting, 0);
});

test('a connection that a ping cannot be sent on is abandoned', () => {
  const time = new ManualTime();
  let abandoned = 0;
  const flow = {
    ...new Network().flow('192.0.2.1', '192.0.2.2', 'tcp'),
    ping: () => false,
    abandon: () => void abandoned++,
  };
  const keepAlive = new KeepAlive(flow, { time });
  time.advance(95_000);
  assert.equal(abandoned, 1);
  keepAlive.close();
});

/** The flow as an object of its own, so that a part of it can be watched. */
function plain(flow: StreamFlow) {
  const { transport, local, remote, reliable } = flow;
  return {
    transport,
    local,
    remote,
    reliable,
    get closed() {
      return flow.closed;
    },
    send: (bytes: Buffer) => flow.send(bytes),
    onClose: (listener: () => void) => flow.onClose(listener),
    close: () => flow.close(),
    received: 0,
    abandon: () => flow.abandon(),
  };
}

test('everybody is told once, also whoever asks late or has called it off', () => {
  const listeners = new CloseListeners();
  const seen: string[] = [];
  listeners.add(() => seen.push('first'));
  listeners.add(() => seen.push('called off'))();
  listeners.fire();
  listeners.fire();
  listeners.add(() => seen.push('late'));
  assert.deepEqual(seen, ['first', 'late']);
});

test('a listener that throws keeps nobody from being told, and is told of', async () => {
  const listeners = new CloseListeners();
  const seen: string[] = [];
  const defect = new RangeError('a defect');
  listeners.add(() => {
    throw defect;
  });
  listeners.add(() => seen.push('second'));
  assert.deepEqual(await rejectionsOf(() => listeners.fire()), [defect]);
  assert.deepEqual(seen, ['second']);
});
