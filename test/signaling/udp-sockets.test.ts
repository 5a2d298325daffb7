import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { bindUdp } from '../../signaling/werift-peer.js';
import { randomFrom } from '../api/mutations.js';
import { chromiumOffer } from './chromium-offer.js';
import { openServer } from './server-under-test.js';

function sockets(t: TestContext, count: number): Socket[] {
  const made = Array.from({ length: count }, () => createSocket('udp4'));
  t.after(() => made.forEach((socket) => socket.close()));
  return made;
}

// Below the ports that systems give out by themselves (32,768 and up on Linux, 49,152 by RFC 6335): nobody
// takes one of these by chance.
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const TRIES = 50;

async function isFree(port: number): Promise<boolean> {
  const probe = createSocket('udp4').bind(port);
  // Rejects at an error: the port is taken.
  const free = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  await new Promise<void>((resolve) => probe.close(resolve));
  return free;
}

/** A range whose ports were all free a moment ago. */
async function freePorts(count: number): Promise<readonly [number, number]> {
  for (let tried = 0; tried < TRIES; tried++) {
    const first = LOWEST_PORT + randomInt(HIGHEST_PORT - LOWEST_PORT - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map(isFree));
    if (!free.includes(false)) return [first, first + count - 1];
  }
  throw new Error(`no ${count} UDP ports in a row are free from ${LOWEST_PORT} to ${HIGHEST_PORT}`);
}

test('sockets bound at the same time find ports of their own, and the last one none', async (t) => {
  const range = await freePorts(8);
  const random = randomFrom(9);
  const bound = sockets(t, 8);
  await Promise.all(bound.map((socket) => bindUdp(socket, range, random)));
  const ports = bound.map((socket) => socket.address().port);
  assert.equal(new Set(ports).size, 8);
  assert.ok(ports.every((port) => port >= range[0] && port <= range[1]));
  const [late] = sockets(t, 1);
  assert.ok(late !== undefined);
  await assert.rejects(bindUdp(late, range, random), {
    code: 'CALL_LIMIT',
    message: `no UDP port from ${range[0]} to ${range[1]} is free`,
  });
});

test('without a range any port will do, and a later error ends nothing', async (t) => {
  const [socket] = sockets(t, 1);
  assert.ok(socket !== undefined);
  await bindUdp(socket, undefined, Math.random);
  assert.ok(socket.address().port > 0);
  socket.emit('error', new Error('refused'));
});

test('calls that begin together share a range of ports; one too many is refused and leaves nothing', async (t) => {
  const udpPorts = await freePorts(4);
  const { server, switchboard } = await openServer(t, { udpPorts });
  const calls = await Promise.all(Array.from({ length: 4 }, () => server.open({ sdp: chromiumOffer() })));
  const ports = calls.map(({ sdp }) => Number(/^a=candidate:\S+ 1 udp \d+ \S+ (\d+)/m.exec(sdp)?.[1]));
  assert.deepEqual(
    ports.toSorted((a, b) => a - b),
    [0, 1, 2, 3].map((index) => udpPorts[0] + index),
  );
  await assert.rejects(server.open({ sdp: chromiumOffer() }), { code: 'CALL_LIMIT' });
  assert.equal(switchboard.size, 4);
  await server.hangUp(calls[0]?.id ?? '');
  await server.open({ sdp: chromiumOffer() });
});
