// The page of the OpenAPI document in a real browser, under the policy of the server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { openServer } from '../api/app-under-test.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const WAIT_MS = 10_000;

let browser: Browser;

before(async () => {
  browser = await chromium.launch({ executablePath: installedChromium(), args: [...CHROMIUM_ARGS] });
});
after(() => browser.close());

test('the page shows every address without an error of its own, and can speak', async (t) => {
  const { url, speech } = await openServer(t);
  speech.whole = ['sound'];
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  const elsewhere: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      elsewhere.push(request.url());
  });
  for (const path of ['/docs', '/docs/']) {
    await page.goto(`${url}${path}`);
    await page.locator('.opblock-summary-path', { hasText: '/v1/audio/speech' }).first().waitFor();
  }
  assert.ok((await page.locator('.opblock-summary-path').count()) > 8);
  assert.deepEqual(errors, []);
  await page.locator('#operations-Text_to_speech-post_v1_audio_speech .opblock-summary').click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  assert.deepEqual(
    speech.requests.map(({ text, voice }) => [text, voice]),
    [['Your order has shipped.', 'alloy']],
  );
  assert.deepEqual(elsewhere, []);
  await page.close();
});
