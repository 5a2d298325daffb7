// The whole server with Chromium, which may use no candidate but those of a TURN server: coturn, with the
// credentials that the Link headers of this server have.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { PageOrigin } from './page-origin.js';
import { TurnServer } from './turn-server.js';
import { WhipSession } from './whip-session.js';

const SECRET = 'a secret that both servers have';

let [origin, relay, browser]: [PageOrigin?, TurnServer?, Browser?] = [];

before(async () => {
  origin = await PageOrigin.open();
  relay = await TurnServer.open(SECRET);
  const args = [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'];
  browser = await chromium.launch({ executablePath: installedChromium(), args });
});
after(async () => {
  await browser?.close();
  await relay?.close();
  origin?.close();
});

for (const transport of ['udp', 'tcp']) {
  test(`a page behind a relay by ${transport} hears speech, and speaks`, async (t) => {
    assert.ok(origin !== undefined && relay !== undefined && browser !== undefined);
    const server = await startServer(
      readConfig({
        PORT: '0',
        SIP_ENABLED: '0',
        LOG_LEVEL: 'silent',
        ENGINE: 'flite',
        ICE_HOST_ADDRESSES: '127.0.0.1',
        CORS_ORIGINS: origin.url,
        ICE_SERVERS: `turn:127.0.0.1:${relay.port}?transport=${transport}`,
        TURN_SECRET: SECRET,
      }),
    );
    t.after(() => server.close());
    const page = await browser.newPage();
    await page.goto(origin.url);
    await page.waitForFunction('window.openSession !== undefined');
    const relayed = { iceTransportPolicy: 'relay' };
    const listener = await WhipSession.open(page, server, 'whip-whep listens', relayed);
    await listener.hearsASecond();
    const { local } = await listener.stats();
    assert.deepEqual([local?.candidateType, local?.relayProtocol], ['relay', transport]);
    await listener.stop();
    const publisher = await WhipSession.open(page, server, 'whip-whep publishes', relayed);
    await publisher.sendsASecond();
    await publisher.stop();
  });
}
