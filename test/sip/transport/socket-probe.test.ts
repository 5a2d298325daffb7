import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SocketProbe } from '../../../sip/transport/udp-listener.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { openTransports } from './transports-under-test.js';

test('the wait is that of the last probe, or of the one under way, and a lost one is sent again', () => {
  const time = new ManualTime();
  const sent: Buffer[] = [];
  const probe = new SocketProbe(time, (bytes) => sent.push(bytes));
  assert.equal(probe.delayMs(), 0);
  time.advance(30);
  assert.equal(probe.takes(Buffer.alloc(16)), false);
  assert.equal(probe.takes(sent[0] ?? Buffer.alloc(0)), true);
  assert.equal(probe.delayMs(), 30);
  time.advance(500);
  assert.equal(probe.delayMs(), 500);
  assert.equal(sent.length, 2);
  time.advance(500);
  assert.equal(probe.delayMs(), 1000);
  assert.equal(sent.length, 3);
});

for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
  test(`messages to ${host} that wait while the process is busy show in the wait`, async (t) => {
    const { transports, received } = await openTransports(t, [
      { transport: 'udp', port: 0, host, advertised: { host: '192.0.2.1' } },
    ]);
    await until(() => {
      const delayMs = transports.queueDelayMs();
      return delayMs > 0 && delayMs < 20;
    });
    transports.queueDelayMs();
    const end = performance.now() + 60;
    while (performance.now() < end);
    assert.ok(transports.queueDelayMs() >= 50);
    assert.equal(received.length, 0);
  });
}

test('where nothing is listened on over UDP there is no wait', async (t) => {
  const { transports } = await openTransports(t, []);
  assert.equal(transports.queueDelayMs(), 0);
});
