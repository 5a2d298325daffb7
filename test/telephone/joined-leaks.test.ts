// Bridges, rooms, supervisions and warm transfers that are made and ended again and again, on calls of every
// kind that begin and hang up, leave nothing behind: no call, port, thread, ring or descriptor.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { isLong } from '../fakes/long-run.js';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { type AnyCaller, ask as askServer, callOf, type CallerKind } from './far-ends.js';
import { Desk } from './joined-callers.js';

const KINDS: readonly CallerKind[] = ['sip', 'sip', 'websocket', 'audiosocket'];
const BRIDGES = 5; // of one round
const ROUNDS = isLong ? 600 : 6;
const ROOM_EACH = 2; // rounds
const PERSON_EACH = 3; // rounds, in which a warm transfer is taken by a person
const MODES = ['listen', 'whisper', 'barge', 'take_over', 'listen'] as const;
const WARM_UP = 3; // rounds, in which workers and pools begin
const MB = 2 ** 20;

async function open(t: TestContext) {
  const chat = await ChatEndpoint.open(t);
  const folder = new ScratchFolder();
  const audioSocketPort = await freePorts();
  const server = await TelephoneServer.start(
    {
      AUDIOSOCKET_PORT: `${audioSocketPort}`,
      AUDIOSOCKET_AGENT: 'none',
      AUDIOSOCKET_UNANSWERED_SECONDS: '600',
      RECORDINGS_DIR: join(folder.path, 'recordings'),
      AGENT_LLM_URL: chat.baseUrl,
      AGENT_LLM_MODEL: 'small',
      AGENT_GREETING: '',
      SIP_DIRECT_CALLS: '1',
    },
    { routes: [{ wait: {} }] },
  );
  t.after(async () => {
    await server.close();
    folder.remove();
  });
  const peers = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
  const person = await kept(t, RtpPeer.open());
  const greeting = (await server.rendered('Hello?')).samples;
  return { server, audioSocketPort, peers, person, greeting };
}

/** Rings that this thread has opened or taken over, and that are not closed. */
function watchRings(t: TestContext): () => number {
  const rings = new Set<PcmRing>();
  for (const method of ['open', 'adopt'] as const) {
    const original = PcmRing[method].bind(PcmRing);
    t.mock.method(PcmRing, method, (first: number, second: number) => {
      const ring = original(first, second);
      rings.add(ring);
      return ring;
    });
  }
  return () => {
    for (const ring of rings) if (ring.status() === null) rings.delete(ring);
    return rings.size;
  };
}

type Under = Awaited<ReturnType<typeof open>>;
const nothingCounted = (): Counted => ({ bridges: 0, rooms: 0, supervisions: 0, refused: 0, taken: 0 });

type Ask = (method: string, path: string, body?: object) => Promise<{ status: number }>;

interface Counted {
  bridges: number;
  rooms: number;
  supervisions: number;
  /** Warm transfers that a person has refused, and those that one has taken. */
  refused: number;
  taken: number;
}

/**
 * Four calls: five bridges of them, of which one is supervised, and a room of them with an agent. One is
 * handed over to a person. Then they hang up.
 */
async function round(t: TestContext, n: number, under: Under, counted: Counted) {
  const ask: Ask = (...asked) => askServer(under.server, ...asked);
  const callers: AnyCaller[] = [];
  for (const [at, kind] of KINDS.entries())
    callers.push(await callOf(t, kind, { ...under, rtp: under.peers[at % 2] as RtpPeer }));
  const [a, b, c, d] = callers as [AnyCaller, AnyCaller, AnyCaller, AnyCaller];
  const bridge = async (one: AnyCaller, two: AnyCaller) => {
    assert.equal((await ask('POST', `/calls/${one.id}/bridge`, { call: two.id })).status, 201);
    counted.bridges++;
  };
  const part = async (one: AnyCaller) =>
    assert.equal((await ask('DELETE', `/calls/${one.id}/bridge`)).status, 204);
  await Promise.all([bridge(a, b), bridge(c, d)]);
  await Promise.all([part(b), part(c)]);
  await bridge(a, c);
  counted.supervisions += await supervise(ask, a, d);
  await part(a);
  counted.supervisions += await supervise(ask, b, d, ['listen', 'barge']);
  if (n % ROOM_EACH === 0) counted.rooms += await meet(ask, callers);
  counted.refused += await handOver(t, ask, under, a);
  await Promise.all([bridge(a, d), bridge(b, c)]);
  if (n % PERSON_EACH === 0) {
    await part(a);
    counted.taken += await handOver(t, ask, under, a, () => a.hangUp());
  } else await a.hangUp();
  for (const caller of [b, c, d]) await caller.hangUp();
}

/** One call supervises another one in each of the modes. Returns how many supervisions there were. */
async function supervise(
  ask: Ask,
  target: AnyCaller,
  supervisor: AnyCaller,
  modes: readonly (typeof MODES)[number][] = MODES,
): Promise<number> {
  const path = `/calls/${target.id}/supervise`;
  for (const mode of modes)
    assert.equal((await ask('POST', path, { call: supervisor.id, mode })).status, 201);
  assert.equal((await ask('DELETE', path)).status, 204);
  return 1;
}

/**
 * A person takes the caller, who then leaves as `leave` says. Without `leave` the person is busy, and the
 * caller is back. Returns how many transfers there were.
 */
async function handOver(
  t: TestContext,
  ask: Ask,
  { server, person, greeting }: Under,
  { id }: AnyCaller,
  leave?: () => Promise<void>,
): Promise<number> {
  const desk = await Desk.open(server, t, person);
  let outcome = '';
  const path = `/calls/${id}/warm_transfer`;
  assert.equal((await ask('POST', path, { to: desk.uri, summary: 'It is urgent.' })).status, 201);
  const unfollow = server.telephone.follow(id, 0, (event) => {
    if (event.type === 'speech' && event.event.type.startsWith('warm_transfer.')) outcome = event.event.type;
  });
  if (leave === undefined) await desk.answers('INVITE', 486);
  else await (await desk.picksUp()).play(greeting);
  const last = leave === undefined ? 'warm_transfer.failed' : 'warm_transfer.connected';
  await until(() => outcome === last);
  unfollow();
  await leave?.();
  if (leave !== undefined) await desk.answers('BYE', 200);
  return 1;
}

async function meet(ask: Ask, members: readonly AnyCaller[]): Promise<number> {
  const join = async (body: object) =>
    assert.equal((await ask('POST', '/rooms/leak/members', body)).status, 201);
  for (const { id } of members) await join({ call: id });
  await join({ agent: 'default' });
  assert.equal((await ask('POST', '/rooms/leak/recording', { action: 'start' })).status, 200);
  assert.equal((await ask('PATCH', `/rooms/leak/members/${members[0]?.id}`, { hold: true })).status, 200);
  assert.equal((await ask('POST', '/rooms/leak/recording', { action: 'stop' })).status, 200);
  for (const { id } of members) assert.equal((await ask('DELETE', `/rooms/leak/members/${id}`)).status, 204);
  return 1;
}

test('bridges, rooms, supervisions and warm transfers that were ended leave nothing behind', async (t) => {
  const under = await open(t);
  const rings = watchRings(t);
  const { switchboard, plane } = under.server.server;
  const left = () => {
    const { streams, listeners, sockets, associations } = plane.stats();
    return {
      calls: switchboard.size,
      streams,
      listeners,
      sockets,
      associations,
      rings: rings(),
      threads: readdirSync('/proc/self/task').length,
      descriptors: readdirSync('/proc/self/fd').length,
    };
  };
  let counted = nothingCounted();
  const run = (n: number) =>
    t.test(`round ${n}`, async (inner) => {
      await round(inner, n, under, counted);
      await until(() => switchboard.size === 0);
    });
  for (let n = 0; n < WARM_UP; n++) await run(n);
  await until(() => plane.stats().sockets === 0);
  const before = left();
  const memory = process.memoryUsage().rss;
  counted = nothingCounted();
  for (let n = 0; n < ROUNDS; n++) await run(n);
  assert.deepEqual(counted, {
    bridges: BRIDGES * ROUNDS,
    rooms: Math.ceil(ROUNDS / ROOM_EACH),
    supervisions: 2 * ROUNDS,
    refused: ROUNDS,
    taken: Math.ceil(ROUNDS / PERSON_EACH),
  });
  await until(() =>
    Object.entries(left()).every(([name, count]) => count <= before[name as keyof typeof before]),
  ).catch(() => undefined); // the comparison below names what is left
  const after = left();
  for (const [name, count] of Object.entries(after))
    assert.ok(
      count <= before[name as keyof typeof before],
      `${name}: ${before[name as keyof typeof before]} → ${count}`,
    );
  const grownMb = Math.round((process.memoryUsage().rss - memory) / MB);
  t.diagnostic(JSON.stringify({ ...counted, before, after, grownMb }));
});
