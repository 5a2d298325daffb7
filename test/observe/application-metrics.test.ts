import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { ApplicationMetrics } from '../../src/observe/application-metrics.js';

test('lines are counted by kind: open now, opened, failed by reason, reconnected', async () => {
  const registry = new Registry();
  const metrics = new ApplicationMetrics(registry);
  metrics.opened('relay');
  metrics.opened('relay');
  metrics.opened('media_stream');
  metrics.reconnected('relay');
  metrics.failed('relay', 'lost');
  metrics.closed('relay');
  metrics.failed('relay', 'unreachable');
  const page = await registry.metrics();
  const value = (line: string) =>
    page
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.split(' ')[1];
  assert.equal(value('parley_application_lines{kind="relay"}'), '1');
  assert.equal(value('parley_application_lines{kind="media_stream"}'), '1');
  assert.equal(value('parley_application_lines_total{kind="relay"}'), '2');
  assert.equal(value('parley_application_lines_failed_total{kind="relay",reason="lost"}'), '1');
  assert.equal(value('parley_application_lines_failed_total{kind="relay",reason="unreachable"}'), '1');
  assert.equal(value('parley_application_reconnects_total{kind="relay"}'), '1');
});

test('decisions about incoming calls are counted by outcome', async () => {
  const registry = new Registry();
  const metrics = new ApplicationMetrics(registry);
  for (const outcome of ['relay', 'timeout', 'relay']) metrics.decided(outcome);
  const page = await registry.metrics();
  assert.match(page, /^parley_incoming_decisions_total\{outcome="relay"\} 2$/m);
  assert.match(page, /^parley_incoming_decisions_total\{outcome="timeout"\} 1$/m);
});
