import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/codecs/wav.js';

function fields(header: Uint8Array) {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const text = (at: number) => Buffer.from(header.subarray(at, at + 4)).toString('latin1');
  return {
    ids: [text(0), text(8), text(12), text(36)],
    riffBytes: view.getUint32(4, true),
    formatBytes: view.getUint32(16, true),
    format: view.getUint16(20, true),
    channels: view.getUint16(22, true),
    rate: view.getUint32(24, true),
    bytesPerSecond: view.getUint32(28, true),
    blockBytes: view.getUint16(32, true),
    bits: view.getUint16(34, true),
    dataBytes: view.getUint32(40, true),
  };
}

test('the header of a whole file states its lengths', () => {
  assert.equal(wavHeader(24_000, 100).length, WAV_HEADER_BYTES);
  assert.deepEqual(fields(wavHeader(24_000, 100)), {
    ids: ['RIFF', 'WAVE', 'fmt ', 'data'],
    riffBytes: 36 + 200,
    formatBytes: 16,
    format: 1,
    channels: 1,
    rate: 24_000,
    bytesPerSecond: 48_000,
    blockBytes: 2,
    bits: 16,
    dataBytes: 200,
  });
});

test('the header of a stream has both lengths open', () => {
  const { riffBytes, dataBytes } = fields(wavHeader(16_000));
  assert.deepEqual([riffBytes, dataBytes], [0xffff_ffff, 0xffff_ffff]);
});

test('an empty file is a valid one', () => {
  const { riffBytes, dataBytes } = fields(wavHeader(8000, 0));
  assert.deepEqual([riffBytes, dataBytes], [36, 0]);
});

test('the header of two channels counts both of them in every length', () => {
  const { channels, bytesPerSecond, blockBytes, dataBytes, riffBytes } = fields(wavHeader(16_000, 100, 2));
  assert.deepEqual([channels, bytesPerSecond, blockBytes, dataBytes, riffBytes], [2, 64_000, 4, 400, 436]);
});
