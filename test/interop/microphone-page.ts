// A page in a real Chromium that calls with parley.js. Its microphone is a WAV file.
import type { TestContext } from 'node:test';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

interface MicrophonePage {
  /** The call's events so far. */
  events(): Promise<readonly { readonly type: string; readonly text?: string }[]>;
  /** The received packets, by the browser's own count. */
  sound(): Promise<{ readonly packets: number; readonly lost: number }>;
  /** Loudness of the received track since it came, in frames of about 20 ms. */
  levels(): Promise<readonly number[]>;
}

const OPEN = `(async () => {
  const { Parley } = await import('/parley.js');
  window.events = [];
  window.levels = [];
  window.states = [];
  const measure = (stream) => {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    analyser.fftSize = 1024;
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      levels.push(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length));
    }, 20);
  };
  window.call = await Parley.call({
    microphone: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    on: {
      message: (message) => events.push(message),
      state: ({ state }) => states.push(state),
      sound: measure,
    },
  });
})()`;

/** `microphone` is the path of the file, which is played once from the start of the call. */
export async function openMicrophonePage(
  t: TestContext,
  url: string,
  microphone: string,
): Promise<MicrophonePage> {
  const browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      '--allow-loopback-in-peer-connection',
    ],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  await page.evaluate(OPEN);
  return {
    events: () => page.evaluate('events'),
    sound: () => page.evaluate('call.figures()'),
    levels: () => page.evaluate('levels'),
  };
}
