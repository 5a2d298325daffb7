// A rule bridges SIPp with SIPp: the caller's scenario and the callee's go through the server as they go
// without it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../fakes/until.js';
import { latePorts } from '../../fakes/free-port.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { TelephoneServer } from './telephone-server.js';

const CREDENTIALS = { user: 'alice', password: 'secret of a test' };

let server: TelephoneServer;
const ports = { udp: 0, tcp: 0 };

before(async () => {
  [ports.udp, ports.tcp] = [await latePorts(2), await latePorts(2)];
  const to = (transport: 'udp' | 'tcp') => `sip:office@127.0.0.1:${ports[transport]};transport=${transport}`;
  server = await TelephoneServer.start(
    { SIP_DIRECT_CALLS: '1' },
    {
      routes: [
        { to: 'udp', bridge: { to: to('udp'), ringTimeout: 20 } },
        { to: 'tcp', bridge: { to: to('tcp'), ringTimeout: 20 } },
      ],
    },
  );
});
after(() => server.close());

const PAIRS: readonly (readonly [caller: string, callee: string])[] = [
  ['call-basic', 'answer-basic'],
  ['call-pcma', 'answer-basic'],
  ['call-ringing', 'answer-late'],
  ['call-early-media', 'answer-early-media'],
  ['call-prack', 'answer-basic'],
  ['call-early-media', 'answer-prack'],
  ['call-late-offer', 'answer-late'],
  ['call-ended-by-callee', 'answer-hangs-up'],
  ['call-cancelled', 'answer-never'],
  ['call-refused', 'answer-busy'],
  ['call-refused', 'answer-declined'],
  ['call-hold-sendonly', 'answer-basic'],
];

for (const [n, [caller, callee]] of PAIRS.entries()) {
  const [from, to] = n % 3 === 0 ? (['udp', 'tcp'] as const) : (['tcp', 'udp'] as const);
  test(`${caller} over ${from} and ${callee} over ${to} are bridged`, async (t) => {
    const [rtp, other] = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
    const common = { holdMs: 400, limitS: 20, credentials: CREDENTIALS };
    const called = await kept(
      t,
      Sipp.answer(callee, { ...common, transport: to, port: ports[to], keys: { rtp_port: other.port } }),
    );
    const options = { ...common, transport: from, service: to, keys: { rtp_port: rtp.port } };
    const calling = await kept(t, Sipp.call(server.address, caller, options));
    const results = await Promise.all([calling.succeeded(), called.succeeded()]);
    for (const { successful, failed, strays } of results)
      assert.deepEqual([successful, failed, strays], [1, 0, 0]);
    await until(() => server.telephone.size === 0);
  });
}
