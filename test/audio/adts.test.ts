import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adtsFrame } from '../../src/audio/adts.js';

test('a frame says that it is mono AAC-LC, at which rate, and how long it is', () => {
  const bits = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const frame = adtsFrame(Uint8Array.of(1, 2, 3), 24_000);
  assert.equal(
    bits(frame.subarray(0, 7)),
    ['111111111111', '0', '00', '1', '01', '0110', '0', '001', '0000'].join('') +
      ['0000000001010', '11111111111', '00'].join(''),
  );
  assert.deepEqual([...frame.subarray(7)], [1, 2, 3]);
  const long = adtsFrame(new Uint8Array(1529), 8000);
  assert.equal(bits(long.subarray(2, 3)).slice(2, 6), '1011');
  assert.equal(parseInt(bits(long).slice(30, 43), 2), 1536);
});

test('what no header can say is refused', () => {
  assert.equal(adtsFrame(new Uint8Array(8184), 48_000).length, 8191);
  assert.throws(() => adtsFrame(new Uint8Array(8185), 48_000), { code: 'ENCODER_FAILED' });
  assert.throws(() => adtsFrame(new Uint8Array(1), 10_000), { code: 'ENCODER_FAILED', message: /10000 Hz/ });
});
