// The peers themselves, against each other: what they report of a server can be believed only if this holds.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { readRtp, RtpPeer, type StreamOptions, writeRtp } from './rtp-peer.js';
import { continuity, g711Sound, heardDigits } from './rtp-record.js';
import { readStatistics, Sipp, type SippOptions } from './sipp.js';
import { likeness, loudness } from './sound-shape.js';

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
];

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

// The media of the peers: one hears what the other sends, and reports losses as losses.

const RATE = 8000;

async function link(t: TestContext, options: StreamOptions = {}) {
  const near = await kept(t, RtpPeer.open());
  const far = await kept(t, RtpPeer.open());
  return { far, stream: near.stream({ host: '127.0.0.1', port: far.port }, options) };
}

/** Syllables of a tone: each 100 ms loud as given, then 40 ms of nothing. */
function babble(levels: readonly number[]): Float32Array {
  const syllable = (level: number, n: number) =>
    n < 0.1 * RATE ? level * Math.sin((2 * Math.PI * 440 * n) / RATE) : 0;
  return Float32Array.from(
    levels.flatMap((level) => Array.from({ length: 0.14 * RATE }, (_, n) => syllable(level, n))),
  );
}

const SPEECH = babble([0.5, 0.2, 0.7, 0.1, 0.4]);

for (const law of ['mu', 'a'] as const) {
  test(`speech in G.711 of the ${law} law arrives whole, over the wrap of both counters`, async (t) => {
    const { far, stream } = await link(t, { law });
    await stream.play(SPEECH);
    stream.stop();
    await until(() => far.heard.length >= SPEECH.length / 160);
    const record = continuity(far.heard);
    assert.deepEqual([record.lost, record.disordered, record.timestampBreaks, record.markers], [0, 0, 0, 1]);
    assert.deepEqual(record.payloadTypes, [law === 'mu' ? 0 : 8]);
    assert.ok(Math.abs(record.spacingMs.median - 20) < 3, JSON.stringify(record.spacingMs));
    const heard = { samples: g711Sound(far.heard), rate: RATE };
    const { correlation, longerMs, gain } = likeness(heard, { samples: SPEECH, rate: RATE });
    assert.ok(correlation > 0.99 && Math.abs(longerMs) <= 20 && Math.abs(gain - 1) < 0.05);
  });
}

test('other speech of the same length is told from it', () => {
  const other = babble([0.4, 0, 0, 0.7, 0.4]);
  assert.ok(likeness({ samples: other, rate: RATE }, { samples: SPEECH, rate: RATE }).correlation < 0.7);
  assert.deepEqual(loudness(new Float32Array(1600), RATE), [0, 0]);
});

test('digits arrive once each though their first and last packets are lost, none of them marked', async (t) => {
  const { far, stream } = await link(t);
  await stream.press('5', { durationMs: 100, loseFirst: 2 });
  await stream.press('#', { durationMs: 60, loseEnds: 3 });
  await stream.press('A', { durationMs: 60, loseEnds: 2, marker: true });
  stream.stop();
  await until(() => heardDigits(far.heard).at(-1)?.ends === 1);
  assert.deepEqual(heardDigits(far.heard), [
    { digit: '5', durationMs: 100, packets: 3 + 3, ends: 3, markers: 0 },
    { digit: '#', durationMs: 60, packets: 3, ends: 0, markers: 0 },
    { digit: 'A', durationMs: 60, packets: 3 + 1, ends: 1, markers: 1 },
  ]);
  assert.equal(continuity(far.heard).lost, 2 + 3); // nothing follows the last two
});

test('a packet is read without its contributors, extension and padding', () => {
  const bytes = writeRtp({
    marker: true,
    payloadType: 8,
    sequence: 65_536,
    timestamp: 2 ** 32,
    ssrc: 7,
    payload: Buffer.from('xxxxEEEEyyyysound\x00\x00\x03'),
  });
  bytes[0] = 0x80 | 0x20 | 0x10 | 1;
  bytes.writeUInt32BE(0xbede_0001, 16);
  const packet = readRtp(bytes);
  assert.deepEqual(packet, {
    marker: true,
    payloadType: 8,
    sequence: 0,
    timestamp: 0,
    ssrc: 7,
    payload: Buffer.from('sound'),
  });
  assert.equal(readRtp(Buffer.from('INVITE sip:nobody')), undefined);
});
