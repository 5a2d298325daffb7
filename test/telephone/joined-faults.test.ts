// Faults of one leg of a bridge, and the death of all workers, on the media plane that users have: the other
// leg is not disturbed, and neither is a bridge beside it.
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { noise } from '../audio/tones.js';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { PEER_WORKERS, writeRtp } from '../interop/telephone/rtp-peer.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import {
  type AnyCaller,
  ask,
  callOf,
  type Caller,
  type CallerKind,
  type FarEnds,
  sipCall,
  sipCaller,
} from './far-ends.js';
import { leastLikeness } from './wave-likeness.js';

const ALIKE = 0.95; // correlation of waveforms
const FRAME = 160; // samples of 8 kHz
const FRAME_MS = 20;
const REST = 25; // frames that are heard behind the speech
const FLOODS = 60; // streams of other SSRCs: 3000 packets a second
const LIES = 300; // packets

let under: FarEnds;
let speech: Float32Array = new Float32Array();
const workers = new Set<Worker>();
const folder = new ScratchFolder();

before(async () => {
  const audioSocketPort = await freePorts();
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (this: Worker, ...message: Parameters<typeof post>) {
    if (!PEER_WORKERS.has(this)) workers.add(this);
    return post.apply(this, message);
  };
  const server = await TelephoneServer.start(
    { AUDIOSOCKET_PORT: `${audioSocketPort}`, SOUNDS_DIR: folder.path },
    { routes: [{ wait: {} }] },
  );
  under = { server, audioSocketPort };
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
});
after(async () => {
  await under.server.close();
  folder.remove();
});

const isLoud = (samples: Float32Array) => samples.some((sample) => Math.abs(sample) > 0.05);

const looked = (condition: () => boolean) =>
  until(async () => {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    return condition();
  });

/** One says the speech; resolves with how like it is what the other one hears. */
async function heard(speaker: AnyCaller, listener: AnyCaller): Promise<number> {
  const from = listener.frames;
  await speaker.says(speech);
  await looked(() => listener.frames >= from + speech.length / FRAME + REST);
  return leastLikeness([[speech, listener.heard(from)]]);
}

const joined = async (one: { id: string }, two: { id: string }, fields: object = {}) => {
  const body = { call: two.id, ...fields };
  const { status } = await ask(under.server, 'POST', `/calls/${one.id}/bridge`, body);
  assert.equal(status, 201);
};

/** A bridge of two SIP calls, which is relayed, and a witness of a SIP call and another, which is mixed. */
async function open(t: TestContext, kind: CallerKind = 'audiosocket') {
  const faulty = await sipCaller(t, under);
  const other = await callOf(t, 'sip', under);
  const witness = [await callOf(t, 'sip', under), await callOf(t, kind, under)] as const;
  await joined(faulty, other);
  await joined(...witness, { voice: 'ducked' });
  return { faulty, other, witness };
}

/** While the fault lasts, the faulty leg hears the other one, and the witnesses each other. */
async function undisturbed({ faulty, other, witness: [sip, socket] }: Awaited<ReturnType<typeof open>>) {
  const alike = await Promise.all([heard(other, sipCall(faulty)), heard(sip, socket), heard(socket, sip)]);
  assert.ok(Math.min(...alike) > ALIKE, alike.join(' '));
}

/** Its far end sends another stream, and is heard again. */
async function isHeardAgain(faulty: Caller, other: AnyCaller): Promise<void> {
  const stream = faulty.rtp.stream(faulty.media, { ssrc: 0xbeef, firstSequence: 7, firstTimestamp: 99 });
  let alike = 0;
  // The server takes a new source once the one before was silent for a while.
  await until(async () => (alike = await heard(sipCall({ ...faulty, stream }), other)) > ALIKE);
  assert.ok(alike > ALIKE, `${alike}`);
}

test('a leg that stops sending leaves the other one as it is, and comes back under another SSRC', async (t) => {
  const legs = await open(t);
  legs.faulty.stream.stop();
  await undisturbed(legs);
  await isHeardAgain(legs.faulty, legs.other);
});

test('a leg that floods the server with streams disturbs nobody', async (t) => {
  const legs = await open(t);
  const { faulty, other } = legs;
  const streams = Array.from({ length: FLOODS }, (_, n) =>
    faulty.rtp.stream(faulty.media, { ssrc: 1000 + n }),
  );
  for (const stream of streams) void stream.play(noise(8000 * 3, 0.5, 1));
  await undisturbed(legs);
  for (const stream of streams) stream.stop();
  faulty.stream.stop();
  await isHeardAgain(faulty, other);
});

test('a leg that lies about its rate disturbs nobody', async (t) => {
  const legs = await open(t);
  const { faulty, other } = legs;
  faulty.stream.stop();
  let sequence = 0;
  // Twice as many packets as it stands for, whose timestamps run at four times the rate.
  const timer = setInterval(() => {
    for (let n = 0; n < 2 && sequence < LIES; n++, sequence++)
      faulty.rtp.send(
        writeRtp({
          marker: false,
          payloadType: 0,
          ssrc: 0x5eed,
          sequence,
          timestamp: sequence * 4 * FRAME,
          payload: Buffer.from(noise(FRAME, 100, sequence + 1).map((sample) => 128 + sample)),
        }),
        faulty.media,
      );
  }, FRAME_MS);
  t.after(() => clearInterval(timer));
  await undisturbed(legs);
  clearInterval(timer);
  await isHeardAgain(faulty, other);
});

test('the death of every worker, of encoders and hearing, is heard in no bridge', async (t) => {
  const legs = await open(t, 'sip');
  const say = async (id: string) =>
    (await ask(under.server, 'POST', `/calls/${id}/say`, { text: 'Good morning.', interruptible: 'speech' }))
      .status;
  assert.equal(await say(legs.faulty.id), 202); // workers that encode and hear have begun
  assert.ok(workers.size >= 2);
  await looked(() => isLoud(sipCall(legs.faulty).heard(0)));
  const dying = [...workers];
  workers.clear();
  const talking = undisturbed(legs);
  await Promise.all(dying.map((worker) => worker.terminate()));
  await talking;
  await until(async () => (await say(legs.witness[0].id)) === 202);
  const from = legs.witness[0].frames;
  await looked(() => isLoud(legs.witness[0].heard(from)));
});

test('music that is no sound, is hours long or is missing is refused by its field, and nothing is left', async (t) => {
  const [a, b] = [await callOf(t, 'sip', under), await callOf(t, 'audiosocket', under)];
  writeFileSync(folder.at('text.wav'), 'this is no sound');
  writeFileSync(folder.at('hours.wav'), '');
  truncateSync(folder.at('hours.wav'), 10 * 3600 * 8000 * 2); // ten hours of zeros, which take no disk
  for (const music of ['text.wav', 'hours.wav', 'missing.wav', '../secret.wav'])
    for (const [path, body] of [
      [`/calls/${a.id}/bridge`, { call: b.id }],
      ['/rooms/music/members', { call: a.id }],
      ['/queues/music/members', { call: a.id }],
    ] as const) {
      const { status, json } = await ask(under.server, 'POST', path, { ...body, music });
      const { param } = json['error'] as { param?: string };
      assert.ok([400, 413].includes(status), `${path} ${music} ${status}`);
      assert.equal(param, 'music', `${path} ${music}`);
    }
  for (const path of ['/rooms/music', '/queues/music'])
    assert.equal((await ask(under.server, 'GET', path)).status, 404);
  await joined(a, b);
});
