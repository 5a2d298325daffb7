import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DtlsHearing, type Source } from '../../src/media/dtls-hearing.js';
import { ManualTime } from '../fakes/manual-time.js';

const ANNOUNCED: Source = { address: '192.0.2.1', port: 1 };
const OTHER: Source = { address: '192.0.2.1', port: 2 };
const THIRD: Source = { address: '192.0.2.3', port: 1 };
const HELLO = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1);
const FLIGHT = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 11);
const ALERT = Uint8Array.of(21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40);

function hearing(role: 'active' | 'passive') {
  const time = new ManualTime(5000);
  return { time, hearing: new DtlsHearing({ role, time, announced: () => ANNOUNCED }) };
}

test('waiting: the announced address may say anything, another one begin, and nobody else end', () => {
  const { hearing: it } = hearing('passive');
  for (const data of [HELLO, FLIGHT, ALERT]) assert.equal(it.judge(data, ANNOUNCED, undefined), 'take');
  assert.equal(it.judge(HELLO, OTHER, undefined), 'take');
  for (const data of [FLIGHT, ALERT, new Uint8Array(0)])
    assert.equal(it.judge(data, OTHER, undefined), 'drop');
});

test('waiting: who is in the middle is heard; the announced address takes its place at once, others after a second', () => {
  const { time, hearing: it } = hearing('passive');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.judge(data, OTHER, OTHER), 'take');
  assert.equal(it.judge(HELLO, ANNOUNCED, OTHER), 'anew');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.judge(data, ANNOUNCED, OTHER), 'drop');
  time.advance(999);
  assert.equal(it.judge(FLIGHT, OTHER, OTHER), 'take');
  time.advance(999);
  assert.equal(it.judge(HELLO, THIRD, OTHER), 'drop');
  time.advance(1);
  assert.equal(it.judge(HELLO, THIRD, OTHER), 'anew');
  assert.equal(it.judge(FLIGHT, THIRD, OTHER), 'drop');
});

test('connecting: others may answer where the announced address has been silent for a second, and it takes over', () => {
  const { time, hearing: it } = hearing('active');
  assert.equal(it.judge(FLIGHT, ANNOUNCED, undefined), 'take');
  time.advance(999);
  assert.equal(it.judge(FLIGHT, OTHER, undefined), 'drop');
  time.advance(1);
  assert.equal(it.judge(FLIGHT, OTHER, undefined), 'take');
  assert.equal(it.judge(ALERT, OTHER, undefined), 'drop');
  assert.equal(it.judge(FLIGHT, ANNOUNCED, OTHER), 'restart');
  assert.equal(it.judge(FLIGHT, THIRD, OTHER), 'restart');
  assert.equal(it.judge(ALERT, ANNOUNCED, OTHER), 'drop');
});

test('after sixteen handshakes that came to nothing the announced address alone is heard', () => {
  const { time, hearing: it } = hearing('passive');
  for (let n = 0; n < 16; n++) {
    assert.equal(it.judge(HELLO, OTHER, undefined), 'take');
    it.again();
  }
  time.advance(2000);
  assert.equal(it.judge(HELLO, OTHER, undefined), 'drop');
  assert.equal(it.judge(HELLO, ANNOUNCED, undefined), 'take');
});
