import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoadGauge } from '../../../sip/transaction/load-gauge.js';
import { ManualTime } from '../../fakes/manual-time.js';

test('the longer messages wait, the more calls are refused, and none once they do not', () => {
  const time = new ManualTime();
  let delayMs = 40;
  const gauge = new LoadGauge({ time, delayMs: () => delayMs });
  const sharesAfter = (periods: number): string => {
    time.advance(periods * 100);
    return gauge.share.toFixed(2);
  };
  assert.equal(sharesAfter(10), '0.00');
  assert.equal(gauge.refuses('any'), false);
  delayMs = 240;
  assert.equal(sharesAfter(10), '0.00');
  delayMs = 375;
  assert.equal(sharesAfter(3), '0.30');
  delayMs = 5000;
  assert.equal(sharesAfter(1), '0.60');
  assert.equal(sharesAfter(5), '0.98');
  delayMs = 200;
  assert.equal(sharesAfter(10), '0.98'); // neither too long nor short enough
  delayMs = 10;
  assert.equal(sharesAfter(10), '0.68');
  assert.equal(sharesAfter(30), '0.00');
  gauge.close();
  assert.equal(time.waiting, 0);
});

test('a pause refuses nobody, however long it was', () => {
  const time = new ManualTime();
  const delays = [5, 3000, 5, 5, 800, 20, 400];
  const gauge = new LoadGauge({ time, delayMs: () => delays.shift() ?? 5 });
  while (delays.length > 0) {
    time.advance(100);
    assert.equal(gauge.share, 0);
  }
});

test('the share of calls that is refused is that of their names, and the same call is refused again', () => {
  const time = new ManualTime();
  const gauge = new LoadGauge({ time, delayMs: () => 1000 });
  time.advance(200);
  assert.equal(gauge.share, 0.3);
  const names = Array.from({ length: 10_000 }, (_, index) => `${index}@192.0.2.1`);
  const refused = names.filter((name) => gauge.refuses(name));
  assert.ok(Math.abs(refused.length / names.length - 0.3) < 0.02, `${refused.length} of ${names.length}`);
  assert.ok(refused.every((name) => gauge.refuses(name)));
});

test('a peer is told the share in percent, for half a second, with a number that grows when it changes', () => {
  const time = new ManualTime();
  let delayMs = 0;
  const gauge = new LoadGauge({ time, delayMs: () => delayMs, wallMs: () => 1_795_000_000_125 });
  time.advance(1000);
  assert.deepEqual(gauge.control, { loss: 0, validityMs: 0, sequence: '1795000000.125' });
  delayMs = 1000;
  time.advance(200);
  assert.deepEqual(gauge.control, { loss: 30, validityMs: 500, sequence: '1795000000.126' });
  time.advance(100);
  assert.deepEqual(gauge.control, { loss: 60, validityMs: 500, sequence: '1795000000.127' });
  gauge.close();
});
