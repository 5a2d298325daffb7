// The whole server with Debian's Firefox at the other end, which listens and publishes with whip-whep.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { InstalledFirefox } from './installed-firefox.js';
import { PageOrigin } from './page-origin.js';
import { WhipSession } from './whip-session.js';

/**
 * Firefox uses loopback only on a machine that has no other address. Packets to an address of the machine do
 * not leave it either.
 */
const OWN_ADDRESS =
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';
const START_MS = 90_000; // a new profile on a busy machine

let [origin, server, firefox]: [PageOrigin?, Server?, InstalledFirefox?] = [];

before(async () => {
  origin = await PageOrigin.open(START_MS);
  server = await startServer(
    readConfig({
      PORT: '0',
      SIP_ENABLED: '0',
      LOG_LEVEL: 'silent',
      ENGINE: 'flite',
      ICE_HOST_ADDRESSES: OWN_ADDRESS,
      CORS_ORIGINS: origin.url,
    }),
  );
  firefox = InstalledFirefox.open(origin.workingUrl);
  assert.match(await origin.evaluate<string>('navigator.userAgent'), /Firefox\/\d+/);
});
after(async () => {
  await firefox?.close();
  await server?.close();
  origin?.close();
});

function session(client: Parameters<typeof WhipSession.open>[2]): Promise<WhipSession> {
  assert.ok(origin !== undefined && server !== undefined);
  return WhipSession.open(origin, server, client);
}

test('Firefox listens: it hears speech, restarts ICE, hears on, and stops', async () => {
  const listener = await session('whip-whep listens');
  await listener.hearsASecond();
  await listener.restart();
  await listener.hearsASecond();
  await listener.stop();
});

// Firefox shows no statistics of this server's reports, so that nothing here shows that the sound arrives.
test('Firefox publishes: it sends before and after an ICE restart, and stops', async () => {
  const publisher = await session('whip-whep publishes');
  await publisher.sendsUnreported();
  await publisher.restart();
  await publisher.sendsUnreported();
  await publisher.stop();
});
