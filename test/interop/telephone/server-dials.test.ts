// The server calls telephones: baresip and Linphone, over every transport,
// codec and kind of SRTP; and they call a server that wants SRTP by DTLS.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { PhoneCallView } from '../../../src/call/phone-calls.js';
import { until } from '../../fakes/until.js';
import { issueCertificates, type Issued } from '../../sip/transport/transports-under-test.js';
import { Baresip, type BaresipOptions } from './baresip.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { likeness, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const HEARD_LIMIT_MS = 9000;
const ALIKE = 0.9; // loudness correlation, through a codec and a jitter buffer
// A telephone that is only just starting to listen may miss the first words.
const TEXT = `Welcome. ${GREETING}`;

let server: TelephoneServer;
/** Takes and makes no call without SRTP. */
let strict: TelephoneServer;
let said: Sound;
let certificates: Issued;
const folder = mkdtempSync(join(tmpdir(), 'parley-dials-'));

before(async () => {
  certificates = await issueCertificates();
  const environment = { SIP_TLS_CA: join(folder, 'ca.pem') };
  writeFileSync(environment.SIP_TLS_CA, certificates.ca);
  server = await TelephoneServer.start(environment);
  strict = await TelephoneServer.start({ ...environment, SRTP: 'require', GREETING: TEXT });
  said = await server.rendered(TEXT);
});
after(async () => {
  await Promise.all([server.close(), strict.close()]);
  rmSync(folder, { recursive: true });
});

type Dialled = readonly [keys: PhoneCallView['srtp'], codec: PhoneCallView['codec'], options: BaresipOptions];

// prettier-ignore
const BARESIPS: Readonly<Record<string, () => Dialled>> = {
  'UDP and G.722': () => ['none', 'G722', { codecs: ['G722/16000/1'] }],
  'TCP, PCMA and SRTP by SDES': () => ['sdes', 'PCMA', { transport: 'tcp', codecs: ['PCMA/8000/1'], encryption: 'srtp-mand' }],
  'UDP, Opus and SRTP by DTLS': () => ['dtls', 'opus', { codecs: ['opus/48000/2'], encryption: 'dtls_srtp' }],
  // The server does not listen with TLS itself: baresip comes back on the connection that it was called over.
  'TLS, PCMU and SRTP by SDES': () => ['sdes', 'PCMU', {
    transport: 'tls', codecs: ['PCMU/8000/1'], encryption: 'srtp-mand', certificate: certificates.server, authority: certificates.ca,
  }],
};

for (const [kind, dialled] of Object.entries(BARESIPS)) {
  for (const isStrict of kind.includes('SRTP') ? [false, true] : [false]) {
    test(`baresip is called over ${kind}${isStrict ? ', which the server insists on' : ''}: speech, hold, and digits before and after it`, async (t) => {
      const { telephone } = isStrict ? strict : server;
      const [keys, codec, options] = dialled();
      const baresip = await kept(t, Baresip.start({ ...options, answers: 'auto' }));
      const { id } = await telephone.place({ to: baresip.uri, say: { text: TEXT } });
      await baresip.told('CALL_ESTABLISHED');
      await until(() => telephone.get(id).state === 'connected' && telephone.get(id).srtp === keys);
      assert.equal(telephone.get(id).codec, codec);
      await baresip.until('hear it', HEARD_LIMIT_MS, () => likeness(baresip.heard(), said).longerMs > -120);
      const { correlation, longerMs } = likeness(baresip.heard(), said);
      assert.ok(correlation > ALIKE && longerMs < 200, JSON.stringify({ correlation, longerMs }));
      const told = () =>
        baresip.events.filter(({ type }) => type === 'CALL_DTMF_START').map(({ param }) => param);
      const digits = () => telephone.get(id).digits.map(({ digit }) => digit);
      await telephone.press(id, { digits: '5#' });
      await baresip.command('sndcode', '7');
      await until(() => told().length === 2 && digits().length === 1);
      await telephone.hold(id, true);
      await telephone.hold(id, false);
      await baresip.command('hold');
      await until(() => telephone.get(id).state === 'held');
      await baresip.command('resume');
      await until(() => telephone.get(id).state === 'connected');
      // Both sides still understand what comes in the stream, as they would not if its keys or counters had
      // gone wrong.
      await telephone.press(id, { digits: '9' });
      await baresip.command('sndcode', '8');
      await until(() => told().length === 3 && digits().length === 2);
      assert.deepEqual(
        [told(), digits()],
        [
          ['5', '#', '9'],
          ['7', '8'],
        ],
      );
      await baresip.command('hangup');
      await until(() => telephone.get(id).end?.reason === 'peer hung up');
    });
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
    // It writes its file in the end.
    await new Promise((resolve) => setTimeout(resolve, (1000 * said.samples.length) / said.rate + 500));
    await telephone.hangUp(id);
    await linphone.ended();
    const { correlation, longerMs } = likeness(linphone.heard(), said);
    assert.ok(correlation > ALIKE && Math.abs(longerMs) < 200, JSON.stringify({ correlation, longerMs }));
  });
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
