// A server that calls itself, over SIP and RTP on loopback: a room, a bridge or a supervisor that would hear
// itself is refused as a loop, and nothing is left of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { ask } from './joined-callers.js';

let server: TelephoneServer;

before(async () => {
  const port = await freePorts(2);
  server = await TelephoneServer.start(
    { SIP_DIRECT_CALLS: '1', SIP_DESTINATIONS: '@127.0.0.1', SIP_PORT: `${port}` },
    {
      routes: [
        { to: 'a', room: { name: 'a' } },
        { to: 'b', room: { name: 'b' } },
        { to: 'again', bridge: { to: `sip:a@127.0.0.1:${port}` } },
        { to: 'alone', wait: {} },
      ],
    },
  );
});
after(() => server.close());

/** Calls an address of this server. Returns the ids of both ends, once they are connected. */
async function callsItself(user: string): Promise<{ readonly placed: string; readonly taken: string }> {
  const to = `sip:${user}@127.0.0.1:${server.address.port}`;
  const { status, json } = await ask(server, 'POST', '/calls', { to });
  assert.equal(status, 201);
  const placed = json['id'] as string;
  const callIdOf = (id: string) => server.telephone.list().find((call) => call.id === id)?.callId;
  const isTaken = ({ id, callId, state }: { id: string; callId?: string; state: string }) =>
    id !== placed && callId !== undefined && callId === callIdOf(placed) && state === 'connected';
  await until(() => server.telephone.list().some(isTaken));
  await until(() => server.telephone.list().some(({ id, state }) => id === placed && state === 'connected'));
  return { placed, taken: server.telephone.list().find(isTaken)?.id ?? '' };
}

const hangUp = (id: string) => ask(server, 'DELETE', `/calls/${id}`);
const members = async (room: string) => {
  const { json } = await ask(server, 'GET', `/rooms/${room}`);
  return ((json['members'] ?? []) as { call: string }[]).map(({ call }) => call);
};
const join = (room: string, call: string) => ask(server, 'POST', `/rooms/${room}/members`, { call });
const codeOf = ({ status, json }: Awaited<ReturnType<typeof ask>>) => [
  status,
  (json['error'] as { code?: string } | undefined)?.code,
];
const REFUSED = [409, 'call_loop'];

async function ended(...placed: readonly string[]): Promise<void> {
  for (const id of placed) await hangUp(id);
  await until(() => server.telephone.size === 0);
  const { json } = await ask(server, 'GET', '/rooms');
  assert.deepEqual(json['data'], [], 'no room is left');
}

test('a room that calls itself does not hear itself, and may hear another room once', async () => {
  const first = await callsItself('a');
  assert.deepEqual(await members('a'), [first.taken]);
  assert.deepEqual(codeOf(await join('a', first.placed)), REFUSED);
  assert.deepEqual(await members('a'), [first.taken]);
  assert.equal((await join('b', first.placed)).status, 201);
  const second = await callsItself('a');
  assert.deepEqual(codeOf(await join('b', second.placed)), REFUSED);
  assert.deepEqual(await members('b'), [first.placed]);
  await ended(first.placed, second.placed);
});

test('a room that calls itself through a bridge that a rule has made does not hear itself', async () => {
  const { placed } = await callsItself('again');
  await until(() => server.telephone.list().filter(({ state }) => state === 'connected').length === 4);
  assert.equal((await members('a')).length, 1);
  assert.deepEqual(codeOf(await join('a', placed)), REFUSED);
  assert.equal((await join('b', placed)).status, 201);
  await ended(placed);
});

test('a call is neither bridged with its own other end nor supervised by it', async () => {
  const { placed, taken } = await callsItself('alone');
  assert.deepEqual(codeOf(await ask(server, 'POST', `/calls/${placed}/bridge`, { call: taken })), REFUSED);
  const supervisor = { call: taken, mode: 'listen' };
  assert.deepEqual(codeOf(await ask(server, 'POST', `/calls/${placed}/supervise`, supervisor)), REFUSED);
  await ended(placed);
});
