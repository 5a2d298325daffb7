// How a real Chromium hears the voice through thin and lossy links, with the control of bits and packets and
// without it.
//
//   npm run bench -- thin-links             every link
//   npm run bench -- thin-links 32 bursts   those with one of these words in their name
//
// All calls of a round speak at the same time, in one browser. After 30 s the figures of 20 s are taken.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { LinkControl } from '../../src/call/link-control.js';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import type { Impairment } from '../fakes/impaired-relay.js';
import { CHROMIUM_ARGS, installedChromium } from '../interop/installed-chromium.js';
import { ThinCall, type ThinHearing } from '../interop/thin-call.js';
import { machine, table } from './table.js';

const SETTLE_MS = 30_000;
const MEASURE_MS = 20_000;
const MOST_TRIES = 5;
const RETRY_MS = 2000;
const WIDE = { bitsPerSecond: 1_000_000 };
const thin = (kbits: number, queueMs: number): Impairment => ({ bitsPerSecond: 1000 * kbits, queueMs });

const LINKS: Readonly<Record<string, Impairment>> = {
  wide: WIDE,
  '48 kbit/s, policed': thin(48, 0),
  '48 kbit/s, 300 ms': thin(48, 300),
  '48 kbit/s, 1 s': thin(48, 1000),
  '32 kbit/s, policed': thin(32, 0),
  '32 kbit/s, 300 ms': thin(32, 300),
  '32 kbit/s, 1 s': thin(32, 1000),
  '24 kbit/s, 300 ms': thin(24, 300),
  '48 kbit/s, 300 ms, 3 % lost': { ...thin(48, 300), lossShare: 0.03 },
  'wide, 5 % lost': { ...WIDE, lossShare: 0.05 },
  'wide, 5 % lost in bursts of 3': { ...WIDE, lossShare: 0.05, lossRun: 3 },
  'wide, 15 % lost in bursts of 5': { ...WIDE, lossShare: 0.15, lossRun: 5 },
};

async function judged(call: ThinCall): Promise<ThinHearing> {
  await call.speak((SETTLE_MS + MEASURE_MS) / 1000);
  await call.listen(SETTLE_MS);
  return await call.hear(MEASURE_MS);
}

/** The calls open one after the other, and again where the server refuses one because it is busy. */
async function opened(
  browser: Browser,
  url: string,
  link: Impairment,
  tries = MOST_TRIES,
): Promise<ThinCall> {
  try {
    return await ThinCall.open(browser, url, link);
  } catch (error) {
    if (tries <= 1) throw error;
    await sleep(RETRY_MS);
    return opened(browser, url, link, tries - 1);
  }
}

async function round(browser: Browser, url: string, links: readonly Impairment[]): Promise<ThinHearing[]> {
  const calls: ThinCall[] = [];
  try {
    for (const link of links) calls.push(await opened(browser, url, link));
    return await Promise.all(calls.map(judged));
  } finally {
    await Promise.all(calls.map((call) => call.close()));
  }
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const ms = (value: number) => `${value.toFixed(0)} ms`;

function told({ lost, concealed, packetMs, wayMs, bufferMs, mos }: ThinHearing) {
  return {
    MOS: mos.toFixed(1),
    lost: percent(lost),
    concealed: percent(concealed),
    packets: ms(packetMs),
    way: ms(wayMs),
    buffer: ms(bufferMs),
  };
}

const words = process.argv.slice(2);
const links = Object.entries(LINKS).filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
const server = await startServer(
  readConfig({
    PORT: '0',
    SIP_ENABLED: '0',
    LOG_LEVEL: 'silent',
    ENGINE: 'flite',
    ICE_HOST_ADDRESSES: '127.0.0.1',
  }),
);
const browser = await chromium.launch({
  executablePath: installedChromium(),
  args: [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'],
});
try {
  const impairments = links.map(([, link]) => link);
  const controlled = await round(browser, server.url, impairments);
  LinkControl.prototype.update = function update(this: LinkControl) {
    return this.share; // of a control that reads no reports: as configured, packets of 20 ms
  };
  const usual = await round(browser, server.url, impairments);
  console.log(`${machine()}\n`);
  const rows = (control: string, heard: readonly ThinHearing[]) =>
    heard.map((one, at) => ({ link: links[at]?.[0] ?? '', control, ...told(one) }));
  console.log(table([...rows('off', usual), ...rows('on', controlled)]));
} finally {
  await browser.close();
  await server.close();
}
