// Proves that the telephones of the tests work: baresip calls itself, SIPp and Linphone call each other and
// baresip.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { until } from '../../fakes/until.js';
import { issueCertificates, type Issued } from '../../sip/transport/transports-under-test.js';
import { Baresip, type BaresipOptions } from './baresip.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound, heardDigits } from './rtp-record.js';
import { Sipp } from './sipp.js';
import { likeness, loudness, type Sound } from './sound-shape.js';

const RATE = 16_000;
const LOUD_S = [0.15, 0.1, 0.3, 0.08, 0.2];

/** Syllables of different lengths, 60 ms apart: about 1.2 s. */
const SPEECH: Sound = {
  rate: RATE,
  samples: Float32Array.from(
    LOUD_S.flatMap((seconds, n) => [
      ...Array.from({ length: n === 0 ? 0.3 * RATE : 0 }, () => 0), // the first sound may be missed
      ...Array.from(
        { length: seconds * RATE },
        (_, at) => (0.15 + 0.1 * n) * Math.sin((2 * Math.PI * 500 * at) / RATE),
      ),
      ...Array.from({ length: 0.06 * RATE }, () => 0),
    ]),
  ),
};

let certificates: Issued;
before(async () => {
  certificates = await issueCertificates();
});

const KINDS: Readonly<Record<string, () => BaresipOptions>> = {
  'UDP and PCMU': () => ({ codecs: ['PCMU/8000/1'] }),
  'TCP, PCMA and SRTP by SDES': () => ({
    transport: 'tcp',
    codecs: ['PCMA/8000/1'],
    encryption: 'srtp-mand',
  }),
  'TLS, Opus and SRTP by SDES': () => ({
    transport: 'tls',
    codecs: ['opus/48000/2'],
    encryption: 'srtp-mand',
    certificate: certificates.server,
    authority: certificates.ca,
  }),
  'UDP, G.722 and SRTP by DTLS': () => ({ codecs: ['G722/16000/1'], encryption: 'dtls_srtp' }),
};

for (const [kind, options] of Object.entries(KINDS)) {
  test(`speech goes from one baresip to another over ${kind}`, async (t) => {
    const callee = await kept(t, Baresip.start({ ...options(), user: 'bob' }));
    const caller = await kept(t, Baresip.start({ ...options(), user: 'alice', says: SPEECH }));
    await caller.command('dial', callee.uri);
    await callee.told('CALL_INCOMING');
    await callee.command('accept');
    await caller.told('CALL_ESTABLISHED');
    await callee.until('hear it', 5000, () => likeness(callee.heard(), SPEECH).longerMs > -20);
    for (const { output } of [callee, caller]) {
      assert.deepEqual(
        /Set audio decoder: (\S+)/.exec(output)?.[1],
        options().codecs?.[0]?.split('/')[0],
        output,
      );
    }
    await caller.command('hangup');
    await callee.told('CALL_CLOSED');
    const { correlation, longerMs } = likeness(callee.heard(), SPEECH);
    assert.ok(correlation > 0.9 && Math.abs(longerMs) < 100, JSON.stringify({ correlation, longerMs }));
  });
}

test('baresip answers SIPp by itself: its speech and its digits come as RTP', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const baresip = await kept(t, Baresip.start({ says: SPEECH, answers: 'auto' }));
  const sipp = await kept(
    t,
    Sipp.call(baresip.address, 'call-basic', {
      keys: { rtp_port: rtp.port },
      service: 'baresip',
      holdMs: 2500,
    }),
  );
  await baresip.told('CALL_ESTABLISHED');
  await baresip.command('sndcode', '7');
  await sipp.succeeded();
  const { lost, disordered } = continuity(rtp.heard);
  assert.deepEqual([lost, disordered], [0, 0]);
  const heard = { samples: g711Sound(rtp.heard), rate: 8000 };
  assert.ok(likeness(heard, SPEECH).correlation > 0.9, loudness(heard.samples, 8000).join(' '));
  assert.deepEqual(
    heardDigits(rtp.heard).map(({ digit }) => digit),
    ['7'],
  );
});

const LINPHONE_RATE = 8000;
const LINPHONE_SPEECH: Sound = {
  rate: LINPHONE_RATE,
  samples: Float32Array.from(
    { length: 1.2 * LINPHONE_RATE },
    (_, n) =>
      ([0.2, 0, 0.5, 0.3, 0, 0.4][Math.floor(n / (0.2 * LINPHONE_RATE))] ?? 0) *
      Math.sin((2 * Math.PI * 500 * n) / LINPHONE_RATE),
  ),
};

test('Linphone takes a call of SIPp, hears what is said, and presses a digit', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const linphone = await kept(t, Linphone.start({ codecs: ['PCMU'] }));
  const options = { keys: { rtp_port: rtp.port }, service: 'linphone', holdMs: 2500 };
  const sipp = await kept(t, Sipp.call(linphone.address, 'call-basic', options));
  await linphone.answer();
  await linphone.established();
  await until(() => rtp.source !== undefined);
  linphone.press('5');
  await rtp.stream(rtp.source ?? linphone.address).play(LINPHONE_SPEECH.samples);
  await sipp.succeeded();
  await linphone.ended();
  assert.deepEqual(
    heardDigits(rtp.heard).map(({ digit }) => digit),
    ['5'],
  );
  const { correlation } = likeness(linphone.heard(), LINPHONE_SPEECH);
  assert.ok(correlation > 0.9, `${correlation}`);
});

const LINPHONE_KINDS: Readonly<
  Record<string, readonly [LinphoneOptions, Parameters<typeof Baresip.start>[0]]>
> = {
  'TCP and SRTP by SDES': [
    { transport: 'tcp', encryption: 'srtp', codecs: ['PCMA'] },
    { transport: 'tcp', encryption: 'srtp-mand' },
  ],
  'UDP and SRTP by DTLS, in Opus': [{ encryption: 'dtls', codecs: ['opus'] }, { encryption: 'dtls_srtp' }],
};

for (const [kind, [linphones, baresips]] of Object.entries(LINPHONE_KINDS)) {
  test(`Linphone calls baresip over ${kind} and is heard`, async (t) => {
    const baresip = await kept(t, Baresip.start({ ...baresips, answers: 'auto' }));
    const linphone = await kept(t, Linphone.start({ ...linphones, says: LINPHONE_SPEECH }));
    linphone.dial(baresip.uri);
    await linphone.established();
    await baresip.until('hear it', 6000, () => likeness(baresip.heard(), LINPHONE_SPEECH).correlation > 0.9);
    await linphone.hangUp();
  });
}
