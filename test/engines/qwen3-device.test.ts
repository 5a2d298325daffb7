// On what the native engine computes: a GPU where one can be used, else the processor, and it says why.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import { Qwen3Engine } from '../../src/engines/qwen3/qwen3.js';
import { GOLDEN } from './golden.js';

async function openOn(t: TestContext, device: string, news: EngineNews[] = []): Promise<Qwen3Engine> {
  const engine = await Qwen3Engine.open({
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
