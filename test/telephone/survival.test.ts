// The server as a process of its own under single messages and packets that once ended it: it goes on, and so
// does every other call.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { kept } from '../interop/telephone/kept.js';
import {
  callFrom,
  finalOf,
  hangUp,
  idOf,
  offer,
  refusalOf,
  request,
  type RawCall,
  statusOf,
  UdpCaller,
} from './raw-caller.js';
import { ServerProcess } from './server-process.js';

const DIGEST = Array.from({ length: 32 }, () => 'AB').join(':');
const NO_RAW_SOCKETS = 77;

let server: ServerProcess;
let caller: UdpCaller;
let standing: RawCall;
let cseq = 1;

before(async () => {
  server = await ServerProcess.open();
  caller = await UdpCaller.open({ host: '127.0.0.1', port: server.port });
  standing = await callFrom(caller);
});
after(async () => {
  await caller.close();
  await server.close();
});

/** The status of a request within a call, acknowledged if it needs to be. */
async function within(call: RawCall, method: 'INVITE' | 'UPDATE', body = ''): Promise<number> {
  cseq++;
  caller.send(request(caller, { method, ...idOf(call), cseq, ...(body === '' ? {} : { body }) }));
  const answer = await finalOf(caller, call.callId, `${cseq} ${method}`);
  if (method === 'INVITE') caller.send(request(caller, { method: 'ACK', ...idOf(call), cseq }));
  return statusOf(answer);
}

/** The earlier call still stands, another one is accepted, and the process is the same. */
async function goesOn(): Promise<void> {
  assert.equal(await within(standing, 'UPDATE'), 200);
  await hangUp(caller, await callFrom(caller));
  assert.ok(!server.isOver, server.output);
}

const events = (clock: number): string =>
  `${offer('127.0.0.1', 9).replace('AVP 0', 'AVP 0 101')}a=rtpmap:101 telephone-event/${clock}\r\n`;

for (const [what, body] of [
  ['the last port of all', offer('127.0.0.1', 65_535)],
  ['events of 500 Hz', events(500)],
  ['events of 0 Hz', events(0)],
  ['events of 999999 Hz', events(999_999)],
  ['reports to an address with a zone', `${offer('127.0.0.1', 9)}a=rtcp:5005 IN IP6 fe80::1%1\r\n`],
  [
    '40 fingerprints',
    `${offer('127.0.0.1', 9).replace('RTP/AVP', 'UDP/TLS/RTP/SAVP')}a=setup:active\r\n${`a=fingerprint:sha-256 ${DIGEST}\r\n`.repeat(40)}`,
  ],
] as const) {
  test(`an offer of ${what} is taken within a call and in an INVITE, and the server goes on`, async () => {
    const call = await callFrom(caller);
    assert.equal(await within(call, 'INVITE', body), 200);
    const first = await refusalOf(caller, { body });
    assert.equal(statusOf(first), 200, first);
    await goesOn();
  });
}

/** A datagram with source port 0. */
const FROM_PORT_ZERO = `
import socket, struct, sys
try:
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
except PermissionError:
    sys.exit(${NO_RAW_SOCKETS})
data = bytes.fromhex(sys.argv[2])
raw.sendto(struct.pack('!HHHH', 0, int(sys.argv[1]), 8 + len(data), 0) + data, ('127.0.0.1', 0))
`;

test('STUN and DTLS from UDP port 0 are nobody’s, and the server goes on', async (t) => {
  const ice = 'a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n';
  const dtls = `a=setup:active\r\na=fingerprint:sha-256 ${DIGEST}\r\n`;
  const secured = offer('127.0.0.1', 9).replace('RTP/AVP', 'UDP/TLS/RTP/SAVP');
  for (const [body, datagram] of [
    [offer('127.0.0.1', 9) + ice, `000100002112a442${'07'.repeat(12)}`],
    [secured + dtls, '15fefd000000000000000000020228'],
  ] as const) {
    const call = await callFrom(caller, { body });
    const port = /^m=audio (\d+)/m.exec(call.answer)?.[1] ?? '';
    const { status, stderr } = spawnSync('python3', ['-c', FROM_PORT_ZERO, port, datagram]);
    if (status === NO_RAW_SOCKETS) return t.skip('the system lets nobody have a raw socket');
    assert.equal(status, 0, stderr.toString());
    await goesOn();
  }
});

test('a WebSocket for SIP that is refused and reset is forgotten, and the server goes on', async (t) => {
  const { hostname, port } = new URL(server.url);
  const stranger = connect(Number(port), hostname).on('error', () => undefined);
  await kept(t, { close: async () => void stranger.destroy() });
  const head = [
    'GET /sip HTTP/1.1',
    `Host: ${hostname}:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    '',
  ];
  stranger.write(head.join('\r\n'));
  const [answer] = (await once(stranger, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 400/);
  stranger.resetAndDestroy();
  await goesOn();
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
});
