// The server calls telephones: baresip and Linphone, over every transport,
// codec and kind of SRTP; and they call a server that wants SRTP by DTLS.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PhoneCallView } from '../../../src/call/phone-calls.js';
import { until } from '../../fakes/until.js';
import { Baresip, type BaresipOptions } from './baresip.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { likeness, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const HEARD_LIMIT_MS = 9000;
const ALIKE = 0.9; // of loudness, through a codec and a jitter buffer
// What is said first may be missed by a telephone that is only just starting to listen.
const TEXT = `Welcome. ${GREETING}`;

let server: TelephoneServer;
/** Takes and makes no call without SRTP. */
let strict: TelephoneServer;
let said: Sound;

before(async () => {
  server = await TelephoneServer.start();
  strict = await TelephoneServer.start({ SRTP: 'require', GREETING: TEXT });
  said = await server.rendered(TEXT);
});
after(() => Promise.all([server.close(), strict.close()]));

type Dialled = readonly [keys: PhoneCallView['srtp'], codec: PhoneCallView['codec'], options: BaresipOptions];

const BARESIPS: Readonly<Record<string, Dialled>> = {
  'UDP and G.722': ['none', 'G722', { codecs: ['G722/16000/1'] }],
  'TCP, PCMA and SRTP by SDES': ['sdes', 'PCMA', { transport: 'tcp', codecs: ['PCMA/8000/1'], encryption: 'srtp-mand' }],
  'UDP, Opus and SRTP by DTLS': ['dtls', 'opus', { codecs: ['opus/48000/2'], encryption: 'dtls_srtp' }],
}; // prettier-ignore

for (const [kind, [keys, codec, options]] of Object.entries(BARESIPS)) {
  for (const isStrict of keys === 'none' ? [false] : [false, true]) {
    test(`baresip is called over ${kind}${isStrict ? ', which the server insists on' : ''}: speech, digits and hold`, async (t) => {
      const { telephone } = isStrict ? strict : server;
      const baresip = await kept(t, Baresip.start({ ...options, answers: 'auto' }));
      const { id } = await telephone.place({ to: baresip.uri, say: { text: TEXT } });
      await baresip.told('CALL_ESTABLISHED');
      await until(() => telephone.get(id).state === 'connected' && telephone.get(id).srtp === keys);
      assert.equal(telephone.get(id).codec, codec);
      await baresip.until('hear it', HEARD_LIMIT_MS, () => likeness(baresip.heard(), said).longerMs > -120);
      const { correlation, longerMs } = likeness(baresip.heard(), said);
      assert.ok(correlation > ALIKE && longerMs < 200, JSON.stringify({ correlation, longerMs }));
      await telephone.press(id, { digits: '5' });
      await baresip.until('be told a digit', 2000, () => /DTMF|telephone-event|received.*'?5'?/i.test(JSON.stringify(baresip.events)));
      await baresip.command('sndcode', '7');
      await until(() => telephone.get(id).digits.length === 1);
      await telephone.hold(id, true);
      await telephone.hold(id, false);
      await baresip.command('hold');
      await until(() => telephone.get(id).state === 'held');
      await baresip.command('resume');
      await until(() => telephone.get(id).state === 'connected');
      await baresip.command('hangup');
      await until(() => telephone.get(id).end?.reason === 'peer hung up');
    }); // prettier-ignore
  }
}

const LINPHONES: Readonly<Record<string, readonly [PhoneCallView['srtp'], LinphoneOptions]>> = {
  'UDP and PCMU': ['none', { codecs: ['PCMU'] }],
  'SRTP by SDES and PCMA': ['sdes', { encryption: 'srtp', codecs: ['PCMA'] }],
  'SRTP by DTLS and Opus': ['dtls', { encryption: 'dtls', codecs: ['opus'] }],
};

for (const [kind, [keys, options]] of Object.entries(LINPHONES)) {
  test(`Linphone is called over ${kind} and hears what is said`, async (t) => {
    const { telephone } = keys === 'none' ? server : strict;
    const linphone = await kept(t, Linphone.start(options));
    const { id } = await telephone.place({ to: linphone.uri, say: { text: TEXT } });
    await linphone.answer();
    await linphone.established();
    await until(() => telephone.get(id).srtp === keys);
    await new Promise((resolve) => setTimeout(resolve, (1000 * said.samples.length) / said.rate + 500)); // it writes its file in the end
    await telephone.hangUp(id);
    await linphone.ended();
    const { correlation, longerMs } = likeness(linphone.heard(), said);
    assert.ok(correlation > ALIKE && Math.abs(longerMs) < 200, JSON.stringify({ correlation, longerMs }));
  }); // prettier-ignore
}

test('baresip calls a server that insists on SRTP, by DTLS', async (t) => {
  const baresip = await kept(t, Baresip.start({ encryption: 'dtls_srtp', codecs: ['G722/16000/1'] }));
  await baresip.command('dial', `sip:parley@127.0.0.1:${strict.address.port}`);
  await baresip.told('CALL_ESTABLISHED');
  await baresip.until('hear it', HEARD_LIMIT_MS, () => likeness(baresip.heard(), said).longerMs > -120);
  assert.ok(likeness(baresip.heard(), said).correlation > ALIKE);
  assert.deepEqual([strict.telephone.list()[0]?.srtp, strict.telephone.list()[0]?.codec], ['dtls', 'G722']);
});

test('Linphone calls a server that insists on SRTP, by DTLS', async (t) => {
  const linphone = await kept(t, Linphone.start({ encryption: 'dtls', codecs: ['opus'] }));
  linphone.dial(`sip:parley@127.0.0.1:${strict.address.port}`);
  await linphone.established();
  await new Promise((resolve) => setTimeout(resolve, (1000 * said.samples.length) / said.rate + 1000));
  assert.equal(strict.telephone.list()[0]?.srtp, 'dtls');
  await linphone.hangUp();
  assert.ok(likeness(linphone.heard(), said).correlation > ALIKE);
});

test('a telephone without SRTP is refused by a server that insists on it', async (t) => {
  const baresip = await kept(t, Baresip.start());
  await baresip.command('dial', `sip:parley@127.0.0.1:${strict.address.port}`);
  assert.match((await baresip.told('CALL_CLOSED')).param ?? '', /488/);
});
