import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { AgentMetrics } from '../../src/observe/agent-metrics.js';

test('each part of the way to an answer is counted in seconds, those that it did not have are not', async () => {
  const registry = new Registry();
  const metrics = new AgentMetrics(registry);
  const typed = { modelMs: 250, sentenceMs: 80, speechMs: 12, packetMs: 8, totalMs: 350 };
  metrics.answered('sales', typed);
  metrics.answered('sales', { ...typed, silenceMs: 600, textMs: 120, totalMs: 1070 });
  const page = await registry.metrics();
  const value = (line: string) => page.match(new RegExp(`^${line} (\\S+)$`, 'm'))?.[1];
  const of = (part: string, figure: string) =>
    Number(value(`parley_agent_answer_seconds_${figure}\\{part="${part}"\\}`));
  const parts = ['silence', 'text', 'model', 'sentence', 'speech', 'packet', 'total'];
  assert.deepEqual(
    parts.map((part) => of(part, 'count')),
    [1, 1, 2, 2, 2, 2, 2],
  );
  assert.equal(of('sentence', 'sum').toFixed(3), '0.160');
  assert.equal(of('total', 'sum').toFixed(3), '1.420');
  assert.equal(value('parley_agent_answers_total\\{agent="sales"\\}'), '2');
});
