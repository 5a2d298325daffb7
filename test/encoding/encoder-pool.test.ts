import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ByteRing, PcmRing } from '../../src/audio/pcm-ring.js';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { wavHeader } from '../../src/codecs/wav.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { MessageBatch } from '../../src/encoding/encoder-messages.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { joined, loud, resampled } from './encoder-fakes.js';

const CRASHING = new URL('./crashing-worker.js', import.meta.url);
/** A worker that never reads a message. */
const DEAF = new URL('data:text/javascript,Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)');
/** A worker that dies before it is ready. */
const UNSTARTABLE = new URL('data:text/javascript,throw new Error("the addon is missing")');
const FATAL_RATE = 12_345;

/** A ring with the whole sound in it, ended. */
function ringOf(sound: Float32Array, rate: number): PcmRing {
  const ring = PcmRing.open(rate, sound.length + 1);
  assert.equal(ring.write(sound), sound.length);
  ring.end();
  return ring;
}

async function readAll(ring: ByteRing): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(4096);
    const taken = ring.read(chunk);
    if (taken > 0) chunks.push(chunk.subarray(0, taken));
    else if (taken < 0 || ring.status()?.ended !== false) return Buffer.concat(chunks);
    else await ring.readable();
  }
}

function s16le(sound: Float32Array): Buffer {
  const bytes = Buffer.alloc(sound.length * 2);
  toBytesS16le(sound, sound.length, bytes);
  return bytes;
}

function bytesSink(ring: ByteRing, container: 'wav' | 'pcm' = 'pcm', rate = 8000) {
  return { kind: 'bytes', ring: ring.handle, container, rate } as const;
}

test('the pauses of a segment are reported before it is encoded, if they are asked for', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(100_000);
  const silence = (ms: number) => new Float32Array(16 * ms);
  const sound = joined(silence(100), loud(16 * 300, 1), silence(200), loud(16 * 240, 2), silence(500));
  const rings = [ringOf(sound, 16_000), ringOf(sound, 16_000)];
  const session = pool.open(bytesSink(out));
  const reported: unknown[] = [];
  session.onSegmentPause = ({ index, startMs, endMs }) => reported.push([index, startMs, endMs]);
  const [, encoded] = rings.map((ring, index) =>
    session.segment({ ring: ring.handle, rate: 16_000, gain: 0.001, reportPauses: index === 1 }),
  );
  void session.end();
  await encoded;
  // 20 ms before the sound are kept, and 80 ms after it.
  const pauses = [
    [1, 0, 20],
    [1, 320, 520],
    [1, 760, 840],
  ];
  assert.deepEqual(reported, pauses);
  for (const ring of [...rings, out]) ring.close();
});

test('segments go through a worker into a container, sample for sample', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(2000);
  const sounds = [loud(16_000, 1), loud(5000, 2)];
  const rings = sounds.map((sound) => ringOf(sound, 16_000));
  const session = pool.open(bytesSink(out, 'wav', 24_000));
  const started: number[][] = [];
  session.onSegmentStarted = (index, firstFrame, trimmedStartMs, queuedAtMs) => {
    assert.ok(Math.abs(Number(process.hrtime.bigint()) / 1e6 - queuedAtMs) < 5000);
    started.push([index, firstFrame, trimmedStartMs]);
  };
  const encoded = rings.map((ring, index) =>
    session.segment({ ring: ring.handle, rate: 16_000, pauseBeforeMs: index * 100 }),
  );
  const ended = session.end();
  assert.equal(session.end(), ended);
  const bytes = await readAll(out);
  const [first, second] = sounds.map((sound) => resampled(sound, 16_000, 24_000)) as [
    Float32Array,
    Float32Array,
  ];
  assert.deepEqual(
    bytes,
    Buffer.concat([wavHeader(24_000), s16le(joined(first, new Float32Array(2400), second))]),
  );
  assert.equal(out.status()?.error, '');
  await ended;
  assert.deepEqual(await Promise.all(encoded), [
    { index: 0, firstFrame: 0, frames: 50, samplesIn: 16_000, trimmedStartMs: 0, startMs: 0, endMs: 1000 },
    {
      index: 1,
      firstFrame: 55,
      frames: 16,
      samplesIn: 5000,
      trimmedStartMs: 0,
      startMs: 1100,
      endMs: 1412.5,
    },
  ]);
  assert.deepEqual(started, [
    [0, 0, 0],
    [1, 55, 0],
  ]);
  assert.deepEqual(pool.sessions, [0]);
  for (const ring of [out, ...rings]) ring.close();
  assert.equal(watchedHandles(), 0);
});

test('sound may arrive after the segment, piece by piece', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(100_000);
  const ring = PcmRing.open(8000, 500);
  const session = pool.open(bytesSink(out));
  const encoded = session.segment({ ring: ring.handle, rate: 8000 });
  const sound = loud(8000);
  await ring.writeAll(sound);
  ring.end();
  assert.equal((await encoded).samplesIn, 8000);
  await session.end();
  assert.deepEqual(await readAll(out), s16le(sound));
  out.close();
  ring.close();
});

test('a reader that does not read holds the engine up, and nothing is lost', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(1000);
  const ring = PcmRing.open(8000, 8000);
  const session = pool.open(bytesSink(out));
  void session.segment({ ring: ring.handle, rate: 8000 });
  const sound = loud(20_000);
  const written = ring.writeAll(sound).then(() => ring.end());
  void session.end();
  await out.readable();
  // 500 samples fit out, a frame and a chunk are held; the ring's 8,000 stay.
  while ((out.status()?.writable ?? 0) > 0) await new Promise(setImmediate);
  assert.ok((ring.status()?.written ?? 0) <= 500 + 160 + 480 + 8000);
  assert.deepEqual(await readAll(out), s16le(sound));
  await written;
  out.close();
  ring.close();
});

test('an abort rejects everything, tells the engine and the reader, and may be repeated', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(1000);
  const rings = [ringOf(loud(8000), 8000), PcmRing.open(8000, 1000)];
  const session = pool.open(bytesSink(out));
  const encoded = rings.map((ring) => session.segment({ ring: ring.handle, rate: 8000 }));
  await out.readable();
  session.abort();
  session.abort();
  for (const ring of rings) assert.equal(ring.write(new Float32Array(1)), -1);
  for (const promise of encoded) await assert.rejects(promise, { code: 'ABORTED' });
  await assert.rejects(session.end(), { code: 'ABORTED' });
  await assert.rejects(session.segment({ ring: 1, rate: 8000 }), { code: 'ABORTED' });
  await readAll(out);
  assert.equal(out.status()?.error, 'ABORTED');
  assert.deepEqual(pool.sessions, [0]);
  for (const ring of [out, ...rings]) ring.close();
  assert.equal(watchedHandles(), 0);
});

test('an engine that fails rejects its segment with its own code', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(100_000);
  const ring = PcmRing.open(8000, 1000);
  const session = pool.open(bytesSink(out));
  const encoded = session.segment({ ring: ring.handle, rate: 8000 });
  ring.end('ENGINE_FAILED');
  await assert.rejects(encoded, { code: 'ENGINE_FAILED' });
  await assert.rejects(session.end(), { code: 'ENGINE_FAILED' });
  assert.equal(out.status()?.error, 'ENGINE_FAILED');
  out.close();
  ring.close();
});

test('twenty sessions of one worker all come to their end, exact', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      const out = ByteRing.open(3000);
      const sound = loud(8000, number + 1);
      const ring = ringOf(sound, 16_000);
      const session = pool.open(bytesSink(out));
      void session.segment({ ring: ring.handle, rate: 16_000 });
      void session.end();
      assert.deepEqual(await readAll(out), s16le(resampled(sound, 16_000, 8000)));
      out.close();
      ring.close();
    }),
  );
});

test('sessions are spread over the workers with the fewest', async () => {
  await using pool = new EncoderPool({ workers: 2 });
  const out = ByteRing.open(1000);
  const sessions = Array.from({ length: 5 }, () => pool.open(bytesSink(out)));
  assert.deepEqual(pool.sessions, [3, 2]);
  sessions[0]?.abort();
  sessions[2]?.abort();
  pool.open(bytesSink(out));
  assert.deepEqual(pool.sessions, [2, 2]);
  out.close();
});

test('a worker that dies fails its sessions with ENCODER_FAILED, and the next one works', async () => {
  const deaths: string[] = [];
  await using pool = new EncoderPool({
    workers: 1,
    script: CRASHING,
    onWorkerLost: ({ code }) => deaths.push(code),
  });
  await pool.ready();
  const outs = [ByteRing.open(1000), ByteRing.open(1000)] as const;
  const rings = [ringOf(loud(8000), 8000), PcmRing.open(FATAL_RATE, 1000)] as const;
  const sessions = outs.map((out) => pool.open(bytesSink(out)));
  const healthy = sessions[0]?.segment({ ring: rings[0].handle, rate: 8000 });
  const fatal = sessions[1]?.segment({ ring: rings[1].handle, rate: FATAL_RATE });
  await assert.rejects(healthy as Promise<unknown>, { code: 'ENCODER_FAILED' });
  await assert.rejects(fatal as Promise<unknown>, { code: 'ENCODER_FAILED' });
  assert.equal(rings[1].write(new Float32Array(1)), -1, 'the engine is notified');
  for (const out of outs) {
    await readAll(out);
    assert.equal(out.status()?.error, 'ENCODER_FAILED', 'the reader is notified');
    out.close();
  }
  for (const session of sessions) {
    session.abort();
    await assert.rejects(session.end(), { code: 'ENCODER_FAILED' });
  }
  for (const ring of rings) ring.close();
  assert.deepEqual(deaths, ['ENCODER_FAILED']);
  assert.deepEqual(pool.sessions, [0]);

  await pool.ready();
  const out = ByteRing.open(100_000);
  const ring = ringOf(loud(800), 8000);
  const session = pool.open(bytesSink(out));
  void session.segment({ ring: ring.handle, rate: 8000 });
  await session.end();
  assert.deepEqual(await readAll(out), s16le(loud(800)));
  out.close();
  ring.close();
});

test('a worker that cannot start is tried three times, then the pool says so', async () => {
  let deaths = 0;
  await using pool = new EncoderPool({ workers: 1, script: UNSTARTABLE, onWorkerLost: () => deaths++ });
  const out = ByteRing.open(1000);
  const session = pool.open(bytesSink(out));
  assert.equal(pool.usable, true, 'it is being started');
  await assert.rejects(session.end(), { code: 'ENCODER_FAILED', message: /the addon is missing/ });
  await assert.rejects(pool.ready(), { code: 'ENCODER_FAILED' });
  assert.equal(deaths, 3);
  assert.equal(pool.usable, false);
  assert.throws(() => pool.open(bytesSink(out)), { code: 'ENCODER_FAILED' });
  out.close();
});

test('closing ends sessions and threads, and every caller waits for the same end', async () => {
  const pool = new EncoderPool({ workers: 2 });
  const out = ByteRing.open(1000);
  const ring = PcmRing.open(8000, 1000);
  const session = pool.open(bytesSink(out));
  const encoded = session.segment({ ring: ring.handle, rate: 8000 });
  assert.equal(pool.usable, true);
  const closed = pool.close();
  assert.equal(pool.close(), closed);
  assert.equal(pool.usable, false);
  await assert.rejects(encoded, { code: 'ABORTED' });
  await closed;
  assert.throws(() => pool.open(bytesSink(out)), { code: 'WRONG_STATE' });
  assert.equal(out.status()?.error, 'ABORTED');
  out.close();
  ring.close();
  assert.equal(watchedHandles(), 0);
});

test('the reader of a session is notified of its end although the worker had to be ended by force', async () => {
  const pool = new EncoderPool({ workers: 1, script: DEAF });
  const out = ByteRing.open(1000);
  pool.open(bytesSink(out));
  await pool.close();
  assert.equal(out.status()?.error, 'ABORTED');
  out.close();
});

test('a session that holds too many segments refuses the next by name', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(1000);
  const ring = PcmRing.open(8000, 1000);
  const session = pool.open(bytesSink(out));
  for (let n = 0; n < 64; n++) void session.segment({ ring: ring.handle, rate: 8000 });
  await assert.rejects(session.segment({ ring: ring.handle, rate: 8000 }), { code: 'QUEUE_FULL' });
  session.abort();
  out.close();
  ring.close();
});

test('after its end was asked for, a session takes no segment', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(1000);
  const session = pool.open(bytesSink(out));
  await session.end();
  await assert.rejects(session.segment({ ring: 1, rate: 8000 }), { code: 'WRONG_STATE' });
  session.abort();
  out.close();
});

test('settings that no encoder takes lose the session by name', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const out = ByteRing.open(1000);
  const session = pool.open(bytesSink(out, 'pcm', 1000));
  const ring = ringOf(loud(100), 8000);
  await assert.rejects(session.segment({ ring: ring.handle, rate: 8000 }), { code: 'INVALID_FIELD' });
  assert.equal(out.status()?.error, 'INVALID_FIELD');
  out.close();
  ring.close();
  assert.throws(() => new EncoderPool({ workers: 0 }), { code: 'INVALID_FIELD', field: 'workers' });
});

function outbox() {
  const lists: (readonly number[])[] = [];
  return { lists, box: new MessageBatch<number>((messages) => lists.push(messages)) };
}

test('messages of one turn and its microtasks leave as one list, in order', async () => {
  const { lists, box } = outbox();
  box.add(1);
  void Promise.resolve()
    .then(() => box.add(2))
    .then(() => box.add(3));
  assert.deepEqual(lists, []);
  await turn();
  box.add(4);
  await turn();
  assert.deepEqual(lists, [[1, 2, 3], [4]]);
});

test('flushed messages leave at once, dropped ones never, and the next is not lost', async () => {
  const { lists, box } = outbox();
  box.add(1);
  box.flush();
  assert.deepEqual(lists, [[1]]);
  box.add(2);
  box.drop();
  box.add(3);
  await turn();
  assert.deepEqual(lists, [[1], [3]]);
});

test('a session whose callback throws is lost, and the others of its worker go on', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  const sound = loud(4000, 1);
  const [out, otherOut] = [ByteRing.open(100_000), ByteRing.open(100_000)];
  const [ring, otherRing] = [ringOf(sound, 8000), ringOf(sound, 8000)];
  const [session, other] = [pool.open(bytesSink(out)), pool.open(bytesSink(otherOut))];
  session.onSegmentStarted = () => {
    throw new Error('out of order');
  };
  const rejections = await rejectionsOf(async () => {
    const lost = session.segment({ ring: ring.handle, rate: 8000 });
    const encoded = other.segment({ ring: otherRing.handle, rate: 8000 });
    await assert.rejects(lost, { message: 'out of order' });
    await encoded;
    await other.end();
  });
  assert.deepEqual(rejections.map(String), ['Defect: encoder line: out of order']);
  for (const one of [out, otherOut, ring, otherRing]) one.close();
});
