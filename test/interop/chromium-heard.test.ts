// The server hears what a page says: Chromium's microphone is a file of speech, without echo cancellation,
// noise suppression and gain control.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { until } from '../fakes/until.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { likeness, type Sound } from './telephone/sound-shape.js';

const QUESTION = 'Excuse me, can I ask you something about my order?';
const RATE = 48_000;
/** The microphone is silent for so long: the recording begins meanwhile. */
const LEAD_MS = 3000;
const TAIL_MS = 2000;
const HEADER_BYTES = 44;

const folder = mkdtempSync(join(tmpdir(), 'parley-heard-'));
let server: Server;
let browser: Browser;
let question: Sound;

before(async () => {
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const addresses = { ICE_HOST_ADDRESSES: '127.0.0.1', RECORDINGS_DIR: join(folder, 'recordings') };
  server = await startServer(readConfig({ ...environment, ...addresses }));
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: QUESTION, voice: 'rms', response_format: 'pcm', sample_rate: RATE }),
  });
  const speech = Buffer.from(await answer.arrayBuffer());
  question = { samples: samplesOf(speech, 1, 0), rate: RATE };
  const silence = (ms: number) => Buffer.alloc((2 * RATE * ms) / 1000);
  const sound = Buffer.concat([silence(LEAD_MS), speech, silence(TAIL_MS)]);
  writeFileSync(join(folder, 'microphone.wav'), Buffer.concat([wavHead(sound.length), sound]));
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${join(folder, 'microphone.wav')}%noloop`,
      '--allow-loopback-in-peer-connection',
    ],
  });
});
after(async () => {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function samplesOf(bytes: Buffer, channels: number, channel: number): Float32Array {
  const length = Math.floor(bytes.length / (2 * channels));
  return Float32Array.from({ length }, (_, n) => bytes.readInt16LE(2 * (channels * n + channel)) / 32_768);
}

/** Of 16-bit mono samples. */
function wavHead(bytes: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('RIFF', 0);
  head.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(2 * RATE, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return head;
}

const OPEN = `(async () => {
  const { ParleyCall } = await import('/parley.js');
  window.call = new ParleyCall();
  await call.startMicrophone({ echoCancellation: false, noiseSuppression: false, autoGainControl: false });
  await call.open();
  return call.id;
})()`;

test('the speech of a page is heard as it was, and ends in a turn', async () => {
  const page = await browser.newPage();
  await page.goto(server.url);
  const id = await page.evaluate<string>(OPEN);
  const call = server.switchboard.get(id) ?? assert.fail('there is no call');
  const events: string[] = [];
  call.observe(({ type }) => void events.push(type));
  call.listen({});
  const { name } = await call.recording.start({ format: 'wav' });
  await until(() => events.includes('turn.ended'));
  await call.recording.stop();
  assert.deepEqual(events.slice(0, 2), ['recording.started', 'speech.started']);
  const file = readFileSync(join(folder, 'recordings', name)).subarray(HEADER_BYTES);
  const heard = likeness({ samples: samplesOf(file, 2, 0), rate: 16_000 }, question);
  assert.ok(heard.correlation > 0.93 && Math.abs(heard.longerMs) <= 60, JSON.stringify(heard));
  await page.close();
});
