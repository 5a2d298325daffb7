// A page in Chromium and a telephone of another maker with DTLS-SRTP, joined in a bridge: each says a tone,
// and hears the tone of the other one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { until } from '../fakes/until.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { baresipIn } from './telephone/joined-peer.js';
import { ScratchFolder } from './telephone/program.js';
import { writeWav } from './telephone/sound-shape.js';
import { TelephoneServer } from './telephone/telephone-server.js';

const BROWSER_HZ = 660;
const TELEPHONE_HZ = 440;
const LEVEL = 0.3;
const NEAR_HZ = 30; // a bin of the page's spectrum has 23 Hz
const HEARD = 25; // looks of the page, which are 40 ms apart
const LOOK_EVERY_MS = 200;
const RATE = 8000;
const SECOND = RATE; // samples

const folder = new ScratchFolder();
let server: TelephoneServer;
let browser: Browser;

const tone = (hz: number, rate: number, seconds: number) =>
  Float32Array.from({ length: rate * seconds }, (_, n) => LEVEL * Math.sin((2 * Math.PI * hz * n) / rate));

before(async () => {
  server = await TelephoneServer.start({ ICE_HOST_ADDRESSES: '127.0.0.1' }, { routes: [{ wait: {} }] });
  const microphone = folder.at('microphone.wav');
  writeWav(microphone, { samples: tone(BROWSER_HZ, 48_000, 2), rate: 48_000 });
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
      '--allow-loopback-in-peer-connection',
    ],
  });
});
after(async () => {
  await browser.close();
  await server.close();
  folder.remove();
});

/** Looks five times a second: each look takes time of those who play. */
const looked = (condition: () => boolean | Promise<boolean>) =>
  until(async () => {
    await pause(LOOK_EVERY_MS);
    return condition();
  });

// Keeps the loudest frequency of what comes, where it is loud.
const OPEN = `(async () => {
  const { Parley } = await import('/parley.js');
  window.heard = [];
  const measure = (stream) => {
    const context = new AudioContext({ sampleRate: 48000 });
    const analyser = new AnalyserNode(context, { fftSize: 2048, smoothingTimeConstant: 0 });
    context.createMediaStreamSource(stream).connect(analyser);
    const decibels = new Float32Array(analyser.frequencyBinCount);
    setInterval(() => {
      analyser.getFloatFrequencyData(decibels);
      const loudest = decibels.indexOf(Math.max(...decibels));
      if (decibels[loudest] > -40) heard.push((loudest * context.sampleRate) / analyser.fftSize);
    }, 40);
  };
  const microphone = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  window.call = await Parley.call({ microphone, on: { sound: measure } });
  return call.id;
})()`;

/** The share of the power that is a tone of this frequency, from 0 to 1. */
function shareOf(samples: Float32Array, hz: number): number {
  let [sine, cosine, power] = [0, 0, Number.MIN_VALUE];
  samples.forEach((sample, n) => {
    const angle = (2 * Math.PI * hz * n) / RATE;
    sine += sample * Math.sin(angle);
    cosine += sample * Math.cos(angle);
    power += sample * sample;
  });
  return (2 * (sine * sine + cosine * cosine)) / (power * samples.length);
}

test('a page in Chromium and baresip with DTLS-SRTP hear each other in a bridge, until one hangs up', async (t) => {
  const page = await browser.newPage();
  await page.goto(server.server.url);
  const id = await page.evaluate<string>(OPEN);
  const options = { encryption: 'dtls_srtp' } as const;
  const telephone = await baresipIn(t, server, tone(TELEPHONE_HZ, RATE, 20), options);
  const answer = await fetch(`${server.server.url}/v1/calls/${id}/bridge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ call: telephone.id }),
  });
  const { mode } = (await answer.json()) as { mode?: string };
  assert.deepEqual([answer.status, mode], [201, 'mixed'], 'Opus and G.711');
  const near = (heard: readonly number[]) =>
    heard.filter((hz) => Math.abs(hz - TELEPHONE_HZ) < NEAR_HZ).length;
  await looked(async () => near(await page.evaluate<number[]>('heard')) >= HEARD);
  const heard = await page.evaluate<number[]>('heard');
  assert.ok(near(heard) > 0.9 * heard.length, `the page hears the telephone only: ${heard.join(' ')}`);
  await looked(() => shareOf(telephone.heard().subarray(-SECOND), BROWSER_HZ) > 0.9);
  assert.equal(server.telephone.get(telephone.id).srtp, 'dtls');
  await page.evaluate('call.hangUp()');
  await until(() => server.server.switchboard.get(id) === undefined);
  assert.equal(server.telephone.get(telephone.id).state, 'connected', 'the other call goes on');
  await telephone.hangUp();
  await until(() => server.telephone.get(telephone.id).state === 'ended');
});
