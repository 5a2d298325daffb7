// Listeners of calls as JavaScript sees them, on a plane whose clock the test holds: rings, and ears that a
// detector reads.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { EAR, EAR_FIELDS, Ears, WINDOW_SAMPLES } from '../../src/media/ears.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import { FAR, rtp, START_MS, TELEPHONE, WALL_MS, within } from './plane-under-test.js';

const RATE = 16_000;
const FRAME_MS = 20;
const QUANTUM = 256;
const WINDOW_MS = 32;
const MU_LAW_SILENCE = 0xff;
/** Full scale up and down: 4 kHz in mu-law. */
const LOUD = Uint8Array.from({ length: 160 }, (_, n) => (n % 2 === 0 ? 0x00 : 0x80));
const QUIET = new Uint8Array(160).fill(MU_LAW_SILENCE);

interface OpenMedia {
  readonly plane: MediaPlane;
  readonly socket: MediaSocket;
  /** The far end sends so many frames of 20 ms, while the clock runs on. */
  say(payload: Uint8Array, frames: number): void;
}

function openPlane(t: TestContext): MediaPlane {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  t.after(() => plane.close());
  return plane;
}

function openMedia(t: TestContext, plane = openPlane(t)): OpenMedia {
  const socket = plane.openSocket({ mux: true });
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  let sequence = 100;
  const say = (payload: Uint8Array, frames: number) => {
    for (let n = 0; n < frames; n++, sequence++) {
      socket.feed(rtp({ sequence, timestamp: 160 * sequence, payload }), FAR.address, FAR.port);
      plane.advance(plane.nowMs + FRAME_MS);
    }
  };
  return { plane, socket, say };
}

function openEars(t: TestContext, plane: MediaPlane): Ears {
  const ears = Ears.open(plane);
  t.after(() => ears.close());
  return ears;
}

function readAll(ring: PcmRing): Float32Array {
  const samples = new Float32Array(ring.status()?.readable ?? 0);
  ring.read(samples);
  return samples;
}

const peak = (samples: Float32Array) => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

interface Row {
  readonly socket: number;
  readonly endMs: number;
  readonly callerLevel: number;
  readonly oursLevel: number;
  readonly dropped: number;
  readonly caller: Float32Array;
  readonly ours: Float32Array;
}

/** `room` is the number of rows that one take has room for. */
function takeAll(ears: Ears, room = 4): Row[] {
  const rows: Row[] = [];
  for (;;) {
    const samples = new Float32Array(room * 2 * WINDOW_SAMPLES);
    const fields = new Float64Array(room * EAR_FIELDS);
    const taken = ears.take(samples, fields);
    for (let row = 0; row < taken; row++) {
      const field = (name: keyof typeof EAR) => fields[row * EAR_FIELDS + EAR[name]] ?? NaN;
      const from = 2 * WINDOW_SAMPLES * row;
      rows.push({
        socket: field('socket'),
        endMs: field('endMs'),
        callerLevel: field('callerLevel'),
        oursLevel: field('oursLevel'),
        dropped: field('dropped'),
        caller: samples.subarray(from, from + WINDOW_SAMPLES),
        ours: samples.subarray(from + WINDOW_SAMPLES, from + 2 * WINDOW_SAMPLES),
      });
    }
    if (taken < room) return rows;
  }
}

test('a ring of one channel gets the sound of the caller', (t) => {
  const { socket, say } = openMedia(t);
  const ring = socket.openEar({ channels: 1, capacityMs: 5000 });
  say(QUIET, 25);
  say(LOUD, 25);
  const heard = readAll(PcmRing.attach(ring.handle, RATE));
  assert.equal(heard.length, QUANTUM * Math.floor(1000 / 16));
  assert.equal(ring.rate, RATE);
  assert.ok(peak(heard.subarray(0, RATE / 2)) < 0.01);
  assert.ok(peak(heard.subarray((RATE * 6) / 10)) > 0.5);
  ring.close();
});

test('a ring of two channels has what we send beside what we hear', (t) => {
  const { plane, socket, say } = openMedia(t);
  const playout = plane.openStream({ ...TELEPHONE, codec: 'PCMU' });
  playout.target({ capture: true });
  socket.bind(playout);
  const ring = socket.openEar({ channels: 2, capacityMs: 5000 });
  say(QUIET, 25);
  for (let n = 0; n < 25; n++) playout.push(playout.generation, 1, LOUD);
  say(QUIET, 25);
  const heard = readAll(ring);
  const channel = (from: number) => heard.filter((_, n) => n % 2 === from);
  assert.equal(heard.length, 2 * QUANTUM * Math.floor(1000 / 16));
  assert.ok(peak(channel(0)) < 0.01);
  assert.ok(peak(channel(1).subarray(0, RATE / 2)) < 0.01);
  assert.ok(peak(channel(1).subarray((RATE * 6) / 10)) > 0.5);
  ring.close();
});

test('a ring of the sum has what we hear and what we send in one channel', (t) => {
  const { plane, socket, say } = openMedia(t);
  const playout = plane.openStream({ ...TELEPHONE, codec: 'PCMU' });
  playout.target({ capture: true });
  socket.bind(playout);
  const ring = socket.openEar({ channels: 1, sum: true, capacityMs: 5000 });
  const both = socket.openEar({ channels: 2, capacityMs: 5000 });
  say(LOUD, 25);
  for (let n = 0; n < 25; n++) playout.push(playout.generation, 1, LOUD);
  say(LOUD, 25);
  const [heard, apart] = [readAll(ring), readAll(both)];
  assert.equal(heard.length, QUANTUM * Math.floor(1000 / 16));
  const sum = heard.map((_, n) => (apart[2 * n] as number) + (apart[2 * n + 1] as number));
  assert.deepEqual(heard, sum);
  assert.ok(peak(heard) > 1, 'both sides sound');
  ring.close();
  both.close();
});

test('what a ring holds can be read after its end, which closeEar or the socket makes', (t) => {
  const { socket, say } = openMedia(t);
  const rings = [1, 2].map(() => socket.openEar({ channels: 1, capacityMs: 1000 }));
  say(LOUD, 5);
  const [first, second] = rings as [PcmRing, PcmRing];
  socket.closeEar(first);
  say(LOUD, 5);
  socket.close();
  assert.deepEqual(
    rings.map((ring) => [ring.status()?.ended, ring.status()?.error, ring.status()?.readable]),
    [
      [true, '', 6 * QUANTUM],
      [true, '', 12 * QUANTUM],
    ],
  );
  assert.equal(readAll(first).length, 6 * QUANTUM);
  assert.throws(() => socket.openEar({ channels: 1, capacityMs: 1000 }), { code: 'WRONG_STATE' });
  first.close();
  second.close();
});

test('a ring that nobody reads ends with LISTENER_SLOW, and the call goes on', (t) => {
  const { socket, say } = openMedia(t);
  const slow = socket.openEar({ channels: 2, capacityMs: 100 });
  const ring = socket.openEar({ channels: 1, capacityMs: 5000 });
  say(LOUD, 50);
  assert.deepEqual([slow.status()?.ended, slow.status()?.error], [true, 'LISTENER_SLOW']);
  assert.equal(readAll(ring).length, QUANTUM * Math.floor(1000 / 16));
  slow.close();
  ring.close();
});

test('a call has at most eight rings, and one that its reader closes makes room', (t) => {
  const { socket, say } = openMedia(t);
  const open = () => socket.openEar({ channels: 1, capacityMs: 1000 });
  const rings = Array.from({ length: 8 }, open);
  assert.throws(open, { code: 'QUEUE_FULL' });
  rings[0]?.close();
  say(QUIET, 1);
  rings.push(open());
  for (const ring of rings) ring.close();
});

test('options of a ring that are wrong are named', (t) => {
  const { socket } = openMedia(t);
  for (const [options, message] of [
    [{ channels: 3, capacityMs: 100 }, /channels must be from 1 to 2/],
    [{ channels: 1, capacityMs: 5 }, /capacityMs must be from 32 to 60000/],
    [{ channels: 1, capacityMs: 60_001 }, /capacityMs must be from 32 to 60000/],
  ] as const) {
    assert.throws(() => socket.openEar(options as never), message);
  }
});

test('ears get windows of all their calls, which end together', (t) => {
  const plane = openPlane(t);
  const [talking, silent] = [openMedia(t, plane), openMedia(t, plane)];
  const ears = openEars(t, plane);
  assert.ok(ears.add(talking.socket.handle) && ears.add(silent.socket.handle));
  const rows: Row[] = [];
  for (let n = 0; n < 40; n++) {
    talking.say(LOUD, 1);
    rows.push(...takeAll(ears, 1 + (n % 3)));
  }
  const of = ({ handle }: MediaSocket) => rows.filter(({ socket }) => socket === handle);
  const [loud, quiet] = [of(talking.socket), of(silent.socket)];
  assert.deepEqual(
    quiet.map(({ endMs }) => endMs),
    loud.map(({ endMs }) => endMs),
  );
  assert.deepEqual(
    loud.map(({ endMs }) => endMs - (loud[0]?.endMs ?? 0)),
    loud.map((_, n) => WINDOW_MS * n),
  );
  assert.equal(loud.length, Math.floor((40 * FRAME_MS - 16) / WINDOW_MS));
  const last = loud.at(-1);
  assert.ok(last !== undefined && last.callerLevel > -6 && last.callerLevel <= 0, String(last?.callerLevel));
  assert.ok(peak(last.caller) > 0.5 && peak(last.ours) === 0);
  assert.ok(quiet.every(({ callerLevel, oursLevel }) => callerLevel === -120 && oursLevel === -120));
  assert.ok(rows.every(({ dropped }) => dropped === 0));
});

test('at most eight windows of a call wait, and the lost ones are counted', (t) => {
  const { plane, socket } = openMedia(t);
  const ears = openEars(t, plane);
  ears.add(socket.handle);
  plane.advance(START_MS + 21 * WINDOW_MS);
  assert.deepEqual(
    takeAll(ears).map(({ dropped }) => dropped),
    [12, 0, 0, 0, 0, 0, 0, 0],
  );
});

test('a waiting detector is called once windows wait, and again only if it asks', async (t) => {
  const { plane, socket } = openMedia(t);
  const ears = openEars(t, plane);
  const reader = Ears.attach(ears.handle);
  ears.add(socket.handle);
  const called = new Promise<void>((resolve) => reader.onWindows(resolve));
  plane.advance(START_MS + 3 * WINDOW_MS);
  await within('the notice of windows', called);
  // They still wait.
  await within('the notice of windows', new Promise<void>((resolve) => reader.onWindows(resolve)));
  assert.equal(takeAll(reader).length, 2);
  let calls = 0;
  reader.onWindows(() => calls++);
  reader.close();
  plane.advance(START_MS + 4 * WINDOW_MS);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(calls, 0);
  assert.equal(ears.add(socket.handle), true); // the reader's close ends its use only
});

test('a waiting detector learns that the ears were closed, and closed ears hear nothing', async (t) => {
  const { plane, socket } = openMedia(t);
  const before = watchedHandles();
  const ears = openEars(t, plane);
  const reader = Ears.attach(ears.handle);
  ears.close();
  await within('the notice of the close', new Promise<void>((resolve) => reader.onWindows(resolve)));
  assert.equal(ears.add(socket.handle), false);
  assert.deepEqual(takeAll(reader), []);
  ears.remove(socket.handle);
  ears.close();
  assert.equal(watchedHandles(), before);
});

test('a call is heard by one pair of ears, until they are closed or leave it', (t) => {
  const { plane, socket, say } = openMedia(t);
  const [one, other] = [openEars(t, plane), openEars(t, plane)];
  assert.equal(one.add(socket.handle), true);
  assert.equal(one.add(socket.handle), true);
  assert.equal(other.add(socket.handle), false);
  one.remove(socket.handle);
  assert.equal(other.add(socket.handle), true);
  say(LOUD, 10);
  assert.deepEqual([takeAll(one).length, takeAll(other).length], [0, 5]);
  other.close();
  assert.equal(one.add(socket.handle), true);
  socket.close();
  assert.equal(one.add(socket.handle), false);
  assert.equal(openEars(t, plane).add(12_345), false);
});

test('ears hear calls of their own plane only', (t) => {
  const [here, there] = [openMedia(t), openMedia(t)];
  assert.equal(openEars(t, here.plane).add(there.socket.handle), false);
});

test('a take without room for a row is refused', (t) => {
  const ears = openEars(t, openPlane(t));
  const fields = new Float64Array(EAR_FIELDS);
  assert.throws(() => ears.take(new Float32Array(1023), fields), /room for one row/);
  assert.throws(() => ears.take(new Float64Array(1024) as never, fields), /samples must be a Float32Array/);
});

test('figures of hearing begin with the first listener and stay after the last', (t) => {
  const { socket, say } = openMedia(t);
  say(LOUD, 10);
  assert.equal(socket.stats().hearing, undefined);
  const ring = socket.openEar({ channels: 1, capacityMs: 5000 });
  say(LOUD, 50);
  const { hearing } = socket.stats();
  assert.ok(hearing !== undefined && hearing.samples > 0.9 * RATE && hearing.samples <= RATE + QUANTUM);
  assert.deepEqual(
    [hearing.concealed, hearing.lostPackets, hearing.latePackets, hearing.restarts],
    [0, 0, 0, 0],
  );
  assert.ok(hearing.targetMs >= 20 && hearing.targetMs < 60, String(hearing.targetMs));
  assert.ok(hearing.delayMs >= 10 && hearing.delayMs <= 60, String(hearing.delayMs));
  socket.closeEar(ring);
  say(LOUD, 10);
  assert.equal(socket.stats().hearing?.samples, hearing.samples);
  const again = socket.openEar({ channels: 1, capacityMs: 5000 });
  assert.equal(socket.stats().hearing?.samples, hearing.samples, 'a new listener takes nothing away');
  say(LOUD, 50);
  const { samples } = socket.stats().hearing ?? assert.fail();
  assert.ok(samples > hearing.samples + 0.9 * RATE, String(samples));
  socket.close();
  assert.equal(socket.stats().hearing?.samples, samples);
  ring.close();
  again.close();
});

test('a format of sound names its codec, one that is known', (t) => {
  const { socket } = openMedia(t);
  const format = { payloadType: 3, kind: 'sound', clockRate: 8000, codec: 'GSM' } as never;
  assert.throws(() => socket.formats([format]), /codec must be PCMU, PCMA, G722, opus or L16/);
});
