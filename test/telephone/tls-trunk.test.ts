// Trunks over TLS of a server that does not listen on TLS itself: every request uses the server's own
// connection, nothing is sent in the clear, and the peer's requests come by the same connection.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { createServer } from 'node:tls';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { issueCertificates, type Issued } from '../sip/transport/transports-under-test.js';
import { acceptanceOf, field, okTo, request, statusOf, TcpCaller } from './raw-caller.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-tls-trunk-'));
const environment = { SIP_TLS_CA: join(folder, 'ca.pem') };
let issued: Issued;

before(async () => {
  issued = await issueCertificates();
  writeFileSync(environment.SIP_TLS_CA, issued.ca);
});
after(() => rmSync(folder, { recursive: true }));

interface Edge {
  readonly port: number;
  /** Connections, each with the bytes received on it. */
  readonly connections: readonly TcpCaller[];
  /** Datagrams that came to the same port: anything sent in the clear. */
  readonly clear: readonly string[];
  /** The latest request of this method, on any connection. */
  readonly latest: (method: string) => string | undefined;
}

/** A carrier's edge: accepts everything over TLS, and listens for datagrams only to see that none come. */
async function openEdge(t: TestContext): Promise<Edge> {
  const port = await freePorts(1);
  const connections: TcpCaller[] = [];
  const clear: string[] = [];
  const latest = (method: string) =>
    connections.flatMap(({ heard }) => heard).findLast((message) => message.startsWith(`${method} `));
  const server = createServer({ cert: issued.server.cert, key: issued.server.key }, (socket) => {
    const peer = TcpCaller.over(socket);
    connections.push(peer);
    let answered = 0;
    socket.on('data', () => {
      for (const message of peer.heard.slice(answered)) if (answered++ >= 0) answer(peer, message, port);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const udp = createSocket('udp4', (bytes) => clear.push(bytes.toString('latin1')));
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  t.after(async () => {
    for (const connection of connections) await connection.close();
    await new Promise((resolve) => server.close(resolve));
    udp.close();
  });
  return { port, connections, clear, latest };
}

function answer(peer: TcpCaller, message: string, port: number): void {
  if (statusOf(message) > 0 || message.startsWith('ACK ')) return;
  const tag = field(message, 'To')?.includes(';tag=') === true ? '' : 'there';
  const isInvite = message.startsWith('INVITE ');
  peer.send(isInvite ? acceptanceOf(message, { host: '127.0.0.1', port }, 'tls') : okTo(message, 200, tag));
}

/** The target of a Contact, as text. */
const placeIn = (contact: string | undefined) =>
  /^<(sips?):[^@]+@([^;>]+);transport=tls>/.exec(contact ?? '')?.slice(1);

for (const [scheme, transport] of [
  ['sip', 'tls'],
  ['sips', undefined],
] as const) {
  test(`a trunk over TLS registers, is asked and called by its ${scheme} proxy over TLS alone, and is called back on the same connection`, async (t) => {
    const edge = await openEdge(t);
    const trunk = {
      name: 'carrier',
      domain: 'carrier.example',
      proxy: `${scheme}:127.0.0.1:${edge.port};lr`,
      username: '4930',
      password: 'x',
      register: {},
      options: {},
      ...(transport === undefined ? {} : { transport }),
    };
    const { telephone } = await kept(t, TelephoneServer.start(environment, { trunks: [trunk] }));
    await until(
      () => telephone.registrations[0]?.state === 'registered' && edge.latest('OPTIONS') !== undefined,
    );
    const { id } = await telephone.place({ to: '100', trunk: 'carrier' });
    await until(() => telephone.get(id).state === 'connected');
    const [connection, more] = edge.connections;
    assert.ok(connection !== undefined && more === undefined, 'there is one connection');
    // Without a listening socket, Contact and Via name this server's end of the connection.
    const ours = `127.0.0.1:${connection.socket.remotePort}`;
    const [register, invite] = [edge.latest('REGISTER') ?? '', edge.latest('INVITE') ?? ''];
    assert.deepEqual(placeIn(field(register, 'Contact')), ['sip', ours]);
    assert.deepEqual(placeIn(field(invite, 'Contact')), [scheme, ours]); // RFC 3261, section 8.1.1.8
    for (const message of [register, invite])
      assert.ok(field(message, 'Via')?.startsWith(`SIP/2.0/TLS ${ours};`), message);
    // The callee hangs up, using the URI in Contact.
    const [uri = ''] = /sips?:[^>]+/.exec(field(invite, 'Contact') ?? '') ?? [];
    const tag = (name: string) => /;tag=(\S+)/.exec(field(invite, name) ?? '')?.[1] ?? '';
    connection.send(
      request(connection, {
        method: 'BYE',
        uri,
        callId: field(invite, 'Call-ID') ?? '',
        fromTag: 'there',
        toTag: tag('From'),
      }),
    );
    await until(() => telephone.get(id).end?.reason === 'peer hung up');
    assert.equal(connection.isCut, false);
    assert.deepEqual(edge.clear, []);
  });
}

test('a sips address is never sent in the clear, whatever transport the trunk has', async (t) => {
  const edge = await openEdge(t);
  const place = { domain: `127.0.0.1:${edge.port}` };
  const trunks = [
    { name: 'udp', ...place, transport: 'udp' },
    { name: 'any', ...place },
  ];
  const { telephone } = await kept(t, TelephoneServer.start(environment, { trunks }));
  const to = `sips:bob@127.0.0.1:${edge.port}`;
  const over = await telephone.place({ to, trunk: 'udp' });
  await until(() => telephone.get(over.id).state === 'ended');
  assert.equal(telephone.get(over.id).end?.reason, 'failed');
  const { id } = await telephone.place({ to, trunk: 'any' });
  await until(() => telephone.get(id).state === 'connected');
  assert.equal(placeIn(field(edge.latest('INVITE') ?? '', 'Contact'))?.[0], 'sips');
  await telephone.hangUp(id);
  assert.deepEqual(edge.clear, []);
});
