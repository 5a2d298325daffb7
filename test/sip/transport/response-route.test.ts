import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseVia } from '../../../sip/message/via.js';
import { connectionPlace, datagramPlace } from '../../../sip/transport/transports.js';

const SOURCE = { address: '203.0.113.9', port: 40_000 };

function stamped(text: string) {
  const via = parseVia(text);
  assert.ok(via !== undefined);
  return via.stamped(SOURCE);
}

test('over UDP a response goes to where its request came from, at rport or at the port of sent-by, whatever maddr says', () => {
  for (const [via, address, port] of [
    ['SIP/2.0/UDP 192.0.2.1:5070;rport', '203.0.113.9', 40_000],
    ['SIP/2.0/UDP 192.0.2.1:5070', '203.0.113.9', 5070],
    ['SIP/2.0/UDP host.example.com', '203.0.113.9', 5060],
    ['SIP/2.0/UDP 203.0.113.9', '203.0.113.9', 5060],
    ['SIP/2.0/UDP 192.0.2.1:5070;maddr=198.51.100.1;rport', '203.0.113.9', 40_000],
    ['SIP/2.0/UDP 192.0.2.1:5070;maddr=host.example.com', '203.0.113.9', 5070],
  ] as const) {
    assert.deepEqual(datagramPlace(stamped(via)), { address, port }, via);
  }
});

test('a new connection for a response goes to what was received, at the port of sent-by', () => {
  for (const [via, transport, port] of [
    ['SIP/2.0/TCP 192.0.2.1:5070;rport', 'tcp', 5070],
    ['SIP/2.0/TCP 192.0.2.1', 'tcp', 5060],
    ['SIP/2.0/TLS 192.0.2.1', 'tls', 5061],
  ] as const) {
    assert.deepEqual(connectionPlace(stamped(via), transport), { address: '203.0.113.9', port }, via);
  }
});
