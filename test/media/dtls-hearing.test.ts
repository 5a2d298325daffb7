import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DtlsSourceFilter, type Source } from '../../src/media/media-handshake.js';
import { ManualTime } from '../fakes/manual-time.js';

const ANNOUNCED: Source = { address: '192.0.2.1', port: 1 };
const OTHER: Source = { address: '192.0.2.1', port: 2 };
const THIRD: Source = { address: '192.0.2.3', port: 1 };
const HELLO = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1);
const FLIGHT = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 11);
const ALERT = Uint8Array.of(21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40);

function decision(role: 'active' | 'passive') {
  const time = new ManualTime(5000);
  return { time, decision: new DtlsSourceFilter({ role, time, announced: () => ANNOUNCED }) };
}

test('waiting: the announced address may say anything, another one begin, and nobody else end', () => {
  const { decision: it } = decision('passive');
  for (const data of [HELLO, FLIGHT, ALERT]) assert.equal(it.decide(data, ANNOUNCED, undefined), 'take');
  assert.equal(it.decide(HELLO, OTHER, undefined), 'take');
  for (const data of [FLIGHT, ALERT, new Uint8Array(0)])
    assert.equal(it.decide(data, OTHER, undefined), 'drop');
});

test('waiting: who is in the middle is heard; the announced address takes its place at once, others after a second', () => {
  const { time, decision: it } = decision('passive');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.decide(data, OTHER, OTHER), 'take');
  assert.equal(it.decide(HELLO, ANNOUNCED, OTHER), 'anew');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.decide(data, ANNOUNCED, OTHER), 'drop');
  time.advance(999);
  assert.equal(it.decide(FLIGHT, OTHER, OTHER), 'take');
  time.advance(999);
  assert.equal(it.decide(HELLO, THIRD, OTHER), 'drop');
  time.advance(1);
  assert.equal(it.decide(HELLO, THIRD, OTHER), 'anew');
  assert.equal(it.decide(FLIGHT, THIRD, OTHER), 'drop');
});

test('connecting: others may answer where the announced address has been silent for a second, and it takes over', () => {
  const { time, decision: it } = decision('active');
  assert.equal(it.decide(FLIGHT, ANNOUNCED, undefined), 'take');
  time.advance(999);
  assert.equal(it.decide(FLIGHT, OTHER, undefined), 'drop');
  time.advance(1);
  assert.equal(it.decide(FLIGHT, OTHER, undefined), 'take');
  assert.equal(it.decide(ALERT, OTHER, undefined), 'drop');
  assert.equal(it.decide(FLIGHT, ANNOUNCED, OTHER), 'restart');
  assert.equal(it.decide(FLIGHT, THIRD, OTHER), 'restart');
  assert.equal(it.decide(ALERT, ANNOUNCED, OTHER), 'drop');
});

test('after sixteen handshakes that came to nothing the announced address alone is heard', () => {
  const { time, decision: it } = decision('passive');
  for (let n = 0; n < 16; n++) {
    assert.equal(it.decide(HELLO, OTHER, undefined), 'take');
    it.again();
  }
  time.advance(2000);
  assert.equal(it.decide(HELLO, OTHER, undefined), 'drop');
  assert.equal(it.decide(HELLO, ANNOUNCED, undefined), 'take');
});
