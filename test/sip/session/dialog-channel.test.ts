// Checks where the peer of a call is reached: after its WebSocket closed, and behind a NAT.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipRequest } from '../../../sip/message/message.js';
import { parseMessage } from '../../../sip/message/parser.js';
import { FlowWatch, wayBack } from '../../../sip/session/dialog-channel.js';
import { InDialog } from '../../../sip/session/in-dialog.js';
import { CloseListeners, type Flow, type TransportName } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { Network } from '../transaction/network.js';
import { CALLEE, CALLER } from '../transaction/users.js';
import { requestsTo, TwoEnds } from './two-ends.js';

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
