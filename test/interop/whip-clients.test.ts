// The whole server with the WHIP and WHEP clients of other makers, in a page of another origin in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { PageOrigin } from './page-origin.js';
import { WhipSession } from './whip-session.js';

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

async function openPage(): Promise<Page> {
  assert.ok(browser !== undefined && origin !== undefined);
  const page = await browser.newPage();
  await page.goto(origin.url);
  await page.waitForFunction('window.openSession !== undefined');
  return page;
}

async function session(client: Parameters<typeof WhipSession.open>[2]): Promise<WhipSession> {
  assert.ok(server !== undefined);
  return WhipSession.open(await openPage(), server, client);
}

/** PATCH requests of the page; the first entry is the ETag of the session's answer. */
async function patches(of: WhipSession) {
  const requests = await of.requests();
  const first = requests.find(({ method }) => method === 'POST')?.etag;
  assert.match(first ?? '', /^"\w+"$/);
  return { first, patches: requests.filter(({ method }) => method === 'PATCH') };
}

/** Restarts ICE, and expects another ETag than the first. */
async function restart(of: WhipSession): Promise<void> {
  await of.restart();
  const { first, patches: all } = await patches(of);
  const restarted = all.find(({ condition }) => condition === '*');
  assert.equal(restarted?.status, 200);
  assert.match(restarted?.etag ?? '', /^"\w+"$/);
  assert.notEqual(restarted?.etag, first);
}

test('whip-whep listens: it hears speech, restarts ICE, hears on, and stops', async () => {
  const listener = await session('whip-whep listens');
  await listener.hearsASecond();
  // Version 1.2.0 does not read the ETag of a WHEP answer. Its candidates are refused for that; an ICE-lite
  // server does not need them.
  const { patches: trickled } = await patches(listener);
  for (const { status, condition } of trickled) assert.deepEqual([status, condition], [428, undefined]);
  await restart(listener);
  await listener.hearsASecond();
  await listener.stop();
});

test('whip-whep publishes: it trickles, and its sound arrives before and after an ICE restart', async () => {
  const publisher = await session('whip-whep publishes');
  await publisher.sendsASecond();
  const { first, patches: trickled } = await patches(publisher);
  assert.ok(trickled.length > 0);
  for (const { status, condition, etag } of trickled) {
    assert.deepEqual([status, condition, etag], [204, first, null]);
  }
  await restart(publisher);
  await publisher.sendsASecond();
  await publisher.stop();
});

test('whip-web-client publishes: what it sends as fragments is refused, and its sound arrives', async () => {
  const publisher = await session('whip-web-client publishes');
  await publisher.sendsASecond();
  // Version 1.1.7 takes the mid "0" for none. Its fragment is empty then, and it trickles no more.
  const { patches: refused } = await patches(publisher);
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([400]));
  await publisher.stop();
});

test('whip-web-client publishes with video: it trickles with an ETag header, and sends sound alone', async () => {
  const publisher = await session('whip-web-client publishes with video');
  await publisher.sendsASecond();
  const { first, patches: trickled } = await patches(publisher);
  assert.ok(trickled.length > 0);
  for (const { status, condition } of trickled) assert.deepEqual([status, condition], [204, first]);
  await publisher.stop();
});
