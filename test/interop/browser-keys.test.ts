// Browsers press keys by RTCDTMFSender, over RTP (RFC 4733), and use a data channel that they have negotiated
// themselves: Chromium offers telephone events with the clock of Opus too, Firefox at 8000 Hz only.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { InstalledFirefox } from './installed-firefox.js';
import { type EvaluatingPage, PageOrigin } from './page-origin.js';

const KEYS = '159*0#';
const START_MS = 90_000; // a new profile of Firefox on a busy machine
/** Firefox uses loopback only on a machine that has no other address. */
const OWN_ADDRESS =
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';

let [origin, server]: [PageOrigin?, Server?] = [];

before(async () => {
  origin = await PageOrigin.open(START_MS);
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const addresses = { ICE_HOST_ADDRESSES: OWN_ADDRESS, CORS_ORIGINS: origin.url };
  server = await startServer(readConfig({ ...environment, ...addresses }));
});
after(async () => {
  await server?.close();
  origin?.close();
});

/** The page sends the tone of an oscillator, presses the keys and returns those that the server reports. */
const PRESSES = `(async () => {
  const connection = new RTCPeerConnection();
  const context = new AudioContext();
  const oscillator = new OscillatorNode(context);
  const destination = context.createMediaStreamDestination();
  oscillator.connect(destination);
  oscillator.start();
  const { stream } = destination;
  const [track] = stream.getTracks();
  const sender = connection.addTrack(track, stream);
  const channel = connection.createDataChannel('', { negotiated: true, id: 3 });
  const pressed = [];
  const all = new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === 'digit') pressed.push(message.digit);
      if (pressed.length === KEYS.length) resolve();
    };
  });
  const opened = new Promise((resolve) => (channel.onopen = resolve));
  await connection.setLocalDescription(await connection.createOffer());
  const response = await fetch(SERVER + '/v1/realtime/calls', {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: connection.localDescription.sdp,
  });
  const sdp = await response.text();
  await connection.setRemoteDescription({ type: 'answer', sdp });
  await opened;
  channel.send('{"type":"clear"}');
  sender.dtmf.insertDTMF(KEYS, 100, 70);
  await all;
  connection.close();
  await context.close();
  return { pressed: pressed.join(''), event: /a=rtpmap:\\d+ telephone-event\\/\\d+/.exec(sdp)[0] };
})()`;

function press(page: EvaluatingPage): Promise<{ pressed: string; event: string }> {
  const script = PRESSES.replaceAll('KEYS', JSON.stringify(KEYS));
  return page.evaluate(script.replaceAll('SERVER', JSON.stringify(server?.url)));
}

test("Chromium's keys arrive over RTP with the clock of Opus", async () => {
  const browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--allow-loopback-in-peer-connection',
    ],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${server?.url}/health`);
    const { pressed, event } = await press(page);
    assert.equal(pressed, KEYS);
    assert.match(event, /telephone-event\/48000/);
  } finally {
    await browser.close();
  }
});

test("Firefox's keys arrive over RTP at 8000 Hz", async () => {
  assert.ok(origin !== undefined);
  const firefox = InstalledFirefox.open(origin.workingUrl);
  try {
    const { pressed, event } = await press(origin);
    assert.equal(pressed, KEYS);
    assert.match(event, /telephone-event\/8000/);
  } finally {
    await firefox.close();
  }
});
