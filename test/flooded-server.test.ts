// A server in a process of its own sends to its calls, while 5,000 datagrams a second of every kind arrive at
// its one UDP port. It sends silence: the admission by encoder load must not refuse calls on a busy machine.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DtlsCertificate } from '../src/media/dtls-association.js';
import type { ServerFigures } from './bench/webrtc/call-server.js';
import type { ToServer } from './bench/webrtc/process-meter.js';
import { flood, FLOOD_KINDS } from './fakes/flood.js';
import { candidatePort } from './fakes/impaired-relay.js';
import { LightPeer } from './fakes/light-peer.js';
import { until } from './fakes/until.js';

const ENVIRONMENT = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  SIP_ENABLED: '0',
  ICE_HOST_ADDRESSES: '127.0.0.1',
  WEBRTC_UDP_PORT: '0',
  MAX_CPU_PERCENT: '0', // other programs on the processor must not refuse calls
  VOICES_DIR: '/nonexistent/voices',
};
const CALLS = 20;
const PACKETS = 50; // a second of each call
const MOST_GROWTH_MB = 24;
const FIRST_OF_DTLS = 20; // first byte, RFC 7983 section 7
const LAST_OF_DTLS = 63;

class FloodedServer {
  readonly #process: ChildProcess;
  #url = '';

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(t: TestContext): Promise<FloodedServer> {
    const file = fileURLToPath(new URL('bench/webrtc/call-server.js', import.meta.url));
    const env = { PATH: process.env['PATH'], ...ENVIRONMENT };
    const child = fork(file, ['silent'], { execArgv: ['--expose-gc'], env });
    t.after(() => void child.kill());
    const server = new FloodedServer(child);
    server.#url = (await server.#answer<{ url: string }>()).url;
    return server;
  }

  /** Rejects if the process ends. */
  async #answer<T>(): Promise<T> {
    const over = new AbortController();
    const ended = once(this.#process, 'exit', over).then((why) => {
      throw new Error(`the server's process has ended: ${why.join(' ')}`);
    });
    try {
      const [answer] = (await Promise.race([once(this.#process, 'message', over), ended])) as [T];
      return answer;
    } finally {
      ended.catch(() => undefined);
      over.abort();
    }
  }

  async ask(type: 'figures' | 'collect'): Promise<ServerFigures> {
    const question: ToServer = { type };
    this.#process.send(question);
    return this.#answer<ServerFigures>();
  }

  /** The figures once garbage is collected. */
  async settled(): Promise<ServerFigures> {
    await this.ask('collect');
    return this.ask('figures');
  }

  /** A call whose client has heard the first packet. */
  async open(t: TestContext, certificate: DtlsCertificate): Promise<StandingCall> {
    const handshake: Uint8Array[] = [];
    const sends = (data: Uint8Array) => {
      const [first = 0] = data;
      if (first >= FIRST_OF_DTLS && first <= LAST_OF_DTLS) handshake.push(data);
      return true;
    };
    const peer = await LightPeer.open({ certificate, sends });
    t.after(() => peer.close());
    const headers = { 'content-type': 'application/sdp' };
    const response = await fetch(`${this.#url}/v1/realtime/calls`, {
      method: 'POST',
      headers,
      body: peer.offer,
    });
    const answer = await response.text();
    assert.equal(response.status, 201, answer);
    peer.accept(answer);
    await peer.ready;
    return { peer, port: candidatePort(answer), handshake };
  }
}

interface StandingCall {
  readonly peer: LightPeer;
  readonly port: number;
  /** DTLS datagrams that the client sent. */
  readonly handshake: readonly Uint8Array[];
}

async function standing(t: TestContext) {
  const server = await FloodedServer.start(t);
  const certificate = DtlsCertificate.make();
  t.after(() => certificate.close());
  const calls = await Promise.all(Array.from({ length: CALLS }, () => server.open(t, certificate)));
  return { server, certificate, calls };
}

/**
 * Floods the port for 4 s with the facts of one call, from unrelated addresses or, if `forging`, from that of
 * the call, and sets up calls one after another meanwhile.
 */
async function attack(t: TestContext, { forging }: { readonly forging: boolean }): Promise<void> {
  const { server, certificate, calls } = await standing(t);
  const [victim] = calls;
  assert.ok(victim !== undefined);
  const [, handshake = new Uint8Array(0)] = victim.handshake;
  const options = {
    port: victim.port,
    perSecond: 5000,
    target: { ...victim.peer.floodTarget, handshake },
    ...(forging ? { send: (data: Uint8Array) => victim.peer.forge(data) } : {}),
  };
  await flood({ ...options, seed: 1, seconds: 1 }); // V8 has compiled the code then
  const before = await server.settled();
  const sent = calls.map(({ peer }) => peer.packets);

  let isOver = false;
  let setUps = 0;
  const setUp = async () => {
    while (!isOver) {
      const { peer } = await server.open(t, certificate);
      await peer.close();
      setUps++;
    }
  };
  const [counts] = await Promise.all([
    flood({ ...options, seed: 2, seconds: 4 }).finally(() => (isOver = true)),
    setUp(),
  ]);

  assert.ok(FLOOD_KINDS.every((kind) => counts.sent[kind] > 3000));
  assert.equal(counts.refused, 0);
  if (!forging) assert.ok(counts.answered > 100, `${counts.answered} right checks of the flood answered`);
  assert.ok(setUps > 0);
  await until(() => calls.every(({ peer }, n) => peer.packets > (sent[n] ?? 0) + 4 * PACKETS));
  await assertUndisturbed(server, calls, before);
}

async function assertUndisturbed(
  server: FloodedServer,
  calls: readonly StandingCall[],
  before: ServerFigures,
): Promise<void> {
  for (const { peer } of calls) {
    assert.deepEqual([peer.at.ended, peer.disordered], [undefined, 0]);
    assert.ok(
      peer.missing <= peer.unread,
      `${peer.missing} packets missing, ${peer.unread} not read in time`,
    );
  }
  await until(async () => (await server.ask('figures')).calls === CALLS);
  const after = await server.settled();
  assert.ok(after.descriptors <= before.descriptors, `${before.descriptors}, then ${after.descriptors} open`);
  assert.equal(after.threads, before.threads);
  const growth = after.heapMb + after.nativeMb - before.heapMb - before.nativeMb;
  assert.ok(growth < MOST_GROWTH_MB, `${growth} MiB more`);
}

test('a flood of every kind ends no call, disturbs no packet, and calls are set up meanwhile', async (t) => {
  await attack(t, { forging: false });
});

test('neither does a flood that forges the address of a call', async (t) => {
  await attack(t, { forging: true });
});
