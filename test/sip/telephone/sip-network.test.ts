// Contact URIs for peers, by their transport and by what they asked for.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { Admission, RecentPeers } from '../../../sip/telephone/admission.js';
import { SipNetwork } from '../../../sip/telephone/sip-network.js';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import type { Flow, TransportName } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { issueCertificates } from '../transport/certificates.js';

const { server } = await issueCertificates();

/** Not opened: its addresses come from its configuration. */
function network(t: TestContext, hosts: string, tlsPort?: number): SipNetwork {
  const time = new ManualTime();
  const { sip } = readConfig({
    SIP_HOST: hosts,
    SIP_PORT: '5070',
    SIP_ALLOW: '127.0.0.1',
    PUBLIC_ADDRESS: '',
  });
  const guard = new Guard({
    time,
    allowed: [],
    challenged: [],
    requests: REQUEST_BOUNDS,
    failures: FAILURE_BOUNDS,
  });
  const recentPeers = new RecentPeers(time);
  const made = new SipNetwork({
    config: { ...sip, tlsPort },
    tls: server,
    time,
    recentPeers,
    taps: undefined,
    admission: new Admission({ guard, digest: undefined, recentPeers }),
    invited: () => undefined,
    journeyFor: () => undefined,
    onResponse: () => undefined,
    failed: assert.fail,
  });
  t.after(() => made.close());
  return made;
}

function flow(transport: TransportName, local: string, remote = '192.0.2.9'): Flow {
  return {
    transport,
    local: { address: local, port: 5070 },
    remote: { address: remote, port: 5060 },
  } as Flow;
}

test('a Contact for a sips URI is one, at the TLS port whatever the request came by', (t) => {
  const made = network(t, '127.0.0.1', 5071);
  const both = (transport: TransportName) =>
    [false, true].map((secure) => made.contactFor(flow(transport, '127.0.0.1'), secure));
  assert.deepEqual(both('udp'), ['sip:parley@127.0.0.1:5070', 'sips:parley@127.0.0.1:5071;transport=tls']);
  assert.deepEqual(both('tls'), [
    'sip:parley@127.0.0.1:5071;transport=tls',
    'sips:parley@127.0.0.1:5071;transport=tls',
  ]);
});

test('where TLS is not listened on, a sips Contact that nobody could reach is not told', (t) => {
  const made = network(t, '127.0.0.1');
  assert.equal(made.contactFor(flow('udp', '127.0.0.1'), true), 'sip:parley@127.0.0.1:5070');
});

test('the Contact of what goes out is at our address that it leaves from, or of the family of its peer', (t) => {
  const made = network(t, '127.0.0.1,127.0.0.2,::1');
  const of = (local: string, remote: string) => made.contactOf('me', 'udp', flow('udp', local, remote));
  assert.equal(made.contactOf('me', 'udp', undefined), 'sip:me@127.0.0.1:5070');
  assert.equal(of('127.0.0.2', '192.0.2.9'), 'sip:me@127.0.0.2:5070');
  assert.equal(of('::1', '2001:db8::9'), 'sip:me@[::1]:5070');
});
