// Resources of the native engine: its device (a GPU, or the CPU with a reason), its busy share, and memory
// that runs out.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import { BusyShare, type NativeEngine } from '../../src/engines/native/native-engine.js';
import { openQwen3 } from '../../src/engines/qwen3/qwen3.js';
import { GOLDEN } from './golden.js';

async function openOn(t: TestContext, device: string, news: EngineNews[] = []): Promise<NativeEngine> {
  const engine = await openQwen3({
    native: {
      directory: join(GOLDEN, 'tiny-customvoice'),
      quantize: 'none',
      device,
      threads: 1,
      cores: [],
      maxStreams: 1,
      maxNewTokens: 0,
      maxVoices: 1,
      warmUp: false,
    },
    maxWaiting: 1,
    renderTimeoutMs: 20_000,
    onNews: (one) => news.push(one),
  });
  t.after(() => engine.close());
  return engine;
}

test('where no GPU can be used it computes on the processor, and says why', async (t) => {
  const news: EngineNews[] = [];
  const engine = await openOn(t, 'auto', news);
  await engine.load();
  const loaded = news.find(({ what }) => what === 'loaded');
  assert.ok(loaded !== undefined && 'device' in loaded);
  if (String(loaded.device).startsWith('cuda')) return t.skip('there is a GPU here');
  assert.match(String(loaded.device), /^cpu /);
  assert.match(String(loaded.cuda), /^none: ./);
  assert.equal(engine.device().memory, undefined);
});

test('a GPU that is asked for and cannot be used is an error that says why', async (t) => {
  const engine = await openOn(t, 'cuda:99');
  await assert.rejects(engine.load(), /cuda:99: ./);
});

test('a share is that of the last seconds, however often it is asked for', () => {
  const share = new BusyShare();
  assert.equal(share.at(1000, 300), 0);
  assert.equal(share.at(3000, 1300), 0.5);
  for (let ms = 3000; ms <= 11_000; ms += 100) share.at(ms, 1300 + (ms - 3000));
  assert.equal(share.at(11_000, 9300), 1);
  for (let ms = 11_000; ms <= 23_000; ms += 100) share.at(ms, 9300);
  assert.equal(share.at(23_000, 9300), 0);
});

test('asked once a minute it is that of the minute', () => {
  const share = new BusyShare();
  share.at(0, 0);
  assert.equal(share.at(60_000, 15_000), 0.25);
  assert.equal(share.at(120_000, 60_000), 0.75);
});

test('an engine that is loaded anew counts from nothing', () => {
  const share = new BusyShare();
  share.at(0, 0);
  share.at(10_000, 9000);
  assert.equal(share.at(11_000, 100), 0);
  assert.equal(share.at(12_000, 600), 0.5);
});

test('no share is more than all', () => {
  const share = new BusyShare();
  share.at(0, 0);
  assert.equal(share.at(100, 130), 1); // a round counts when it ends
});

const CHILD = join(import.meta.dirname, 'out-of-memory-child.js');

test('where memory is out, a call of the addon throws instead of ending the process', async () => {
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, [CHILD], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  assert.match(said, /bad_alloc/);
});
