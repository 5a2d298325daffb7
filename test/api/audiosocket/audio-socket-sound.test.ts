// The sound of AudioSocket calls at each rate, into the frames of a call and out of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketSound } from '../../../src/api/audiosocket/audio-socket-sound.js';

const FRAMES = 50; // a second
const TONE_HZ = 1000;

function tone(rate: number, count: number, from = 0): Int16Array {
  return Int16Array.from({ length: count }, (_, n) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * TONE_HZ * (n + from)) / rate)),
  );
}

function written(samples: Int16Array, isBigEndian: boolean): Buffer {
  const bytes = Buffer.alloc(2 * samples.length);
  samples.forEach((sample, n) =>
    isBigEndian ? bytes.writeInt16BE(sample, 2 * n) : bytes.writeInt16LE(sample, 2 * n),
  );
  return bytes;
}

function samplesOf(bytes: Uint8Array, isBigEndian: boolean): number[] {
  const buffer = Buffer.from(bytes);
  return Array.from({ length: buffer.length / 2 }, (_, n) =>
    isBigEndian ? buffer.readInt16BE(2 * n) : buffer.readInt16LE(2 * n),
  );
}

/** Largest distance from the tone that passed, after the sound has settled. */
function distance(samples: readonly number[], rate: number, delay: number): number {
  const wanted = tone(rate, samples.length, -delay);
  return Math.max(...samples.slice(200).map((sample, n) => Math.abs(sample - (wanted[n + 200] ?? 0))));
}

test('at 8 kHz samples are mu-law in the call, and come back as that law has them', () => {
  const sound = socketSound(8000);
  assert.deepEqual([sound.codec, sound.frameBytes], ['PCMU', 160]);
  // G.711: 0 is FF, the largest value is 80, the smallest is 00.
  const given = written(Int16Array.of(0, 32_767, -32_768), false);
  assert.deepEqual([...sound.received(given)], [0xff, 0x80, 0x00]);
  const message = sound.message(Uint8Array.of(0xff, 0x80, 0x00));
  assert.deepEqual([...message.subarray(0, 3)], [0x10, 0, 6]);
  assert.deepEqual(samplesOf(message.subarray(3), false), [0, 32_124, -32_124]);
});

test('at 24 kHz samples change their byte order only, and the bytes that came are left alone', () => {
  const sound = socketSound(24_000);
  assert.deepEqual([sound.codec, sound.frameBytes], ['L16', 960]);
  const given = Buffer.from([1, 2, 3, 4]);
  assert.deepEqual([...sound.received(given)], [2, 1, 4, 3]);
  assert.deepEqual([...given], [1, 2, 3, 4]);
  assert.deepEqual([...sound.message(Buffer.from([1, 2, 3, 4]))], [0x13, 0, 4, 2, 1, 4, 3]);
});

for (const [kind, rate] of [
  [0x11, 12_000],
  [0x12, 16_000],
  [0x14, 32_000],
  [0x15, 44_100],
  [0x16, 48_000],
] as const) {
  test(`at ${rate} Hz a tone passes both ways, in whole messages of 20 ms`, () => {
    const sound = socketSound(rate);
    const perFrame = rate / FRAMES;
    const out: number[] = [];
    for (let n = 0; n < FRAMES; n++) {
      const message = sound.message(written(tone(24_000, 480, 480 * n), true));
      assert.equal(message[0], kind);
      assert.equal(message.readUInt16BE(1), 2 * perFrame);
      assert.equal(message.length, 3 + 2 * perFrame);
      out.push(...samplesOf(message.subarray(3), false));
    }
    // The filter holds the end of each frame back, so the tone is late by less than 2.5 ms.
    const late = Array.from({ length: rate / 400 }, (_, delay) => distance(out, rate, delay));
    assert.ok(Math.min(...late) < 20, `${Math.min(...late)} of 10000`);
    const received: number[] = [];
    for (let n = 0; n < FRAMES; n++)
      received.push(...samplesOf(sound.received(written(tone(rate, perFrame, perFrame * n), false)), true));
    assert.ok(received.length > 24_000 - 120 && received.length <= 24_000, String(received.length));
    assert.ok(distance(received, 24_000, 0) < 20, `${distance(received, 24_000, 0)} of 10000`);
  });
}

test('messages of any length give the same sound', () => {
  const given = written(tone(16_000, 16_000), false);
  const whole = samplesOf(socketSound(16_000).received(given), true);
  const sound = socketSound(16_000);
  const parts: number[] = [];
  for (let at = 0, length = 2; at < given.length; at += length, length = (length * 3) % 1022 || 2)
    parts.push(...samplesOf(sound.received(given.subarray(at, at + (length -= length % 2))), true));
  assert.deepEqual(parts, whole);
});

test('rates above 48 kHz are refused', () => {
  for (const rate of [96_000, 192_000]) assert.throws(() => socketSound(rate), { code: 'NO_COMMON_CODEC' });
});
