import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBytesS16le, toFloat32, toInt16 } from '../../src/audio/pcm16.js';

function int16Of(...values: number[]): number[] {
  const output = new Int16Array(values.length);
  toInt16(Float32Array.from(values), values.length, output);
  return [...output];
}

test('every 16-bit value survives the way to Float32 and back', () => {
  const all = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
  const floats = new Float32Array(all.length);
  const back = new Int16Array(all.length);
  toFloat32(all, all.length, floats);
  toInt16(floats, all.length, back);
  assert.deepEqual(back, all);
});

test('a sample that is too loud is clamped and never wraps', () => {
  assert.deepEqual(
    int16Of(1, -1, 1.5, -1.5, 1e30, -1e30),
    [32_767, -32_768, 32_767, -32_768, 32_767, -32_768],
  );
  assert.deepEqual(int16Of(Infinity, -Infinity), [32_767, -32_768]);
});

test('NaN is silence', () => {
  assert.deepEqual(int16Of(NaN, 0, -0), [0, 0, 0]);
});

test('values are rounded to the nearest, half away from zero', () => {
  const step = 1 / 32_768;
  assert.deepEqual(int16Of(0.4 * step, 0.5 * step, 1.4 * step, -0.4 * step, -0.5 * step), [0, 1, 1, 0, -1]);
});

test('bytes are little endian, two a sample, from the offset on', () => {
  const bytes = new Uint8Array(7).fill(0xaa);
  assert.equal(toBytesS16le(Float32Array.of(258 / 32_768, -1, 2), 3, bytes, 1), 6);
  assert.deepEqual([...bytes], [0xaa, 0x02, 0x01, 0x00, 0x80, 0xff, 0x7f]);
});

test('bytes and 16-bit values agree for every input', () => {
  const input = Float32Array.from({ length: 5000 }, (_, n) => (n - 2500) / 2000);
  const bytes = new Uint8Array(10_000);
  const values = new Int16Array(5000);
  toBytesS16le(input, 5000, bytes);
  toInt16(input, 5000, values);
  const view = new DataView(bytes.buffer);
  values.forEach((value, n) => assert.equal(view.getInt16(2 * n, true), value));
});
