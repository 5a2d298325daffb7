// The port of a call without RTP, on a plane whose clock the test holds.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SoundPort, type FrameCodec } from '../../src/call/sound-port.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { until } from '../fakes/until.js';

const START_MS = 10_000;
const PCMU_MS = 8; // bytes

interface Opened {
  readonly plane: MediaPlane;
  readonly port: SoundPort;
  readonly frames: Uint8Array[];
  readonly pass: (ms: number) => void;
  /** Milliseconds of sound that were sent on to the listeners of the call. */
  readonly sentOnMs: () => number;
}

function open(t: TestContext, sends: FrameCodec = 'PCMU', receives: FrameCodec = 'PCMU'): Opened {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: 1_000_000 });
  const frames: Uint8Array[] = [];
  let numbers = 0;
  const random = () => ++numbers;
  const onFrame = (payload: Uint8Array) => void frames.push(payload.slice());
  const port = new SoundPort({ plane, sends, receives, path: 'socket', random, onFrame });
  plane.advance(START_MS);
  t.after(async () => {
    await port.port.close();
    plane.close();
  });
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) plane.advance(plane.nowMs + 20);
  };
  // The first packet of a source is accepted with the second one.
  const sentOnMs = () => ((port.port.socket?.stats().packets ?? assert.fail()) + 1) * 20;
  return { plane, port, frames, pass, sentOnMs };
}

test('each 20 ms a frame of the call is handed out, silent where nobody speaks', (t) => {
  const { port, frames, pass } = open(t, 'L16');
  const { playout } = port.port;
  frames.length = 0;
  pass(40);
  assert.deepEqual(frames, [new Uint8Array(960), new Uint8Array(960)]);
  const spoken = new Uint8Array(960).fill(7);
  playout.push(playout.generation, 1, spoken);
  pass(20);
  assert.deepEqual(frames[2], spoken);
});

test('a mark is told after the frames before it, and before those that follow', (t) => {
  const { port, frames, pass } = open(t);
  const { playout } = port.port;
  frames.length = 0;
  const told: number[] = [];
  playout.onMark = () => void told.push(frames.length);
  for (const byte of [1, 2]) playout.push(playout.generation, 1, new Uint8Array(160).fill(byte));
  playout.mark(playout.generation, 1, 5, true);
  pass(100);
  assert.deepEqual(told, [2]);
  assert.equal(frames.length, 5);
});

test('sound in pieces of any length goes on in frames', (t) => {
  const { port, pass, sentOnMs } = open(t);
  for (const length of [1, 99, 100, 300, 140]) port.receive(new Uint8Array(length * PCMU_MS));
  pass(1000);
  assert.equal(sentOnMs(), 640);
  assert.equal(port.waitingMs, 0);
});

test('sound that comes faster than it is spoken goes on in its time', (t) => {
  const { port, pass, sentOnMs } = open(t);
  port.receive(new Uint8Array(5000 * PCMU_MS));
  assert.equal(sentOnMs(), 200);
  pass(1000);
  assert.ok(sentOnMs() >= 1200 && sentOnMs() <= 1240, String(sentOnMs()));
  pass(4000);
  assert.equal(sentOnMs(), 5000);
});

test('a far end whose clock is ahead of ours is never late by more than moments', (t) => {
  const { port, pass } = open(t);
  let most = 0;
  for (let n = 0; n < 30_000; n++) {
    port.receive(new Uint8Array(160 + (n % 2)));
    pass(20);
    if (n > 1000) most = Math.max(most, port.waitingMs);
  }
  assert.ok(most < 60, String(most));
});

test('a pause of the far end is a pause of its sound', (t) => {
  const { port, pass, sentOnMs } = open(t);
  for (let n = 0; n < 50; n++) {
    port.receive(new Uint8Array(160));
    pass(20);
  }
  pass(3000);
  port.receive(new Uint8Array(160));
  assert.equal(sentOnMs(), 1020);
  assert.equal(port.port.socket?.stats().jitterMs, 0);
});

test('sound that waits can be forgotten', (t) => {
  const { port, pass, sentOnMs } = open(t);
  port.receive(new Uint8Array(1000 * PCMU_MS));
  port.drop();
  assert.equal(port.waitingMs, 0);
  pass(1000);
  assert.equal(sentOnMs(), 200);
});

test('the last part of the sound that waits can be forgotten', (t) => {
  const { port, pass, sentOnMs } = open(t);
  port.receive(new Uint8Array(500 * PCMU_MS));
  port.receive(new Uint8Array(300 * PCMU_MS));
  port.receive(new Uint8Array(100 * PCMU_MS));
  port.drop(250);
  assert.equal(port.leftMs, 650);
  port.drop(0);
  pass(1000);
  assert.deepEqual([sentOnMs(), port.leftMs], [640, 10]); // a part of a frame waits
});

test('more than a minute of sound does not wait', (t) => {
  const { port } = open(t);
  port.receive(new Uint8Array(60_000 * PCMU_MS));
  port.receive(new Uint8Array(200 * PCMU_MS));
  const more = new Uint8Array(100 * PCMU_MS);
  assert.throws(() => port.receive(more), { code: 'QUEUE_FULL' });
});

for (const codec of ['L16', 'PCMU', 'PCMA'] as const) {
  test(`listeners hear what is received as ${codec}`, async (t) => {
    const { port, pass } = open(t, codec, codec);
    const { socket = assert.fail() } = port.port;
    const ring = socket.openEar({ channels: 1, capacityMs: 10_000 });
    t.after(() => socket.closeEar(ring));
    const silence = port.port.codec.silence(20);
    const tone = silence.map((_, n) => (Math.floor(n / (silence.length / 20)) % 2 === 0 ? 0x20 : 0xa0));
    const heard: number[] = [];
    const samples = new Float32Array(4096);
    await until(() => {
      port.receive(tone.slice());
      pass(20);
      for (let count = ring.read(samples); count > 0; count = ring.read(samples))
        heard.push(...samples.subarray(0, count));
      return heard.length > 16_000;
    });
    assert.ok(heard.slice(8000).some((sample) => Math.abs(sample) > 0.1));
  });
}

test('after its end it takes and tells nothing', async (t) => {
  const { port, frames, pass, plane } = open(t);
  await port.port.close();
  frames.length = 0;
  port.receive(new Uint8Array(160));
  pass(100);
  assert.deepEqual(frames, []);
  assert.deepEqual([plane.stats().streams, plane.stats().sockets], [0, 0]);
});
