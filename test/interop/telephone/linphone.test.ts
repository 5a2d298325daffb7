// Linphone with SIPp and with baresip: proof of the harness, and of what Linphone can do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../fakes/until.js';
import { Baresip } from './baresip.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { RtpPeer } from './rtp-peer.js';
import { heardDigits } from './rtp-record.js';
import { Sipp } from './sipp.js';
import { likeness, type Sound } from './sound-shape.js';

const RATE = 8000;
const SPEECH: Sound = {
  rate: RATE,
  samples: Float32Array.from({ length: 1.2 * RATE }, (_, n) => ([0.2, 0, 0.5, 0.3, 0, 0.4][Math.floor(n / (0.2 * RATE))] ?? 0) * Math.sin((2 * Math.PI * 500 * n) / RATE)),
}; // prettier-ignore

test('Linphone takes a call of SIPp, hears what is said, and presses a digit', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const linphone = await kept(t, Linphone.start({ codecs: ['PCMU'] }));
  const options = { keys: { rtp_port: rtp.port }, service: 'linphone', holdMs: 2500 };
  const sipp = await kept(t, Sipp.call(linphone.address, 'call-basic', options));
  await linphone.answer();
  await linphone.established();
  await until(() => rtp.source !== undefined);
  linphone.press('5');
  await rtp.stream(rtp.source ?? linphone.address).play(SPEECH.samples);
  await sipp.succeeded();
  await linphone.ended();
  assert.deepEqual(heardDigits(rtp.heard).map(({ digit }) => digit), ['5']);
  const { correlation } = likeness(linphone.heard(), SPEECH);
  assert.ok(correlation > 0.9, `${correlation}`);
}); // prettier-ignore

const KINDS: Readonly<Record<string, readonly [LinphoneOptions, Parameters<typeof Baresip.start>[0]]>> = {
  'TCP and SRTP by SDES': [
    { transport: 'tcp', encryption: 'srtp', codecs: ['PCMA'] },
    { transport: 'tcp', encryption: 'srtp-mand' },
  ],
  'UDP and SRTP by DTLS, in Opus': [{ encryption: 'dtls', codecs: ['opus'] }, { encryption: 'dtls_srtp' }],
};

for (const [kind, [linphones, baresips]] of Object.entries(KINDS)) {
  test(`Linphone calls baresip over ${kind} and is heard`, async (t) => {
    const baresip = await kept(t, Baresip.start({ ...baresips, answers: 'auto' }));
    const linphone = await kept(t, Linphone.start({ ...linphones, says: SPEECH }));
    linphone.dial(baresip.uri);
    await linphone.established();
    await baresip.until('hear it', 6000, () => likeness(baresip.heard(), SPEECH).correlation > 0.9);
    await linphone.hangUp();
  });
}
