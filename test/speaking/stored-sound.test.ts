import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { packSound, unpackSound } from '../../src/speaking/rendering-store.js';
import { NO_TIME, type Sound } from '../../src/speaking/sound.js';

const SENTENCE = {
  text: 'Grüß Gott.',
  startMs: 0,
  endMs: 812.5,
  words: [{ word: 'Grüß', textOffset: 0, startMs: 12 }],
};
const SOUND: Sound = {
  contentType: 'audio/ogg; codecs=opus',
  bytes: Uint8Array.of(1, 2, 3, 250),
  outcome: {
    durationMs: 812.5,
    sentences: [SENTENCE],
    timing: { queueMs: 1, loadMs: 2, inferMs: 3, encodeMs: 4 },
  },
};

/** A value as this program would write it, were its head this. */
function withHead(head: unknown): Uint8Array {
  const json = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head));
  const value = Buffer.concat([Buffer.from(packSound(SOUND, 'g')).subarray(0, 18), Buffer.from('g'), json]);
  value.writeUInt32LE(json.length, 6);
  value.writeUInt32LE(0, 10);
  value.writeUInt32LE(crc32(value.subarray(18)), 14);
  return value;
}

const HEAD = { contentType: 'audio/wav', durationMs: 1, sentences: [SENTENCE] };

test('a rendering reads back as it was written, but for what making it took', () => {
  for (const generation of ['', 'ab_-', 'x'.repeat(64)]) {
    const { sound, generation: read } = unpackSound(packSound(SOUND, generation)) ?? assert.fail('nothing');
    assert.equal(read, generation);
    assert.deepEqual(
      { ...sound, bytes: [...sound.bytes] },
      {
        ...SOUND,
        bytes: [1, 2, 3, 250],
        outcome: { ...SOUND.outcome, timing: NO_TIME },
      },
    );
  }
});

test('the header of a whole file is kept with it, and one that nobody wrote is nothing', () => {
  const outcome = { ...SOUND.outcome, header: { replaced: 44, bytes: Buffer.from('RIFF') } };
  assert.deepEqual(unpackSound(packSound({ ...SOUND, outcome }, 'g'))?.sound.outcome.header, outcome.header);
  assert.equal(unpackSound(packSound(SOUND, 'g'))?.sound.outcome.header, undefined);
  for (const header of [
    null,
    'RIFF',
    { replaced: -1, bytes: '' },
    { replaced: 1.5, bytes: '' },
    { replaced: 0 },
  ]) {
    assert.equal(unpackSound(withHead({ ...HEAD, header })), undefined);
  }
  assert.equal(
    unpackSound(withHead({ ...HEAD, header: { replaced: 0, bytes: 'A'.repeat(5000) } })),
    undefined,
  );
});

test('any sound does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.string({ maxLength: 16 }), (bytes, generation) => {
      const stored = unpackSound(packSound({ ...SOUND, bytes }, generation));
      assert.equal(stored?.generation, generation);
      assert.deepEqual([...(stored?.sound.bytes ?? [])], [...bytes]);
    }),
  );
});

test('a value that was changed, cut short or made longer is nothing', () => {
  const value = packSound(SOUND, 'g1');
  for (let at = 0; at < value.length; at++) {
    assert.equal(unpackSound(value.subarray(0, at)), undefined, `${at} bytes of it`);
    for (const bit of [1, 128]) {
      const changed = Buffer.from(value);
      changed[at] = (changed[at] ?? 0) ^ bit;
      assert.equal(unpackSound(changed), undefined, `byte ${at}`);
    }
  }
  assert.equal(unpackSound(Buffer.concat([value, Buffer.of(0)])), undefined);
});

test('what others wrote is nothing, whatever it is', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => unpackSound(bytes) === undefined));
  for (const text of ['', 'hello', 'PRLY', '{"contentType":"audio/wav"}']) {
    assert.equal(unpackSound(Buffer.from(text)), undefined);
  }
});

test('a head that is well written but says something else is nothing', () => {
  assert.ok(unpackSound(withHead(HEAD)) !== undefined);
  const others: unknown[] = [
    'no JSON',
    null,
    [],
    7,
    {},
    { ...HEAD, contentType: 'text/html' },
    { ...HEAD, contentType: 'audio/wav\r\nset-cookie: a=b' },
    { ...HEAD, contentType: 1 },
    { ...HEAD, durationMs: -1 },
    { ...HEAD, durationMs: null },
    { ...HEAD, sentences: {} },
    { ...HEAD, sentences: [null] },
    { ...HEAD, sentences: [{ ...SENTENCE, text: 1 }] },
    { ...HEAD, sentences: [{ ...SENTENCE, endMs: '1' }] },
    { ...HEAD, sentences: [{ ...SENTENCE, words: undefined }] },
    { ...HEAD, sentences: [{ ...SENTENCE, words: [{ word: 'a' }] }] },
  ];
  for (const head of others) assert.equal(unpackSound(withHead(head)), undefined, JSON.stringify(head));
});

test('every content type of the server reads back', () => {
  for (const contentType of [
    'audio/mpeg',
    'audio/opus',
    'audio/x-alaw-basic',
    'audio/L16; rate=24000; channels=1',
  ]) {
    assert.equal(unpackSound(packSound({ ...SOUND, contentType }, ''))?.sound.contentType, contentType);
  }
});
