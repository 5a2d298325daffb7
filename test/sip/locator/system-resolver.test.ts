// The name servers of the machine, played by one on loopback.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Locator } from '../../../sip/locator/locator.js';
import { type Resolver, systemResolver } from '../../../sip/locator/resolver.js';
import { kept } from '../../interop/telephone/kept.js';
import { uriOf } from '../client/places.js';
import { NameServer, type Zone } from './name-server.js';

const TIMEOUT_MS = 3000; // as the server has it

async function resolverOf(
  t: TestContext,
  zone: Zone,
  timeoutMs = TIMEOUT_MS,
): Promise<{ readonly resolver: Resolver; readonly server: NameServer }> {
  const server = await kept(t, NameServer.open(zone));
  return { server, resolver: systemResolver(timeoutMs, [server.address]) };
}

test('addresses of both families come with the least of their times to live', async (t) => {
  const { resolver } = await resolverOf(t, {
    'A sip.example.com': ['300 192.0.2.1', '60 192.0.2.2'],
    'AAAA sip.example.com': ['120 2001:db8:0:0:0:0:0:1'],
  });
  const four = await resolver.addresses('sip.example.com', 4);
  assert.deepEqual([four.records.toSorted(), four.ttlSeconds], [['192.0.2.1', '192.0.2.2'], 60]);
  assert.deepEqual(await resolver.addresses('sip.example.com', 6), {
    records: ['2001:db8::1'],
    ttlSeconds: 120,
  });
});

test('SRV and NAPTR records are read, each field of them', async (t) => {
  const { resolver } = await resolverOf(t, {
    'SRV _sips._tcp.example.com': ['60 10 5 5061 edge.example.com', '60 20 0 5071 spare.example.com'],
    'NAPTR example.com': [
      '60 50 10 s SIPS+D2T - _sips._tcp.example.com',
      '60 90 20 u E2U+sip !^.*$!sip:info@example.com! .',
    ],
  });
  const byPriority = (await resolver.srv('_sips._tcp.example.com')).records.toSorted(
    (a, b) => a.priority - b.priority,
  );
  assert.deepEqual(byPriority, [
    { priority: 10, weight: 5, port: 5061, target: 'edge.example.com' },
    { priority: 20, weight: 0, port: 5071, target: 'spare.example.com' },
  ]);
  const byOrder = (await resolver.naptr('example.com')).records.toSorted((a, b) => a.order - b.order);
  assert.deepEqual(byOrder, [
    { order: 50, preference: 10, flags: 's', service: 'SIPS+D2T', replacement: '_sips._tcp.example.com' },
    { order: 90, preference: 20, flags: 'u', service: 'E2U+sip', replacement: '' },
  ]);
});

test('a name without such records, and one that is none, have no records; that is no failure', async (t) => {
  const { resolver } = await resolverOf(t, { 'A known.example.com': ['60 192.0.2.1'] });
  for (const name of ['known.example.com', 'unknown.example.com']) {
    assert.deepEqual(await resolver.naptr(name), { records: [] });
    assert.deepEqual(await resolver.srv(name), { records: [] });
    assert.deepEqual(await resolver.addresses(name, 6), { records: [] });
  }
});

test('a name server that fails or says nothing is a failure, after two tries at most', async (t) => {
  const { resolver } = await resolverOf(t, { 'A fails.example.com': 'fails' });
  await assert.rejects(resolver.addresses('fails.example.com', 4), { code: 'ESERVFAIL' });
  const { resolver: impatient, server } = await resolverOf(t, { 'SRV silent.example.com': 'silent' }, 100);
  await assert.rejects(impatient.srv('silent.example.com'), { code: 'ETIMEOUT' });
  assert.equal(server.asked.filter((question) => question === 'SRV silent.example.com').length, 2);
});

test('the locator finds its way by these records: NAPTR, SRV, addresses; and on where one question fails', async (t) => {
  const { resolver } = await resolverOf(t, {
    'NAPTR example.com': [
      '60 50 10 s SIPS+D2T - _sips._tcp.example.com',
      '60 90 10 S SIP+D2U - _sip._udp.example.com',
    ],
    'SRV _sips._tcp.example.com': ['60 10 0 5061 edge.example.com', '60 20 0 5061 lost.example.com'],
    'SRV _sip._udp.example.com': ['60 10 0 5070 edge.example.com'],
    'A edge.example.com': ['60 192.0.2.1'],
    'A lost.example.com': 'fails',
    'AAAA edge.example.com': ['60 2001:db8:0:0:0:0:0:1'],
  });
  const locator = new Locator({ resolver, random: () => 0.5, transports: ['tls', 'udp'], families: [4, 6] });
  const found: string[] = [];
  for await (const { transport, address, port, domain } of locator.locate(uriOf('sip:bob@example.com'))) {
    found.push(`${transport} ${address} ${port} ${domain}`);
  }
  assert.deepEqual(found, [
    'tls 192.0.2.1 5061 example.com',
    'tls 2001:db8::1 5061 example.com',
    'udp 192.0.2.1 5070 example.com',
    'udp 2001:db8::1 5070 example.com',
  ]);
});
