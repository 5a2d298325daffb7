import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { type Interfaces, OwnAddresses } from '../../../sip/guard/address-list.js';
import { ManualTime } from '../../fakes/manual-time.js';

const visit = { method: 'INVITE', userAgent: undefined, expected: false };

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
  const heard = (address: string) => guard.decide({ ...visit, address }).kind === 'accept';
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
