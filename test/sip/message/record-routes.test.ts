import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../sip/message/parser.js';
import { recordRoutesOf, responseBytes } from '../../../sip/message/serialiser.js';
import { torture } from './torture.js';

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
  assert.deepEqual(response.response.all('record-route'), lines.map(([, value]) => value));
}); // prettier-ignore

test('a request that came straight here has none', () => {
  const parsed = parseMessage(torture(HEAD));
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(recordRoutesOf(parsed.request), []);
});
