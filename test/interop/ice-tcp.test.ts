// The whole server with Chromium in a network that lets no UDP through: the answer loses its UDP candidates
// on the way, and what is left is the one of ICE-TCP (RFC 6544).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { PageOrigin } from './page-origin.js';
import { until } from '../fakes/until.js';
import { WhipSession } from './whip-session.js';

const UDP_CANDIDATE = /^a=candidate:\S+ \d+ udp .*\r?\n/gim;

let [origin, server, browser]: [PageOrigin?, Server?, Browser?] = [];

before(async () => {
  origin = await PageOrigin.open();
  server = await startServer(
    readConfig({
      PORT: '0',
      SIP_ENABLED: '0',
      LOG_LEVEL: 'silent',
      ENGINE: 'flite',
      ICE_HOST_ADDRESSES: '127.0.0.1',
      WEBRTC_TCP_PORT: '0',
      CORS_ORIGINS: origin.url,
    }),
  );
  const args = [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'];
  browser = await chromium.launch({ executablePath: installedChromium(), args });
});
after(async () => {
  await browser?.close();
  await server?.close();
  origin?.close();
});

for (const [client, works] of [
  ['whip-whep listens', (session: WhipSession) => session.hearsASecond()],
  ['whip-whep publishes', (session: WhipSession) => session.sendsASecond()],
] as const) {
  test(`a page that reaches the server by TCP only: ${client}`, async () => {
    assert.ok(origin !== undefined && server !== undefined && browser !== undefined);
    const page = await browser.newPage();
    await page.route(/\/whe?i?p$/, async (route) => {
      const answer = await route.fetch();
      const sdp = await answer.text();
      if (route.request().method() === 'POST') {
        assert.match(sdp, UDP_CANDIDATE);
        assert.match(sdp, /^a=candidate:\S+ 1 tcp .* tcptype passive/m);
      }
      await route.fulfill({ response: answer, body: sdp.replace(UDP_CANDIDATE, '') });
    });
    await page.goto(origin.url);
    await page.waitForFunction('window.openSession !== undefined');
    const session = await WhipSession.open(page, server, client);
    await works(session);
    // The browser may choose its pair after the first second of sound.
    await until(async () => (await session.stats()).local !== undefined);
    assert.equal((await session.stats()).local?.protocol, 'tcp');
    await session.stop();
    await page.close();
  });
}
