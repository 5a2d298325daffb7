// Rings through a real encoder worker into a playout of a plane whose clock the
// test holds: what leaves is compared byte for byte.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { OPUS, PCMA, PCMU, ticksPerFrame, type Codec } from '../../src/codecs/codec.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { decodeMark } from '../../src/encoding/marks.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { Playout } from '../../src/media/playout.js';
import { encodedWhole, encoderOf, joined, loud, resampled } from './encoder-fakes.js';

const TRACK = 3;
const RTP_HEADER_BYTES = 12;

let pool: EncoderPool;
before(() => {
  pool = new EncoderPool({ workers: 1 });
  return pool.ready();
});
after(() => pool.close());

interface Rig {
  readonly plane: MediaPlane;
  readonly playout: Playout;
  readonly marks: string[];
  advance(ms: number): Buffer[];
  close(): void;
}

/** A playout that captures what it sends; silence shows in the counts of the marks and is not sent. */
function openRig(codec: Codec, frameMs = 20): Rig {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  const playout = plane.openStream({
    ssrc: 1,
    payloadType: 96,
    clockRate: codec.clockRate,
    ticksPerFrame: ticksPerFrame(codec, frameMs),
    frameMs,
    sequence: 0,
    timestamp: 0,
    silence: new Uint8Array(0),
    lowMs: 400,
    highMs: 1500,
    cname: 'test',
    rtcpIntervalMs: 0,
  });
  playout.target({ capture: true });
  const marks: string[] = [];
  playout.onMark = (track, mark) => {
    const { kind, index } = decodeMark(mark);
    marks.push(`${track} ${kind} ${index} at ${playout.sent(track)}`);
  };
  // Past the first tick: from here on every frame's length has exactly one.
  let now = frameMs;
  plane.advance(now);
  return {
    plane,
    playout,
    marks,
    advance: (ms) => {
      now += ms;
      plane.advance(now);
      return plane.takePackets().map(({ data }) => Buffer.from(data.subarray(RTP_HEADER_BYTES)));
    },
    close: () => {
      playout.close();
      plane.close();
      assert.equal(watchedHandles(), 0);
    },
  };
}

function sinkOf({ playout }: Rig, codec: Codec, frameMs = 20) {
  return {
    kind: 'playout',
    playout: playout.handle,
    generation: playout.generation,
    track: TRACK,
    codec: codec.name,
    frameMs,
  } as const;
}

function ringOf(sound: Float32Array, rate: number): PcmRing {
  const ring = PcmRing.open(rate, sound.length + 1);
  ring.write(sound);
  ring.end();
  return ring;
}

/**
 * Advances the clock while the worker keeps up, until `done`. Never past what is queued: nothing runs dry.
 */
async function play(rig: Rig, done: Promise<unknown>): Promise<Buffer[]> {
  const payloads: Buffer[] = [];
  let over = false;
  void done.then(
    () => (over = true),
    () => (over = true),
  );
  for (;;) {
    while (rig.playout.stats().queuedMs >= 100) payloads.push(...rig.advance(rig.playout.frameMs));
    if (over) break;
    await new Promise(setImmediate);
  }
  payloads.push(...rig.advance(2000));
  return payloads;
}

for (const codec of [PCMU, PCMA, OPUS]) {
  test(`${codec.name}: what leaves is the resampled sound, frame for frame, and marks come in order`, async () => {
    const rig = openRig(codec);
    const sounds = [loud(48_000, 1), loud(30_011, 2), loud(22_050, 3)];
    const [first, second, third] = [
      ringOf(sounds[0] as Float32Array, 16_000),
      ringOf(sounds[1] as Float32Array, 16_000),
      ringOf(sounds[2] as Float32Array, 22_050),
    ] as const;
    const session = pool.open(sinkOf(rig, codec));
    const started: number[] = [];
    session.onSegmentStarted = (index, firstFrame) => started.push(index, firstFrame);
    const encoded = Promise.all([
      session.segment({ ring: first.handle, rate: 16_000 }),
      session.segment({ ring: second.handle, rate: 16_000 }),
      session.segment({ ring: third.handle, rate: 22_050, pauseBeforeMs: 130 }),
    ]);
    const payloads = await play(rig, session.end());
    const rate = codec.sampleRate;
    const whole = joined(
      resampled(joined(sounds[0] as Float32Array, sounds[1] as Float32Array), 16_000, rate),
      new Float32Array(0.13 * rate),
      resampled(sounds[2] as Float32Array, 22_050, rate),
    );
    const expected = encodedWhole(whole, encoderOf(codec)).map((payload) => Buffer.from(payload));
    assert.deepEqual(payloads, expected);
    const segments = await encoded;
    const last = (index: number) => (segments[index]?.firstFrame ?? 0) + (segments[index]?.frames ?? 0);
    assert.deepEqual(rig.marks, [
      `${TRACK} segment-started 0 at 1`,
      `${TRACK} segment-ended 0 at ${last(0)}`,
      `${TRACK} segment-started 1 at ${(segments[1]?.firstFrame ?? 0) + 1}`,
      `${TRACK} segment-ended 1 at ${last(1)}`,
      `${TRACK} segment-started 2 at ${(segments[2]?.firstFrame ?? 0) + 1}`,
      `${TRACK} segment-ended 2 at ${last(2)}`,
      `${TRACK} track-ended -1 at ${expected.length}`,
    ]);
    assert.deepEqual(
      started,
      segments.flatMap(({ index, firstFrame }) => [index, firstFrame]),
    );
    assert.equal(rig.playout.stats().underruns, 0);
    for (const ring of [first, second, third]) ring.close();
    rig.close();
  });
}

test('an utterance after another gets the bytes of a new encoder', async () => {
  const sound = loud(16_000, 9);
  const expected = encodedWhole(resampled(sound, 16_000, 48_000), encoderOf(OPUS)).map((bytes) =>
    Buffer.from(bytes),
  );
  for (let utterance = 0; utterance < 3; utterance++) {
    const rig = openRig(OPUS);
    const session = pool.open(sinkOf(rig, OPUS));
    const ring = ringOf(sound, 16_000);
    void session.segment({ ring: ring.handle, rate: 16_000 });
    assert.deepEqual(await play(rig, session.end()), expected);
    ring.close();
    rig.close();
  }
});

test('other frame lengths than 20 ms are kept', async () => {
  for (const frameMs of [10, 40, 60]) {
    const rig = openRig(OPUS, frameMs);
    const session = pool.open(sinkOf(rig, OPUS, frameMs));
    const sound = loud(9600, 4);
    const ring = ringOf(sound, 16_000);
    void session.segment({ ring: ring.handle, rate: 16_000 });
    const payloads = await play(rig, session.end());
    const expected = encodedWhole(resampled(sound, 16_000, 48_000), encoderOf(OPUS, frameMs));
    assert.deepEqual(
      payloads,
      expected.map((payload) => Buffer.from(payload)),
    );
    ring.close();
    rig.close();
  }
});

test('a full playout stops the pull: the ring stays full until the clock made room', async () => {
  const rig = openRig(PCMU);
  const ring = PcmRing.open(8000, 4000);
  const session = pool.open(sinkOf(rig, PCMU));
  void session.segment({ ring: ring.handle, rate: 8000 });
  let written = 0;
  void (async () => {
    const chunk = loud(400);
    while (written < 80_000) {
      await ring.writeAll(chunk);
      written += chunk.length;
    }
    ring.end();
  })();
  while (rig.playout.stats().queuedMs < 1500) await new Promise(setImmediate);
  // A waiting writer is notified when half of the ring is free.
  while ((ring.status()?.writable ?? 0) >= 2000) await new Promise(setImmediate);
  // 75 frames are queued; the session holds one frame, part of the next, and a chunk; the rest is in the
  // ring.
  const taken = (ring.status()?.written ?? 0) - (ring.status()?.readable ?? 0);
  assert.ok(taken >= 75 * 160 && taken <= 75 * 160 + 2 * 160 + 480, `${taken} samples taken`);
  assert.equal(rig.playout.stats().queuedMs, 1500);
  const payloads = await play(rig, session.end());
  assert.equal(payloads.length, 500);
  assert.equal(rig.playout.stats().underruns, 0);
  ring.close();
  rig.close();
});

test('a cleared playout ends its session with ABORTED, and the engine is notified', async () => {
  const rig = openRig(PCMU);
  const ring = PcmRing.open(8000, 4000);
  const session = pool.open(sinkOf(rig, PCMU));
  const encoded = session.segment({ ring: ring.handle, rate: 8000 });
  const speaking = ring.writeAll(loud(800_000));
  while (rig.playout.stats().queuedMs < 1500) await new Promise(setImmediate);
  rig.advance(100);
  assert.equal(rig.playout.clear().tracks[0]?.sentFrames, 5);
  await Promise.all([encoded, speaking].map((promise) => assert.rejects(promise, { code: 'ABORTED' })));
  await assert.rejects(session.end(), { code: 'ABORTED' });
  assert.deepEqual(pool.sessions, [0]);
  assert.equal(rig.playout.stats().queuedMs, 0);
  ring.close();
  rig.close();
});

test('an aborted session pushes nothing more, and the next generation is clean', async () => {
  const rig = openRig(PCMU);
  const ring = PcmRing.open(8000, 4000);
  const session = pool.open(sinkOf(rig, PCMU));
  const encoded = session.segment({ ring: ring.handle, rate: 8000 });
  const speaking = ring.writeAll(loud(800_000));
  while (rig.playout.stats().queuedMs < 1500) await new Promise(setImmediate);
  session.abort();
  rig.playout.clear();
  await Promise.all([encoded, speaking].map((promise) => assert.rejects(promise, { code: 'ABORTED' })));
  const sound = loud(3200, 5);
  const next = pool.open(sinkOf(rig, PCMU));
  const nextRing = ringOf(sound, 8000);
  void next.segment({ ring: nextRing.handle, rate: 8000 });
  const payloads = await play(rig, next.end());
  assert.deepEqual(
    payloads,
    encodedWhole(sound, encoderOf(PCMU)).map((payload) => Buffer.from(payload)),
  );
  for (const each of [ring, nextRing]) each.close();
  rig.close();
});

test('forty sessions speak at once and none of them runs dry', async () => {
  const rigs = Array.from({ length: 40 }, () => openRig(OPUS));
  const sound = loud(16_000 * 3, 2);
  const expected = encodedWhole(resampled(sound, 16_000, 48_000), encoderOf(OPUS)).map((bytes) =>
    Buffer.from(bytes),
  );
  await Promise.all(
    rigs.map(async (rig) => {
      const ring = ringOf(sound, 16_000);
      const session = pool.open(sinkOf(rig, OPUS));
      void session.segment({ ring: ring.handle, rate: 16_000 });
      assert.deepEqual(await play(rig, session.end()), expected);
      assert.equal(rig.playout.stats().underruns, 0);
      ring.close();
    }),
  );
  for (const rig of rigs) {
    rig.playout.close();
    rig.plane.close();
  }
  assert.equal(watchedHandles(), 0);
});
