// The server hears callers that SIPp connects: their sound is recorded as it was sent, their speech stops the
// voice, and noises and the echo of the voice do not.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { CallEvent } from '../../../src/call/call-events.js';
import { until } from '../../fakes/until.js';
import { breath, cough, keyboard } from '../../hearing/sounds.js';
import { kept } from './kept.js';
import { g711Sound } from './rtp-record.js';
import { RtpPeer, type HeardPacket } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { likeness, likenessSoFar, loudness, type Sound } from './sound-shape.js';
import { TelephoneServer } from './telephone-server.js';

const RATE = 8000;
const QUIET = 0.004;
const TEXT =
  'There was a miller whose only inheritance to his three sons was his mill, his ass, and his cat. ' +
  'The division was soon made.';
const QUESTION = 'Excuse me, can I ask you something?';
const HOLD_MS = 16_000;

let server: TelephoneServer;
let question: Sound;
let voice: Sound;
let recordings: string;

before(async () => {
  recordings = mkdtempSync(join(tmpdir(), 'parley-recordings-'));
  const asked = { text: QUESTION, interruptible: 'speech' };
  const routes = [
    { to: 'recorded', listen: { silenceMs: 400 }, record: { announce: 'beep' }, say: asked },
    { to: '*', wait: {} },
  ];
  server = await TelephoneServer.start({ RECORDINGS_DIR: recordings }, { routes });
  question = await server.rendered(QUESTION, { voice: 'rms' });
  voice = await server.rendered(TEXT);
});
after(async () => {
  await server.close();
  rmSync(recordings, { recursive: true });
});

interface HeardCall {
  readonly id: string;
  readonly rtp: RtpPeer;
  readonly events: CallEvent[];
  /** Sends sound to the server, after what is still to be sent. */
  say(samples: Float32Array): Promise<void>;
  is(type: CallEvent['type']): boolean;
}

async function begin(t: TestContext, service = 'parley'): Promise<HeardCall> {
  const rtp = await kept(t, RtpPeer.open());
  const known = new Set(server.telephone.list().map(({ id }) => id));
  const options = { holdMs: HOLD_MS, limitS: 30, service, keys: { rtp_port: rtp.port } };
  await kept(t, Sipp.call(server.address, 'call-basic', options));
  const opened = () => server.telephone.list().find(({ id }) => !known.has(id));
  await until(() => opened()?.state === 'connected');
  const { id } = opened() ?? assert.fail('the call has ended');
  const events: CallEvent[] = [];
  server.telephone.follow(id, 0, (event) => void (event.type === 'speech' && events.push(event.event)));
  await until(() => rtp.source !== undefined);
  const stream = rtp.stream(rtp.source ?? assert.fail());
  const is = (type: CallEvent['type']) => events.some((event) => event.type === type);
  return { id, rtp, events, say: (samples) => stream.play(samples), is };
}

async function record(id: string, action: 'start' | 'stop'): Promise<{ readonly name: string }> {
  const answer = await fetch(`${server.server.url}/v1/calls/${id}/recording`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text) as { name: string };
}

/** The two channels of a WAV file of 16-bit samples: the caller, and the voice. */
async function channelsOf(name: string): Promise<readonly [Sound, Sound]> {
  const answer = await fetch(`${server.server.url}/v1/recordings/${name}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const [channels, rate, start] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24), 44];
  assert.deepEqual([channels, rate], [2, 16_000]);
  const frames = Math.floor((bytes.length - start) / 4);
  const channel = (index: number): Sound => ({
    samples: Float32Array.from(
      { length: frames },
      (_, n) => bytes.readInt16LE(start + 4 * n + 2 * index) / 32_768,
    ),
    rate,
  });
  return [channel(0), channel(1)];
}

test('what both sides say is recorded as it was sent', async (t) => {
  const { id, say } = await begin(t);
  const { name } = await record(id, 'start');
  const said = server.telephone.say(id, { text: QUESTION });
  assert.equal(typeof said.utterance, 'number');
  await say(question.samples);
  await say(new Float32Array(RATE / 2));
  await record(id, 'stop');
  const [caller, ours] = await channelsOf(name);
  const heard = likeness(caller, question);
  assert.ok(heard.correlation > 0.95 && Math.abs(heard.longerMs) <= 40, JSON.stringify(heard));
  const spoken = await server.rendered(QUESTION);
  const sent = likenessSoFar(ours, spoken);
  assert.ok(sent.correlation > 0.93, JSON.stringify(sent));
});

test('a rule hears and records the call that it answers, from the beep on', async (t) => {
  const { id, say, events, is } = await begin(t, 'recorded');
  await until(() => is('recording.started') && is('utterance.spoken'));
  // The beep and the text.
  await until(() => events.filter(({ type }) => type === 'utterance.spoken').length === 2);
  await say(question.samples);
  await say(new Float32Array(RATE));
  await until(() => is('turn.ended'));
  await server.telephone.hangUp(id);
  const list = await fetch(`${server.server.url}/v1/recordings?call=${id}`);
  const { data } = (await list.json()) as { data: { name: string; call: string; complete: boolean }[] };
  assert.deepEqual(
    data.map(({ call, complete }) => ({ call, complete })),
    [{ call: id, complete: true }],
  );
  const [caller, ours] = await channelsOf(data[0]?.name ?? '');
  const heard = likeness(caller, question);
  assert.ok(heard.correlation > 0.95, `caller ${JSON.stringify(heard)}`);
  // The file begins with the last of the beep. The text follows it after some 20 ms.
  const beepWindows = loudness(ours.samples, ours.rate, 5).findIndex((level) => level < QUIET);
  const text = { ...ours, samples: ours.samples.subarray((beepWindows * ours.rate) / 200) };
  const sent = likenessSoFar(text, await server.rendered(QUESTION));
  assert.ok(sent.correlation > 0.93, `voice ${JSON.stringify(sent)}`);
});

/** Time at which the last packet of the voice came that is not silent. */
function lastVoiceMs(heard: readonly HeardPacket[]): number {
  const loud = heard.filter((packet) => {
    const [level = 0] = loudness(g711Sound([packet]), RATE, 20);
    return level > QUIET;
  });
  return loud.at(-1)?.atMs ?? -Infinity;
}

test('speech of the caller stops the voice, and the event states what was heard', async (t) => {
  const { id, say, events, is, rtp } = await begin(t);
  server.telephone.say(id, { text: TEXT, interruptible: 'speech' });
  await until(() => is('utterance.started'));
  await say(new Float32Array(RATE));
  const fromMs = performance.now();
  await say(question.samples);
  await until(() => is('utterance.interrupted'));
  await say(new Float32Array(RATE));
  const stoppedMs = lastVoiceMs(rtp.heard) - fromMs;
  assert.ok(stoppedMs < 1000, `${stoppedMs} ms after the caller began`);
  const interrupted = events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(interrupted?.type === 'utterance.interrupted');
  assert.ok(TEXT.startsWith(interrupted.text) && interrupted.text.length > 10, interrupted.text);
  assert.ok(interrupted.text.startsWith(interrupted.heard), interrupted.heard);
  assert.ok(is('speech.started') && is('utterance.paused'));
  await until(() => is('turn.ended'));
});

test('a cough, a breath and a keyboard do not end the utterance', async (t) => {
  const { id, say, events, is } = await begin(t);
  server.telephone.say(id, { text: TEXT, interruptible: 'speech' });
  await until(() => is('utterance.started'));
  for (const noise of [cough(-25), breath(-35), keyboard(1500, -30)]) {
    await say(half(noise));
    await say(new Float32Array(RATE));
  }
  await until(() => is('utterance.spoken') || is('utterance.interrupted'));
  assert.deepEqual(
    events.filter(({ type }) => type === 'utterance.interrupted'),
    [],
  );
});

/** From 16 kHz to the rate of a telephone. */
function half(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, n) => {
    return ((samples[2 * n] ?? 0) + (samples[2 * n + 1] ?? 0)) / 2;
  });
}

for (const db of [-10, -20]) {
  test(`the voice that comes back at ${db} dB is no speech of the caller`, async (t) => {
    const { id, say, is, rtp } = await begin(t);
    server.telephone.say(id, { text: TEXT, interruptible: 'any' });
    await until(() => is('utterance.started'));
    let returned = rtp.heard.length;
    const gain = 10 ** (db / 20);
    void say(new Float32Array(RATE / 10)); // the delay of the echo
    const echo = setInterval(() => {
      const packets = rtp.heard.slice(returned);
      returned += packets.length;
      if (packets.length > 0) void say(g711Sound(packets).map((sample) => sample * gain));
    }, 20);
    try {
      await until(() => is('utterance.spoken') || is('utterance.interrupted'));
    } finally {
      clearInterval(echo);
    }
    assert.equal(is('utterance.interrupted'), false);
    assert.ok(voice.samples.length > 4 * RATE, 'the voice speaks for long enough');
  });
}
