// Calls of every kind that are joined over HTTP: SIP, browser, WebSocket and AudioSocket, on the media plane
// that users have. What one says, the others hear.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { CallEvent } from '../../src/call/call-events.js';
import { OpusFrameDecoder } from '../../src/codecs/opus.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { freePorts } from '../fakes/free-port.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { wavChannels } from '../recording/recorded-sound.js';
import { WeriftClient } from '../signaling/werift-client.js';
import * as farEnds from './far-ends.js';
import type { AnyCaller, CallerKind, FarEnds } from './far-ends.js';
import { leastLikeness, type SaidAndHeard } from './wave-likeness.js';

const SILENT = 0.001; // amplitude
const ALIKE = 0.95; // correlation of waveforms
const FRAME = 160; // samples of 8 kHz
const FRAME_MS = 20;
const SILENT_BYTES = 3; // the payload of Opus that the server sends in a pause
const REST = 15; // frames of silence after which everything is heard
const PAIRS: readonly (readonly [CallerKind, CallerKind])[] = [
  ['sip', 'browser'],
  ['sip', 'websocket'],
  ['sip', 'audiosocket'],
  ['browser', 'websocket'],
  ['browser', 'audiosocket'],
  ['websocket', 'websocket'],
  ['websocket', 'audiosocket'],
];

let under: FarEnds;
let [speech, other]: [Float32Array, Float32Array] = [new Float32Array(), new Float32Array()];
const folder = new ScratchFolder();

before(async () => {
  const audioSocketPort = await freePorts();
  const server = await TelephoneServer.start(
    {
      AUDIOSOCKET_PORT: `${audioSocketPort}`,
      ICE_HOST_ADDRESSES: '127.0.0.1',
      RECORDINGS_DIR: join(folder.path, 'recordings'),
    },
    { routes: [{ wait: {} }] },
  );
  under = { server, audioSocketPort };
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
  other = (await server.rendered('I would like to speak to somebody in sales.', { voice: 'rms' })).samples;
});
after(async () => {
  await under.server.close();
  folder.remove();
});

const call = (t: TestContext, kind: CallerKind) => farEnds.callOf(t, kind, under);
const ask = (method: string, path: string, body?: object) => farEnds.ask(under.server, method, path, body);

/** The far ends are paced on the thread of the server: a test that looks must not take all of it. */
const looked = (condition: () => boolean) =>
  until(async () => {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    return condition();
  });

const isSilence = (samples: Float32Array) => samples.every((sample) => Math.abs(sample) < SILENT);

const isQuiet = (one: AnyCaller) => one.frames >= REST && isSilence(one.heard(one.frames - REST));

/** All of them talk at once; resolves with what each heard until it is silent again. */
async function talk(
  speakers: readonly (readonly [AnyCaller, Float32Array])[],
  listeners: readonly AnyCaller[],
): Promise<readonly Float32Array[]> {
  await looked(() => listeners.every(isQuiet));
  const from = listeners.map((one) => one.frames);
  await Promise.all(speakers.map(([speaker, samples]) => speaker.says(samples)));
  const longest = Math.max(...speakers.map(([, samples]) => samples.length)) / FRAME;
  const isOver = (one: AnyCaller, n: number) => one.frames >= (from[n] ?? 0) + longest + REST && isQuiet(one);
  await looked(() => listeners.every(isOver));
  return listeners.map((one, n) => one.heard(from[n] ?? 0));
}

/**
 * How like it is what was heard, at best of three times: on a busy machine a far end of the test is late, and
 * the jitter buffer stretches its sound.
 */
async function likeness(hear: () => Promise<readonly SaidAndHeard[]>): Promise<number> {
  let best = 0;
  for (let time = 0; time < 3 && best <= ALIKE; time++)
    best = Math.max(best, await leastLikeness(await hear()));
  return best;
}

/** The events of a call from now on. */
function eventsOf({ id }: AnyCaller): CallEvent[] {
  const events: CallEvent[] = [];
  under.server.server.switchboard.get(id)?.observe((event) => void events.push(event));
  return events;
}

const isOpen = ({ id }: AnyCaller) => under.server.server.switchboard.get(id) !== undefined;

/** True for the sound of the key 5: its two frequencies, and not much else. */
function hasKeyFive(heard: Float32Array): boolean {
  for (let at = 0; at + 400 <= heard.length; at += 200) {
    const piece = heard.subarray(at, at + 400);
    const all = piece.reduce((sum, sample) => sum + sample * sample, 0);
    if (all / piece.length > 1e-4 && (powerAt(piece, 770) + powerAt(piece, 1336)) / all > 0.8) return true;
  }
  return false;
}

function powerAt(piece: Float32Array, hz: number): number {
  let [re, im] = [0, 0];
  piece.forEach((sample, n) => {
    re += sample * Math.cos((2 * Math.PI * hz * n) / 8000);
    im += sample * Math.sin((2 * Math.PI * hz * n) / 8000);
  });
  return (2 * (re * re + im * im)) / piece.length;
}

for (const [one, two] of PAIRS) {
  test(`a bridge: ${one} and ${two} hear each other, also at once`, async (t) => {
    const [a, b] = [await call(t, one), await call(t, two)];
    const made = await ask('POST', `/calls/${a.id}/bridge`, { call: b.id });
    assert.deepEqual([made.status, made.json['other']], [201, b.id]);
    const isRtp = ![one, two].some((kind) => kind === 'websocket' || kind === 'audiosocket');
    assert.equal(made.json['mode'], isRtp ? 'relay' : 'mixed');
    const both = async () => {
      const [atA = speech, atB = speech] = await talk(
        [
          [a, speech],
          [b, other],
        ],
        [a, b],
      );
      return [[other, atA] as const, [speech, atB] as const];
    };
    const alike = await likeness(both);
    assert.ok(alike > ALIKE, `${alike}`);
    assert.equal((await ask('DELETE', `/calls/${b.id}/bridge`)).status, 204);
    assert.ok(isOpen(a) && isOpen(b), 'both calls go on');
  });
}

/** The first byte of a payload of Opus states its band (RFC 6716, section 3.1): 4 kHz in these modes. */
function isNarrowBand([first = 0]: Uint8Array): boolean {
  const configuration = first >> 3;
  return configuration <= 3 || (configuration >= 16 && configuration <= 19);
}

test('a browser of Opus hears a telephone of G.711 in the narrow band', async (t) => {
  const telephone = await call(t, 'sip');
  const browser = await kept(t, new WeriftClient('opus', { speaks: true }));
  const answer = await fetch(`${under.server.server.url}/v1/realtime/calls?agent=none`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: await browser.offer(),
  });
  const id = answer.headers.get('location')?.split('/').at(-1) ?? '';
  await browser.accept(await answer.text());
  await browser.until(() => browser.messages.find(({ type }) => type === 'ready'), 'ready message');
  const made = await ask('POST', `/calls/${telephone.id}/bridge`, { call: id });
  assert.deepEqual([made.status, made.json['mode']], [201, 'mixed']);
  const alike = await likeness(async () => {
    const from = browser.packets.length;
    await telephone.says(speech);
    await looked(() => browser.packets.length >= from + speech.length / FRAME);
    const payloads = browser.packets.slice(from).map(({ payload }) => payload);
    const voiced = payloads.filter(({ length }) => length > SILENT_BYTES);
    assert.ok(voiced.length > REST && voiced.every(isNarrowBand), 'every payload of sound is narrow');
    const decoder = new OpusFrameDecoder();
    const frames = payloads.map((payload) => [...decoder.decode(payload)].filter((_, n) => n % 6 === 0));
    return [[speech, Float32Array.from(frames.flat(), (sample) => sample / 32_768)]];
  });
  assert.ok(alike > 0.8, `${alike}`);
});

test('keys of every far end cross a bridge, as events or as sound', async (t) => {
  const kinds: readonly CallerKind[] = ['sip', 'browser', 'audiosocket'];
  for (const kind of kinds) {
    const [a, b] = [await call(t, kind), await call(t, 'sip')];
    assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
    await a.press('7');
    await until(() => b.keys().length > 0);
    assert.deepEqual(b.keys(), ['7'], kind);
    const from = a.frames;
    await b.press('5');
    await until(() => a.keys().includes('5') || hasKeyFive(a.heard(from)));
    assert.deepEqual(a.keys(), kind === 'sip' ? ['5'] : []);
  }
});

test('whoever hangs up, the bridge ends, and the other call goes on and hears our voice', async (t) => {
  const kinds: readonly CallerKind[] = ['sip', 'browser', 'websocket', 'audiosocket'];
  for (const kind of kinds) {
    const [a, b] = [await call(t, 'audiosocket'), await call(t, kind)];
    const events = eventsOf(a);
    assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
    await b.hangUp();
    await until(() => events.some(({ type }) => type === 'bridge.ended'));
    assert.deepEqual(
      events.filter(({ type }) => type === 'bridge.ended'),
      [{ type: 'bridge.ended', other: b.id, reason: 'hung up' }],
    );
    await until(() => !isOpen(b));
    const from = a.frames;
    assert.equal((await ask('POST', `/calls/${a.id}/say`, { text: 'They have left.' })).status, 202);
    await looked(() => !isSilence(a.heard(from)));
    assert.ok(isOpen(a));
    await a.hangUp();
    await until(() => !isOpen(a));
  }
});

test('a caller interrupts our voice in a bridge, and the other side hears that caller', async (t) => {
  const kinds: readonly CallerKind[] = ['audiosocket', 'browser'];
  for (const kind of kinds) {
    const [a, b] = [await call(t, kind), await call(t, 'sip')];
    assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
    const events = eventsOf(a);
    const speaker = under.server.server.switchboard.get(a.id);
    speaker?.speak('This is a long text that only one of the two hears. '.repeat(5), {
      interruptible: 'speech',
    });
    await looked(() => events.some(({ type }) => type === 'utterance.started'));
    const [atB = other] = await talk([[a, other]], [b]);
    await looked(() => events.some(({ type }) => type === 'utterance.interrupted'));
    await looked(() => events.some(({ type }) => type === 'turn.ended'));
    assert.ok((await leastLikeness([[other, atB]])) > 0.8, kind);
    assert.equal((await ask('DELETE', `/calls/${a.id}/bridge`)).status, 204);
  }
});

test('a recording of a bridged call has each leg in a channel', async (t) => {
  const [a, b] = [await call(t, 'websocket'), await call(t, 'browser')];
  assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
  const { status, json } = await ask('POST', `/calls/${a.id}/recording`, { action: 'start', format: 'wav' });
  assert.equal(status, 201);
  await talk(
    [
      [a, speech],
      [b, other],
    ],
    [a, b],
  );
  assert.equal((await ask('POST', `/calls/${a.id}/recording`, { action: 'stop' })).status, 200);
  const file = await fetch(`${under.server.server.url}/v1/recordings/${String(json['name'])}`);
  const { caller, ours } = wavChannels(new Uint8Array(await file.arrayBuffer()));
  const least = await leastLikeness([
    [speech, half(caller)],
    [other, half(ours)],
  ]);
  assert.ok(least > 0.8, `${least}`);
});

/** From 16 to 8 kHz. */
function half(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, n) => {
    return ((samples[2 * n] ?? 0) + (samples[2 * n + 1] ?? 0)) / 2;
  });
}

test('far ends of every kind meet in a room, where each hears the others and not itself', async (t) => {
  const kinds: readonly CallerKind[] = ['sip', 'browser', 'websocket', 'audiosocket'];
  const members: AnyCaller[] = [];
  for (const kind of kinds) members.push(await call(t, kind));
  for (const { id } of members)
    assert.equal((await ask('POST', '/rooms/all/members', { call: id, sounds: false })).status, 201);
  for (const [n, speaker] of members.entries()) {
    const alike = await likeness(async () => {
      const heard = await talk([[speaker, speech]], members);
      assert.ok(isSilence(heard[n] ?? speech), `own voice of ${kinds[n]}`);
      return heard.filter((_, m) => m !== n).map((sound) => [speech, sound] as const);
    });
    assert.ok(alike > ALIKE, `${kinds[n]} ${alike}`);
  }
  const [first] = members;
  assert.equal((await ask('DELETE', `/rooms/all/members/${first?.id}`)).status, 204);
  const [atFirst = speech] = await talk([[members[1] as AnyCaller, speech]], [first as AnyCaller]);
  assert.ok(
    atFirst.every((sample) => Math.abs(sample) < SILENT),
    'a call that has left',
  );
  for (const member of members) await member.hangUp();
  await until(async () => (await ask('GET', '/rooms/all')).status === 404);
});
