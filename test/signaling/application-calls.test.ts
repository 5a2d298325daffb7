// Calls of browsers under the names of applications: those of /v1/calls/{id}.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ApplicationCalls, ListedCalls } from '../../src/call/listed-calls.js';
import type { PhoneCallEvent } from '../../src/call/phone-calls.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

async function open(t: TestContext) {
  const listed = new ListedCalls({ time: new ManualTime(0), unixMs: () => 1000 });
  const used: string[] = [];
  const openCalls = { used: (id: string) => void used.push(id) };
  const calls = new ApplicationCalls({ telephone: undefined, listed, openCalls });
  const under = await openServer(t, { listed });
  const client = new WeriftClient('opus');
  t.after(() => client.close());
  const { id, sdp } = await under.server.open({ sdp: await client.offer(), owner: 'shop' });
  assert.deepEqual(calls.list(), [], 'it is not set up yet');
  await client.accept(sdp);
  await until(() => under.switchboard.get(id) !== undefined);
  return { ...under, calls, client, id, used };
}

test('a browser call is listed with its key once it is set up, and its events end with its end', async (t) => {
  const { calls, id, server } = await open(t);
  await until(() => calls.list().length > 0);
  const { protocol, direction, state, owner, codec } = calls.get(id);
  assert.deepEqual(
    { protocol, direction, state, owner, codec },
    { protocol: 'webrtc', direction: 'inbound', state: 'connected', owner: 'shop', codec: 'opus' },
  );
  const events: PhoneCallEvent[] = [];
  calls.follow(id, 0, (event) => events.push(event));
  await server.hangUp(id);
  await until(() => calls.get(id).state === 'ended');
  assert.deepEqual(
    events.map((event) => event.type),
    ['state', 'state'],
  );
});

test('an application hangs up a browser call; it cannot hold it, transfer it or press keys', async (t) => {
  const { calls, id, server } = await open(t);
  await until(() => calls.list().length > 0);
  for (const refused of [
    calls.hold(id, true),
    calls.transfer(id, { to: 'sip:bob@192.0.2.7' }),
    calls.press(id, { digits: '1' }),
  ])
    await assert.rejects(refused, { code: 'WRONG_STATE', message: /^the call came over webrtc, which / });
  assert.equal((await calls.hangUp(id)).state, 'ended');
  await until(() => server.size === 0);
});

test('a browser that leaves has hung up', async (t) => {
  const { calls, id, client } = await open(t);
  await until(() => calls.list().length > 0);
  await client.until(() => client.channel.readyState === 'open', 'open channel');
  client.channel.close();
  await until(() => calls.get(id).state === 'ended');
  assert.deepEqual(calls.get(id).end, { reason: 'peer hung up' });
});
