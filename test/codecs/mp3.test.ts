import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MP3_RATES_HZ, Mp3Encoder } from '../../src/codecs/mp3.js';
import { voiceLike } from '../audio/tones.js';
import { probed } from '../fakes/ffmpeg.js';

/** In pieces of `length` samples. */
function encoded(encoder: Mp3Encoder, sound: Float32Array, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < sound.length; at += length) {
    const piece = sound.subarray(at, at + length);
    parts.push(Buffer.from(encoder.encode(piece, piece.length)));
  }
  parts.push(Buffer.from(encoder.finish()));
  return Buffer.concat(parts);
}

test('frames come while the sound does, and do not depend on how it is cut', () => {
  const sound = voiceLike(24_000, 1);
  const streamed = new Mp3Encoder(24_000);
  assert.ok(streamed.encode(sound, 4800).length > 500);
  streamed.close();
  const files = [480, 1152, 5000].map((length) => {
    const encoder = new Mp3Encoder(24_000);
    const file = encoded(encoder, sound, length);
    encoder.close();
    return file;
  });
  assert.deepEqual(files[1], files[0]);
  assert.deepEqual(files[2], files[0]);
});

test('encoders that run at once do not hear each other', () => {
  const sounds = [voiceLike(16_000, 1), voiceLike(16_000, 1).map((value) => -value / 2)];
  const alone = sounds.map((sound) => {
    const encoder = new Mp3Encoder(16_000);
    const file = encoded(encoder, sound, 320);
    encoder.close();
    return file;
  });
  const encoders = sounds.map(() => new Mp3Encoder(16_000));
  const parts: Buffer[][] = [[], []];
  for (let at = 0; at < 16_000; at += 320) {
    encoders.forEach((encoder, n) => {
      parts[n]?.push(Buffer.from(encoder.encode((sounds[n] as Float32Array).subarray(at, at + 320), 320)));
    });
  }
  encoders.forEach((encoder, n) => {
    parts[n]?.push(Buffer.from(encoder.finish()));
    encoder.close();
    assert.deepEqual(Buffer.concat(parts[n] as Buffer[]), alone[n]);
  });
});

test('every rate of MPEG-1, 2 and 2.5 is one that a decoder finds, and no other is taken', () => {
  for (const rate of MP3_RATES_HZ) {
    const encoder = new Mp3Encoder(rate);
    assert.equal(probed(encoded(encoder, voiceLike(rate, 0.5), 1000)).rate, rate);
    encoder.close();
  }
  assert.throws(() => new Mp3Encoder(10_000), { code: 'INVALID_FIELD', message: /8000, .*48000/ });
});

test('a closed encoder is closed for good, and its memory is used again', () => {
  const sound = voiceLike(24_000, 0.1);
  const before = process.memoryUsage().external;
  for (let round = 0; round < 300; round++) {
    const encoder = new Mp3Encoder(24_000);
    encoder.encode(sound, sound.length);
    encoder.close();
    encoder.close();
    assert.throws(() => encoder.encode(sound, 1), { code: 'WRONG_STATE' });
  }
  assert.ok(process.memoryUsage().external - before < 8 * 1024 * 1024);
});
