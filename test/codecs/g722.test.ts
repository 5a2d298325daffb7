// Compared with ffmpeg, whose coder follows the recommendation's own test
// sequences: its encoder must give the same bytes, its decoder the sound back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { G722 } from '../../src/codecs/codec.js';
import { frameDecoder } from '../../src/codecs/frame-decoder.js';
import { G722Coder, G722Decoder } from '../../src/codecs/g722.js';
import { decoded, encodedBy } from '../fakes/ffmpeg.js';
import { encoderOf } from '../encoding/encoder-fakes.js';

const RATE = 16_000;
const RAW = ['-f', 'g722'];

/** Speech-like: a gliding harmonic sound with hiss, pauses and a loud end that clips. */
function sound(seconds: number): Float32Array {
  let noise = 1;
  let phase = 0;
  return Float32Array.from({ length: seconds * RATE }, (_, n) => {
    noise = (noise * 1_103_515_245 + 12_345) % 2 ** 31;
    const t = n / RATE;
    phase += (2 * Math.PI * (120 + 80 * Math.sin(3 * t))) / RATE;
    const voice = Math.sin(phase) + 0.5 * Math.sin(7 * phase) + 0.25 * Math.sin(23 * phase);
    const hiss = (noise / 2 ** 30 - 1) * 0.3;
    const loudness = t % 1 > 0.8 ? 0 : t > seconds - 0.5 ? 1.2 : 0.25 * (1 + Math.sin(9 * t));
    return Math.max(-1, Math.min(1, loudness * (voice + hiss)));
  });
}

function encoded(samples: Float32Array, frameMs = 20): Uint8Array {
  const encoder = encoderOf(G722, frameMs);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += encoder.frameSamples) {
    const frame = new Float32Array(encoder.frameSamples);
    frame.set(samples.subarray(at, at + encoder.frameSamples));
    frames.push(Uint8Array.from(encoder.encode(frame)));
  }
  return Uint8Array.from(Buffer.concat(frames));
}

function bytesOf(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  toBytesS16le(samples, samples.length, bytes);
  return bytes;
}

/** dB, of the best alignment: coders delay by their filters. */
function signalToNoise(wanted: Float32Array, seen: Float32Array): number {
  let best = -Infinity;
  for (let delay = 0; delay < 64; delay++) {
    let signal = 0;
    let noise = 0;
    for (let n = 0; n + delay < seen.length && n < wanted.length; n++) {
      signal += (wanted[n] ?? 0) ** 2;
      noise += ((wanted[n] ?? 0) - (seen[n + delay] ?? 0)) ** 2;
    }
    best = Math.max(best, 10 * Math.log10(signal / noise));
  }
  return best;
}

function energy(samples: Float32Array): number {
  return samples.reduce((sum, value) => sum + value * value, 0);
}

test('the bytes are those of another encoder, whatever the frame length', () => {
  const samples = sound(4);
  const reference = encodedBy(['-c:a', 'g722', '-f', 'g722'], RATE, bytesOf(samples));
  const ours = encoded(samples);
  assert.equal(ours.length, 4 * RATE * 0.5);
  assert.deepEqual(Buffer.from(ours).compare(reference.subarray(0, ours.length)), 0);
  for (const frameMs of [10, 30, 60]) {
    assert.deepEqual(
      Buffer.from(encoded(samples, frameMs)).subarray(0, ours.length - 480),
      Buffer.from(ours).subarray(0, ours.length - 480),
    );
  }
});

test('another decoder gives the sound back', () => {
  const samples = sound(3).map((value) => value * 0.5);
  const back = decoded(encoded(samples), RAW);
  assert.ok(Math.abs(back.length - samples.length) <= 64);
  const snr = signalToNoise(samples, back);
  assert.ok(snr > 18, `${snr.toFixed(1)} dB`);
  assert.ok(Math.abs(10 * Math.log10(energy(back) / energy(samples))) < 0.2);
});

test('a reset encoder is as new', () => {
  const encoder = encoderOf(G722);
  const frame = sound(1).subarray(4000, 4000 + encoder.frameSamples);
  const first = Uint8Array.from(encoder.encode(frame));
  const second = Uint8Array.from(encoder.encode(frame));
  assert.notDeepEqual(second, first);
  encoder.reset();
  assert.deepEqual(Uint8Array.from(encoder.encode(frame)), first);
});

test('silence frames bring the far decoder to rest, from the loudest sound on', () => {
  const silence = G722.silence(20);
  assert.equal(silence.length, 160);
  const loud = encoded(sound(2));
  const back = decoded(
    Uint8Array.from(Buffer.concat([loud, ...Array.from({ length: 25 }, () => silence)])),
    RAW,
  );
  const rest = back.subarray(2 * RATE + RATE / 10, 2 * RATE + RATE / 2);
  assert.ok(Math.max(...rest.map(Math.abs)) < 0.002, String(Math.max(...rest.map(Math.abs))));
});

test('the largest datagram is decoded whole, and a longer payload gives no samples', () => {
  const bytes = encoded(sound(1)).subarray(0, 2048);
  const decoder = frameDecoder('G722');
  const parts = [0, 1024].map((at) => decoder.decode(bytes.subarray(at, at + 1024)).slice());
  assert.equal(decoder.decode(new Uint8Array(2049)).length, 0);
  const whole = frameDecoder('G722').decode(bytes);
  assert.equal(whole.length, 4096);
  assert.deepEqual(
    [...whole],
    parts.flatMap((part) => [...part]),
  );
});

// native/test/g722_test.cc has the same hashes, so that both coders agree bit by bit.
test('the bytes and the sound of noise have the hashes that the native coder has', () => {
  let state = 722;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0);
  const noise = Int16Array.from({ length: 32_000 }, (_, n) => next() >> (16 + (Math.floor(n / 2000) % 12)));
  const bytes = new Uint8Array(16_000);
  const out = new Int16Array(32_000);
  new G722Coder().encode(noise, noise.length, bytes);
  new G722Decoder().decode(bytes, out);
  assert.deepEqual([noise, bytes, out].map(hashOf), [0x694e9222, 0x6c6ba76f, 0x5c00b7e6]);
  const anyBytes = Uint8Array.from({ length: 16_000 }, () => next() >>> 24);
  new G722Decoder().decode(anyBytes, out);
  assert.deepEqual([anyBytes, out].map(hashOf), [0xf0af4346, 0x11c8b416]);
});

/** FNV-1a over values of 16 bits. */
function hashOf(values: Iterable<number>): number {
  let hash = 0x811c9dc5;
  for (const value of values) hash = Math.imul(hash ^ (value & 0xffff), 0x01000193);
  return hash >>> 0;
}
