// The peers themselves, against each other: what they report of a server can be believed only if this holds.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { kept } from './kept.js';
import { Sipp, readStatistics, type SippOptions } from './sipp.js';

const CREDENTIALS = { user: 'alice', password: 'secret of a test' };
const KEYS = {
  rtp_port: 20_000,
  second_rtp_port: 20_002,
  first_rtp_port: 20_004,
  refer_to: 'sip:carol@127.0.0.1',
  moved_to: 'sip:dave@127.0.0.1',
};

// Each caller's scenario with a callee's that does what it expects.
const PAIRS: readonly (readonly [caller: string, callee: string])[] = [
  ['call-basic', 'answer-basic'],
  ['call-pcma', 'answer-pcma'],
  ['call-ended-by-callee', 'answer-hangs-up'],
  ['call-ringing', 'answer-late'],
  ['call-early-media', 'answer-early-media'],
  ['call-prack', 'answer-prack'],
  ['call-cancelled', 'answer-never'],
  ['call-refused', 'answer-busy'],
  ['call-refused', 'answer-declined'],
  ['call-refused', 'answer-unavailable'],
  ['call-digest-401', 'answer-challenges-401'],
  ['call-digest-407', 'answer-challenges-407'],
  ['call-hold-sendonly', 'answer-is-held'],
  ['call-is-held', 'answer-holds'],
  ['call-refers', 'answer-is-transferred'],
  ['call-is-transferred', 'answer-refers'],
  ['options', 'answer-options'],
]; // prettier-ignore

async function pair(t: TestContext, caller: string, callee: string, options: SippOptions = {}) {
  const common: SippOptions = { keys: KEYS, holdMs: 50, limitS: 10, credentials: CREDENTIALS, ...options };
  const called = await kept(t, Sipp.answer(callee, common));
  const calling = await kept(t, Sipp.call(called.address, caller, common));
  return { called, calling };
}

for (const [n, [caller, callee]] of PAIRS.entries()) {
  for (const transport of n % 4 === 0 ? (['udp', 'tcp'] as const) : (['udp'] as const)) {
    test(`over ${transport}, ${caller} and ${callee} go as both expect`, async (t) => {
      const { called, calling } = await pair(t, caller, callee, { transport });
      const results = await Promise.all([calling.succeeded(), called.succeeded()]);
      for (const { successful, failed, strays } of results)
        assert.deepEqual([successful, failed, strays], [1, 0, 0]);
    });
  }
}

test('a peer that does something else is a failure that shows the exchange', async (t) => {
  const { calling } = await pair(t, 'call-basic', 'answer-busy');
  const result = await calling.result();
  assert.deepEqual([result.successful, result.failed], [0, 1]);
  assert.deepEqual(Object.keys(result.reasons), ['FailedUnexpectedMessage']);
  await assert.rejects(calling.succeeded(), /SIPp call-basic: .*"failed":1[^]*SIP\/2\.0 486 Busy Here/);
});

test('a wrong password is seen by the peer that challenges', async (t) => {
  const called = await kept(
    t,
    Sipp.answer('answer-challenges-401', { keys: KEYS, credentials: CREDENTIALS }),
  );
  const wrong = { ...CREDENTIALS, password: 'another' };
  const calling = await kept(
    t,
    Sipp.call(called.address, 'call-digest-401', { keys: KEYS, credentials: wrong }),
  );
  assert.equal((await calling.result()).failed, 1);
  await assert.rejects(called.succeeded(), /SIP.2.0 403 Forbidden/);
});

test('many calls are counted, and what nobody answers is sent again', async (t) => {
  const options = { keys: KEYS, calls: 20, perSecond: 200, holdMs: 10 };
  const { called, calling } = await pair(t, 'call-basic', 'answer-basic', options);
  assert.equal((await calling.succeeded()).successful, 20);
  assert.equal((await called.succeeded()).successful, 20);
  const mute = await kept(t, Sipp.call({ host: '127.0.0.1', port: 9 }, 'options', { limitS: 2 }));
  assert.ok((await mute.result()).retransmissions >= 1);
  await assert.rejects(mute.succeeded(), /"exitCode":255[^]*timed out/);
});

test('statistics of which nothing was written count nothing', () => {
  assert.deepEqual(readStatistics(''), {
    successful: 0,
    failed: 0,
    retransmissions: 0,
    strays: 0,
    reasons: {},
  });
});
