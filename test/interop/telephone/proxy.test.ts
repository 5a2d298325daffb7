// Kamailio and rtpengine between peers: registrations, challenged calls, Record-Route, relayed media.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Baresip } from './baresip.js';
import { Kamailio, type KamailioOptions } from './kamailio.js';
import { kept } from './kept.js';
import { Rtpengine } from './rtpengine.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity } from './rtp-record.js';
import { Sipp } from './sipp.js';

const USERS = { alice: 'one-of-a-test', bob: 'two-of-a-test' };

async function proxy(t: TestContext, options: KamailioOptions = {}): Promise<Kamailio> {
  const kamailio = await kept(t, Kamailio.start({ users: USERS, ...options }));
  return kamailio;
}

for (const transport of ['udp', 'tcp'] as const) {
  test(`over ${transport} a registration with the right password is taken, with another it is not`, async (t) => {
    const kamailio = await proxy(t);
    const register = async (password: string): Promise<Sipp> => {
      const credentials = { user: 'alice', password };
      const options = {
        transport,
        credentials,
        keys: { domain: kamailio.domain },
        service: 'alice',
        holdMs: 10,
      };
      const sipp = await kept(t, Sipp.call(kamailio.address, 'register', options));
      return sipp;
    };
    await (await register(USERS.alice)).succeeded();
    await assert.rejects((await register('another')).succeeded(), /401 Unauthorized/);
  });
}

test('a challenged call goes through the proxy to SIPp, and stays on its route', async (t) => {
  const callee = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: 20_000 } }));
  const kamailio = await proxy(t, {
    challengesCalls: true,
    routes: { carol: `sip:127.0.0.1:${callee.address.port}` },
  });
  const credentials = { user: 'alice', password: USERS.alice };
  const keys = { rtp_port: 20_002 };
  const caller = await kept(
    t,
    Sipp.call(kamailio.address, 'call-digest-407', {
      credentials,
      keys,
      service: 'carol',
    }),
  );
  await Promise.all([caller.succeeded(), callee.succeeded()]);
  assert.match(kamailio.output, /parley: BYE/);
  assert.match(callee.messages(), /Record-Route: <sip:127\.0\.0\.1:\d+;[^>]*lr/);
});

test('media goes through rtpengine from a registered baresip', async (t) => {
  const rtpengine = await kept(t, Rtpengine.start());
  const kamailio = await proxy(t, { rtpengine });
  const registrar = { address: kamailio.address, domain: kamailio.domain, password: USERS.bob };
  await kept(t, Baresip.start({ user: 'bob', registrar, answers: 'auto' }));
  const rtp = await kept(t, RtpPeer.open());
  const options = { keys: { rtp_port: rtp.port }, service: 'bob', holdMs: 700 };
  const caller = await kept(t, Sipp.call(kamailio.address, 'call-basic', options));
  await caller.succeeded();
  assert.ok(rtp.heard.length > 25, `${rtp.heard.length} packets`);
  assert.ok(rtp.heard.every(({ from }) => rtpengine.relaysFrom(from.port)));
  assert.deepEqual(continuity(rtp.heard).lost, 0);
});
