import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage, type SipRequest, type SipResponse } from '../../../sip/message/message.js';
import { FlowWatch, wayBack } from '../../../sip/session/dialog-channel.js';
import { DialogTable } from '../../../sip/session/dialog-table.js';
import { Dialog } from '../../../sip/session/dialog.js';
import { InDialog } from '../../../sip/session/in-dialog.js';
import { CloseListeners, type Flow, type TransportName } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { uriOf } from '../client/places.js';
import { CALLEE, CALLER, Network } from '../transaction/network.js';
import { requestsTo, TwoEnds } from './two-ends.js';

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
  const ok = [
    'SIP/2.0 200 OK',
    ...INVITE.slice(1, 4),
    'To: <sip:100@parley.example>;tag=callee',
    ...INVITE.slice(5),
  ];
  const dialog = Dialog.ofClient(response(ok), OWN);
  assert.equal(dialog.nextHop.host, 'far.example');
  const [first] = dialog.request('UPDATE', []).headers.filter(([name]) => name === 'CSeq');
  assert.equal(first?.[1], '8 UPDATE');
  assert.deepEqual(
    dialog.ack(7, []).headers.find(([name]) => name === 'CSeq'),
    ['CSeq', '7 ACK'],
  );
});

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
  const bare = response([
    'SIP/2.0 200 OK',
    ...INVITE.slice(1, 2),
    `From: ${from}`,
    `To: ${to}`,
    ...INVITE.slice(5, 7),
  ]);
  const dialog = Dialog.ofClient(bare, OWN);
  assert.equal(dialog.remoteTag, '');
  const ack = dialog.ack(7, []);
  assert.equal(ack.uri, 'sip:100@parley.example');
  assert.deepEqual(ack.headers.slice(0, 3), [
    ['From', from],
    ['To', to],
    ['Call-ID', 'c1'],
  ]);
});

void test('a response that repeats From or Call-ID wrongly does not change ours', () => {
  const wrong = [
    'From: <sip:somebody@b.example>',
    'To: <sip:100@parley.example>;tag=callee',
    'Call-ID: other',
    'CSeq: 7 INVITE',
  ];
  const dialog = Dialog.ofClient(
    response(['SIP/2.0 200 OK', ...INVITE.slice(1, 2), ...wrong, ...INVITE.slice(7)]),
    OWN,
  );
  assert.equal(dialog.key, 'c1 them callee');
  assert.deepEqual(dialog.ack(7, []).headers[0], ['From', OWN.from]);
});

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

// Checks where the peer of a call is reached: after its WebSocket closed, and behind a NAT.

const PATIENCE_MS = 32_000;

interface Closeable {
  readonly flow: Flow;
  readonly close: () => void;
}

function flowOf(transport: TransportName): Closeable {
  const closing = new CloseListeners();
  const place = { address: '192.0.2.1', port: 5060 };
  const flow: Flow = {
    transport,
    local: place,
    remote: place,
    reliable: transport !== 'udp',
    get closed() {
      return closing.done;
    },
    send: () => true,
    onClose: (listener) => closing.add(listener),
    close: () => closing.fire(),
    received: 0,
    abandon: () => closing.fire(),
  };
  return { flow, close: () => closing.fire() };
}

function watching() {
  const time = new ManualTime();
  const seen = { lost: 0 };
  const watch = new FlowWatch(time, PATIENCE_MS, () => seen.lost++);
  return { time, seen, watch };
}

test('a WebSocket that was closed is given 32 s to be followed by another one', () => {
  const { time, seen, watch } = watching();
  const [first, second] = [flowOf('wss'), flowOf('ws')];
  watch.follow(first.flow);
  first.close();
  time.advance(PATIENCE_MS - 1);
  watch.follow(second.flow);
  time.advance(PATIENCE_MS);
  assert.equal(seen.lost, 0);
  second.close();
  time.advance(PATIENCE_MS - 1);
  assert.equal(seen.lost, 0);
  time.advance(1);
  assert.equal(seen.lost, 1);
  assert.equal(time.waiting, 0);
});

test('of TCP, which can be connected to again, nothing is told, nor after the watch has ended', () => {
  const { time, seen, watch } = watching();
  const [tcp, ws] = [flowOf('tcp'), flowOf('ws')];
  watch.follow(tcp.flow);
  tcp.close();
  watch.follow(ws.flow);
  ws.close();
  watch.close();
  time.advance(2 * PATIENCE_MS);
  assert.deepEqual([seen.lost, time.waiting], [0, 0]);
});

/** A call whose callee reaches the caller over a WebSocket. */
async function overWebSocket() {
  const ends = new TwoEnds();
  const seen = new Promise<ReturnType<TwoEnds['accept']>>((resolve) => {
    ends.act = (session) => resolve(ends.accept(session));
  });
  const call = ends.call();
  await ends.settle(1000);
  const dialogs = ends.called.agent.context.dialogs;
  const { callId, localTag, remoteTag } = call.inDialog.dialog;
  const called = dialogs.find({ callId, localTag: remoteTag, remoteTag: localTag });
  assert.ok(called instanceof InDialog);
  const socket = flowOf('ws');
  called.channel.moveTo(socket.flow);
  return { ends, call, called, socket, seen: await seen };
}

test('a call whose WebSocket is lost ends without a BYE when nobody has come back', async () => {
  const { ends, socket, seen } = await overWebSocket();
  socket.close();
  await ends.network.pass(PATIENCE_MS - 1000, 500);
  assert.deepEqual(seen.events, ['established']);
  await ends.network.pass(2000, 500);
  assert.deepEqual(seen.events, ['established', 'ended transport']);
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'BYE'), []);
});

test('a phone that comes back on another WebSocket is reached over that one, and the call goes on', async () => {
  const { ends, called, socket, seen } = await overWebSocket();
  socket.close();
  const next = ends.network.flow(CALLEE, CALLER, 'ws');
  called.channel.heard(next);
  await ends.network.pass(2 * PATIENCE_MS, 500);
  assert.deepEqual(seen.events, ['established']);
  void called.hangUp();
  await ends.settle(1000);
  assert.equal(ends.called.sender.targets.at(-1)?.flow, next);
});

test('what comes over another WebSocket moves nothing while the first one stands', async () => {
  const { ends, called, socket } = await overWebSocket();
  called.channel.heard(ends.network.flow(CALLEE, CALLER, 'ws'));
  void called.hangUp();
  await ends.settle(1000);
  assert.equal(ends.called.sender.targets.at(-1)?.flow, socket.flow);
});

function invite(contact: string, ...more: readonly string[]): SipRequest {
  const lines = [
    'INVITE sip:a@b SIP/2.0',
    'Via: SIP/2.0/UDP 10.0.0.9;branch=z9hG4bK1',
    'From: <sip:x@y>;tag=1',
    'To: <sip:a@b>',
    'Call-ID: c',
    'CSeq: 1 INVITE',
    `Contact: <${contact}>`,
    ...more,
    'Content-Length: 0',
  ];
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

for (const [contact, source, transport, isTaken] of [
  ['sip:a@10.0.0.9', '198.51.100.1', 'udp', true],
  ['sip:a@192.168.1.4:5070', '8.8.8.8', 'udp', true],
  ['sip:a@127.0.0.1', '8.8.8.8', 'udp', true],
  ['sip:a@[fe80::1]', '2001:4860::1', 'udp', true],
  ['sip:a@[::ffff:10.0.0.9]', '8.8.8.8', 'udp', true],
  ['sip:a@random.invalid', '8.8.8.8', 'udp', true],
  ['sip:a@10.0.0.9', '10.0.0.9', 'udp', false],
  ['sip:a@8.8.4.4', '8.8.8.8', 'udp', false],
  ['sip:a@phone.example', '8.8.8.8', 'udp', false],
  ['tel:123', '8.8.8.8', 'udp', true],
  ['sip:a@8.8.4.4', '8.8.8.8', 'tcp', true],
] as const) {
  void test(`${contact} from ${source} over ${transport}: ${isTaken ? 'the flow' : 'the Contact'}`, () => {
    const flow = new Network().flow('192.0.2.2', source, transport as TransportName);
    assert.equal(wayBack(invite(contact), flow) === flow, isTaken);
  });
}

void test('a proxy that recorded itself knows the way over UDP', () => {
  const flow = new Network().flow('192.0.2.2', '8.8.8.8');
  assert.equal(wayBack(invite('sip:a@10.0.0.9', 'Record-Route: <sip:8.8.8.8;lr>'), flow), undefined);
});
