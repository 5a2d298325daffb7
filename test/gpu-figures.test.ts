// What a server tells of its GPU, and what it asks of it: the whole program, with a GPU that is a fake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GpuServer } from './fakes/gpu-server.js';

async function valueOf(server: GpuServer, name: string): Promise<number> {
  const line = await server.metric(name);
  assert.ok(line !== undefined, name);
  return Number(line.split(' ').at(-1));
}

test('memory, work and lists of a GPU are in /metrics and /health', async (t) => {
  const server = GpuServer.start(t);
  await (await server.say({ input: 'Hello there.', voice: 'vivian' })).arrayBuffer();
  const { told } = await server.health();
  assert.equal(told.gpu_total_mb, 8192);
  assert.deepEqual([told.streams, told.cuda], [0, true]);
  assert.ok(Number(told.busy) >= 0 && Number(told.busy) <= 1);
  const lists = told.gpu_lists as { eager: number; captured: number; launched: number; mb: number };
  assert.deepEqual([lists.eager, lists.captured, lists.launched > 10, lists.mb], [1, 1, true, 3]);
  assert.equal(await valueOf(server, 'parley_gpu_memory_total_bytes'), 8 * 2 ** 30);
  const used = await valueOf(server, 'parley_gpu_memory_used_bytes');
  assert.ok(used > 100_000 && used < 2 ** 30, `${used} bytes`);
  assert.equal(await valueOf(server, 'tts_gpu_allocated_bytes'), used);
  assert.equal(await valueOf(server, 'parley_gpu_lists_total{way="launched"}'), lists.launched);
  assert.equal(await valueOf(server, 'parley_gpu_lists_bytes'), 3 * 2 ** 20);
  assert.ok((await valueOf(server, 'parley_engine_busy_seconds_total')) > 0);
  assert.equal(await valueOf(server, 'parley_engine_streams'), 0);
});

test('what the environment asks of a GPU reaches its backend', async (t) => {
  const server = GpuServer.start(t, { environment: { FULL_VECTORS: '1', CUDA_GRAPHS: '0' } });
  assert.equal((await server.health()).told.gpu_name, 'cuda Fake GPU, no graphs, full vectors');
});

test('else its backend makes graphs and rounds vectors', async (t) => {
  const server = GpuServer.start(t);
  assert.equal((await server.health()).told.gpu_name, 'cuda Fake GPU');
});
