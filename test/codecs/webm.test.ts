import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { WebmPackets } from '../../src/codecs/webm.js';
import { ParleyError } from '../../src/errors.js';
import { mutatedBytes, randomFrom } from '../api/mutations.js';
import { KINDS, sampleFile } from '../voices/voice-samples.js';

const UNKNOWN = 'unknown';

function element(id: number, ...children: readonly (Uint8Array | typeof UNKNOWN)[]): Buffer {
  const bytes = Buffer.concat(children.filter((one) => one !== UNKNOWN));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(bytes.length) | (1n << 56n));
  const head = id.toString(16);
  const length = children.includes(UNKNOWN) ? Buffer.from([0xff]) : size;
  return Buffer.concat([
    Buffer.from(head.padStart(head.length + (head.length % 2), '0'), 'hex'),
    length,
    bytes,
  ]);
}

function track(number: number, codec: string, channels = 1): Buffer {
  const opusHead = Buffer.concat([Buffer.from('OpusHead\x01', 'latin1'), Buffer.from([channels, 0, 0])]);
  return element(
    0xae,
    element(0xd7, Buffer.from([number])),
    element(0x86, Buffer.from(codec)),
    element(0x63a2, opusHead),
  );
}

function block(number: number, lacing: number, ...bytes: readonly number[]): Buffer {
  return element(0xa3, Buffer.from([0x80 | number, 0, 0, lacing << 1, ...bytes]));
}

function file(tracks: readonly Buffer[], ...blocks: readonly Buffer[]): Buffer {
  return Buffer.concat([
    element(0x1a45dfa3, Buffer.from('webm')),
    element(0x18538067, UNKNOWN, element(0x1654ae6b, ...tracks), element(0x1f43b675, UNKNOWN, ...blocks)),
  ]);
}

function packets(bytes: Uint8Array, pieceBytes = bytes.length): number[][] {
  const webm = new WebmPackets();
  const read: number[][] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    read.push(...webm.write(bytes.subarray(at, at + pieceBytes)).map((packet) => [...packet]));
  webm.end();
  return read;
}

const OPUS = [track(1, 'V_VP8'), track(2, 'A_OPUS')];

for (const [what, given, frames] of [
  ['one frame a block', block(2, 0, 1, 2, 3), [[1, 2, 3]]],
  ['Xiph lacing', block(2, 1, 2, 255, 1, 1, ...Array.from({ length: 256 }, () => 7), 8, 9), 'xiph'],
  [
    'lacing of equal sizes',
    block(2, 2, 2, 1, 2, 3, 4, 5, 6),
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  ],
  [
    'EBML lacing',
    block(2, 3, 2, 0x83, 0xbe, 1, 2, 3, 4, 5, 6, 7),
    [
      [1, 2, 3],
      [4, 5],
      [6, 7],
    ],
  ],
] as const) {
  test(`${what} is read, in pieces of any size, and other tracks are not`, () => {
    const bytes = file(OPUS, block(1, 0, 99), given, block(1, 0, 98));
    const wanted = frames === 'xiph' ? [Array.from({ length: 256 }, () => 7), [8], [9]] : frames;
    for (const size of [1, 5, 1000]) assert.deepEqual(packets(bytes, size), wanted);
  });
}

test('a block in a group, and an element nobody reads before it, are no hindrance', () => {
  const group = element(0xa0, element(0xa1, Buffer.from([0x82, 0, 0, 0, 5])));
  const bytes = file(OPUS, element(0xe7, Buffer.alloc(5000)), group);
  assert.deepEqual(packets(bytes, 100), [[5]]);
});

for (const [what, bytes, message] of [
  ['without sound', file([track(1, 'V_VP8')], block(1, 0, 1)), /the WebM file has no sound/],
  ['with another codec', file([track(1, 'A_VORBIS')], block(1, 0, 1)), /is vorbis, not Opus/],
  [
    'that is encrypted',
    file([Buffer.concat([track(1, 'A_OPUS'), element(0x6d80, Buffer.from([1]))])], block(1, 0, 1)),
    /compressed or encrypted/,
  ],
  [
    'with a size of nothing',
    file(OPUS, Buffer.from([0xa3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
    /is damaged/,
  ],
  ['with an enormous block', file(OPUS, Buffer.from([0xa3, 0x10, 0xff, 0xff, 0xff])), /is damaged/],
  ['with laces beyond the block', file(OPUS, block(2, 3, 2, 0x89, 0xbf, 1)), /is damaged/],
  ['of zeros', Buffer.concat([file(OPUS), Buffer.alloc(64)]), /is damaged/],
] as const) {
  test(`a file ${what} is refused by name`, () => {
    assert.throws(() => packets(bytes), { code: 'AUDIO_INVALID', message });
  });
}

test('damaged files give packets or an error, in linear time', () => {
  const good = sampleFile(KINDS.webm, { seconds: 1 });
  const random = randomFrom(11);
  for (let round = 0; round < 500; round++) answers(mutatedBytes(good, random));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => answers(Buffer.concat([file(OPUS), bytes]))),
  );
});

function answers(bytes: Uint8Array): void {
  try {
    packets(bytes, 64);
  } catch (error) {
    assert(error instanceof ParleyError && error.code === 'AUDIO_INVALID');
  }
}
