// A real browser hears the voice through links that are too thin for it. Without a control, the queue of each
// link stays full: 1.9 or less by the same score (test/bench/RESULTS.md).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { ThinCall } from './thin-call.js';

const SETTLE_MS = 30_000;
const MEASURE_MS = 15_000;
const MOST_CONCEALED = 0.05;
const MOST_WAY_MS = 250;

let server: Server;
let browser: Browser;

before(async () => {
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  server = await startServer(readConfig({ ...environment, ICE_HOST_ADDRESSES: '127.0.0.1' }));
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'],
  });
});
after(async () => {
  await browser.close();
  await server.close();
});

describe('within 30 s the voice fits', { concurrency: true }, () => {
  for (const [kbits, leastMos] of [
    [48, 3.4],
    [32, 2.9],
    [24, 2],
  ] as const) {
    test(`a link of ${kbits} kbit/s with a queue of 300 ms`, async (t) => {
      const call = await ThinCall.open(browser, server.url, { bitsPerSecond: 1000 * kbits, queueMs: 300 });
      t.after(() => call.close());
      await call.speak((SETTLE_MS + MEASURE_MS) / 1000);
      await call.listen(SETTLE_MS);
      const heard = await call.hear(MEASURE_MS);
      t.diagnostic(JSON.stringify(heard));
      assert.ok(heard.packetMs > 30, 'frames are joined');
      assert.ok(heard.concealed < MOST_CONCEALED && heard.wayMs < MOST_WAY_MS, JSON.stringify(heard));
      assert.ok(heard.mos > leastMos, JSON.stringify(heard));
    });
  }
});
