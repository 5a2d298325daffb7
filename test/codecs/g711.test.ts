// Compared with the tables of ITU-T G.711 themselves: decision values between
// the codes, searched one by one, not with another bit trick.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { A_LAW, A_LAW_VALUES, MU_LAW, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { frameDecoder } from '../../src/codecs/frame-decoder.js';

/**
 * Upper decision values of A-law's 128 positive intervals, on 13 bits with sign: 4096 full scale (table 1a).
 */
function decisionsA(): number[] {
  const values: number[] = [];
  for (let n = 1; n <= 32; n++) values.push(2 * n);
  for (let segment = 2; segment <= 7; segment++) {
    for (let n = 1; n <= 16; n++) values.push(2 ** (segment + 4) + n * 2 ** segment);
  }
  return values;
}

/** The same of mu-law, on 14 bits with sign: 8159 full scale (table 2a). */
function decisionsMu(): number[] {
  const values = [1];
  for (let n = 1; n <= 15; n++) values.push(1 + 2 * n);
  for (let segment = 1; segment <= 7; segment++) {
    const base = 33 * 2 ** segment - 33 - 2 ** segment;
    for (let n = 1; n <= 16; n++) values.push(base + n * 2 ** (segment + 1));
  }
  return values;
}

/** The interval of a magnitude: how many decision values it has reached. The last interval is open above. */
function interval(magnitude: number, decisions: readonly number[]): number {
  const reached = decisions.findIndex((decision) => magnitude < decision);
  return reached < 0 ? 127 : reached;
}

/** Magnitude in ones' complement, as the reference code of G.191 takes it. */
function magnitudeOf(value: number): number {
  return value < 0 ? -value - 1 : value;
}

test('the decision values are those of the recommendation', () => {
  const a = decisionsA();
  const mu = decisionsMu();
  assert.equal(a.length, 128);
  assert.equal(mu.length, 128);
  assert.deepEqual([a[0], a[31], a[47], a[63], a[111], a[127]], [2, 64, 128, 256, 2048, 4096]);
  assert.deepEqual([mu[0], mu[15], mu[31], mu[47], mu[111], mu[127]], [1, 31, 95, 223, 4063, 8159]);
});

test('A-law codes all 65,536 values as table 1a says', () => {
  const decisions = decisionsA();
  for (let value = -32_768; value <= 32_767; value++) {
    const code = interval(magnitudeOf(value) / 8, decisions) | (value < 0 ? 0 : 0x80);
    assert.equal(A_LAW[value + 32_768], code ^ 0x55, `value ${value}`);
  }
});

test('mu-law codes all 65,536 values as table 2a says', () => {
  const decisions = decisionsMu();
  for (let value = -32_768; value <= 32_767; value++) {
    const code = 0x7f - interval(magnitudeOf(value) >> 2, decisions);
    assert.equal(MU_LAW[value + 32_768], code | (value < 0 ? 0 : 0x80), `value ${value}`);
  }
});

test('every code decodes to a value in its own interval', () => {
  for (let code = 0; code < 256; code++) {
    assert.equal(A_LAW[(A_LAW_VALUES[code] as number) + 32_768], code);
    // Mu-law has two zeros; a decoded one is positive.
    const expected = code === 0x7f ? 0xff : code;
    assert.equal(MU_LAW[(MU_LAW_VALUES[code] as number) + 32_768], expected);
  }
});

test('decoded A-law values are the middles of table 1a, at 16 bits', () => {
  const decisions = [0, ...decisionsA()];
  for (let n = 0; n < 128; n++) {
    const middle = (((decisions[n] as number) + (decisions[n + 1] as number)) / 2) * 8;
    assert.equal(A_LAW_VALUES[(n | 0x80) ^ 0x55], middle);
    assert.equal(A_LAW_VALUES[n ^ 0x55], -middle);
  }
});

test('decoded mu-law values are the middles of table 2a, at 16 bits, and exactly zero for silence', () => {
  const decisions = [-1, ...decisionsMu()];
  for (let n = 0; n < 128; n++) {
    const middle = (((decisions[n] as number) + (decisions[n + 1] as number)) / 2) * 4;
    assert.equal(MU_LAW_VALUES[0xff - n], middle);
    assert.equal(MU_LAW_VALUES[0x7f - n], n === 0 ? 0 : -middle);
  }
});

test('digital silence is the byte the clock sends for it', () => {
  assert.equal(MU_LAW[32_768], 0xff);
  assert.equal(A_LAW[32_768], 0xd5);
});

test('transcoding G.711 to itself keeps every code but the negative zero of mu-law', () => {
  const again = (table: Uint8Array, values: Int16Array) =>
    Array.from(values, (value) => table[value + 32_768] as number);
  const codes = Array.from({ length: 256 }, (_, code) => code);
  assert.deepEqual(again(A_LAW, A_LAW_VALUES), codes);
  assert.deepEqual(
    again(MU_LAW, MU_LAW_VALUES),
    codes.map((code) => (code === 0x7f ? 0xff : code)),
  );
});

test('the largest datagram is decoded whole, and a longer payload gives no samples', () => {
  for (const [codec, values] of [
    ['PCMU', MU_LAW_VALUES],
    ['PCMA', A_LAW_VALUES],
  ] as const) {
    const payload = Uint8Array.from({ length: 2048 }, (_, n) => n % 256);
    const decoder = frameDecoder(codec);
    assert.deepEqual(
      decoder.decode(payload),
      Int16Array.from(payload, (code) => values[code] as number),
    );
    for (const bytes of [2049, 5000]) assert.equal(decoder.decode(new Uint8Array(bytes)).length, 0);
  }
});
