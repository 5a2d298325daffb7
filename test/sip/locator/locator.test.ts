import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { Locator, type LocatorOptions, nextHop, srvOrder } from '../../../sip/locator/locator.js';
import {
  CACHE_BOUNDS,
  CachedResolver,
  type Resolver,
  systemResolver,
} from '../../../sip/locator/resolver.js';
import type { Uri } from '../../../sip/message/uri.js';
import { randomFrom } from '../../api/mutations.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { kept } from '../../interop/telephone/kept.js';
import { uriOf } from '../client/places.js';

type Records = Readonly<Record<string, readonly string[]>>;

/** Records by kind and name, as text: `srv _sip._udp.a` → `priority weight port target`. */
function fakeResolver(records: Records): Resolver & { readonly asked: string[] } {
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

const EXAMPLE: Records = {
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
    assert.deepEqual(await targets(uri, fakeResolver(EXAMPLE)), expected);
  });
}

test('without NAPTR every transport of ours is asked for by SRV', async () => {
  const { 'naptr example.com': _none, ...rest } = EXAMPLE;
  const resolver = fakeResolver({ ...rest, 'naptr example.com': ['fails'] });
  const found = await targets('sip:example.com', resolver, { transports: ['tcp', 'udp'], families: [4] });
  assert.deepEqual(found, ['tcp 192.0.2.1 5060', 'tcp 192.0.2.2 5070', 'udp 192.0.2.1 5060']);
});

test('what is not needed is not asked for, and the domain of the URI stays for its certificate', async () => {
  const resolver = fakeResolver(EXAMPLE);
  const locator = new Locator({ resolver, random: randomFrom(1), transports: ['udp', 'tls'], families: [4] });
  const first = await locator.locate(uriOf('sip:example.com')).next();
  assert.ok(first.done !== true);
  assert.equal(first.value.domain, 'example.com');
  assert.deepEqual(resolver.asked, ['naptr example.com', 'srv _sips._tcp.example.com', '4 a.example.com']);
});

test('a name with hundreds of addresses costs so many targets and no more', async () => {
  const many = Array.from({ length: 200 }, (_, index) => `192.0.2.${index}`);
  assert.equal(
    (await targets('sip:many.example.com', fakeResolver({ '4 many.example.com': many }))).length,
    32,
  );
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
  const resolver = fakeResolver(EXAMPLE);
  const cache = new CachedResolver(resolver, time);
  await Promise.all([cache.addresses('a.example.com', 4), cache.addresses('A.example.com', 4)]);
  time.advance(29_999);
  assert.deepEqual((await cache.addresses('a.example.com', 4)).records, ['192.0.2.1']);
  assert.equal(resolver.asked.length, 1);
  time.advance(1);
  await cache.addresses('a.example.com', 4);
  assert.equal(resolver.asked.length, 2);
  const failing = new CachedResolver(fakeResolver({ 'srv x': ['fails'] }), time);
  await assert.rejects(failing.srv('x'));
  assert.equal(failing.size, 0);
});

test('a name server that does not answer is waited for so long; the cache has so many entries', async () => {
  const time = new ManualTime();
  const silent: Resolver = { ...fakeResolver({}), srv: () => new Promise(() => {}) };
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

// Asks a name server on loopback in place of those of the machine.

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

// Answers DNS queries on loopback from a zone of the test (RFC 1035, RFC 2782, RFC 3403).

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA', 33: 'SRV', 35: 'NAPTR' };
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/**
 * Records by `TYPE name`, each as in a zone file without its name: `300 10 5 5060 target.example.com`, the
 * TTL first.
 */
type Zone = Readonly<Record<string, readonly string[] | 'fails' | 'silent'>>;

class NameServer {
  readonly address: string;
  /** Queries received, as `TYPE name`. */
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #zone: Zone;

  private constructor(socket: Socket, zone: Zone) {
    this.#socket = socket;
    this.#zone = zone;
    this.address = `127.0.0.1:${socket.address().port}`;
    socket.on('message', (bytes, { address, port }) => {
      const answer = this.#answer(bytes);
      if (answer !== undefined) socket.send(answer, port, address);
    });
  }

  static async open(zone: Zone): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, zone);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  #answer(question: Buffer): Buffer | undefined {
    const { name, end } = nameIn(question, 12);
    const type = TYPES[question.readUInt16BE(end)] ?? '';
    this.asked.push(`${type} ${name}`);
    const found = this.#zone[`${type} ${name}`];
    if (found === 'silent') return undefined;
    const isKnown = Object.keys(this.#zone).some((key) => key.endsWith(` ${name}`));
    const code = found === 'fails' ? SERVER_FAILURE : isKnown ? 0 : NO_SUCH_NAME;
    const records = typeof found === 'object' ? found : [];
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2); // an answer, recursion wanted and had
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const written = records.map((record) => recordBytes(type, question.readUInt16BE(end), record));
    return Buffer.concat([head, question.subarray(12, end + 4), ...written]);
  }
}

function nameIn(bytes: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** Its name is that of the question, which stands at byte 12. */
function recordBytes(type: string, number: number, record: string): Buffer {
  const [ttl = '', ...values] = record.split(' ');
  const data = dataBytes(type, values);
  const head = Buffer.from([0xc0, 12, 0, number, 0, 1, 0, 0, 0, 0, 0, data.length]);
  head.writeUInt32BE(Number(ttl), 6);
  return Buffer.concat([head, data]);
}

function dataBytes(type: string, values: readonly string[]): Buffer {
  const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = values;
  switch (type) {
    case 'A':
      return Buffer.from(first.split('.').map(Number));
    case 'AAAA':
      return Buffer.concat(
        first.split(':').map((group) => numberBytes(Number.parseInt(group, 16))), // written out, without `::`
      );
    case 'SRV':
      return Buffer.concat([
        ...[first, second, third].map((text) => numberBytes(Number(text))),
        nameBytes(fourth),
      ]);
    default: // NAPTR: order, preference, flags, service, expression, replacement
      return Buffer.concat([
        ...[first, second].map((text) => numberBytes(Number(text))),
        ...[third, fourth, fifth].map(textBytes),
        nameBytes(sixth),
      ]);
  }
}

function numberBytes(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** `-` stands for nothing. */
function textBytes(text: string): Buffer {
  const plain = text === '-' ? '' : text;
  return Buffer.concat([Buffer.from([plain.length]), Buffer.from(plain, 'latin1')]);
}

/** `.` is the root. */
function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([...labels.map(textBytes), Buffer.from([0])]);
}
