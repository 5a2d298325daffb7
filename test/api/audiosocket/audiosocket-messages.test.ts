// The bytes of an AudioSocket connection, cut anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AudioSocketReader,
  isSound,
  KIND,
  messageOf,
  uuidOf,
} from '../../../src/api/audiosocket/audiosocket-messages.js';

const UUID = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');

test('messages are the same wherever their bytes are cut', () => {
  const messages = [
    messageOf(KIND.uuid, UUID),
    messageOf(KIND.slin8, Buffer.alloc(320, 7)),
    messageOf(KIND.key, Buffer.from('5')),
    messageOf(KIND.hangUp),
  ];
  const bytes = Buffer.concat(messages);
  const whole = new AudioSocketReader().push(bytes);
  assert.deepEqual(
    whole.map(({ kind, payload }) => [kind, payload.length]),
    [
      [0x01, 16],
      [0x10, 320],
      [0x03, 1],
      [0x00, 0],
    ],
  );
  for (let at = 0; at <= bytes.length; at++) {
    const reader = new AudioSocketReader();
    const parts = [...reader.push(bytes.subarray(0, at)), ...reader.push(bytes.subarray(at))];
    assert.deepEqual(parts, whole);
  }
  const slow = new AudioSocketReader();
  assert.deepEqual(
    [...bytes].flatMap((byte) => slow.push(Buffer.of(byte))),
    whole,
  );
});

test('the longest message is read, and half of one is none', () => {
  const reader = new AudioSocketReader();
  const long = messageOf(0x77, Buffer.alloc(65_535));
  assert.deepEqual(reader.push(long.subarray(0, -1)), []);
  assert.equal(reader.push(long.subarray(-1))[0]?.payload.length, 65_535);
});

test('a UUID has sixteen bytes, and the usual hyphens', () => {
  assert.equal(uuidOf({ kind: KIND.uuid, payload: UUID }), '01234567-89ab-cdef-0123-456789abcdef');
  assert.equal(uuidOf({ kind: KIND.uuid, payload: UUID.subarray(1) }), undefined);
  assert.equal(uuidOf({ kind: KIND.slin8, payload: UUID }), undefined);
});

test('sound has kinds from 8 to 192 kHz', () => {
  assert.deepEqual([0x0f, 0x10, 0x13, 0x18, 0x19].map(isSound), [false, true, true, true, false]);
});
