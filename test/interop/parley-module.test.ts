// The module public/parley.js in a real browser: the server is behind a relay that can block the path.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { codeBlocksOf } from '../docs/markdown.js';
import { answerThrough, candidatePort, ImpairedRelay } from '../fakes/impaired-relay.js';
import { until } from '../fakes/until.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const SHORT = 'There was once a server. It could not stop talking, until somebody pressed a button.';
/** Its second sentence is longer than a resumption takes. */
const LONG =
  'There was once a server. It could not stop talking, and it went on and on about its threads and its sockets, ' +
  'its queues and its clocks, and all the things that it had heard on the wire from other servers near and far.';
const BLOCKED = { lossShare: 1 };
const SEED = 20;
const WAIT_MS = 30_000;

let server: Server;
let browser: Browser;
let example = '';
/** Serves the example. */
const elsewhere = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html').end(example);
});
let otherOrigin = '';

before(async () => {
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  otherOrigin = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  server = await startServer(
    readConfig({
      PORT: '0',
      SIP_ENABLED: '0',
      LOG_LEVEL: 'silent',
      ENGINE: 'flite',
      ICE_HOST_ADDRESSES: '127.0.0.1',
      CORS_ORIGINS: otherOrigin,
    }),
  );
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream', // a microphone that beeps
      '--use-fake-ui-for-media-stream',
      // With the microphone, a browser binds the addresses of its interfaces, and leaves loopback out.
      '--allow-loopback-in-peer-connection',
    ],
  });
});
after(async () => {
  await browser.close();
  await server.close();
  elsewhere.closeAllConnections();
  elsewhere.close();
});

// Runs in the page. The module plays the sound, or nothing would be decoded.
const CALLER = `
window.openCall = async (options) => {
  const { Parley } = await import('/parley.js');
  window.states = [];
  window.messages = [];
  const waiting = new Set();
  const keep = (list) => (event) => {
    list.push(event);
    for (const look of waiting) look();
  };
  window.until = (condition) =>
    new Promise((resolve) => {
      const look = () => condition() && (waiting.delete(look), resolve());
      waiting.add(look);
      look();
    });
  const on = { state: keep(states), message: keep(messages), sound: (stream) => (window.sound = stream) };
  window.call = await Parley.call({ ...options, on });
  return call.id;
};
`;

/** Keeps the elements that play sound. */
const PLAYERS = `
window.players = [];
const { play } = HTMLMediaElement.prototype;
HTMLMediaElement.prototype.play = function () {
  players.push(this);
  return play.call(this);
};
`;

const TONES = 40;
const TONE_MS = 80;
const TONE_RATE = 24_000;
const WINDOW_MS = 10; // of the samples that a page gets at once
const frequencyOf = (tone: number) => 400 + 50 * tone;

/** A scale: each tone comes once, and the next one is higher. */
function scale(): Float32Array {
  const samples = new Float32Array((TONES * TONE_MS * TONE_RATE) / 1000);
  let phase = 0;
  for (let at = 0; at < samples.length; at++) {
    phase += (2 * Math.PI * frequencyOf(Math.floor((at * 1000) / TONE_RATE / TONE_MS))) / TONE_RATE;
    samples[at] = 0.3 * Math.sin(phase);
  }
  return samples;
}

/**
 * Each tone is heard once, in order; returns the milliseconds of silence between them. The browser shortens
 * and lengthens sound a little, and fills a gap with the tone before it.
 */
function checkScale(tones: readonly number[]): number {
  const played = tones.slice(
    tones.findIndex((tone) => tone >= 0),
    tones.lastIndexOf(TONES - 1),
  );
  const all = played.join(' ');
  for (let tone = 0; tone < TONES; tone++) {
    const windows = played.filter((one) => one === tone).length;
    assert.ok(windows >= 2, `tone ${tone} is heard in ${windows} windows: ${all}`);
  }
  const heard = withoutBlends(played.filter((tone) => tone >= 0));
  assert.ok(!heard.some((tone, at) => tone < (heard[at - 1] ?? 0)), `a tone is heard again: ${all}`);
  return WINDOW_MS * played.filter((tone) => tone < 0).length;
}

/**
 * Without the windows where the browser blends two stretches of one tone. Their phases differ, and for up to
 * 30 ms the blend measures as a tone two or more above. Sound that comes twice goes up by single tones.
 */
function withoutBlends(heard: readonly number[]): number[] {
  const kept: number[] = [];
  for (let at = 0; at < heard.length; at++) {
    const last = kept.at(-1) ?? Infinity;
    const back = heard.slice(at + 1, at + 4).indexOf(last);
    if ((heard[at] ?? 0) > last + 1 && back >= 0) at += back;
    else kept.push(heard[at] ?? 0);
  }
  return kept;
}

// Runs in the page: the strongest tone of each 10 ms that are played, or -1 for silence.
const LISTENER = `
window.tones = [];
window.listen = async (frequencies) => {
  const reader = new MediaStreamTrackProcessor({ track: sound.getAudioTracks()[0] }).readable.getReader();
  const powerOf = (samples, frequency, rate) => {
    const factor = 2 * Math.cos((2 * Math.PI * frequency) / rate);
    let [one, two] = [0, 0];
    for (const sample of samples) [one, two] = [sample + factor * one - two, one];
    return one * one + two * two - factor * one * two;
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const samples = new Float32Array(value.numberOfFrames);
    value.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
    const { sampleRate } = value;
    value.close();
    const loudness = Math.hypot(...samples) / Math.sqrt(samples.length);
    const powers = frequencies.map((frequency) => powerOf(samples, frequency, sampleRate));
    tones.push(loudness < 0.02 ? -1 : powers.indexOf(Math.max(...powers)));
    for (const look of lookers) look();
  }
};
const lookers = new Set();
window.untilPlayed = (condition) =>
  new Promise((resolve) => {
    const look = () => condition() && (lookers.delete(look), resolve());
    lookers.add(look);
  });
`;

interface State {
  readonly state: string;
  readonly reason: string;
}

/** An answer to a request for a session description or an SDP fragment. */
interface Exchange {
  readonly method: string;
  readonly status: number;
  readonly iceSession: string | undefined;
}

interface CallOptions {
  /** See Parley.call. */
  readonly attempts?: number;
  /** The page uses its microphone from the beginning. */
  readonly microphone?: boolean;
  /** Called when the server has answered a request to restart ICE. */
  readonly onRestart?: (relay: ImpairedRelay) => Promise<void>;
  /** Called before the server gets a request for the resumption. */
  readonly onResume?: (relay: ImpairedRelay) => void;
}

class ModuleCall {
  readonly page: Page;
  readonly id: string;
  readonly relay: ImpairedRelay;
  readonly exchanges: readonly Exchange[];

  private constructor(page: Page, id: string, relay: ImpairedRelay, exchanges: readonly Exchange[]) {
    this.page = page;
    this.id = id;
    this.relay = relay;
    this.exchanges = exchanges;
  }

  /** The page reaches the server's media port through the relay only. */
  static async open(
    t: TestContext,
    { onRestart, onResume, ...options }: CallOptions = {},
  ): Promise<ModuleCall> {
    const page = await browser.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const exchanges: Exchange[] = [];
    let relay: ImpairedRelay | undefined;
    t.after(async () => {
      await page.evaluate('call.hangUp()');
      await page.unrouteAll({ behavior: 'wait' });
      await page.close();
      await relay?.close();
    });
    await page.route('**/v1/realtime/calls**', async (route) => {
      const request = route.request();
      if (request.method() === 'DELETE') return route.continue();
      if (request.url().endsWith('/resume') && relay !== undefined) onResume?.(relay);
      const answer = await route.fetch();
      const text = await answer.text();
      const exchange = {
        method: request.method(),
        status: answer.status(),
        iceSession: answer.headers()['etag'],
      };
      exchanges.push(exchange);
      if (!text.includes('a=candidate:')) return route.fulfill({ response: answer });
      if (request.method() === 'PATCH' && relay !== undefined) await onRestart?.(relay);
      relay ??= await ImpairedRelay.open({ serverPort: candidatePort(text), seed: SEED });
      return route.fulfill({ response: answer, body: answerThrough(text, relay.port) });
    });
    await page.addInitScript(CALLER);
    await page.goto(`${server.url}/health`);
    const id = await page.evaluate<string>(`openCall(${JSON.stringify(options)})`);
    assert.ok(relay !== undefined);
    return new ModuleCall(page, id, relay, exchanges);
  }

  /** The condition may use `states` and `messages`. */
  async until(condition: string): Promise<void> {
    const timeout = AbortSignal.timeout(WAIT_MS);
    const late = once(timeout, 'abort').then(async () => {
      const seen = JSON.stringify(await this.page.evaluate('[states, messages.at(-1)]'));
      throw new Error(`not within ${WAIT_MS} ms: ${condition}; the page has ${seen}`);
    });
    await Promise.race([this.page.evaluate(`until(() => ${condition})`), late]);
  }

  /** Speaks a text, until its second sentence begins. */
  async tell(text: string): Promise<void> {
    await this.page.evaluate(`call.say(${JSON.stringify(text)})`);
    await this.until(`messages.some(({ type, sentence }) => type === 'sentence.started' && sentence === 1)`);
  }

  async states(): Promise<string[]> {
    return (await this.page.evaluate<State[]>('states')).map(({ state }) => state);
  }

  lastReason(): Promise<string> {
    return this.page.evaluate('states.at(-1).reason');
  }

  figures(): Promise<{ packets?: number; lost: number; concealedPercent: number }> {
    return this.page.evaluate('call.figures()');
  }
}

test('an ICE restart in the middle of a sentence is not heard', async (t) => {
  const call = await ModuleCall.open(t);
  await call.tell(SHORT);
  await call.page.evaluate(`dispatchEvent(new Event('online'))`);
  await call.until(`states.length === 4`);
  await call.until(`messages.some(({ type }) => type === 'utterance.spoken')`);
  assert.deepEqual(await call.states(), ['opening', 'open', 'reconnecting', 'open']);
  const [opened, restarted] = call.exchanges;
  assert.deepEqual([restarted?.method, restarted?.status], ['PATCH', 200]);
  assert.notEqual(restarted?.iceSession, opened?.iceSession);
  assert.equal(await call.page.evaluate('call.id'), call.id);
  const { lost, concealedPercent } = await call.figures();
  assert.equal(lost, 0);
  // A browser that waits 100 ms for a processor conceals 2 % of these seconds, without any restart.
  assert.ok(concealedPercent < 3, `${concealedPercent} % concealed`);
});

test('a call that loses its path restarts ICE and is heard again when there is a path', async (t) => {
  const call = await ModuleCall.open(t);
  await call.tell(SHORT);
  call.relay.up.impairment = call.relay.down.impairment = BLOCKED;
  await call.until(`states.at(-1).state === 'reconnecting'`);
  assert.match(await call.lastReason(), /No sound/);
  call.relay.up.impairment = call.relay.down.impairment = {};
  await call.until(`states.at(-1).state === 'open'`);
  await call.until(`messages.some(({ type }) => type === 'utterance.spoken')`);
  assert.deepEqual(
    call.exchanges.map(({ method }) => method),
    ['POST', 'PATCH'],
  );
});

for (const [how, announce, mostSilentMs] of [
  ['that the browser announces', `dispatchEvent(new Event('online'))`, 1000],
  // Most of it is the time until the page notices.
  ['that only shows in the packets that are missing', '', 2000],
] as const) {
  test(`a change of the network in mid-sentence ${how} loses and doubles nothing`, async (t) => {
    const call = await ModuleCall.open(t, {
      onRestart: async (relay) => {
        await relay.changeNetwork();
        relay.up.impairment = relay.down.impairment = {};
      },
    });
    await call.page.evaluate(LISTENER);
    const frequencies = Array.from({ length: TONES }, (_, tone) => frequencyOf(tone));
    await call.page.evaluate(`void listen(${JSON.stringify(frequencies)})`);
    const played = server.switchboard.get(call.id)?.play({ samples: scale(), sampleRate: TONE_RATE });
    await call.page.evaluate('untilPlayed(() => tones.at(-1) === 10)');
    call.relay.up.impairment = call.relay.down.impairment = BLOCKED;
    await call.page.evaluate(announce);
    await call.page.evaluate(`untilPlayed(() => tones.includes(${TONES - 1}) && tones.at(-1) === -1)`);
    await played?.ended;
    const silentMs = checkScale(await call.page.evaluate<number[]>('tones'));
    t.diagnostic(`${silentMs} ms of silence`);
    assert.ok(silentMs < mostSilentMs, `${silentMs} ms of silence`);
    assert.deepEqual(await call.states(), ['opening', 'open', 'reconnecting', 'open']);
  });
}

test('a call whose ICE restart does not help resumes on another connection, and what waits is sent', async (t) => {
  const call = await ModuleCall.open(t, {
    onResume: (relay) => (relay.up.impairment = relay.down.impairment = {}),
  });
  const before = server.switchboard.get(call.id);
  await call.tell(LONG);
  call.relay.up.impairment = call.relay.down.impairment = BLOCKED;
  await call.until(`states.at(-1).state === 'reconnecting'`);
  assert.equal(await call.page.evaluate(`call.say('And that is all.')`), true);
  await call.until(`states.at(-1).state === 'open'`);
  assert.equal(await call.page.evaluate(`messages.some(({ type }) => type === 'utterance.spoken')`), false);
  const { packets: atResumption = 0 } = await call.figures(); // a new connection counts anew
  await call.until(
    `messages.some(({ type, text }) => type === 'utterance.spoken' && text === 'And that is all.')`,
  );
  assert.deepEqual(
    call.exchanges.map(({ method, status }) => `${method} ${status}`),
    ['POST 201', 'PATCH 200', 'POST 201'],
  );
  assert.equal(await call.page.evaluate('call.id'), call.id);
  assert.equal(server.switchboard.get(call.id), before);
  const packets = ((await call.figures()).packets ?? 0) - atResumption;
  assert.ok(packets > 25, `${packets} packets after the resumption`); // half a second
});

/** Packets of the page's microphone on the call's present connection; undefined if that only receives. */
function packetsOf(call: ModuleCall): number | undefined {
  let packets: number | undefined;
  server.switchboard.get(call.id)?.follow(({ socket }) => (packets = socket?.stats().packets))();
  return packets;
}

test('the microphone is heard once the page asks for it in mid-sentence, and the sentence goes on', async (t) => {
  const call = await ModuleCall.open(t);
  await call.tell(LONG);
  assert.equal(packetsOf(call), undefined);
  await call.page.evaluate('call.startMicrophone().then((stream) => (window.microphone = stream))');
  assert.equal(await call.page.evaluate(`messages.some(({ type }) => type === 'utterance.spoken')`), false);
  await until(() => (packetsOf(call) ?? 0) > 25);
  await call.until(`messages.some(({ type }) => type === 'utterance.spoken')`);
  assert.deepEqual(await call.states(), ['opening', 'open']);
  assert.deepEqual(
    call.exchanges.map(({ method, status }) => `${method} ${status}`),
    ['POST 201', 'POST 201'],
  );
  assert.equal(await call.page.evaluate('call.id'), call.id);
  const [track] = await call.page.evaluate<{ readonly echoCancellation?: boolean }[]>(
    'microphone.getTracks().map((track) => track.getSettings())',
  );
  assert.equal(track?.echoCancellation, true);

  await call.page.evaluate('call.stopMicrophone()');
  assert.equal(await call.page.evaluate('microphone.getTracks()[0].readyState'), 'ended');
  assert.equal(await call.page.evaluate('call.microphone'), undefined);
  await call.page.evaluate('call.startMicrophone()');
  const before = packetsOf(call) ?? 0;
  await until(() => (packetsOf(call) ?? 0) > before + 25);
  assert.equal(call.exchanges.length, 2); // on the same connection
});

test('a call opened with the microphone sends it at once, and still does after its connection is lost', async (t) => {
  const call = await ModuleCall.open(t, {
    microphone: true,
    onResume: (relay) => (relay.up.impairment = relay.down.impairment = {}),
  });
  await until(() => (packetsOf(call) ?? 0) > 25);
  assert.equal(call.exchanges.length, 1);
  call.relay.up.impairment = call.relay.down.impairment = BLOCKED;
  await call.until(`states.at(-1).state === 'reconnecting'`);
  await call.until(`states.at(-1).state === 'open'`);
  assert.equal(call.exchanges.at(-1)?.status, 201); // a resumption
  await until(() => (packetsOf(call) ?? 0) > 25);
  await call.page.evaluate('window.sent = call.microphone.getTracks()[0]');
  await call.page.evaluate('call.hangUp()');
  assert.equal(await call.page.evaluate('sent.readyState'), 'ended');
});

test('a server that ends the call, and one that is gone, are told apart', async (t) => {
  const ended = await ModuleCall.open(t);
  await server.switchboard.get(ended.id)?.close('test');
  await ended.until(`states.at(-1).state === 'ended'`);
  assert.match(await ended.lastReason(), /The server ended the call/);

  const lost = await ModuleCall.open(t, { attempts: 3 });
  lost.relay.up.impairment = lost.relay.down.impairment = BLOCKED;
  await lost.page.unroute('**/v1/realtime/calls**');
  await lost.page.route('**/v1/realtime/**', (route) => route.abort());
  await lost.until(`states.at(-1).state === 'ended'`);
  assert.match(await lost.lastReason(), /connection was lost.*server does not answer/);
  assert.equal(await lost.page.evaluate('call.send({ type: "clear" })'), false);
});

test('a call that is over when its page comes back is said to be over', async (t) => {
  const call = await ModuleCall.open(t);
  call.relay.up.impairment = call.relay.down.impairment = BLOCKED;
  await server.switchboard.get(call.id)?.close('test');
  await call.until(`states.at(-1).state === 'ended'`);
  assert.match(await call.lastReason(), /the call is over on the server/);
});

test('the example of the documents speaks on a page of another origin', async (t) => {
  const block = codeBlocksOf('public/docs/webrtc.md').find(({ language }) => language === 'html');
  assert.ok(block !== undefined);
  example = block.code.replaceAll('http://127.0.0.1:8080', server.url);
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.addInitScript(PLAYERS);
  await page.goto(otherOrigin);
  const lines: string[] = [];
  page.on('console', (line) => lines.push(line.text()));
  await page.getByRole('button', { name: 'Talk' }).click();
  await until(() => lines.includes('agent true How are you?'));
  assert.deepEqual(
    lines.filter((line) => line.startsWith('agent') || line.startsWith('heard')),
    [
      'agent false Hello.',
      'heard Hello.',
      'agent true Hello.',
      'agent false How are you?',
      'heard How',
      'heard are',
      'heard you?',
      'agent true How are you?',
    ],
  );
  assert.equal(await page.evaluate('players.length === 1 && !players[0].paused'), true);
});
