// The messages of AudioSocket: a stream that is cut anywhere, and streams that are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MessageListener, MessageReader } from '../../../src/api/audiosocket/audio-socket-messages.js';
import { ParleyError } from '../../../src/errors.js';
import { message, UUID, uuidMessage } from './far-end.js';

type Told = readonly [what: string, ...values: unknown[]];

function listener(): MessageListener & { readonly told: Told[] } {
  const told: Told[] = [];
  return {
    told,
    uuid: (uuid) => void told.push(['uuid', uuid]),
    sound: (rate, samples) => void told.push(['sound', rate, Buffer.from(samples).toString('hex')]),
    key: (key) => void told.push(['key', key]),
    hangUp: () => void told.push(['hang up']),
    failed: (code) => void told.push(['failed', code]),
    unknown: (kind) => void told.push(['unknown', kind]),
  };
}

const STREAM = Buffer.concat([
  uuidMessage(),
  message(0x10, Buffer.from([1, 2, 3, 4])),
  message(0x03, Buffer.from('5')),
  message(0x03, Buffer.from('d')),
  message(0x02),
  message(0x13, Buffer.alloc(300, 7)),
  message(0x15),
  message(0x03, Buffer.from('!')),
  message(0x42, Buffer.from([9])),
  message(0xff, Buffer.from([4])),
  message(0xff),
  message(0x00),
]);
const TOLD: readonly Told[] = [
  ['uuid', UUID],
  ['sound', 8000, '01020304'],
  ['key', '5'],
  ['key', 'D'],
  ['sound', 24_000, '07'.repeat(300)],
  ['sound', 44_100, ''],
  ['unknown', 0x03],
  ['unknown', 0x42],
  ['failed', 4],
  ['failed', undefined],
  ['hang up'],
];

test('messages are the same wherever the stream is cut in two', () => {
  for (let cut = 0; cut <= STREAM.length; cut++) {
    const [reader, into] = [new MessageReader(), listener()];
    reader.read(STREAM.subarray(0, cut), into);
    reader.read(STREAM.subarray(cut), into);
    assert.deepEqual(into.told, TOLD, `cut at ${cut}`);
    assert.equal(reader.isInside, false);
  }
});

test('messages are the same byte by byte, and a stream that ends within one is known', () => {
  const [reader, into] = [new MessageReader(), listener()];
  for (const byte of STREAM) reader.read(Uint8Array.of(byte), into);
  assert.deepEqual(into.told, TOLD);
  reader.read(Uint8Array.of(0x10), into);
  assert.equal(reader.isInside, true);
});

test('each kind from 10 to 18 has its rate', () => {
  const [reader, into] = [new MessageReader(), listener()];
  for (let kind = 0x10; kind <= 0x19; kind++) reader.read(message(kind, Buffer.alloc(2)), into);
  assert.deepEqual(
    into.told.map(([, rate]) => rate),
    [8000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000, 0x19],
  );
});

for (const [what, kind, length, code] of [
  ['more than a second of sound', 0x10, 16_002, 'TOO_LARGE'],
  ['half a sample', 0x10, 3, 'MALFORMED'],
  ['a UUID of 15 bytes', 0x01, 15, 'MALFORMED'],
  ['two keys in one', 0x03, 2, 'MALFORMED'],
  ['no key', 0x03, 0, 'MALFORMED'],
] as const) {
  test(`${what} is refused by the header alone`, () => {
    const header = message(kind, Buffer.alloc(length)).subarray(0, 3);
    assert.throws(() => new MessageReader().read(header, listener()), { code });
  });
}

test('random bytes do no harm', () => {
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) >>> 16;
  let refused = 0;
  for (let stream = 0; stream < 2000; stream++) {
    const [reader, into] = [new MessageReader(), listener()];
    try {
      for (let part = 0; part < 8; part++) {
        const bytes = Uint8Array.from({ length: random() % 400 }, () => random() & 0xff);
        // Half of the streams have kinds and lengths that are nearly right.
        if (stream % 2 === 0) bytes.set([random() % 0x20, 0, random() % 32].slice(0, bytes.length));
        reader.read(bytes, into);
      }
    } catch (error) {
      assert.ok(
        error instanceof ParleyError && ['MALFORMED', 'TOO_LARGE'].includes(error.code),
        String(error),
      );
      refused++;
    }
  }
  assert.ok(refused > 100 && refused < 2000, String(refused));
});
