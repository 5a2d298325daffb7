import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import {
  AddressList,
  type Interfaces,
  isNetwork,
  isUnroutable,
  OwnAddresses,
  sourceKey,
} from '../../../sip/guard/address-list.js';
import { Guard, type GuardOptions, REQUEST_BOUNDS, Sources } from '../../../sip/guard/guard.js';
import { SourceRates } from '../../../sip/guard/source-rates.js';
import { ManualTime } from '../../fakes/manual-time.js';

const BOUNDS = { perSecond: 1, burst: 3, mostSources: 100 };

function guarded(options: Partial<GuardOptions> = {}) {
  const time = new ManualTime(1000);
  const guard = new Guard({
    time,
    allowed: ['127.0.0.0/8', '::1', '192.0.2.0/24'],
    challenged: ['198.51.100.0/24', '2001:db8::/32'],
    requests: BOUNDS,
    failures: { perSecond: 0.1, burst: 2, mostSources: 100 },
    ...options,
  });
  const decide = (address: string, method = 'INVITE', userAgent?: string, expected = false) => {
    const decision = guard.decide({ address, method, userAgent, expected });
    if (decision.kind === 'drop') return decision.cause;
    return decision.kind === 'refuse'
      ? `${decision.refusal.status} ${decision.refusal.headers.join()}`
      : decision.kind;
  };
  return { time, guard, decide };
}

for (const [address, decision] of [
  ['127.0.0.1', 'accept'],
  ['::1', 'accept'],
  ['::ffff:127.0.0.1', 'accept'],
  ['192.0.2.200', 'accept'],
  ['198.51.100.3', 'challenge'],
  ['2001:db8:1::9', 'challenge'],
  ['2001:db9::9', 'stranger'],
  ['192.0.3.1', 'stranger'],
  ['fe80::1%eth0', 'stranger'],
  ['', 'stranger'],
  ['0x7f.1', 'stranger'],
] as const) {
  test(`a request from "${address}": ${decision}`, () => assert.equal(guarded().decide(address), decision));
}

test('a scanner hears nothing, not even from an allowed address', () => {
  const { decide, guard } = guarded();
  assert.equal(decide('192.0.2.1', 'OPTIONS', 'friendly-scanner'), 'scanner');
  assert.equal(decide('192.0.2.1', 'OPTIONS', 'SIPVicious 0.3'), 'scanner');
  assert.equal(decide('192.0.2.1', 'OPTIONS', 'Linphone/5.1'), 'accept');
  assert.equal(guard.counts.scanner, 2);
});

test('the excess of an allowed source is refused without Retry-After; one that must show a password hears nothing', () => {
  const { decide, time, guard } = guarded();
  const rounds = Array.from({ length: 4 }, () => [decide('192.0.2.1'), decide('198.51.100.1')]);
  assert.deepEqual(rounds.at(-1), ['503 ', 'flood']);
  assert.deepEqual(rounds[2], ['accept', 'challenge']);
  assert.equal(decide('192.0.2.2'), 'accept', 'its neighbour is another source');
  assert.equal(decide('192.0.2.1', 'BYE', undefined, true), 'accept', 'what is waited for is no visit');
  assert.equal(decide('192.0.2.1', 'ACK'), 'flood', 'there is no answer to it');
  time.advance(1000);
  assert.equal(decide('192.0.2.1'), 'accept');
  assert.deepEqual(guard.counts, {
    accepted: 6,
    challenged: 3,
    refused: 1,
    scanner: 0,
    stranger: 0,
    banned: 0,
    flood: 2,
  });
});

test('a source with too many wrong passwords is not heard for a while', () => {
  const { decide, guard, time } = guarded();
  guard.failed('198.51.100.1');
  assert.equal(decide('198.51.100.1'), 'challenge');
  guard.failed('198.51.100.1');
  assert.equal(decide('198.51.100.1'), 'banned');
  assert.equal(decide('198.51.100.2'), 'challenge');
  time.advance(10_000);
  assert.equal(decide('198.51.100.1'), 'challenge');
});

test('ACK and CANCEL cannot be challenged', () => {
  assert.deepEqual(
    ['ACK', 'CANCEL'].map((method) => guarded().decide('198.51.100.1', method)),
    ['accept', 'accept'],
  );
});

test('addresses of one network of IPv6 are one source', () => {
  assert.equal(sourceKey('2001:db8:1:2:3::4'), sourceKey('2001:db8:1:2:ffff::1'));
  assert.notEqual(sourceKey('2001:db8:1:2::1'), sourceKey('2001:db8:1:3::1'));
  assert.equal(sourceKey('::ffff:192.0.2.1'), '192.0.2.1');
});

test('an address is looked up once, of as many as are remembered', () => {
  const sources = new Sources({
    allowed: new AddressList(['192.0.2.0/24']),
    challenged: new AddressList(['::/0']),
  });
  const first = sources.of('::ffff:192.0.2.1');
  assert.deepEqual(first, { name: '192.0.2.1', key: '192.0.2.1', allowed: true, challenged: false });
  assert.equal(sources.of('::ffff:192.0.2.1'), first);
  assert.deepEqual(sources.of('2001:db8::9'), {
    name: '2001:db8::9',
    key: '2001:db8::/64',
    allowed: false,
    challenged: true,
  });
  assert.deepEqual(sources.of('nobody'), {
    name: 'nobody',
    key: 'nobody',
    allowed: false,
    challenged: false,
  });
  for (let index = 0; index < 10_000; index++) sources.of(`10.0.${index >> 8}.${index & 255}`);
  assert.equal(sources.size, 4096);
  assert.deepEqual(sources.of('::ffff:192.0.2.1'), first);
});

test('an address that is allowed for now is so only now', () => {
  const now = new Set<string>();
  const { decide, guard } = guarded({ allowedNow: (address) => now.has(address) });
  assert.equal(decide('203.0.113.1'), 'stranger');
  now.add('203.0.113.1');
  assert.equal(decide('::ffff:203.0.113.1'), 'accept');
  assert.deepEqual(
    [guard.knows('203.0.113.1'), guard.allows('203.0.113.1'), guard.answers('203.0.113.1')],
    [true, true, true],
  );
  now.clear();
  assert.equal(decide('203.0.113.1'), 'stranger');
  assert.equal(guard.answers('203.0.113.1'), false);
});

test('sources are remembered within bounds', () => {
  const time = new ManualTime();
  const rates = new SourceRates({ perSecond: 1, burst: 1, mostSources: 50 }, time);
  for (let index = 0; index < 10_000; index++) rates.take(`source ${index}`);
  assert.equal(rates.size, 50);
  assert.ok(rates.take('source 9999') > 0);
});

test('never more than the burst and the rate pass', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 5 }), (waits, burst) => {
      const time = new ManualTime();
      const rates = new SourceRates({ perSecond: 2, burst, mostSources: 5 }, time);
      let passed = 0;
      for (const wait of waits) {
        time.advance(wait);
        if (rates.take('one') === 0) passed++;
        assert.ok(passed <= burst + (time.now() / 1000) * 2 + 0.001);
      }
    }),
  );
});

test('what is an address or a network, and what is not', () => {
  for (const good of ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', ' ::/0 '])
    assert.ok(isNetwork(good), good);
  for (const bad of [
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/x',
    'host',
    '10.1',
    '10.0.0.0/-1',
    '/8',
  ])
    assert.ok(!isNetwork(bad), bad);
  assert.ok(new AddressList(['0.0.0.0/0']).has('203.0.113.1'));
  assert.ok(!new AddressList(['0.0.0.0/0']).has('::1'), 'IPv6 is asked for by itself');
});

test('a list and an address of any text decide and never throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (item, address) => {
      assert.equal(new AddressList([item]).has(address) && !isNetwork(item), false);
    }),
  );
});

test('a source has so much read of it and no more, by the bytes of its messages; others are not concerned', () => {
  const { time, guard } = guarded({ reading: { perSecond: 10, burst: 10, mostSources: 100 } });
  const read = (bytes: number, address = '192.0.2.1') => guard.reads(address, bytes);
  assert.deepEqual([read(16_384), read(2048), read(1), read(1)], [true, true, true, false]);
  assert.deepEqual([guard.counts.flood, read(16_384, '192.0.2.2')], [1, true]);
  time.advance(100);
  assert.deepEqual([read(500), read(500)], [true, false]);
  assert.equal(guarded().guard.reads('192.0.2.1', 1e9), true);
});

for (const [announced, peer, expected] of [
  ['192.168.1.5', '203.0.114.7', true], // a telephone behind a translator
  ['10.1.2.3', '2a00::7', true],
  ['fd00::5', '2a00::7', true],
  ['fe80::5', '2a00::7', true],
  ['100.64.0.1', '203.0.114.7', true],
  ['127.0.0.1', '203.0.114.7', true],
  ['127.0.0.1', '192.168.1.5', true],
  ['::1', '192.168.1.5', true],
  ['192.168.1.5', '192.168.1.9', false],
  ['192.168.1.5', '10.0.0.1', false], // one site with several networks
  ['192.168.1.5', '127.0.0.1', false], // a proxy on this machine
  ['127.0.0.1', '127.0.0.9', false],
  ['203.0.114.9', '203.0.114.7', false],
  ['203.0.114.9', '192.168.1.1', false],
  ['192.168.1.5', '::ffff:203.0.114.7', true],
  ['192.168.1.5', '', false],
  ['', '203.0.114.7', false],
] as const) {
  test(`${announced || 'no address'} as announced by ${peer || 'nobody'} ${expected ? 'cannot' : 'can'} be routed`, () => {
    assert.equal(isUnroutable(announced, peer), expected);
  });
}

const request = { method: 'INVITE', userAgent: undefined, expected: false };

test('a phone on this machine may call from any address of the machine, as long as the machine has it', () => {
  const time = new ManualTime(1000);
  let asked = 0;
  let interfaces: ReturnType<Interfaces> = {
    lo: [{ address: '127.0.0.1' }, { address: '::1' }],
    eth0: [{ address: '192.0.2.2' }, { address: 'fe80::1%eth0' }, { address: '2001:DB8::2' }],
    wlan0: undefined,
  };
  const own = new OwnAddresses(time, () => {
    asked++;
    return interfaces;
  });
  const guard = new Guard({
    time,
    allowed: [],
    challenged: [],
    allowedNow: (address) => own.has(address),
    requests: REQUEST_BOUNDS,
    failures: REQUEST_BOUNDS,
  });
  const heard = (address: string) => guard.decide({ ...request, address }).kind === 'accept';
  for (const address of ['192.0.2.2', '::ffff:192.0.2.2', '2001:db8::2', 'fe80::1%eth0']) {
    assert.equal(heard(address), true, address);
  }
  for (const address of ['192.0.2.3', '2001:db8::3']) assert.equal(heard(address), false, address);
  assert.equal(asked, 1);
  interfaces = { wlan0: [{ address: '198.51.100.7' }] };
  assert.deepEqual([heard('192.0.2.2'), heard('198.51.100.7')], [true, false]);
  time.advance(5000);
  assert.deepEqual([heard('192.0.2.2'), heard('198.51.100.7'), asked], [false, true, 2]);
});
