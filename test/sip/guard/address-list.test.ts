import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Interfaces, isUnroutable, OwnAddresses } from '../../../sip/guard/address-list.js';
import { Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { ManualTime } from '../../fakes/manual-time.js';

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
