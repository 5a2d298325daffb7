// The calls that programs place: where they may, and whose calls they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programCalls } from '../../src/api/program-calls.js';
import type { PhoneCalls } from '../../src/call/phone-calls.js';

const unused = (): never => assert.fail('not used');
const parts = {
  openCalls: { find: unused },
  bridges: { handOver: unused, part: unused, of: () => undefined },
  joiner: { openMixer: unused },
  sounds: { ringBack: unused },
  unixMs: () => 7,
};

const telephone = (more: Partial<PhoneCalls> = {}) => ({ canPlace: true, ...more }) as PhoneCalls;

test('programs may dial only where SIP_DESTINATIONS lists the destinations', () => {
  const open = (limitsDestinations: boolean) =>
    programCalls({ ...parts, telephone: () => telephone(), limitsDestinations });
  assert.equal(open(true).problem(), undefined);
  assert.match(open(false).problem() ?? '', /^SIP_DESTINATIONS must list/);
});

test('a server without a telephone, or whose telephone places no calls, says so', () => {
  for (const given of [undefined, telephone({ canPlace: false })]) {
    const calls = programCalls({ ...parts, telephone: () => given, limitsDestinations: true });
    assert.equal(calls.problem(), 'this server places no telephone calls');
  }
});

test('a call is placed as the program asks, and hung up without a complaint where it has gone', async () => {
  const asked: unknown[] = [];
  const given = telephone({
    place: (request) => (asked.push(request), Promise.reject(new Error('refused'))),
    hangUp: (id) => (asked.push(id), new Promise(() => undefined)),
  });
  const calls = programCalls({ ...parts, telephone: () => given, limitsDestinations: true });
  await assert.rejects(calls.place({ to: '+491', owner: 'acme' }), /refused/);
  calls.hangUp('call-1');
  assert.deepEqual(asked, [{ to: '+491', owner: 'acme' }, 'call-1']);
});
