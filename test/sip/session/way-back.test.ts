import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../sip/message/parser.js';
import type { SipRequest } from '../../../sip/message/message.js';
import { wayBack } from '../../../sip/session/dialog-channel.js';
import type { TransportName } from '../../../sip/transport/flow.js';
import { Network } from '../transaction/network.js';

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
