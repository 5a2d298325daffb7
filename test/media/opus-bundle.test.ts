// Several Opus frames in one RTP packet: what leaves, when, and that it is what would have left otherwise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPUS } from '../../src/codecs/codec.js';
import { OpusFrameDecoder, OpusFrameEncoder } from '../../src/codecs/opus.js';
import type { StreamOptions } from '../../src/media/media-addon.js';
import { CM_KEYS, holdPlane, type RtpPacket, START_MS } from './plane-under-test.js';

const TICKS = 960;
const STREAM: Partial<StreamOptions> = {
  payloadType: 111,
  clockRate: 48_000,
  ticksPerFrame: TICKS,
  timestamp: 0,
  sequence: 0,
  silence: OPUS.silence(20),
  codec: 'opus',
};
const TOC = 0x78; // one frame of CELT, 20 ms

/** Frames of a payload, as RFC 6716 section 3.2 takes them apart, each with its TOC byte. */
function framesOf(payload: Uint8Array): Buffer[] {
  const [toc = 0, count = 0] = payload;
  if ((toc & 3) === 0) return [Buffer.from(payload)];
  assert.equal(toc & 3, 3);
  assert.equal(count & 0xc0, 0x80, 'different lengths, no padding');
  let at = 2;
  const lengths = Array.from({ length: (count & 63) - 1 }, () => {
    const first = payload[at++] ?? 0;
    return first < 252 ? first : first + 4 * (payload[at++] ?? 0);
  });
  return [...lengths, Infinity].map((length) => {
    const frame = payload.subarray(at, at + length);
    at += frame.length;
    return Buffer.from([toc & 0xfc, ...frame]);
  });
}

function open(options: Partial<StreamOptions> = {}) {
  const held = holdPlane({ ...STREAM, ...options });
  const { playout } = held;
  const push = (...frames: readonly (readonly number[])[]) => {
    for (const bytes of frames) {
      assert.equal(playout.push(playout.generation, 1, Uint8Array.from([TOC, ...bytes])), 1);
    }
  };
  const told = (packets: readonly RtpPacket[]) =>
    packets.map(({ atMs, marker, sequence, timestamp, payload }) => [
      atMs - START_MS,
      marker,
      sequence,
      timestamp / TICKS,
      ...framesOf(payload).map((frame) => frame.subarray(1).toString('hex')),
    ]);
  return { ...held, push, told };
}

const SILENT = Buffer.from(OPUS.silence(20)).subarray(1).toString('hex');

test('frames leave with the last one of their packet, which has the timestamp and marker of the first', () => {
  const { plane, playout, push, pass, told } = open();
  playout.framesPerPacket(3);
  push([1], [2, 2], [], [4], [5], [6]);
  assert.deepEqual(told(pass(120)), [
    [40, true, 0, 0, '01', '0202', ''],
    [100, false, 1, 3, '04', '05', '06'],
  ]);
  plane.close();
});

test('a packet ends before a mark, a pause, another kind of frame, and where frames are joined no more', () => {
  const { plane, playout, push, pass, told } = open();
  const marks: number[][] = [];
  playout.onMark = (_track, mark, atMs) => void marks.push([mark, atMs - START_MS]);
  playout.framesPerPacket(3);
  push([1], [2]);
  playout.mark(playout.generation, 1, 77, false);
  push([3]);
  playout.push(playout.generation, 1, Uint8Array.of(0x0c, 4)); // SILK
  push([5]);
  assert.deepEqual(told(pass(100)), [
    [20, true, 0, 0, '01', '02'],
    [60, false, 1, 2, '03'],
    [80, false, 2, 3, '04'],
  ]);
  assert.deepEqual(told(pass(40)), [[100, false, 3, 4, '05']]);
  assert.deepEqual(marks, [[77, 20]]);
  push([6], [7]);
  playout.framesPerPacket(1);
  assert.deepEqual(told(pass(40)), [
    [140, false, 4, 5, SILENT, SILENT],
    [140, true, 5, 7, '06'],
    [160, false, 6, 8, '07'],
  ]);
  plane.close();
});

test('what a clear counts as sent leaves within a frame, and what it does not never leaves', () => {
  const { plane, playout, push, pass, told } = open();
  playout.framesPerPacket(3);
  push([1], [2], [3], [4], [5], [6]);
  assert.deepEqual(told(pass(80)), [[40, true, 0, 0, '01', '02', '03']]);
  assert.equal(playout.clear().tracks[0]?.sentFrames, 4);
  assert.deepEqual(told(pass(20)), [[80, false, 1, 3, '04']]);
  assert.deepEqual(told(pass(40)), [[120, false, 2, 4, SILENT, SILENT, SILENT]]);
  plane.close();
});

test('a long payload takes two bytes for its length, and frames that do not fit begin another packet', () => {
  const { plane, playout, push, pass, told } = open();
  playout.framesPerPacket(3);
  const long = (bytes: number) => Array.from({ length: bytes }, (_, n) => n & 0xff);
  push(long(251), long(252), long(253), long(600), long(600), [7]);
  assert.deepEqual(
    told(pass(120)).map(([atMs, , , , ...frames]) => [
      atMs,
      ...frames.map((frame) => String(frame).length / 2),
    ]),
    [
      [40, 251, 252, 253],
      [80, 600],
    ],
  );
  plane.close();
});

test('RED repeats whole packets, with the distance in packets', () => {
  const { plane, playout, push, pass } = open({ red: { payloadType: 63, distance: 2 } });
  playout.framesPerPacket(3);
  playout.redundancy(1);
  push([1], [2], [3], [4], [5], [6]);
  const [first, second] = pass(120);
  assert.deepEqual([first?.payloadType, second?.payloadType], [111, 63]);
  const view = Buffer.from(second?.payload ?? []);
  const bytes = first?.payload.length ?? 0;
  assert.equal(view.readUInt32BE(0), (((0x80 | 111) << 24) >>> 0) + ((3 * TICKS) << 10) + bytes);
  assert.deepEqual(view.subarray(5, 5 + bytes), Buffer.from(first?.payload ?? []));
  assert.equal(framesOf(view.subarray(5 + bytes)).length, 3);
  plane.close();
});

test('a key is sent behind the frames that waited', () => {
  const { plane, playout, push, pass } = open();
  playout.framesPerPacket(6);
  push([1], [2]);
  pass(40);
  playout.pressDigit({
    event: 5,
    payloadType: 110,
    clockRate: 48_000,
    durationMs: 40,
    pauseMs: 40,
    volume: 10,
  });
  const [voice, key] = pass(20);
  assert.deepEqual([voice?.payloadType, voice?.sequence, key?.payloadType, key?.sequence], [111, 0, 110, 1]);
  plane.close();
});

test('frames that are joined decode to the same samples, encrypted or not', () => {
  const encoder = new OpusFrameEncoder(20);
  const frames = Array.from({ length: 30 }, (_, frame) =>
    encoder.encode(Float32Array.from({ length: TICKS }, (_, n) => 0.4 * Math.sin((frame * TICKS + n) / 20))),
  );
  for (const options of [{}, { srtp: CM_KEYS }]) {
    const { plane, playout, pass } = open(options);
    playout.framesPerPacket(3);
    for (const frame of frames) playout.push(playout.generation, 1, frame);
    const packets = pass(600);
    assert.equal(packets.length, 10 + (frames.length % 3));
    assert.equal(playout.stats().packets, packets.length);
    plane.close();
    if ('srtp' in options) continue;
    const [apart, joined] = [new OpusFrameDecoder(), new OpusFrameDecoder()];
    const samples = (decoder: OpusFrameDecoder, payloads: readonly Uint8Array[]) =>
      payloads.flatMap((payload) => [...decoder.decode(payload)]);
    assert.deepEqual(
      samples(
        joined,
        packets.map(({ payload }) => payload),
      ),
      samples(apart, frames),
    );
  }
});

test('only Opus is joined, for at most 120 ms', () => {
  const { plane, playout } = open();
  assert.throws(() => playout.framesPerPacket(7), RangeError);
  playout.framesPerPacket(6);
  plane.close();
  const other = open({ codec: 'PCMU' });
  assert.throws(() => other.playout.framesPerPacket(2), RangeError);
  other.plane.close();
});
