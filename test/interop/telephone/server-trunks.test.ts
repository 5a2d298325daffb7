// The server at trunks: registered at Kamailio, calling out through it and
// called through it, and from one trunk to the next where one fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { after, before, test, type TestContext } from 'node:test';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Environment } from '../../../src/config/environment.js';
import { Closing } from '../../../src/shutdown.js';
import { until } from '../../fakes/until.js';
import { issueCertificates } from '../../sip/transport/transports-under-test.js';
import { Baresip } from './baresip.js';
import { freePorts } from '../../fakes/free-port.js';
import { Kamailio, type KamailioOptions } from './kamailio.js';
import { kept } from './kept.js';
import { ScratchFolder } from './program.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound } from './rtp-record.js';
import { Rtpengine } from './rtpengine.js';
import { type Address, Sipp } from './sipp.js';
import { likeness } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

// Puts TLS in front of a peer that has none: each encrypted connection gets one TCP connection to the peer.

interface FrontIdentity {
  readonly cert: string;
  readonly key: string;
}

class TlsFront {
  readonly address: Address;
  readonly #server: Server;
  readonly #sockets: Set<TLSSocket>;
  #closed: Promise<void> | undefined;

  private constructor(server: Server, sockets: Set<TLSSocket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  static async open(behind: Address, { cert, key }: FrontIdentity): Promise<TlsFront> {
    const sockets = new Set<TLSSocket>();
    const server = createServer({ cert, key }, (socket) => {
      sockets.add(socket);
      const plain = connect(behind.port, behind.host);
      void pipeline(socket, plain, socket)
        .catch(() => undefined) // either side was cut
        .finally(() => {
          plain.destroy();
          socket.destroy();
          sockets.delete(socket);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsFront(server, sockets);
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#sockets.size;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
    return this.#closed;
  }
}

const USERS = { parley: 'one-of-a-test', bob: 'two-of-a-test' };
const OPTIONS_S = 5; // the least that a trunk may have

/**
 * A trunk that answers OPTIONS, stops answering, and answers again. This takes 16 s, in parallel with the
 * other tests.
 */
let health: { readonly server: TelephoneServer; readonly port: number; readonly first: Sipp };
const opened = new Closing();

before(async () => {
  const port = await freePorts(2);
  const first = await Sipp.answer('answer-options', { port, transport: 'tcp' });
  opened.add(() => first.close());
  const trunk = {
    name: 'asked',
    domain: `127.0.0.1:${port}`,
    transport: 'tcp',
    options: { intervalSeconds: OPTIONS_S },
  };
  const server = await TelephoneServer.start({}, { trunks: [trunk] });
  opened.add(() => server.close());
  health = { port, first, server };
});
after(() => opened.close());

interface TrunkFields {
  readonly register?: { readonly expires: number };
  readonly password?: string;
  readonly transport?: string;
}

/** A server whose only trunk is this Kamailio. */
function serverAt(
  t: TestContext,
  kamailio: Kamailio,
  fields: TrunkFields = {},
  environment: Environment = {},
): Promise<TelephoneServer> {
  const { transport = 'udp', ...others } = fields;
  const proxy = `sip:127.0.0.1:${kamailio.address.port};transport=${transport}`;
  const trunk = {
    name: 'pbx',
    domain: kamailio.domain,
    proxy,
    transport,
    username: 'parley',
    password: USERS.parley,
    ...others,
  };
  return kept(t, TelephoneServer.start(environment, { trunks: [trunk] }));
}

function proxyOf(t: TestContext, options: KamailioOptions = {}): Promise<Kamailio> {
  return kept(t, Kamailio.start({ users: USERS, ...options }));
}

/** `callee` hears the greeting through the trunk, and is hung up on when it has. */
async function greets(server: TelephoneServer, to: string, callee: Sipp, rtp: RtpPeer): Promise<void> {
  const { id } = await server.telephone.place({ to, say: { text: GREETING, after: 'hangup' } });
  await callee.succeeded();
  await until(() => server.telephone.get(id).state === 'ended');
  const { end, trunk } = server.telephone.get(id);
  assert.deepEqual([end, trunk], [{ reason: 'we hung up' }, 'pbx']);
  assert.equal(continuity(rtp.heard).lost, 0);
  const { correlation } = likeness(
    { samples: g711Sound(rtp.heard), rate: 8000 },
    await server.rendered(GREETING),
  );
  assert.ok(correlation > 0.93, `${correlation}`);
}

const registers = ({ output }: Kamailio): number => output.match(/parley: REGISTER/g)?.length ?? 0;

for (const transport of ['udp', 'tcp']) {
  test(`a trunk is registered by digest over ${transport}, refreshed, and taken back at the end`, async (t) => {
    const kamailio = await proxyOf(t, { longestS: 6 });
    const server = await serverAt(t, kamailio, { register: { expires: 60 }, transport });
    await until(() => server.telephone.registrations[0]?.state === 'registered');
    assert.deepEqual(server.telephone.health['trunks'], [{ name: 'pbx', calls: 0, registered: true }]);
    const asked = registers(kamailio);
    await until(() => registers(kamailio) > asked);
    assert.equal(server.telephone.registrations[0]?.state, 'registered');
    await server.close();
    const options = { service: 'parley', keys: { rtp_port: 65_534 } };
    const caller = await kept(t, Sipp.call(kamailio.address, 'call-refused', options));
    await caller.succeeded();
    assert.match(caller.messages(), /SIP\/2\.0 404 Not Found/);
  });
}

test('a trunk is registered by digest over TLS, calls go out by the same connection, and it is taken back at the end', async (t) => {
  const issued = await issueCertificates();
  const folder = new ScratchFolder();
  t.after(() => folder.remove());
  writeFileSync(folder.at('ca.pem'), issued.ca);
  const rtp = await kept(t, RtpPeer.open());
  const callee = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const kamailio = await proxyOf(t, { routes: { carol: `sip:127.0.0.1:${callee.address.port}` } });
  const front = await kept(t, TlsFront.open(kamailio.address, issued.server)); // Debian's Kamailio has no TLS
  const proxy = `sip:127.0.0.1:${front.address.port}`;
  const trunk = {
    name: 'pbx',
    domain: kamailio.domain,
    proxy,
    transport: 'tls',
    username: 'parley',
    password: USERS.parley,
    register: {},
  };
  const server = await kept(
    t,
    TelephoneServer.start({ SIP_TLS_CA: folder.at('ca.pem') }, { trunks: [trunk] }),
  );
  await until(() => server.telephone.registrations[0]?.state === 'registered');
  assert.equal(registers(kamailio), 2); // without and with the password
  await greets(server, 'carol', callee, rtp);
  assert.match(kamailio.output, /parley: BYE/);
  assert.equal(front.connections, 1);
  await server.close();
  assert.equal(registers(kamailio), 3);
});

test('a wrong password is told with the name of the trunk, which then takes no calls', async (t) => {
  const kamailio = await proxyOf(t);
  const fields = { register: { expires: 60 }, password: 'another' };
  const server = await serverAt(t, kamailio, fields);
  await until(() => server.telephone.registrations[0]?.state === 'failed');
  const [trunk] = server.telephone.health['trunks'] as unknown[];
  assert.deepEqual(trunk, { name: 'pbx', calls: 0, registered: false, failure: 'credentials' });
  await assert.rejects(server.telephone.place({ to: '100' }), {
    code: 'ENGINE_UNAVAILABLE',
    message: 'no trunk takes calls now: unregistered',
  });
});

test('calls go out through a proxy that wants a password, to SIPp, and stay on their route', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const callee = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const routes = { carol: `sip:127.0.0.1:${callee.address.port}` };
  const kamailio = await proxyOf(t, { challengesCalls: true, routes });
  const server = await serverAt(t, kamailio);
  await greets(server, 'carol', callee, rtp);
  assert.match(kamailio.output, /parley: BYE/);
  const { id } = await server.telephone.place({ to: 'nobody' });
  await until(() => server.telephone.get(id).state === 'ended');
  assert.deepEqual(server.telephone.get(id).end, { reason: 'rejected', status: 404 });
  const foreign = await serverAt(t, kamailio, { password: 'another' });
  const refused = await foreign.telephone.place({ to: 'carol' });
  await until(() => foreign.telephone.get(refused.id).state === 'ended');
  assert.deepEqual(foreign.telephone.get(refused.id).end, { reason: 'rejected', status: 407 });
});

test('calls go out through a proxy to a registered baresip over TCP', async (t) => {
  const kamailio = await proxyOf(t, { challengesCalls: true });
  const registrar = { address: kamailio.address, domain: kamailio.domain, password: USERS.bob };
  const baresip = await kept(t, Baresip.start({ user: 'bob', registrar, answers: 'auto', transport: 'tcp' }));
  const server = await serverAt(t, kamailio, { transport: 'tcp' });
  const text = `Welcome. ${GREETING}`;
  const said = await server.rendered(text);
  const { id } = await server.telephone.place({ to: 'bob', say: { text } });
  await baresip.told('CALL_ESTABLISHED');
  await baresip.until('hear it', 9000, () => likeness(baresip.heard(), said).longerMs > -120);
  assert.ok(likeness(baresip.heard(), said).correlation > 0.9);
  await server.telephone.hangUp(id);
  await baresip.told('CALL_CLOSED');
});

test('calls come in through the registration from where it is, and from nowhere else', async (t) => {
  const elsewhere = { SIP_ALLOW: '192.0.2.1' };
  const kamailio = await proxyOf(t);
  const server = await serverAt(t, kamailio, { register: { expires: 60 } }, elsewhere);
  await until(() => server.telephone.registrations[0]?.state === 'registered');
  const rtp = await kept(t, RtpPeer.open());
  const options = { service: 'parley', keys: { rtp_port: rtp.port }, holdMs: 500 };
  const caller = await kept(t, Sipp.call(kamailio.address, 'call-basic', options));
  await caller.succeeded();
  assert.ok(rtp.heard.length > 20 && continuity(rtp.heard).lost === 0);
  const unregistered = await serverAt(t, kamailio, {}, elsewhere);
  const stranger = await kept(t, Sipp.call(unregistered.address, 'options', { limitS: 1 }));
  assert.equal((await stranger.result()).successful, 0);
  assert.doesNotMatch(stranger.messages(), /message received/);
});

test('media of a call that goes out is relayed by rtpengine', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const rtpengine = await kept(t, Rtpengine.start());
  const callee = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const routes = { carol: `sip:127.0.0.1:${callee.address.port}` };
  const kamailio = await proxyOf(t, { rtpengine, routes });
  const server = await serverAt(t, kamailio);
  await greets(server, 'carol', callee, rtp);
  assert.ok(rtp.heard.every(({ from }) => rtpengine.relaysFrom(from.port)));
});

test('a call goes on to the next trunk where one is dead and one is overloaded', async (t) => {
  const dead = await freePorts();
  const busy = await kept(t, Sipp.answer('answer-unavailable'));
  const rtp = await kept(t, RtpPeer.open());
  const good = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const trunks = [
    { name: 'dead', domain: `127.0.0.1:${dead}`, transport: 'tcp' },
    { name: 'busy', domain: `127.0.0.1:${busy.address.port}` },
    { name: 'pbx', domain: `127.0.0.1:${good.address.port}` },
  ];
  const server = await kept(t, TelephoneServer.start({}, { trunks }));
  await greets(server, '+49301234', good, rtp);
  await busy.succeeded();
});

test('a trunk refuses calls that come too fast, and those that are too many', async (t) => {
  const callee = await kept(t, Sipp.answer('answer-never', { calls: 2 }));
  const domain = `127.0.0.1:${callee.address.port}`;
  const trunks = [
    { name: 'slow', domain, callsPerSecond: 0.1 },
    { name: 'narrow', domain, mostCalls: 1 },
  ];
  const server = await kept(t, TelephoneServer.start({}, { trunks }));
  const first = await server.telephone.place({ to: '100', trunk: 'slow' });
  await assert.rejects(server.telephone.place({ to: '100', trunk: 'slow' }), {
    code: 'RATE_LIMITED',
    retryAfterSeconds: 10,
  });
  const second = await server.telephone.place({ to: '100', trunk: 'narrow' });
  await assert.rejects(server.telephone.place({ to: '100', trunk: 'narrow' }), { code: 'CALL_LIMIT' });
  for (const { id } of [first, second]) {
    await until(() => server.telephone.get(id).state === 'ringing');
    await server.telephone.hangUp(id);
  }
  await callee.succeeded();
});

for (const transport of ['udp', 'tcp'] as const) {
  test(`a challenge of 401 and one of 407 are answered with the account of the trunk over ${transport}`, async (t) => {
    for (const challenge of ['401', '407']) {
      const credentials = { user: 'parley', password: USERS.parley };
      const options = { credentials, transport, keys: { rtp_port: 65_534 } };
      const callee = await kept(t, Sipp.answer(`answer-challenges-${challenge}`, options));
      const domain = `127.0.0.1:${callee.address.port}`;
      const account = { username: 'parley', password: USERS.parley, authRealms: ['sipp'] };
      const trunk = { name: 'sipp', domain, transport, ...account };
      const server = await kept(t, TelephoneServer.start({}, { trunks: [trunk] }));
      const { id } = await server.telephone.place({ to: '100' });
      await until(() => server.telephone.get(id).state === 'connected');
      await server.telephone.hangUp(id);
      await callee.succeeded();
    }
  });

  test(`SIPp as a registrar takes the registration with the right password over ${transport}`, async (t) => {
    const credentials = { user: 'parley', password: USERS.parley };
    const registrar = await kept(t, Sipp.answer('answer-registers', { credentials, transport }));
    const domain = `127.0.0.1:${registrar.address.port}`;
    const account = { username: 'parley', password: USERS.parley, authRealms: ['sipp'], register: {} };
    const trunk = { name: 'sipp', domain, transport, ...account };
    const server = await kept(t, TelephoneServer.start({}, { trunks: [trunk] }));
    await registrar.succeeded();
    if (transport === 'udp') await until(() => server.telephone.registrations[0]?.state === 'registered');
  });
}

test('a trunk that does not answer OPTIONS takes no calls until it does again', async (t) => {
  const { server, port, first } = health;
  const reachable = (): boolean | undefined =>
    (server.telephone.health['trunks'] as { reachable?: boolean }[])[0]?.reachable;
  await first.succeeded();
  await until(() => reachable() === false);
  await assert.rejects(server.telephone.place({ to: '100' }), {
    message: 'no trunk takes calls now: down',
  });
  const again = await kept(t, Sipp.answer('answer-options', { port, transport: 'tcp' }));
  await again.succeeded();
  await until(() => reachable() === true);
});
