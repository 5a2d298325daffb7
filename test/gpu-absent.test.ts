// A GPU that cannot be used when the server starts: the whole program, on a machine where driver and GPU are fakes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GpuServer } from './fakes/gpu-server.js';

for (const [what, machine, why] of [
  ['a driver that is too old', { cuda: 12_080 }, /the driver is for CUDA 12\.8, needed is 13\.0 or newer/],
  ['a machine without a GPU', { gpus: 0 }, /no GPU is visible \(CUDA_VISIBLE_DEVICES\)/],
  [
    'a backend of other sources',
    { otherSources: true },
    /the CUDA backend was built from other sources than the engine/,
  ],
  ['a GPU that is dead at the start', { matter: 'dead' }, /the GPU has fallen off the bus/],
] as const) {
  test(`${what} ends the start with its reason where a GPU is asked for`, async (t) => {
    const { code, said } = await GpuServer.start(t, machine).ended();
    assert.notEqual(code, 0);
    assert.match(said, why);
  });

  test(`${what} leaves the processor where it may choose, and health says why`, async (t) => {
    const server = GpuServer.start(t, { ...machine, environment: { DEVICE: 'auto' } });
    const { code, told } = await server.health();
    assert.deepEqual([code, told.cuda], [200, false]);
    assert.match(String(told.no_cuda), why);
    assert.match(String((await server.logged('engine loaded', 'qwen3')).cuda), why);
  });
}
