// A client whose network changes in the middle of a sentence: the old path is dead, ICE restarts on a new
// one, and each frame of the sentence reaches the client once.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MediaPort } from '../../src/call/call-route.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import type { Playout } from '../../src/media/playout.js';
import { systemTime } from '../../src/time.js';
import { answerThrough, candidatePort, ImpairedRelay } from '../fakes/impaired-relay.js';
import { LightPeer } from '../fakes/light-peer.js';
import { until } from '../fakes/until.js';
import { openServer } from './server-under-test.js';

const FRAMES = 70; // 1.4 s, which a playout takes at once
const TRACK = 1;
const HEADER_BYTES = 12;
const TIMESTAMP_AT = 4;
const CLOCK_RATE = 48_000;
const DEAD_FRAMES = 10; // 200 ms
const BLOCKED = { lossShare: 1 };
const SEED = 20;

interface Received {
  readonly timestamp: number;
  /** Number of the frame. */
  readonly frame: number;
}

const numbered = (frame: number) => Buffer.from(`frame ${frame}`);

/** A client that hears numbered frames through a relay. */
async function listening(t: TestContext) {
  const under = await openServer(t, { connectionTime: systemTime });
  const certificate = DtlsCertificate.make();
  const received: Received[] = [];
  let lastTimestamp = 0;
  const peer = await LightPeer.open({
    certificate,
    onRtp: (packet) => {
      lastTimestamp = packet.readUInt32BE(TIMESTAMP_AT);
      const text = packet.subarray(HEADER_BYTES).toString();
      if (!text.startsWith('frame ')) return; // silence
      received.push({ timestamp: lastTimestamp, frame: Number(text.slice('frame '.length)) });
    },
  });
  const { server } = under;
  const { id, sdp } = await server.open({ sdp: peer.offer });
  const relay = await ImpairedRelay.open({ serverPort: candidatePort(sdp), seed: SEED });
  t.after(async () => {
    await peer.close();
    await relay.close();
    certificate.close();
  });
  peer.accept(answerThrough(sdp, relay.port));
  await peer.ready;
  const call = under.switchboard.get(id);
  assert.ok(call !== undefined);
  const ports: MediaPort[] = [];
  call.follow((port) => void ports.push(port));
  const [port] = ports;
  assert.ok(port !== undefined);
  return {
    server,
    id,
    call,
    peer,
    relay,
    received,
    playout: port.playout,
    lastTimestamp: () => lastTimestamp,
  };
}

function say(playout: Playout, frames: number): void {
  for (let frame = 0; frame < frames; frame++) {
    assert.equal(playout.push(playout.generation, TRACK, numbered(frame)), 1);
  }
  playout.mark(playout.generation, TRACK, 1, true);
}

/** The path dies, and some more frames leave. */
async function loseThePath({
  relay,
  playout,
  received,
}: Awaited<ReturnType<typeof listening>>): Promise<void> {
  await until(() => received.length >= 10);
  relay.up.impairment = relay.down.impairment = BLOCKED;
  const sent = playout.sent(TRACK);
  await until(() => playout.sent(TRACK) >= sent + DEAD_FRAMES);
  // The event loop reads what the relay had forwarded before.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/** Packets that are still on their way by the old path do not arrive. */
async function newPath(relay: ImpairedRelay): Promise<void> {
  await relay.changeNetwork();
  relay.up.impairment = relay.down.impairment = {};
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

test('after a change of the network each frame of the sentence is heard once, after less than a second', async (t) => {
  const client = await listening(t);
  const { server, id, peer, relay, received, playout } = client;
  say(playout, FRAMES);
  await loseThePath(client);
  const heard = received.length;
  const restarted = server.patchIce(id, { ...peer.restart(), candidates: [] }, client.lastTimestamp());
  assert.ok(restarted !== undefined);
  assert.equal(playout.sent(TRACK), heard);
  await newPath(relay);
  peer.acceptRestart(restarted);
  await until(() => received.length >= FRAMES);
  assert.deepEqual(
    received.map(({ frame }) => frame),
    numbers(FRAMES),
  );
  const [last, first] = [received[heard - 1], received[heard]];
  assert.ok(last !== undefined && first !== undefined);
  const silentMs = ((first.timestamp - last.timestamp) * 1000) / CLOCK_RATE;
  assert.ok(silentMs < 1000, `${silentMs} ms of silence`);
  assert.equal(playout.stats().underruns, 0);
});

test('nothing leaves between the word that the path is dead and the new path', async (t) => {
  const client = await listening(t);
  const { server, id, peer, relay, received, playout } = client;
  say(playout, FRAMES);
  await loseThePath(client);
  const restarted = server.patchIce(id, { ...peer.restart(), candidates: [] }, client.lastTimestamp());
  assert.ok(restarted !== undefined);
  const { timestamp, packets } = playout.stats();
  await until(() => playout.stats().timestamp - timestamp > 10 * 960); // ten ticks of 20 ms
  assert.equal(playout.stats().packets, packets);
  await newPath(relay);
  peer.acceptRestart(restarted);
  await until(() => received.length >= FRAMES);
});

test('an interruption on the dead path leaves nothing to repeat', async (t) => {
  const client = await listening(t);
  const { server, id, call, peer, relay, received, playout } = client;
  say(playout, FRAMES);
  await loseThePath(client);
  const heard = received.length;
  call.interrupt('test');
  const restarted = server.patchIce(id, { ...peer.restart(), candidates: [] }, client.lastTimestamp());
  assert.ok(restarted !== undefined);
  await newPath(relay);
  const { packets } = peer;
  peer.acceptRestart(restarted);
  await until(() => peer.packets > packets + 5);
  assert.equal(received.length, heard);
});

test('a restart that says nothing of a dead path repeats nothing', async (t) => {
  const client = await listening(t);
  const { server, id, peer, received, playout } = client;
  say(playout, FRAMES);
  await until(() => received.length >= 10);
  const restarted = server.patchIce(id, { ...peer.restart(), candidates: [] });
  assert.ok(restarted !== undefined);
  peer.acceptRestart(restarted);
  await until(() => received.length >= FRAMES);
  assert.deepEqual(
    received.map(({ frame }) => frame),
    numbers(FRAMES),
  );
});
