// Damaged descriptions given to media that follows them, natively: what is
// agreed on can be followed, and nothing throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import { stage } from '../media/media-under-test.js';
import { offerOf } from '../sdp/negotiation-under-test.js';
import { damaged, fuzz, oneOf, type Random } from './made-messages.js';
import { SILENT_LOG } from '../../../src/log.js';

const KEY = Buffer.alloc(30, 1).toString('base64');
const PRINTS = Array.from(
  { length: 40 },
  (_, n) =>
    `a=fingerprint:sha-256 ${Array(32)
      .fill(`${10 + n}`)
      .join(':')}`,
);
const ICE = ['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstuvwx'];
const EVENTS = [
  'a=rtpmap:101 telephone-event/8000',
  'a=rtpmap:102 telephone-event/48000',
  'a=rtpmap:96 opus/48000/2',
];
const OFFERS = [
  offerOf(
    'm=audio 5004 RTP/AVP 0 8 9 96 101 102 13',
    ...EVENTS,
    'a=ptime:20',
    'a=maxptime:60',
    'a=rtcp:5005',
  ),
  offerOf(
    'm=audio 5004 RTP/SAVP 0 101',
    ...EVENTS,
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`,
    'a=rtcp:5005 IN IP4 127.0.0.1',
  ),
  offerOf('c=IN IP6 ::1', 'm=audio 5004 RTP/AVP 8 101', ...EVENTS, 'a=rtcp:5005 IN IP6 ::1'),
  offerOf('m=audio 5004 UDP/TLS/RTP/SAVPF 96 102', ...EVENTS, 'a=setup:active', ...PRINTS, 'a=rtcp-mux'),
  offerOf('m=audio 9 RTP/AVP 0 101', ...EVENTS, ...ICE),
];
const EDGES = [
  '0',
  '1',
  '9',
  '127',
  '128',
  '999',
  '1000',
  '65534',
  '65535',
  '65536',
  '191999',
  '192001',
  '999999',
  'fe80::1%1',
  '0.0.0.0',
  '::',
  '::ffff:1.2.3.4',
];

/** One number or address of it is another one. */
function bent(offer: string, random: Random): string {
  const at = oneOf([...offer.matchAll(/\d[\d.]*|::1/g)], random);
  return offer.slice(0, at.index) + oneOf(EDGES, random) + offer.slice(at.index + at[0].length);
}

test('media follows whatever is agreed on of damaged offers, one after the other', (t) => {
  const { leg, pass } = stage(t, { address: '::', drainMs: 0 });
  const certificate = DtlsCertificate.make();
  t.after(() => certificate.close());
  const warned: unknown[] = [];
  const log = { ...SILENT_LOG, warn: (fields: object) => warned.push(fields) };
  const addresses = { ip4: '127.0.0.1', ip6: '::1' };
  let followed = 0;
  fuzz(t, 200, (random, show) => {
    const { media } = leg({ security: 'prefer', keyings: ['dtls', 'sdes'] }, { addresses, certificate, log });
    for (let round = 0; round < 8; round++) {
      const whole = oneOf(OFFERS, random);
      const offer = random() < 0.7 ? bent(bent(whole, random), random) : damaged(whole, random);
      show(offer);
      const { refusal } = media.answer(Buffer.from(offer, 'latin1'));
      assert.ok(refusal === undefined || [400, 488].includes(refusal.status), JSON.stringify(refusal));
      if (refusal === undefined) followed++;
      media.press('1', 5000, 100);
      pass(40);
    }
    media.close();
    assert.deepEqual(warned, []);
  });
  assert.ok(followed > 400, `${followed} were followed`);
});
