import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MediaSocket } from '../../src/media/media-socket.js';
import { RedundancySwitch } from '../../signaling/peer-connection.js';
import { connect, openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

type Under = Awaited<ReturnType<typeof openServer>>;

/** A connected client that hears the call of this id. */
async function listen(t: TestContext, { server }: Under, listenTo: string) {
  const client = new WeriftClient();
  t.after(() => client.close());
  const session = await server.open({ sdp: await client.offer(), use: 'listen', listenTo });
  await client.accept(session.sdp);
  await client.until(() => client.packets.length > 5, 'packets');
  return { client, session };
}

test('several browsers hear one call, each under its own SSRC, and leave without disturbing it', async (t) => {
  const under = await openServer(t);
  const { client, id, call, token } = await connect(t, under);
  const listeners = [await listen(t, under, id), await listen(t, under, id)];
  assert.deepEqual([under.plane.stats().streams, under.plane.stats().listeners], [1, 2]);
  const ssrcs = [client, ...listeners.map((listener) => listener.client)].map(
    ({ packets }) => packets[0]?.ssrc,
  );
  assert.equal(new Set(ssrcs).size, 3);
  const [first, second] = listeners.map(({ session }) => session);
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(first.token, undefined);
  assert.ok(under.server.isTokenOf(first.id, token));
  assert.equal(await under.server.hangUp(first.id), true);
  const received = client.packets.length;
  await client.until(() => client.packets.length > received + 5, 'packets of the call');
  await call.close('over');
  await nextTurn();
  assert.equal(await under.server.hangUp(second.id), false);
  assert.deepEqual(
    [under.plane.stats().streams, under.plane.stats().listeners, under.switchboard.size, under.time.waiting],
    [0, 0, 0, 0],
  );
});

test('listeners are not half-open, and nobody listens to a listener', async (t) => {
  const clientLimits = { maxCallsPerClient: 10, maxHalfOpenPerClient: 1 };
  const under = await openServer(t, { clientLimits });
  const { id } = await connect(t, under);
  for (let count = 0; count < 2; count++) {
    const client = new WeriftClient();
    t.after(() => client.close());
    const offer = { sdp: await client.offer(), use: 'listen', listenTo: id, clients: ['a'] } as const;
    const session = await under.server.open(offer);
    await client.accept(session.sdp);
    await client.until(() => client.packets.length > 1, 'packets');
    await assert.rejects(under.server.open({ ...offer, listenTo: session.id }), { code: 'NOT_FOUND' });
  }
});

test('a call is heard with its key only, once it is set up, and in a codec of its own', async (t) => {
  const under = await openServer(t);
  const { server } = under;
  const client = new WeriftClient('PCMU');
  t.after(() => client.close());
  const { id, sdp } = await server.open({ sdp: await client.offer(), owner: 'acme' });
  const other = new WeriftClient('PCMA');
  t.after(() => other.close());
  const offer = await other.offer();
  const open = (listenTo: string, owner?: string) =>
    server.open({ sdp: offer, use: 'listen', listenTo, owner });
  await assert.rejects(open(id, 'acme'), { code: 'CALL_STATE', retryAfterSeconds: 1 });
  await client.accept(sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  await assert.rejects(open(id, 'other'), { code: 'NOT_FOUND' });
  await assert.rejects(open('none'), { code: 'NOT_FOUND' });
  await assert.rejects(open(id, 'acme'), { code: 'NO_COMMON_CODEC' });
  assert.equal(server.size, 1);
});

test('a listener on a thin link gets longer packets, and the call keeps its own', async (t) => {
  const under = await openServer(t);
  const { client, id } = await connect(t, under);
  const listener = await listen(t, under, id);
  const { stats } = MediaSocket.prototype;
  t.mock.method(MediaSocket.prototype, 'stats', function congested(this: MediaSocket) {
    return { ...stats.call(this), remoteReports: 1, remoteFractionLost: 0.1, rttMs: 1200 };
  });
  under.time.advance(2500);
  const [from, callFrom] = [listener.client.packets.length, client.packets.length];
  await listener.client.until(() => listener.client.packets.length > from + 5, 'packets of 60 ms');
  const steps = ({ packets }: WeriftClient, at: number) =>
    packets.slice(at + 2).map(({ timestamp }, n) => timestamp - (packets[at + 1 + n]?.timestamp ?? 0));
  assert.deepEqual(new Set(steps(listener.client, from)), new Set([2880]));
  assert.deepEqual(new Set(steps(client, callFrom)), new Set([960]));
});

test('frames are repeated from 1 % of loss on, until four reports in a row are calm', () => {
  const redundancy = new RedundancySwitch();
  let reports = 0;
  const report = (loss: number) => redundancy.reported(++reports, loss);
  assert.equal(report(0.009), undefined);
  assert.equal(report(0.01), 1);
  assert.equal(redundancy.reported(reports, 0), undefined); // no new report
  assert.deepEqual(
    [report(0), report(0), report(0), report(0.01)],
    [undefined, undefined, undefined, undefined],
  );
  assert.deepEqual([report(0), report(0), report(0), report(0)], [undefined, undefined, undefined, 0]);
});

test('frames are repeated twice from 3 % loss on, because bursts take more than one', () => {
  const redundancy = new RedundancySwitch();
  assert.deepEqual(
    [0.02, 0.03, 0.01, 0, 0, 0, 0].map((loss, n) => redundancy.reported(n + 1, loss)),
    [1, 2, undefined, undefined, undefined, undefined, 0],
  );
});
