// Error correction that begins and ends in the middle of a session, and cached sentences that get it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { OPUS } from '../../src/codecs/codec.js';
import { EncoderShelf, frameEncoder, ShelvedEncoder } from '../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { type KeptFrames, ReadySegment } from '../../src/encoding/kept-frames.js';
import { KeptSound } from '../../src/encoding/kept-sound.js';
import { fitTone, tone, voiceLike } from '../audio/tones.js';
import { MemoryRing, playoutSession, RecordingQueue } from './encoder-fakes.js';

const CORRECTING = { inBandFec: true, expectedLossPercent: 6 };
const CORRECTED = { ...OPUS_SPEECH, ...CORRECTING };
const FRAME = 960;

/** True for a frame of SILK or hybrid mode, which alone can carry a copy of the one before. */
function isSilk(payload: ArrayLike<number> | undefined): boolean {
  return (payload?.[0] ?? 0xff) >> 3 < 16;
}

function payloadsOf(kept: KeptFrames): Uint8Array[] {
  const segment = new ReadySegment({ index: 0, pauseBeforeMs: 0 }, kept);
  const payloads: Uint8Array[] = [];
  for (let next = segment.next(); next !== undefined; next = segment.next()) payloads.push(next.slice());
  return payloads;
}

/** The frames of a sentence that a session kept without error correction. */
function keptOf(sound: Float32Array): KeptFrames {
  const session = playoutSession(OPUS, new RecordingQueue());
  session.segment(MemoryRing.of(sound), 48_000, 0, true);
  session.pipeline.end();
  session.run();
  return session.kept.get(0) ?? assert.fail('nothing was kept');
}

test('a session that is tuned encodes its next frame with the new settings, and does not keep the segment', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(OPUS, queue);
  const ring = new MemoryRing();
  session.segment(ring, 48_000, 0, true);
  session.segment(MemoryRing.of(voiceLike(48_000, 0.5)), 48_000, 0, true);
  ring.write(voiceLike(48_000, 0.4));
  session.run();
  const before = queue.payloads.length;
  assert.ok(before > 10);
  session.pipeline.tune({ complexity: 5, ...CORRECTING });
  ring.write(voiceLike(48_000, 0.4));
  ring.end();
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual([...new Set(queue.payloads.slice(0, before).map(isSilk))], [false]);
  assert.deepEqual([...new Set(queue.payloads.slice(before, before + 15).map(isSilk))], [true]);
  assert.equal(session.kept.get(0), undefined);
  assert.ok(payloadsOf(session.kept.get(1) ?? assert.fail('the next segment is not kept')).every(isSilk));
});

test('kept frames decode to as many samples as were encoded, without the delay of the encoder', () => {
  const sound = tone(440, 48_000, 30 * FRAME + 100);
  const kept = new KeptSound(keptOf(sound));
  const heard = new Float32Array(32 * FRAME);
  let at = 0;
  for (let count = 0; (count = kept.read(heard.subarray(at, at + 480))) > 0; at += count);
  assert.equal(at, sound.length);
  assert.deepEqual(kept.status(), { readable: 0, ended: true, error: '' });
  // The phase at a given sample is the one of the original.
  const [start, end] = [10 * FRAME, 20 * FRAME];
  const difference = heard.subarray(start, end).map((sample, n) => sample - (sound[start + n] ?? 0));
  const { amplitude } = fitTone(difference, 440, 48_000);
  assert.ok(amplitude < 0.1, `${amplitude}`);
  kept.abort();
  assert.equal(kept.read(heard), -1);
});

test('a kept sentence of no sound decodes to nothing', () => {
  const kept = { packed: new SharedArrayBuffer(0), frames: 0, samples: 0, samplesIn: 0, trimmedStartMs: 0 };
  assert.equal(new KeptSound(kept).read(new Float32Array(10)), 0);
});

function ringOf(sound: Float32Array, rate: number): PcmRing {
  const ring = PcmRing.open(rate, sound.length + 1);
  ring.write(sound);
  ring.end();
  return ring;
}

test('a worker encodes a kept sentence again, with error correction and the figures of the first time', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  await pool.ready();
  const silence = new Float32Array(24_000 * 0.2);
  const ring = ringOf(Float32Array.of(...silence, ...voiceLike(24_000, 1)), 24_000);
  const sink = { kind: 'kept', codec: 'opus', frameMs: 20 } as const;
  const kept: KeptFrames[] = [];
  const first = pool.open(sink);
  first.onSegmentKept = (_index, frames) => kept.push(frames);
  await first.segment({ ring: ring.handle, rate: 24_000, keep: true });
  await first.end();
  ring.close();
  const again = pool.open(sink, { opus: CORRECTING });
  again.onSegmentKept = (_index, frames) => kept.push(frames);
  const place = await again.segment({ kept: kept[0] ?? assert.fail('nothing was kept'), reencode: true });
  await again.end();
  const [plain, corrected] = kept as [KeptFrames, KeptFrames];
  const { packed: _plain, ...sizes } = plain;
  const { packed: _corrected, ...sizesAgain } = corrected;
  assert.deepEqual(sizesAgain, sizes);
  assert.ok(sizes.trimmedStartMs > 100);
  assert.equal(place.trimmedStartMs, sizes.trimmedStartMs);
  assert.ok(!payloadsOf(plain).some(isSilk));
  assert.ok(payloadsOf(corrected).every(isSilk));
});

test('a segment that was kept before the session was corrected is not reported with the new settings', async () => {
  await using pool = new EncoderPool({ workers: 1 });
  await pool.ready();
  const session = pool.open({ kind: 'kept', codec: 'opus', frameMs: 20 });
  const kept = new Map<number, KeptFrames>();
  session.onSegmentKept = (index, frames) => void kept.set(index, frames);
  const rings = [voiceLike(48_000, 0.5), voiceLike(48_000, 0.5)].map((sound) => ringOf(sound, 48_000));
  const [before, after] = rings as [PcmRing, PcmRing];
  const encoded = session.segment({ ring: before.handle, rate: 48_000, keep: true });
  // The report of the worker is on its way, or still to come.
  session.correct(CORRECTING);
  assert.deepEqual(session.opus, CORRECTED);
  await Promise.all([encoded, session.segment({ ring: after.handle, rate: 48_000, keep: true })]);
  await session.end();
  for (const ring of rings) ring.close();
  assert.deepEqual([...kept.keys()].includes(1), true);
  assert.ok([...kept.values()].every((frames) => payloadsOf(frames).every(isSilk)));
});

test('an encoder that a session has tuned serves a session with any other tuning', () => {
  const shelf = new EncoderShelf();
  const used = shelf.take('opus', 20, OPUS_SPEECH);
  used.encode(voiceLike(48_000, 0.02));
  used.tune?.({ complexity: 1, ...CORRECTING });
  used.encode(voiceLike(48_000, 0.02));
  shelf.giveBack(used, 'opus', 20, OPUS_SPEECH);
  assert.notEqual(shelf.take('opus', 20, { ...OPUS_SPEECH, bitsPerSecond: 16_000 }), used);
  const again = shelf.take('opus', 20, { ...OPUS_SPEECH, complexity: 3 });
  assert.equal(again, used);
  const fresh = frameEncoder(OPUS, 20, { ...OPUS_SPEECH, complexity: 3 });
  for (let frame = 0; frame < 5; frame++) {
    const sound = voiceLike(48_000, 0.02);
    assert.deepEqual(Buffer.from(again.encode(sound)), Buffer.from(fresh.encode(sound)));
  }
});

test('a session takes an encoder with its first frame, in the tuning that it has then, and gives it back once', () => {
  const shelf = new EncoderShelf();
  const used = shelf.take('opus', 20, OPUS_SPEECH);
  shelf.giveBack(used, 'opus', 20, OPUS_SPEECH);
  const idle = new ShelvedEncoder(shelf, OPUS, 20, OPUS_SPEECH);
  assert.equal(idle.frameSamples, FRAME);
  idle.reset();
  idle.giveBack();
  assert.equal(shelf.take('opus', 20, OPUS_SPEECH), used); // the idle session did not take it
  shelf.giveBack(used, 'opus', 20, OPUS_SPEECH);

  const session = new ShelvedEncoder(shelf, OPUS, 20, OPUS_SPEECH);
  session.tune({ complexity: 5, ...CORRECTING });
  const fresh = frameEncoder(OPUS, 20, CORRECTED);
  const sound = voiceLike(48_000, 0.1);
  for (let at = 0; at < sound.length; at += FRAME) {
    const frame = sound.subarray(at, at + FRAME);
    assert.deepEqual(Buffer.from(session.encode(frame)), Buffer.from(fresh.encode(frame)));
  }
  assert.notEqual(shelf.take('opus', 20, OPUS_SPEECH), used);
  session.giveBack();
  session.giveBack();
  assert.equal(shelf.take('opus', 20, OPUS_SPEECH), used);
  assert.notEqual(shelf.take('opus', 20, OPUS_SPEECH), used);
});
