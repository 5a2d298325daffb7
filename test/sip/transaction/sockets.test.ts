// Transactions over real sockets.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import fc from '../../fakes/properties.js';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import { TransactionLayer, type TransactionUser } from '../../../sip/transaction/transaction-layer.js';
import { Transports } from '../../../sip/transport/transports.js';
import { systemTime, type Time } from '../../../src/time.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { INVALID, SEMANTICS, VALID } from '../message/rfc4475-messages.js';
import { Places, uriOf } from '../client/places.js';
import { Callee, CALLEE, CALLER, Heard, Network, request } from './network.js';

async function openLayer(
  t: TestContext,
  user: TransactionUser,
  time: Time = systemTime,
): Promise<{ layer: TransactionLayer; transports: Transports }> {
  const transports = new Transports({
    listeners: [
      { transport: 'udp', port: 0 },
      { transport: 'tcp', port: 0 },
    ],
    time,
    received: (bytes, flow) => layer.received(bytes, flow),
  });
  const token = (): string => randomBytes(9).toString('hex');
  const layer = new TransactionLayer({ wire: transports, user, time, token });
  await transports.open();
  t.after(async () => {
    layer.close();
    await transports.close();
  });
  return { layer, transports };
}

for (const transport of ['udp', 'tcp'] as const) {
  test(`a call is set up, taken back and refused over ${transport}`, async (t) => {
    const callee = new Callee((transaction) => {
      transaction.respond({ status: 180 });
      transaction.user.cancelled = () => transaction.respond({ status: 487 });
    });
    const called = await openLayer(t, callee);
    const { layer } = await openLayer(t, new Callee());
    const local = called.transports.local(transport);
    assert.ok(local !== undefined);
    const heard = new Heard();
    const invite = layer.send(request(), { transport, ...local }, heard);
    await until(() => heard.events.includes(180));
    invite.cancel();
    await until(() => callee.events.includes('acknowledged'));
    assert.deepEqual(heard.events, [100, 180, 487]);
    assert.equal(called.layer.countOf('retransmissions'), 0);
    assert.equal(called.transports.connections, transport === 'tcp' ? 1 : 0);
  });
}

test('after a request that a dead connection took, the next one has a new connection', async (t) => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  await once(mute, 'listening');
  t.after(() => mute.close());
  const time = new ManualTime();
  const { layer, transports } = await openLayer(t, new Callee(), time);
  const target = {
    transport: 'tcp',
    address: '127.0.0.1',
    port: (mute.address() as AddressInfo).port,
  } as const;
  const heard = new Heard();
  for (let count = 1; count <= 2; count++) {
    const sent = layer.send(request('OPTIONS', `call${count}`), target, heard);
    await until(() => sockets.length === count && sent.flow !== undefined);
    time.advance(32_000);
    assert.equal(heard.events.length, count);
    await until(() => transports.connections === 0);
  }
  assert.equal(transports.counts.of('unanswered'), 2);
});

test('a request that meets a connection which its peer has reset goes over a new one', async (t) => {
  const callee = new Callee((transaction) => transaction.respond({ status: 200 }));
  const called = await openLayer(t, callee);
  const { layer, transports } = await openLayer(t, new Callee());
  const { port } = called.transports.local('tcp') as { port: number };
  let peer: Socket | undefined;
  const relay = createServer((socket) => {
    peer ??= socket;
    socket
      .on('error', () => undefined)
      .pipe(connect(port, '127.0.0.1'))
      .pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => relay.close());
  const places = Object.assign(new Places(), {
    transport: 'tcp',
    port: (relay.address() as AddressInfo).port,
  });
  const sender = new LocatedSender({ layer, locator: places, time: systemTime });
  const journey = { nextHop: uriOf('sip:127.0.0.1') };
  const ask = async (callId: string) => {
    const outcome = await sender.send(() => request('OPTIONS', callId), journey);
    return 'response' in outcome ? outcome.response.status : outcome.failure.reason;
  };
  assert.equal(await ask('one'), 200);
  peer?.pause().once('readable', () => peer?.resetAndDestroy()); // it takes the request, and is gone
  assert.equal(await ask('two'), 200);
  assert.deepEqual(callee.events.filter((event) => event === 'OPTIONS').length, 2);
  assert.equal(transports.connections, 1);
});

test('a request on a connection without Content-Length is 400', async (t) => {
  const called = await openLayer(t, new Callee());
  const caller = await openLayer(t, new Callee());
  const local = called.transports.local('tcp');
  assert.ok(local !== undefined);
  const heard: Buffer[] = [];
  const client = new Transports({ listeners: [], time: systemTime, received: (bytes) => heard.push(bytes) });
  t.after(() => client.close());
  await client.send({ transport: 'tcp', ...local }, () =>
    Buffer.from(
      'OPTIONS sip:a SIP/2.0\r\nVia: SIP/2.0/TCP a;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:b@b>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n',
    ),
  );
  await until(() => heard.length > 0);
  assert.match(heard[0]?.toString() ?? '', /^SIP\/2\.0 400 Bad Content-Length\r\n/);
  assert.equal(caller.layer.countOf('requests'), 0);
});

test('nothing that peers may send makes the transactions throw, and none of it stays for ever', async () => {
  const corpus = [VALID, INVALID, SEMANTICS].flatMap((group) => Object.values(group));
  const network = new Network();
  network.sink(CALLER);
  const layer = network.layer(CALLEE, new Callee((transaction) => transaction.respond({ status: 486 })));
  const flow = network.flow(CALLEE, CALLER);
  const methods = fc.constantFrom('INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'REGISTER');
  fc.assert(
    fc.property(
      fc.constantFrom(...corpus),
      methods,
      fc.nat(1500),
      fc.string({ unit: 'binary', maxLength: 4 }),
      (seed, method, at, noise) => {
        const text = seed.toString('latin1').replaceAll(/\b(?:INVITE|OPTIONS|REGISTER)\b/g, method);
        layer.received(Buffer.from(text, 'latin1'), flow);
        layer.received(Buffer.from(text.slice(0, at) + noise + text.slice(at), 'latin1'), flow);
      },
    ),
    { seed: 3261, numRuns: 2000 },
  );
  await network.pass(64_100, 100);
  assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
  assert.equal(network.time.waiting, 0);
});
