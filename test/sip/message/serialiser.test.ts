import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../sip/message/parser.js';
import { recordRoutesOf, requestBytes, responseBytes } from '../../../sip/message/serialiser.js';
import { torture } from './torture.js';

const DATA = {
  method: 'INVITE',
  uri: 'sip:bob@example.com',
  headers: [
    ['From', '"Алиса" <sip:alice@example.com>;tag=1'],
    ['To', '<sip:bob@example.com>'],
    ['Call-ID', 'a'],
    ['CSeq', '1 INVITE'],
  ],
} as const;
const VIA = 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1';

test('a request is written in order, with Via first and the length in bytes last', () => {
  assert.equal(
    requestBytes({ ...DATA, body: 'é' }, VIA).toString(),
    [
      'INVITE sip:bob@example.com SIP/2.0',
      'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
      'From: "Алиса" <sip:alice@example.com>;tag=1',
      'To: <sip:bob@example.com>',
      'Call-ID: a',
      'CSeq: 1 INVITE',
      'Max-Forwards: 70',
      'Content-Length: 2',
      '',
      'é',
    ].join('\r\n'),
  );
});

test('what is written is read back, bytes of a body and all', () => {
  const body = Buffer.from([0, 255, 13, 10, 13, 10]);
  const parsed = parseMessage(
    requestBytes({ ...DATA, body, headers: [...DATA.headers, ['Max-Forwards', '5']] }, VIA),
  );
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(parsed.request.body, body);
  assert.equal(parsed.request.maxForwards, 5);
  assert.equal(parsed.request.from.displayName, 'Алиса');
  const answer = parseMessage(
    responseBytes(parsed.request, { status: 200, toTag: 't', headers: [['Contact', '<sip:b@h>']] }),
  );
  assert.ok(answer.kind === 'response');
  assert.deepEqual([answer.response.status, answer.response.reason], [200, 'OK']);
  assert.deepEqual([answer.response.toTag, answer.response.from?.tag], ['t', '1']);
  assert.equal(answer.response.contact?.uri.host, 'h');
});

test('a value that would begin a line of its own is refused by name', () => {
  for (const [data, field] of [
    [{ ...DATA, headers: [['Subject', 'a\r\nVia: x']] as const }, 'headers'],
    [{ ...DATA, headers: [['Sub ject', 'a']] as const }, 'headers'],
    [{ ...DATA, uri: 'sip:a b' }, 'uri'],
    [{ ...DATA, method: 'IN VITE' }, 'method'],
  ] as const) {
    assert.throws(() => requestBytes(data, VIA), { code: 'INVALID_FIELD', field });
  }
  const parsed = parseMessage(requestBytes(DATA, VIA));
  assert.ok(parsed.kind === 'request');
  const { request } = parsed;
  assert.throws(() => responseBytes(request, { status: 400, reason: 'a\nb' }), { code: 'INVALID_FIELD' });
});

const HEAD = `INVITE sip:bob@example.com SIP/2.0
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1
From: <sip:a@h>;tag=1
To: <sip:b@h>
Call-ID: 1
CSeq: 1 INVITE`;

test('a response repeats every Record-Route, in order and with all its parameters', () => {
  const routes = `Record-Route: "P, 2" <sip:p2.example.com;lr;x=%41,b>;y="z,\\"" , <sip:[2001:db8::1]:5070;transport=tcp;lr>
record-route: <sip:p1.example.com>`;
  const parsed = parseMessage(torture(`${HEAD}\n${routes}`));
  assert.ok(parsed.kind === 'request');
  const lines = recordRoutesOf(parsed.request);
  assert.deepEqual(lines, [
    ['Record-Route', '"P, 2" <sip:p2.example.com;lr;x=%41,b>;y="z,\\""'],
    ['Record-Route', '<sip:[2001:db8::1]:5070;transport=tcp;lr>'],
    ['Record-Route', '<sip:p1.example.com>'],
  ]);
  const response = parseMessage(responseBytes(parsed.request, { status: 200, toTag: 'x', headers: lines }));
  assert.ok(response.kind === 'response');
  assert.deepEqual(
    response.response.all('record-route'),
    lines.map(([, value]) => value),
  );
});

test('a request that came straight here has none', () => {
  const parsed = parseMessage(torture(HEAD));
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(recordRoutesOf(parsed.request), []);
});
