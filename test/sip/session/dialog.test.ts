import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipRequest, SipResponse } from '../../../sip/message/message.js';
import { parseMessage } from '../../../sip/message/parser.js';
import { DialogTable } from '../../../sip/session/dialog-table.js';
import { Dialog } from '../../../sip/session/dialog.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { uriOf } from '../client/places.js';

const INVITE = [
  'INVITE sip:100@parley.example SIP/2.0',
  'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
  'Record-Route: <sip:near.example;lr>, <sip:far.example;lr>',
  'From: "Anna" <sip:anna@a.example>;tag=them',
  'To: <sip:100@parley.example>',
  'Call-ID: c1',
  'CSeq: 7 INVITE',
  'Contact: <sip:anna@192.0.2.1:5070>',
];

const OWN = {
  callId: 'c1',
  tag: 'them',
  from: '"Anna" <sip:anna@a.example>;tag=them',
  to: '<sip:100@parley.example>',
  uri: uriOf('sip:100@parley.example'),
};

function request(lines: readonly string[]): SipRequest {
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`));
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

function response(lines: readonly string[]): SipResponse {
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`));
  assert.equal(parsed.kind, 'response');
  return (parsed as { response: SipResponse }).response;
}

function served(lines = INVITE): Dialog {
  const dialog = Dialog.ofServer(request(lines), 'us', 1);
  assert.ok(dialog);
  return dialog;
}

void test('a request to a caller goes through the proxies that recorded themselves, in their order', () => {
  const bye = served().request('BYE', [['Reason', 'SIP;cause=200']]);
  assert.equal(bye.uri, 'sip:anna@192.0.2.1:5070');
  assert.deepEqual(bye.headers, [
    ['Route', '<sip:near.example;lr>'],
    ['Route', '<sip:far.example;lr>'],
    ['From', '<sip:100@parley.example>;tag=us'],
    ['To', '"Anna" <sip:anna@a.example>;tag=them'],
    ['Call-ID', 'c1'],
    ['CSeq', '1 BYE'],
    ['Reason', 'SIP;cause=200'],
  ]);
  assert.equal(served().nextHop.host, 'near.example');
});

void test('a callee is reached through the proxies in reverse, and numbers go on from those of the INVITE', () => {
  const ok = ['SIP/2.0 200 OK', ...INVITE.slice(1, 4), 'To: <sip:100@parley.example>;tag=callee', ...INVITE.slice(5)];
  const dialog = Dialog.ofClient(response(ok), OWN);
  assert.equal(dialog.nextHop.host, 'far.example');
  const [first] = dialog.request('UPDATE', []).headers.filter(([name]) => name === 'CSeq');
  assert.equal(first?.[1], '8 UPDATE');
  assert.deepEqual(dialog.ack(7, []).headers.find(([name]) => name === 'CSeq'), ['CSeq', '7 ACK']);
}); // prettier-ignore

void test('a strict router gets requests under its own name, with the target as the last Route', () => {
  const strict = INVITE.map((line) => line.replace('near.example;lr', 'near.example'));
  const bye = served(strict).request('BYE', []);
  assert.equal(bye.uri, 'sip:near.example');
  assert.deepEqual(
    bye.headers.filter(([name]) => name === 'Route').map(([, value]) => value),
    ['<sip:far.example;lr>', '<sip:anna@192.0.2.1:5070>'],
  );
});

void test('requests older than the latest are out of order, and an ACK never is', () => {
  const dialog = served();
  const numbered = (method: string, number: number) =>
    request([
      `${method} sip:x SIP/2.0`,
      ...INVITE.slice(1).map((line) => line.replace('7 INVITE', `${number} ${method}`)),
    ]);
  assert.equal(dialog.takes(numbered('INFO', 9)), true);
  assert.equal(dialog.takes(numbered('INFO', 8)), false);
  assert.equal(dialog.takes(numbered('ACK', 7)), true);
  assert.equal(dialog.takes(numbered('BYE', 10)), true);
});

void test('a target refresh moves the target and leaves the route', () => {
  const dialog = served();
  dialog.refresh(request(INVITE.map((line) => line.replace('192.0.2.1:5070', '192.0.2.9'))));
  assert.equal(dialog.remoteTarget.text, 'sip:anna@192.0.2.9');
  assert.equal(dialog.nextHop.host, 'near.example');
});

void test('an INVITE without a SIP URI in Contact makes no dialog', () => {
  assert.equal(Dialog.ofServer(request(INVITE.slice(0, 7)), 'us', 1), undefined);
  assert.equal(Dialog.ofServer(request([...INVITE.slice(0, 7), 'Contact: <tel:+4930>']), 'us', 1), undefined);
});

void test('a response without Contact makes a dialog with the Request-URI, and without a To tag one with none', () => {
  const { from, to } = OWN;
  const bare = response(['SIP/2.0 200 OK', ...INVITE.slice(1, 2), `From: ${from}`, `To: ${to}`, ...INVITE.slice(5, 7)]);
  const dialog = Dialog.ofClient(bare, OWN);
  assert.equal(dialog.remoteTag, '');
  const ack = dialog.ack(7, []);
  assert.equal(ack.uri, 'sip:100@parley.example');
  assert.deepEqual(ack.headers.slice(0, 3), [['From', from], ['To', to], ['Call-ID', 'c1']]);
}); // prettier-ignore

void test('a response that repeats From or Call-ID wrongly does not change ours', () => {
  const wrong = ['From: <sip:somebody@b.example>', 'To: <sip:100@parley.example>;tag=callee', 'Call-ID: other', 'CSeq: 7 INVITE'];
  const dialog = Dialog.ofClient(response(['SIP/2.0 200 OK', ...INVITE.slice(1, 2), ...wrong, ...INVITE.slice(7)]), OWN);
  assert.equal(dialog.key, 'c1 them callee');
  assert.deepEqual(dialog.ack(7, []).headers[0], ['From', OWN.from]);
}); // prettier-ignore

function one(localTag: string, confirmed = false, remoteTag = 'r') {
  return { dialog: { callId: 'c', localTag, remoteTag }, confirmed };
}

void test('dialogs are found by all three parts of their id, and counted', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [early, confirmed] = [one('a'), one('b', true)];
  table.add(early);
  table.add(confirmed);
  assert.equal(table.find({ callId: 'c', localTag: 'b', remoteTag: 'r' }), confirmed);
  assert.equal(table.find({ callId: 'c', localTag: 'b', remoteTag: 'x' }), undefined);
  assert.equal(table.find({ callId: 'x', localTag: 'b', remoteTag: 'r' }), undefined);
  assert.deepEqual(table.counts, { early: 1, confirmed: 1 });
  assert.deepEqual(table.all, [early, confirmed]);
});

void test('a dialog that ended is remembered for a while, and not one that never was', () => {
  const time = new ManualTime();
  const table = new DialogTable<ReturnType<typeof one>>(time, 1000);
  const ended = one('a');
  table.add(ended);
  assert.equal(table.hasEnded(ended.dialog), false);
  table.remove(ended);
  table.remove(ended);
  assert.equal(table.find(ended.dialog), undefined);
  assert.equal(table.hasEnded(ended.dialog), true);
  assert.equal(table.hasEnded(one('b').dialog), false);
  time.advance(1000);
  assert.equal(table.hasEnded(ended.dialog), false);
});

void test('removing a dialog leaves another that has taken its id', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [first, second] = [one('a'), one('a')];
  table.add(first);
  table.add(second);
  table.remove(first);
  assert.equal(table.find(second.dialog), second);
});

void test('a dialog whose peer left out its tag is found with any tag and without, until it ends', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [untagged, tagged, lost] = [one('a', true, ''), one('b', true), one('c', true)];
  for (const each of [untagged, tagged, lost]) table.add(each);
  table.lostTag(lost);
  const find = (localTag: string, remoteTag: string) => table.find({ callId: 'c', localTag, remoteTag });
  assert.deepEqual([find('a', ''), find('a', 'x')], [untagged, untagged]);
  assert.deepEqual([find('b', ''), find('b', 'x')], [undefined, undefined]);
  assert.deepEqual([find('c', ''), find('c', 'r')], [lost, lost]);
  assert.deepEqual(table.counts, { early: 0, confirmed: 3 });
  for (const each of [untagged, tagged, lost]) table.remove(each);
  assert.deepEqual([find('a', ''), find('c', '')], [undefined, undefined]);
  const ended = (localTag: string, remoteTag: string) => table.hasEnded({ callId: 'c', localTag, remoteTag });
  assert.deepEqual([ended('a', 'x'), ended('b', 'x'), ended('c', '')], [true, false, true]);
});
