// The media end of the peers: what one sends the other hears, and losses are told as losses.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { readRtp, writeRtp } from './rtp-packet.js';
import { RtpPeer, type StreamOptions } from './rtp-peer.js';
import { continuity, g711Sound, heardDigits } from './rtp-record.js';
import { likeness, loudness } from './sound-shape.js';

const RATE = 8000;

async function link(t: TestContext, options: StreamOptions = {}) {
  const near = await kept(t, RtpPeer.open());
  const far = await kept(t, RtpPeer.open());
  return { far, stream: near.stream({ host: '127.0.0.1', port: far.port }, options) };
}

/** Syllables of a tone: each 100 ms loud as given, then 40 ms of nothing. */
function babble(levels: readonly number[]): Float32Array {
  const syllable = (level: number, n: number) => (n < 0.1 * RATE ? level * Math.sin((2 * Math.PI * 440 * n) / RATE) : 0);
  return Float32Array.from(levels.flatMap((level) => Array.from({ length: 0.14 * RATE }, (_, n) => syllable(level, n))));
} // prettier-ignore

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
  const bytes = writeRtp({ marker: true, payloadType: 8, sequence: 65_536, timestamp: 2 ** 32, ssrc: 7, payload: Buffer.from('xxxxEEEEyyyysound\x00\x00\x03') }); // prettier-ignore
  bytes[0] = 0x80 | 0x20 | 0x10 | 1;
  bytes.writeUInt32BE(0xbede_0001, 16);
  const packet = readRtp(bytes);
  assert.deepEqual(packet, { marker: true, payloadType: 8, sequence: 0, timestamp: 0, ssrc: 7, payload: Buffer.from('sound') }); // prettier-ignore
  assert.equal(readRtp(Buffer.from('INVITE sip:nobody')), undefined);
});
