import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import {
  readDescription,
  type SessionDescription,
  writeDescription,
} from '../../../sip/sdp/session-description.js';
import { mutated, randomFrom } from '../../api/mutations.js';
import { offerOf, refusalOf, valueOf } from './negotiation-under-test.js';

const OFFER = offerOf('m=audio 5004 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000', 'a=sendrecv');

test('a description is read into its parts', () => {
  const text =
    'v=0\r\no=jdoe 3724394400 3724394405 IN IP4 198.51.100.1\r\ns=Call to John Smith\r\ni=SDP Offer #1\r\n' +
    'u=http://www.jdoe.example.com/home.html\r\ne=Jane Doe <jane@jdoe.example.com>\r\np=+1 617 555-6011\r\n' +
    'c=IN IP4 198.51.100.1\r\nb=AS:64\r\nt=0 0\r\na=recvonly\r\nm=audio 49170 RTP/AVP 0\r\n' +
    'm=video 51372 RTP/AVP 99\r\nc=IN IP6 2001:db8::2\r\na=rtpmap:99 h263-1998/90000\r\n';
  assert.deepEqual(valueOf(readDescription(text)), {
    origin: {
      username: 'jdoe',
      sessionId: '3724394400',
      sessionVersion: '3724394405',
      family: 4,
      address: '198.51.100.1',
    },
    name: 'Call to John Smith',
    connection: { family: 4, address: '198.51.100.1' },
    bandwidths: ['AS:64'],
    time: '0 0',
    attributes: [{ name: 'recvonly' }],
    media: [
      { kind: 'audio', port: 49_170, protocol: 'RTP/AVP', formats: ['0'], bandwidths: [], attributes: [] },
      {
        kind: 'video',
        port: 51_372,
        protocol: 'RTP/AVP',
        formats: ['99'],
        connection: { family: 6, address: '2001:db8::2' },
        bandwidths: [],
        attributes: [{ name: 'rtpmap', value: '99 h263-1998/90000' }],
      },
    ],
  });
});

for (const [what, text] of [
  ['ends of lines without CR', OFFER.replaceAll('\r\n', '\n')],
  ['ends of lines without LF', OFFER.replaceAll('\r\n', '\r')],
  ['no end of the last line', OFFER.trimEnd()],
  ['blank lines and NUL at the end', `${OFFER}\r\n\0\0`],
  ['blanks at the ends of lines', OFFER.replaceAll('\r\n', ' \r\n')],
  ['no s= and no t=', OFFER.replace('s=-\r\n', '').replace('t=0 0\r\n', '')],
  ['several blanks in the m= line', OFFER.replace('RTP/AVP 0 101', ' rtp/avp  0  101')],
  ['a number of ports', OFFER.replace('5004', '5004/1')],
  ['a TTL', OFFER.replace('c=IN IP4 198.51.100.7', 'c=IN IP4 198.51.100.7/127')],
] as const) {
  test(`${what}: read all the same`, () => {
    assert.deepEqual(valueOf(readDescription(text)), valueOf(readDescription(OFFER)));
  });
}

for (const [what, text, status] of [
  ['nothing', '', 400],
  ['no v=', OFFER.replace('v=0\r\n', ''), 400],
  ['another version', OFFER.replace('v=0', 'v=1'), 400],
  ['no o=', OFFER.replace(/o=.*\r\n/, ''), 400],
  ['an o= without an address', OFFER.replace(/o=.*\r\n/, 'o=- 1 1 IN IP4\r\n'), 400],
  ['a line that is none', OFFER.replace('s=-', 'hello'), 400],
  ['a control character', OFFER.replace('s=-', 's=\x07'), 400],
  ['a port of 65536', OFFER.replace('5004', '65536'), 400],
  ['a negative port', OFFER.replace('5004', '-1'), 400],
  ['an m= line without formats', OFFER.replace('RTP/AVP 0 101', 'RTP/AVP'), 400],
  ['a c= line of another network', OFFER.replace('c=IN', 'c=ATM'), 400],
  ['too many bytes', OFFER + 'a=x\r\n'.repeat(7000), 488],
  ['too many lines', OFFER + 'a=x\r\n'.repeat(600), 488],
  ['too many sections', OFFER + 'm=audio 0 RTP/AVP 0\r\n'.repeat(16), 488],
  ['too many formats', OFFER.replace('0 101', Array.from({ length: 65 }, (_, n) => n).join(' ')), 488],
] as const) {
  test(`${what}: refused with ${status}`, () => {
    assert.equal(refusalOf(readDescription(text)).status, status);
  });
}

const plain = { noNullPrototype: true };
const token = fc.stringMatching(/^[a-zA-Z0-9.-]{1,12}$/);
const text = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
const connection = fc.oneof(
  fc.ipV4().map((address) => ({ family: 4 as const, address })),
  fc
    .ipV6()
    .filter((address) => !/ffff/i.test(address))
    .map((address) => ({ family: 6 as const, address })),
);
const attributes = fc.array(
  fc.oneof(fc.record({ name: token }, plain), fc.record({ name: token, value: text }, plain)),
  { maxLength: 5 },
);
const number = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const media = fc.record(
  {
    kind: fc.constantFrom('audio', 'video', 'application', 'image'),
    port: fc.integer({ min: 0, max: 65_535 }),
    protocol: fc.constantFrom('RTP/AVP', 'RTP/SAVPF', 'UDP/TLS/RTP/SAVP', 'UDPTL'),
    formats: fc.array(token, { minLength: 1, maxLength: 5 }),
    connection,
    bandwidths: fc.array(text, { maxLength: 2 }),
    attributes,
  },
  {
    requiredKeys: ['kind', 'port', 'protocol', 'formats', 'bandwidths', 'attributes'],
    noNullPrototype: true,
  },
);
const description = fc.record(
  {
    origin: fc
      .tuple(token, number, number, connection)
      .map(([username, sessionId, sessionVersion, at]) => ({ username, sessionId, sessionVersion, ...at })),
    name: text,
    connection,
    bandwidths: fc.array(text, { maxLength: 2 }),
    time: fc.constant('0 0'),
    attributes,
    media: fc.array(media, { maxLength: 4 }),
  },
  { requiredKeys: ['origin', 'name', 'bandwidths', 'time', 'attributes', 'media'], noNullPrototype: true },
);

test('what is written is what is read', () => {
  fc.assert(
    fc.property(description, (original: SessionDescription) => {
      assert.deepEqual(valueOf(readDescription(writeDescription(original))), original);
    }),
  );
});

test('20,000 damaged descriptions are each read or refused', () => {
  const random = randomFrom(11);
  const outcomes = new Set<number>();
  for (let round = 0; round < 20_000; round++) {
    outcomes.add(readDescription(mutated(OFFER, random)).refusal?.status ?? 200);
  }
  assert.deepEqual(
    [...outcomes].toSorted((a, b) => a - b),
    [200, 400, 488],
  );
});

test('bytes of any kind are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(refusalOf(readDescription(bytes)).status, 400);
    }),
  );
});
