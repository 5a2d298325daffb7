// A checkpoint in the published layout behind the whole server: over HTTP, and
// into the call of a real browser. Its weights are random, so what is heard is
// some sound and no speech; that it is the right sound is the golden vector's.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { PageCall } from './page-call.js';

const MODEL_DIR = join(import.meta.dirname, '../../../native/test/golden/tiny-customvoice');
const FRAME_BYTES = 1920 * 2;

let server: Server;

before(async () => {
  server = await startServer(
    readConfig({ PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', MODEL_DIR, MAX_NEW_TOKENS: '40' }),
  );
});
after(() => server.close());

async function ask(body: object): Promise<Response> {
  return await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'parley', response_format: 'pcm', ...body }),
  });
}

test('its voices are offered, and it is the engine of whoever names none', async () => {
  const health = (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>;
  assert.equal(health.engine, 'qwen3');
  assert.equal(health.model_loaded, true);
  assert.match(String(health.device), /^cpu /);
  const { data } = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as {
    data: { name: string }[];
  };
  assert.ok(data.some(({ name }) => name === 'vivian'));
});

test('it speaks over HTTP, the same for the same seed', async () => {
  const say = async (seed: number) =>
    Buffer.from(
      await (await ask({ input: 'Hello there, how are you?', voice: 'vivian', seed })).arrayBuffer(),
    );
  const once = await say(1);
  assert.ok(once.length >= FRAME_BYTES, `${once.length} bytes`);
  assert.deepEqual(await say(1), once);
  assert.notDeepEqual(await say(2), once);
});

test('a language that it does not speak is refused by what it speaks', async () => {
  const answer = await ask({ input: 'Hei.', voice: 'vivian', language: 'fi' });
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /language/);
});

test('a browser hears it', async () => {
  const browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'],
  });
  try {
    const call = await PageCall.open(browser, server.url, undefined);
    const text = 'Hello there, how are you?';
    await call.send({ type: 'text', token: text, last: true, voice: 'vivian' });
    const spoken = await call.message({ type: 'utterance.spoken' });
    assert.equal(spoken.text, text);
    await call.listen(200); // the page's jitter buffer
    assert.ok((await call.heard()).totalAudioEnergy > 0.001);
    assert.equal(await call.hangUp(), 204);
  } finally {
    await browser.close();
  }
});
