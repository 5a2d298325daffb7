import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CACHE_BOUNDS, CachedResolver, type Resolver } from '../../../sip/locator/resolver.js';
import { Locator, type LocatorOptions, nextHop, srvOrder } from '../../../sip/locator/locator.js';
import { parseUri, type Uri } from '../../../sip/message/uri.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { randomFrom } from '../../api/mutations.js';

type Zone = Readonly<Record<string, readonly string[]>>;

/** Records by kind and name, as text: `srv _sip._udp.a` → `priority weight port target`. */
function zone(records: Zone): Resolver & { readonly asked: string[] } {
  const asked: string[] = [];
  const look = (key: string) => {
    asked.push(key);
    const found = records[key] ?? [];
    if (found[0] === 'fails') throw new Error('SERVFAIL');
    return found.map((text) => text.split(' '));
  };
  const numbers = (parts: readonly string[]) => parts.map(Number) as [number, number, number];
  return {
    asked,
    naptr: async (name) => ({
      records: look(`naptr ${name}`).map(
        ([order, preference, flags = '', service = '', replacement = '']) => ({
          order: Number(order),
          preference: Number(preference),
          flags,
          service,
          replacement,
        }),
      ),
    }),
    srv: async (name) => ({
      records: look(`srv ${name}`).map((parts) => {
        const [priority, weight, port] = numbers(parts);
        return { priority, weight, port, target: parts[3] ?? '' };
      }),
    }),
    addresses: async (name, family) => ({
      records: look(`${family} ${name}`).map(([address = '']) => address),
      ttlSeconds: 30,
    }),
  };
}

function uriOf(text: string): Uri {
  const uri = parseUri(text);
  assert.ok(uri);
  return uri;
}

async function targets(
  text: string,
  resolver: Resolver,
  options: Partial<LocatorOptions> = {},
): Promise<string[]> {
  const locator = new Locator({
    resolver,
    random: randomFrom(1),
    transports: ['udp', 'tcp', 'tls'],
    families: [4, 6],
    ...options,
  });
  const found: string[] = [];
  for await (const { transport, address, port } of locator.locate(uriOf(text)))
    found.push(`${transport} ${address} ${port}`);
  return found;
}

const EXAMPLE: Zone = {
  'naptr example.com': [
    '90 50 s SIP+D2U _sip._udp.example.com',
    '50 50 s SIPS+D2T _sips._tcp.example.com',
    '90 40 s SIP+D2T _sip._tcp.example.com',
    '10 10 s SIP+D2S _sip._sctp.example.com',
    '10 10 u E2U+sip ignored.example.com',
  ],
  'srv _sip._tcp.example.com': ['20 1 5070 b.example.com', '10 1 5060 a.example.com'],
  'srv _sips._tcp.example.com': ['10 1 5061 a.example.com'],
  'srv _sip._udp.example.com': ['10 1 5060 a.example.com', '10 0 0 .'],
  '4 a.example.com': ['192.0.2.1'],
  '4 b.example.com': ['192.0.2.2'],
  '6 b.example.com': ['2001:db8::2'],
  '4 example.com': ['192.0.2.9'],
};

for (const [uri, expected] of [
  [
    'sip:example.com',
    [
      'tls 192.0.2.1 5061',
      'tcp 192.0.2.1 5060',
      'tcp 192.0.2.2 5070',
      'tcp 2001:db8::2 5070',
      'udp 192.0.2.1 5060',
    ],
  ],
  ['sips:example.com', ['tls 192.0.2.1 5061']],
  ['sip:example.com;transport=tcp', ['tcp 192.0.2.1 5060', 'tcp 192.0.2.2 5070', 'tcp 2001:db8::2 5070']],
  ['sips:example.com;transport=tcp', ['tls 192.0.2.1 5061']],
  ['sip:example.com:5080', ['udp 192.0.2.9 5080']],
  ['sips:example.com:5080', ['tls 192.0.2.9 5080']],
  ['sip:example.com:5080;transport=tls', ['tls 192.0.2.9 5080']],
  ['sip:a.example.com', ['udp 192.0.2.1 5060']],
  ['sips:a.example.com', ['tls 192.0.2.1 5061']],
  ['sip:198.51.100.1', ['udp 198.51.100.1 5060']],
  ['sip:[2001:db8::9]:5070;transport=tcp', ['tcp 2001:db8::9 5070']],
  ['sips:198.51.100.1', ['tls 198.51.100.1 5061']],
  ['sip:example.com;maddr=198.51.100.2', ['udp 198.51.100.2 5060']],
  ['sip:nowhere.example.com', []],
  ['sip:example.com;transport=sctp', []],
  ['sips:example.com;transport=udp', []],
  ['sip:example.com;transport=ws', []],
] as const) {
  test(`${uri} is tried at ${expected.join(', ') || 'no place'}`, async () => {
    assert.deepEqual(await targets(uri, zone(EXAMPLE)), expected);
  });
}

test('without NAPTR every transport of ours is asked for by SRV', async () => {
  const { 'naptr example.com': _none, ...rest } = EXAMPLE;
  const resolver = zone({ ...rest, 'naptr example.com': ['fails'] });
  const found = await targets('sip:example.com', resolver, { transports: ['tcp', 'udp'], families: [4] });
  assert.deepEqual(found, ['tcp 192.0.2.1 5060', 'tcp 192.0.2.2 5070', 'udp 192.0.2.1 5060']);
});

test('what is not needed is not asked for, and the domain of the URI stays for its certificate', async () => {
  const resolver = zone(EXAMPLE);
  const locator = new Locator({ resolver, random: randomFrom(1), transports: ['udp', 'tls'], families: [4] });
  const first = await locator.locate(uriOf('sip:example.com')).next();
  assert.ok(first.done !== true);
  assert.equal(first.value.domain, 'example.com');
  assert.deepEqual(resolver.asked, ['naptr example.com', 'srv _sips._tcp.example.com', '4 a.example.com']);
});

test('a name with hundreds of addresses costs so many targets and no more', async () => {
  const many = Array.from({ length: 200 }, (_, index) => `192.0.2.${index}`);
  assert.equal((await targets('sip:many.example.com', zone({ '4 many.example.com': many }))).length, 32);
});

test('records of one priority are drawn by weight', () => {
  const random = randomFrom(7);
  const record = (weight: number, target: string, priority = 1) => ({ priority, weight, port: 5060, target });
  const records = [record(10, 'small'), record(30, 'large'), record(0, 'none'), record(99, 'later', 2)];
  const firsts: Record<string, number> = {};
  for (let round = 0; round < 4000; round++) {
    const order = srvOrder(records, random).map(({ target }) => target);
    assert.equal(order.at(-1), 'later');
    assert.equal(order.length, 4);
    firsts[order[0] ?? ''] = (firsts[order[0] ?? ''] ?? 0) + 1;
  }
  assert.ok((firsts['large'] ?? 0) > 2700 && (firsts['large'] ?? 0) < 3100, JSON.stringify(firsts));
  assert.ok((firsts['small'] ?? 0) > 850 && (firsts['none'] ?? 0) > 0 && (firsts['none'] ?? 0) < 250);
});

test('an answer is kept as long as it is good; a question under way is shared; a failure is not kept', async () => {
  const time = new ManualTime();
  const resolver = zone(EXAMPLE);
  const cache = new CachedResolver(resolver, time);
  await Promise.all([cache.addresses('a.example.com', 4), cache.addresses('A.example.com', 4)]);
  time.advance(29_999);
  assert.deepEqual((await cache.addresses('a.example.com', 4)).records, ['192.0.2.1']);
  assert.equal(resolver.asked.length, 1);
  time.advance(1);
  await cache.addresses('a.example.com', 4);
  assert.equal(resolver.asked.length, 2);
  const failing = new CachedResolver(zone({ 'srv x': ['fails'] }), time);
  await assert.rejects(failing.srv('x'));
  assert.equal(failing.size, 0);
});

test('a name server that does not answer is waited for so long; the cache has so many entries', async () => {
  const time = new ManualTime();
  const silent: Resolver = { ...zone({}), srv: () => new Promise(() => {}) };
  const cache = new CachedResolver(silent, time, { ...CACHE_BOUNDS, mostEntries: 10 });
  const late = assert.rejects(cache.srv('x'), /within 3000 ms/);
  time.advance(3000);
  await late;
  for (let index = 0; index < 50; index++) await cache.naptr(`${index}.example.com`);
  assert.equal(cache.size, 10);
  assert.equal(time.waiting, 0);
});

test('a request goes to its first route, else to the outbound proxy, else to its URI', () => {
  const [requestUri, loose, strict, outboundProxy] = ['sip:bob@b', 'sip:p;lr', 'sip:q', 'sip:o;lr'].map(
    uriOf,
  ) as [Uri, Uri, Uri, Uri];
  assert.equal(nextHop({ requestUri, routes: [loose, strict], outboundProxy }), loose);
  assert.equal(nextHop({ requestUri, routes: [strict], outboundProxy }), requestUri);
  assert.equal(nextHop({ requestUri, routes: [], outboundProxy }), outboundProxy);
  assert.equal(nextHop({ requestUri, routes: [] }), requestUri);
});
