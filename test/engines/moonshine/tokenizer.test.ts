// The tokenizer file of Moonshine: its checks, and the texts of tokens.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MoonshineTokenizer } from '../../../src/engines/moonshine/tokenizer.js';
import fc from '../../fakes/properties.js';
import { toy } from '../../onnx/toys.js';

function entry(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const { length } = bytes;
  const head = length < 128 ? [length] : [128 + (length % 128), Math.floor(length / 128)];
  return Buffer.concat([Buffer.from(head), bytes]);
}

const WORDS = ['<s>', '', '\xe2\x96\x81Stra', '\xc3', '\x9fe', '\xe2\x96\x81und', '.', '<>', 'x'.repeat(300)];
const FILE = Buffer.concat(WORDS.map(entry));
const tokenizer = MoonshineTokenizer.parse(FILE, 'tokenizer.bin', WORDS.length);

test('pieces are joined to a text; special and empty ones give none', () => {
  assert.equal(tokenizer.text([0, 2, 3, 4, 1, 5, 6]), 'Straße und.');
  assert.equal(tokenizer.text([7]), '<>');
  assert.equal(tokenizer.text([8]).length, 300);
  assert.equal(tokenizer.text([]), '');
});

test('a character at the end that is not complete is left out', () => {
  assert.equal(tokenizer.text([2, 3]), 'Stra');
  assert.equal(tokenizer.text([2, 3, 5]), 'Stra\uFFFD und');
});

test('the stable part ends with a whole word, or a whole character without spaces', () => {
  const tokens = [2, 3, 4, 5];
  const stable = (committed: number, hasSpaces: boolean) =>
    tokenizer.stableUnits(tokens, committed, hasSpaces);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((n) => stable(n, true)),
    [0, 0, 0, 6, 6],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((n) => stable(n, false)),
    [0, 4, 4, 6, 10],
  );
});

test('the stable part of any tokens is the beginning of each text that goes on from them', () => {
  const toyTokens = MoonshineTokenizer.parse(readFileSync(toy('moonshine-b/tokenizer.bin')), 'toy', 280);
  const ids = fc.array(fc.integer({ min: 0, max: 279 }), { maxLength: 12 });
  fc.assert(
    fc.property(ids, ids, ids, fc.boolean(), (first, then, other, hasSpaces) => {
      const before = [...first, ...then];
      const units = toyTokens.stableUnits(before, first.length, hasSpaces);
      const promised = toyTokens.text(before).slice(0, units);
      assert(toyTokens.text([...first, ...other]).startsWith(promised));
    }),
  );
});

test('a damaged tokenizer file is named with its defect', () => {
  const parse = (bytes: Buffer, count: number) => () =>
    MoonshineTokenizer.parse(bytes, 'a/tokenizer.bin', count);
  assert.throws(parse(FILE.subarray(0, -1), 9), {
    message: 'a/tokenizer.bin: token 8 is cut off: 300 bytes were expected',
  });
  assert.throws(parse(Buffer.from([200]), 1), { message: /the length of token 0 is cut off/ });
  assert.throws(parse(FILE, 12), { message: 'a/tokenizer.bin: has 9 tokens, and the model has 12' });
  assert.throws(parse(Buffer.alloc(0), 9), { message: /has 0 tokens/ });
  assert.throws(parse(Buffer.alloc(17 * 1024 * 1024), 9), { message: /at most 16777216 are allowed/ });
});
