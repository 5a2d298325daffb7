// The sound of a call on its way to a bot, from rings that the test writes.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { toInt16 } from '../../../src/audio/pcm16.js';
import { Resampler } from '../../../src/audio/resampler.js';
import { CallSound } from '../../../src/api/streams/call-sound.js';
import type { StreamTrack } from '../../../src/api/streams/stream-messages.js';
import type { MediaPort } from '../../../src/call/call-route.js';
import { MU_LAW } from '../../../src/codecs/g711.js';
import { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';

const EAR_RATE = 16_000;

interface Chunk {
  readonly track: StreamTrack;
  readonly number: number;
  readonly timestampMs: number;
  readonly bytes: Buffer;
}

/** One port's ears. */
class Ear {
  readonly rings: PcmRing[] = [];
  channels = 0;
  closed = 0;
  isRefusing = false;

  readonly socket = {
    openEar: ({ channels, capacityMs }: { channels: 1 | 2; capacityMs: number }) => {
      if (this.isRefusing) throw new ParleyError('QUEUE_FULL', 'the call has the 8 listeners');
      this.channels = channels;
      const ring = PcmRing.open(EAR_RATE, (EAR_RATE * channels * capacityMs) / 1000);
      this.rings.push(ring);
      return ring;
    },
    closeEar: () => void this.closed++,
  };

  write(samples: Float32Array): void {
    assert.equal(this.rings.at(-1)?.write(samples), samples.length);
  }
}

interface Setting {
  readonly tracks?: readonly StreamTrack[];
  readonly ear?: Ear | undefined;
  /** Called before each chunk is kept. */
  readonly before?: () => void;
}

function openSound(t: TestContext, { tracks = ['inbound'], ear, before }: Setting = {}) {
  const time = new ManualTime(5000);
  const chunks: Chunk[] = [];
  const failures: string[] = [];
  let follower: (port: MediaPort) => void = () => undefined;
  const portOf = (of: Ear | undefined) => ({ socket: of?.socket }) as unknown as MediaPort;
  const sound = new CallSound({
    call: {
      follow: (given) => {
        follower = given;
        given(portOf(ear));
        return () => (follower = () => undefined);
      },
    },
    tracks,
    time,
    chunk: (track, number, timestampMs, payload) => {
      before?.();
      chunks.push({ track, number, timestampMs, bytes: Buffer.from(payload, 'base64') });
    },
    failed: ({ code }) => void failures.push(code),
  });
  t.after(() => sound.close());
  return { sound, time, chunks, failures, moveTo: (to: Ear | undefined) => follower(portOf(to)) };
}

function tone(samples: number, step = 20): Float32Array {
  return Float32Array.from({ length: samples }, (_, n) => 0.5 * Math.sin(n / step));
}

/** The sound that a bot gets of samples at 16 kHz. */
function coded(samples: Float32Array): Buffer {
  const resampler = new Resampler(EAR_RATE, 8000);
  const output = new Float32Array(resampler.maxOutput(samples.length));
  const count = resampler.process(samples, samples.length, output);
  const values = new Int16Array(count);
  toInt16(output, count, values);
  return Buffer.from(Uint8Array.from(values, (value) => MU_LAW[value + 32_768] ?? 0));
}

test('the caller is heard in chunks of 160 bytes, numbered, each 20 ms after the one before', async (t) => {
  const ear = new Ear();
  const { chunks } = openSound(t, { ear });
  const sound = tone(16_000);
  for (let at = 0; at < sound.length; at += 256) ear.write(sound.subarray(at, at + 256));
  await until(() => chunks.length === 49);
  const expected = coded(sound);
  assert.deepEqual(Buffer.concat(chunks.map(({ bytes }) => bytes)), expected.subarray(0, 49 * 160));
  assert.deepEqual(
    chunks.map(({ track, number, timestampMs }) => [track, number, timestampMs]),
    chunks.map((_, n) => ['inbound', n + 1, 20 * n]),
  );
  assert.equal(ear.channels, 1);
});

test('both sides are tracks of their own with the same times', async (t) => {
  const ear = new Ear();
  const { chunks } = openSound(t, { tracks: ['inbound', 'outbound'], ear });
  const [caller, ours] = [tone(3200), tone(3200, 7)];
  ear.write(Float32Array.from({ length: 6400 }, (_, n) => (n % 2 === 0 ? caller : ours)[n >> 1] ?? 0));
  await until(() => chunks.length === 18);
  for (const [track, sound] of [
    ['inbound', caller],
    ['outbound', ours],
  ] as const) {
    const own = chunks.filter((chunk) => chunk.track === track);
    assert.deepEqual(Buffer.concat(own.map(({ bytes }) => bytes)), coded(sound).subarray(0, 9 * 160));
    assert.deepEqual(
      own.map(({ number, timestampMs }) => [number, timestampMs]),
      own.map((_, n) => [n + 1, 20 * n]),
    );
  }
});

test('our own side alone is one track', async (t) => {
  const ear = new Ear();
  const { chunks } = openSound(t, { tracks: ['outbound'], ear });
  const ours = tone(1600, 7);
  ear.write(Float32Array.from({ length: 3200 }, (_, n) => (n % 2 === 0 ? 0.9 : (ours[n >> 1] ?? 0))));
  await until(() => chunks.length === 4);
  assert.deepEqual(Buffer.concat(chunks.map(({ bytes }) => bytes)), coded(ours).subarray(0, 4 * 160));
  assert.ok(chunks.every(({ track }) => track === 'outbound'));
});

test('the sound follows the call to another port, and times go on after a far end without sound', async (t) => {
  const [first, second] = [new Ear(), new Ear()];
  const { chunks, time, moveTo, failures } = openSound(t, { ear: first });
  first.write(tone(1600));
  await until(() => chunks.length === 4);
  moveTo(undefined);
  assert.equal(first.closed, 1);
  time.advance(3000);
  moveTo(second);
  second.write(tone(1600));
  await until(() => chunks.length === 8);
  assert.deepEqual(
    chunks.map(({ number, timestampMs }) => [number, timestampMs]),
    [0, 20, 40, 60, 3000, 3020, 3040, 3060].map((ms, n) => [n + 1, ms]),
  );
  assert.deepEqual(chunks[4]?.bytes, coded(tone(1600)).subarray(0, 160));
  assert.deepEqual(failures, []);
});

test('an ear that was not read in time, or cannot be opened, is opened again after a second', async (t) => {
  const ear = new Ear();
  const { chunks, time, failures } = openSound(t, { ear });
  ear.rings[0]?.end('LISTENER_SLOW');
  await until(() => failures.length === 1);
  ear.isRefusing = true;
  time.advance(1000);
  assert.deepEqual(failures, ['LISTENER_SLOW', 'QUEUE_FULL']);
  ear.isRefusing = false;
  time.advance(1000);
  ear.write(tone(1600));
  await until(() => chunks.length === 4);
  assert.equal(chunks[0]?.timestampMs, 2000);
});

test('a port that closes ends its ear without a failure', async (t) => {
  const ear = new Ear();
  const { failures, time } = openSound(t, { ear });
  ear.rings[0]?.end();
  await until(() => ear.closed === 1);
  assert.deepEqual([failures, time.waiting], [[], 0]);
});

test('once closed, nothing is heard, and ear and timers are given back', (t) => {
  const ear = new Ear();
  ear.isRefusing = true;
  const { sound, time, moveTo } = openSound(t, { ear });
  assert.equal(time.waiting, 1);
  sound.close();
  sound.close();
  assert.equal(time.waiting, 0);
  ear.isRefusing = false;
  moveTo(ear);
  assert.equal(ear.rings.length, 0);
});

test('a chunk whose handling throws is reported, and the sound goes on after a second', async (t) => {
  const ear = new Ear();
  let defects = 0;
  const before = () => {
    if (++defects <= 2) throw new Error('a defect');
  };
  const { time, chunks, failures } = openSound(t, { ear, before });
  const rejections = await rejectionsOf(async () => {
    ear.write(tone(1600));
    await until(() => failures.length === 1);
    // The second one is thrown where the ear is opened again, by a timer, with sound in its ring.
    const { openEar } = ear.socket;
    ear.socket.openEar = (options) => {
      const ring = openEar(options);
      ring.write(tone(1600));
      return ring;
    };
    time.advance(1000);
    assert.equal(failures.length, 2);
    time.advance(1000);
  });
  assert.deepEqual(rejections.map(String), Array(2).fill('Defect: media stream: a defect'));
  assert.deepEqual(failures, ['WRONG_STATE', 'WRONG_STATE']);
  await until(() => chunks.length === 4);
});
