// Samples are written with the most significant byte first, and read back as they were.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { L16 } from '../../src/codecs/codec.js';
import { frameDecoder } from '../../src/codecs/frame-decoder.js';
import { encoderOf } from '../encoding/encoder-fakes.js';

test('a frame is written in network byte order and read back exactly', () => {
  const encoder = encoderOf(L16, 20);
  const frame = Float32Array.from({ length: 480 }, (_, n) => (n * 136 - 32_768) / 32_768);
  frame.set([1, 0x0102 / 32_768, -1]);
  const payload = encoder.encode(frame).slice();
  assert.deepEqual([...payload.subarray(0, 6)], [0x7f, 0xff, 0x01, 0x02, 0x80, 0x00]);
  const samples = frameDecoder('L16').decode(payload);
  assert.deepEqual([...samples], [32_767, ...[...frame.subarray(1)].map((sample) => sample * 32_768)]);
  assert.deepEqual([...encoder.encode(new Float32Array(480))], [...L16.silence(20)]);
});

test('half a sample at the end is no sound, and more than a datagram is none at all', () => {
  const decoder = frameDecoder('L16');
  assert.deepEqual([...decoder.decode(Uint8Array.of(0, 1, 2))], [1]);
  assert.equal(decoder.decode(new Uint8Array(2049)).length, 0);
});

test('a frame of another length is refused', () => {
  assert.throws(() => encoderOf(L16, 20).encode(new Float32Array(479)), { code: 'WRONG_STATE' });
  assert.throws(() => encoderOf(L16, 200), { code: 'INVALID_FIELD' });
});
