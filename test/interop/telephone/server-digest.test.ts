// Callers with a password call the server: SIPp, baresip and Linphone, which
// know MD5 only, and another server of the same kind, which knows better.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Environment } from '../../../src/config/environment.js';
import { until } from '../../fakes/until.js';
import { Baresip } from './baresip.js';
import { kept } from './kept.js';
import { Linphone } from './linphone.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity } from './rtp-record.js';
import { Sipp } from './sipp.js';
import { TelephoneServer, type TelephoneFiles } from './telephone-server.js';

const USERS = { alice: 'one-of-a-test', linphone: 'two-of-a-test' };
const RIGHT = { user: 'alice', password: USERS.alice };
const WRONG = { user: 'alice', password: 'another' };

function serverOf(
  t: TestContext,
  environment: Environment = {},
  files: TelephoneFiles = { users: USERS },
): Promise<TelephoneServer> {
  return kept(t, TelephoneServer.start({ SIP_CHALLENGE: '127.0.0.0/8', ...environment }, files));
}

test('SIPp is let in with the right password, over UDP and TCP, and with no other', async (t) => {
  const server = await serverOf(t);
  const keys = { rtp_port: 65_534 };
  for (const transport of ['udp', 'tcp'] as const) {
    const rtp = await kept(t, RtpPeer.open());
    const options = { transport, keys: { rtp_port: rtp.port }, credentials: RIGHT, holdMs: 500 };
    const sipp = await kept(t, Sipp.call(server.address, 'call-digest-401', options));
    await sipp.succeeded();
    assert.equal(sipp.messages().match(/^WWW-Authenticate: .*algorithm=MD5/gm)?.length, 1);
    assert.ok(rtp.heard.length > 20 && continuity(rtp.heard).lost === 0);
  }
  assert.equal(server.telephone.list().length, 2);
  const wrong = await kept(t, Sipp.call(server.address, 'call-wrong-password', { keys, credentials: WRONG }));
  await wrong.succeeded();
  const stranger = { user: 'mallory', password: USERS.alice };
  const strange = await kept(
    t,
    Sipp.call(server.address, 'call-wrong-password', { keys, credentials: stranger }),
  );
  await strange.succeeded();
  assert.equal(server.telephone.list().length, 2);
});

for (const [who, credentials] of [
  ['the right password', RIGHT],
  ['another', WRONG],
] as const) {
  const isRight = credentials === RIGHT;

  test(`baresip with ${who} is ${isRight ? 'let in' : 'refused'}`, async (t) => {
    const server = await serverOf(t);
    const baresip = await kept(t, Baresip.start({ credentials }));
    await baresip.command('dial', `sip:parley@127.0.0.1:${server.address.port}`);
    await baresip.told(isRight ? 'CALL_ESTABLISHED' : 'CALL_CLOSED');
    assert.equal(server.telephone.list().length, isRight ? 1 : 0);
    if (!isRight) return;
    await baresip.command('hangup'); // requests within the call are not challenged again
    await until(() => server.telephone.list()[0]?.end?.reason === 'peer hung up');
  });

  test(`Linphone with ${who} is ${isRight ? 'let in' : 'refused'}`, async (t) => {
    const server = await serverOf(t);
    // It answers only as the user that it calls as.
    const own = { user: 'linphone', password: isRight ? USERS.linphone : 'another', realm: 'parley' };
    const linphone = await kept(t, Linphone.start({ credentials: own, codecs: ['PCMU'] }));
    linphone.dial(`sip:parley@127.0.0.1:${server.address.port}`);
    await (isRight ? linphone.established() : linphone.ended());
    assert.equal(server.telephone.list().length, isRight ? 1 : 0);
    if (isRight) await linphone.hangUp();
  });
}

test('a server that wants SHA-256 is called by one that knows it', async (t) => {
  const called = await serverOf(t, { SIP_DIGEST: 'SHA-256' });
  const trunk = {
    name: 'other',
    domain: `127.0.0.1:${called.address.port}`,
    username: 'alice',
    password: USERS.alice,
    authRealms: ['parley'],
  };
  const calling = await kept(t, TelephoneServer.start({}, { trunks: [trunk] }));
  const { id, trunk: name } = await calling.telephone.place({ to: '100' });
  assert.equal(name, 'other');
  await until(() => calling.telephone.get(id).state === 'connected');
  assert.equal(called.telephone.list()[0]?.direction, 'inbound');
  await calling.telephone.hangUp(id);
  await until(() => called.telephone.list()[0]?.end?.reason === 'peer hung up');
});
