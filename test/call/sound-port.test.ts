// The port of a call without RTP, on a plane whose clock the test holds.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isNeedless, SoundPort, type FrameCodec } from '../../src/call/sound-port.js';
import { CODECS } from '../../src/codecs/codec.js';
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

/** A far end that speaks in real time: words of 200 ms, each with a silence behind it. */
function speaker({ port, pass }: Opened, silenceMs: number) {
  const { socket = assert.fail() } = port.port;
  const [came, went]: [number[], number[]] = [[], []];
  const feed = socket.feed.bind(socket);
  socket.feed = (packet, ...from) => (went.push(packet.at(-1) ?? 0), feed(packet, ...from));
  let count = 0;
  const piece = () => {
    const isWord = (20 * count++) % (200 + silenceMs) < 200;
    // Loud codes of mu-law; the words differ, so that none can be lost unseen.
    const code = isWord ? count % 100 : 0xff;
    came.push(code);
    port.receive(new Uint8Array(160).fill(code));
  };
  return {
    speak: (ms: number) => {
      for (let passed = 0; passed < ms; passed += 20) {
        piece();
        pass(20);
      }
    },
    stall: (ms: number) => {
      pass(ms);
      for (let passed = 0; passed < ms; passed += 20) piece();
    },
    came: () => came.splice(0),
    went: () => went.splice(0),
  };
}

const words = (codes: readonly number[]) => codes.filter((code) => code !== 0xff);

test('the sound behind a stall is in time again after a few silences, and no word is lost', (t) => {
  const opened = open(t);
  const { speak, stall, came, went } = speaker(opened, 300);
  speak(2000);
  stall(500);
  assert.equal(opened.port.waitingMs, 300); // the jitter buffer of the listeners has the rest
  speak(2000);
  assert.ok(opened.port.waitingMs <= 40, String(opened.port.waitingMs));
  speak(5000);
  opened.pass(1000);
  const [received, sent] = [came(), went()];
  assert.deepEqual(words(sent), words(received));
  const leftOutMs = 20 * (received.length - sent.length);
  assert.ok(leftOutMs >= 100 && leftOutMs <= 300, String(leftOutMs));
});

test('speech without a silence is in time again after a stall, and every frame of it goes on', (t) => {
  const opened = open(t);
  const { speak, stall, came, went } = speaker(opened, 0);
  speak(2000);
  stall(500);
  speak(4000);
  assert.ok(opened.port.waitingMs <= 40, String(opened.port.waitingMs));
  opened.pass(1000);
  assert.deepEqual(went(), came());
});

test('the silence of sound that is sent ahead of its time goes on as it is', (t) => {
  const opened = open(t);
  const { speak, stall, came, went } = speaker(opened, 500);
  speak(1000);
  opened.pass(3000);
  stall(0);
  for (let n = 0; n < 8; n++) {
    speak(20);
    opened.port.receive(new Uint8Array(800 * PCMU_MS).fill(0xff));
    came();
    went();
  }
  assert.ok(opened.port.waitingMs > 5000);
  let sent = 0;
  for (; opened.port.waitingMs > 0; sent += went().length) opened.pass(1000);
  assert.ok(20 * sent > 5900, String(sent));
});

for (const codec of ['L16', 'PCMU', 'PCMA'] as const) {
  test(`a frame of ${codec} need not be sent if it is silent and much before it is not read`, () => {
    const silence = CODECS[codec].silence(20);
    const sound = silence.map((code, n) => (n % 20 === 0 ? code ^ 0x40 : code));
    const asked = [
      [silence, 200],
      [silence, 160],
      [sound, 200],
    ] as const;
    assert.deepEqual(
      asked.map(([frame, unreadMs]) => isNeedless(() => frame, codec, unreadMs)),
      [true, false, false],
    );
  });
}

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
