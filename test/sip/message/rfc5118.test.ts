// RFC 5118, "SIP Torture Test Messages for IPv6", section 4: the messages are
// those of its text; bodies and their lengths only where they matter here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../sip/message/parser.js';
import type { SipRequest } from '../../../sip/message/message.js';
import { torture } from './torture.js';

interface Variation {
  readonly method?: string;
  readonly uri?: string;
  readonly via?: string;
  readonly more?: string;
}

function message({ method = 'REGISTER', uri = 'sip:[2001:db8::10]', via, more = '' }: Variation): Buffer {
  return torture(
    `${method} ${uri} SIP/2.0
To: sip:user@example.com
From: sip:user@example.com;tag=81x2
Via: ${via ?? 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111'}
Call-ID: SSG9559905523997077@hlau_4100
Max-Forwards: 70
Contact: "Caller" <sip:caller@[2001:db8::1]>
CSeq: 98176 ${method}
${more}Content-Length: 0`,
  );
}

function requestIn(variation: Variation): SipRequest {
  const parsed = parseMessage(message(variation));
  assert.ok(parsed.kind === 'request', JSON.stringify(parsed));
  return parsed.request;
}

test('4.1: IPv6 references stand in the Request-URI, Via and Contact', () => {
  const request = requestIn({});
  assert.equal(request.uri.host, '2001:db8::10');
  assert.equal(request.via.sentBy.host, '2001:db8::9:1');
  assert.equal(request.contact?.uri.host, '2001:db8::1');
});

test('4.2: an address without brackets is 400', () => {
  const parsed = parseMessage(message({ uri: 'sip:2001:db8::10' }));
  assert.ok(parsed.kind === 'refused');
  assert.deepEqual([parsed.refusal.status, parsed.refusal.reason], [400, 'Bad Request-URI']);
});

test('4.3 and 4.4: a port stands behind the brackets, never in them', () => {
  const within = requestIn({ uri: 'sip:[2001:db8::10:5070]' }).uri;
  assert.deepEqual([within.host, within.port], ['2001:db8::10:5070', undefined]);
  const behind = requestIn({ uri: 'sip:[2001:db8::10]:5070' }).uri;
  assert.deepEqual([behind.host, behind.port], ['2001:db8::10', 5070]);
});

test('4.5: received is read with and without brackets, and written without', () => {
  for (const received of ['[2001:db8::9:255]', '2001:db8::9:255']) {
    const via = `SIP/2.0/UDP [2001:db8::9:1];received=${received};branch=z9hG4bKas3-111`;
    assert.equal(requestIn({ method: 'BYE', via }).via.received, '2001:db8::9:255');
  }
  const parsed = parseMessage(message({}), { address: '2001:db8::9:255', port: 5060 });
  assert.ok(parsed.kind === 'request');
  const stamped = 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111;received=2001:db8::9:255';
  assert.equal(parsed.request.via.toString(), stamped);
});

test('4.6 to 4.8: addresses of both families share a message', () => {
  const more = 'Via: SIP/2.0/UDP 192.0.2.1:8080;branch=z9hG4bKasd0f3en\nContent-Type: application/sdp\n';
  const request = requestIn({ method: 'INVITE', uri: 'sip:user@[2001:db8::20]', more });
  assert.equal(request.all('Via')[1], 'SIP/2.0/UDP 192.0.2.1:8080;branch=z9hG4bKasd0f3en');
});

test('4.9: IPv4 addresses in IPv6 are understood', () => {
  const via = 'SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19';
  assert.deepEqual(requestIn({ via }).via.sentBy, { host: '::ffff:192.0.2.10', port: 19_823 });
});

test('4.10: three colons before an IPv4 address stand for two, and nowhere else', () => {
  assert.equal(requestIn({ uri: 'sip:user@[2001:db8:::192.0.2.1]' }).uri.host, '2001:db8::192.0.2.1');
  assert.equal(requestIn({ uri: 'sip:user@[2001:db8::192.0.2.1]' }).uri.host, '2001:db8::192.0.2.1');
  for (const uri of ['sip:[2001:db8:::10]', 'sip:[2001:db8::10', 'sip:[]', 'sip:[::1]:x', 'sip:[::1%eth0]']) {
    assert.equal(parseMessage(message({ uri })).kind, 'refused', uri);
  }
});
