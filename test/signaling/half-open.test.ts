// Clients that make an offer, or begin a handshake, and then say nothing more.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { Engines } from '../../src/engines/routing.js';
import { startServer } from '../../src/main.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { InstantEngine } from '../fakes/engines.js';
import { candidatePort } from '../fakes/impaired-relay.js';
import { LightPeer } from '../fakes/light-peer.js';
import { until } from '../fakes/until.js';
import { chromiumOffer } from './chromium-offer.js';
import { openServer } from './server-under-test.js';

const OFFERS = 1000;
const CLIENTS = 400;
const AT_ONCE = 50; // so that a busy machine serves each within the limits of its client
const SETUP_MS = 20_000;
const MOST_KB = 200; // of memory for each, with what the client of the test takes
const FIRST_OF_DTLS = 20; // first byte, RFC 7983 section 7
const LAST_OF_DTLS = 63;

/** A process could run out of these. */
function resources() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
    residentKb: process.memoryUsage.rss() / 1024,
  };
}

type Under = Awaited<ReturnType<typeof openServer>>;

/** The threads of the plane have begun then. */
async function warmUp({ server }: Under): Promise<void> {
  await server.hangUp((await server.open({ sdp: chromiumOffer() })).id);
}

/** A call that is set up, and ends. */
async function talk({ server }: Under, certificate: DtlsCertificate): Promise<void> {
  const peer = await LightPeer.open({ certificate });
  try {
    const { id, sdp } = await server.open({ sdp: peer.offer });
    peer.accept(sdp);
    await peer.ready;
    await server.hangUp(id);
  } finally {
    await peer.close();
  }
}

async function assertFreed({ server, switchboard, plane, time }: Under): Promise<void> {
  time.advance(SETUP_MS);
  await until(() => server.size === 0);
  assert.deepEqual(
    [switchboard.size, plane.stats().sockets, plane.stats().streams, time.waiting],
    [0, 0, 0, 0],
  );
}

test('a thousand offers at once take one port and little memory, and are freed after the set-up time', async (t) => {
  const under = await openServer(t, { maxCalls: OFFERS });
  const { server, plane } = under;
  await warmUp(under);
  const before = resources();
  const open = () => server.open({ sdp: chromiumOffer() });
  const answers = (await Promise.all(Array.from({ length: OFFERS }, open))).map(({ sdp }) => sdp);
  assert.equal(new Set(answers.map((sdp) => candidatePort(sdp))).size, 1);
  assert.equal(new Set(answers.map((sdp) => /^a=ice-ufrag:(.*)\r$/m.exec(sdp)?.[1])).size, OFFERS);
  assert.equal(plane.stats().sockets, OFFERS);
  const after = resources();
  assert.deepEqual([after.descriptors, after.threads], [before.descriptors, before.threads]);
  assert.ok(after.residentKb - before.residentKb < OFFERS * MOST_KB);
  await assert.rejects(open(), { code: 'CALL_LIMIT', retryAfterSeconds: 5 });
  await assertFreed(under);
  await open();
});

/** Sends a check, so many datagrams of its handshake, and no more. */
async function halting(t: TestContext, { server }: Under, certificate: DtlsCertificate, datagrams: number) {
  const kept = { back: 0 };
  let left = datagrams;
  const sends = (data: Uint8Array) => {
    const [first = 0] = data;
    if (first < FIRST_OF_DTLS || first > LAST_OF_DTLS) return true;
    if (left === 0) kept.back++;
    return left-- > 0;
  };
  const peer = await LightPeer.open({ certificate, sends });
  t.after(() => peer.close());
  return async () => {
    peer.accept((await server.open({ sdp: peer.offer })).sdp);
    await until(() => peer.consents > 0 && kept.back > 0);
  };
}

test('hundreds of handshakes that never finish keep no other call off, and are freed after the set-up time', async (t) => {
  const under = await openServer(t, { maxCalls: CLIENTS + 1 });
  const { switchboard, plane, log } = under;
  const certificate = DtlsCertificate.make();
  t.after(() => certificate.close());
  await talk(under, certificate); // DTLS has its thread then
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, n) => halting(t, under, certificate, n % 2)),
  );
  const before = resources();
  for (let begun = 0; begun < CLIENTS; begun += AT_ONCE) {
    await Promise.all(clients.slice(begun, begun + AT_ONCE).map((begin) => begin()));
  }
  const after = resources();
  assert.deepEqual([after.descriptors, after.threads], [before.descriptors, before.threads]);
  assert.ok(after.residentKb - before.residentKb < CLIENTS * MOST_KB);
  assert.deepEqual([switchboard.size, plane.stats().sockets], [CLIENTS, CLIENTS]);

  await talk(under, certificate);
  await assertFreed(under);
  assert.equal(log.filter((line) => line.startsWith('transport failed: TIMEOUT')).length, CLIENTS);
});

test('by default a client has fifty calls in set-up, and its other offers are refused with 429 and Retry-After', async (t) => {
  const config = readConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    SIP_ENABLED: '0',
    ICE_HOST_ADDRESSES: '127.0.0.1',
    WEBRTC_UDP_PORT: '0',
    MAX_CPU_PERCENT: '0', // other programs on the processor must not refuse calls
    SETUP_TIMEOUT: '600', // none ends meanwhile
  });
  const server = await startServer(config, { engines: await Engines.of([new InstantEngine()]) });
  t.after(() => server.close());
  const offer = async () => {
    const response = await fetch(`${server.url}/v1/realtime/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: chromiumOffer(),
    });
    const text = await response.text();
    const code = response.status === 201 ? '' : (JSON.parse(text) as { error: { code: string } }).error.code;
    return `${response.status} ${response.headers.get('retry-after')} ${code}`;
  };
  const outcomes = new Map<string, number>();
  for (let sent = 0; sent < CLIENTS; sent += AT_ONCE) {
    for (const outcome of await Promise.all(Array.from({ length: AT_ONCE }, offer))) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(outcomes), { '201 null ': 50, '429 5 client_limit': CLIENTS - 50 });
  assert.equal(server.switchboard.size, 50);
});
