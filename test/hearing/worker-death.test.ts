// A call whose hearing worker dies in the middle of the caller's words: the worker, its model, the ears and
// the media plane are real; the test holds the clock of the plane.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { BroadcastChannel } from 'node:worker_threads';
import type { CallEvent } from '../../src/call/call-events.js';
import { CODECS } from '../../src/codecs/codec.js';
import { frameEncoder } from '../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { Hearing } from '../../src/hearing/hearing.js';
import { createLog } from '../../src/observe/log.js';
import { heardOf, rising } from '../call/heard-sound.js';
import { FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { FAR, rtp } from '../media/plane-under-test.js';
import { joined, silence, speech } from './sounds.js';

const FRAME = 160; // samples of 20 ms of G.711
/** Windows that may wait for the worker; more than eight are dropped. */
const AHEAD_WINDOWS = 4;
const TEXT = 'a voice that speaks for a long time';
const SETTINGS = { ...HEARING_SETTINGS, minSpeechMs: 32, ignoreBackchannel: true };

const words = await speech('I would like to speak to somebody about the order of last week, please.', 'awb');

const calls = openCalls();

/** G.711 of a sound of 16 kHz, in frames of 20 ms. */
function framesOf(sound: Float32Array): Uint8Array[] {
  const encoder = frameEncoder(CODECS.PCMU, FRAME_MS, OPUS_SPEECH);
  const half = Float32Array.from(
    { length: Math.floor(sound.length / 2) },
    (_, n) => ((sound[2 * n] ?? 0) + (sound[2 * n + 1] ?? 0)) / 2,
  );
  return Array.from({ length: Math.floor(half.length / FRAME) }, (_, n) =>
    encoder.encode(half.subarray(FRAME * n, FRAME * (n + 1))).slice(),
  );
}

async function openHeardCall(t: TestContext) {
  const later: { hearing?: Hearing } = {};
  const service = {
    listen: (...heard: Parameters<Hearing['listen']>) => (later.hearing ?? assert.fail()).listen(...heard),
  };
  const under = calls.open(undefined, { hearing: { service, settings: SETTINGS } });
  const log: Record<string, unknown>[] = [];
  const hearing = await Hearing.open({
    plane: under.plane,
    script: new URL('./mortal-worker.js', import.meta.url),
    log: createLog({
      level: 'info',
      logText: false,
      destination: { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    time: under.time,
  });
  later.hearing = hearing;
  t.after(() => hearing.close());
  const socket = under.port.socket ?? assert.fail();
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  socket.bind(under.port.playout);
  let sequence = 100;
  const feed = (payload: Uint8Array) => {
    socket.feed(rtp({ sequence, timestamp: FRAME * sequence, payload }), FAR.address, FAR.port);
    sequence++;
    under.pass(FRAME_MS);
  };
  return { ...under, hearing, log, feed };
}

type HeardCall = Awaited<ReturnType<typeof openHeardCall>>;

/** Feeds silence until the present worker takes windows. */
async function whenHeard({ hearing, feed }: HeardCall): Promise<void> {
  const [quiet = assert.fail()] = framesOf(silence(FRAME_MS));
  const before = hearing.figures().windows;
  await until(() => {
    if (hearing.figures().windows > before) return true;
    feed(quiet);
    return false;
  });
}

/** Feeds frames no faster than the worker takes their windows, until the condition holds. */
async function feedUntil(
  { hearing, feed, plane }: HeardCall,
  frames: readonly Uint8Array[],
  condition: () => boolean = () => false,
): Promise<void> {
  const [beganMs, began] = [plane.nowMs, hearing.figures().windows];
  for (const frame of frames) {
    if (condition()) return;
    feed(frame);
    const due = Math.floor((plane.nowMs - beganMs) / 32) - AHEAD_WINDOWS;
    await until(() => hearing.figures().windows - began >= due);
  }
  await until(() => hearing.figures().windows - began >= Math.floor((plane.nowMs - beganMs) / 32) - 1);
}

test('a worker that dies during an interruption: the voice goes on, all ends once, another one hears', async (t) => {
  const under = await openHeardCall(t);
  under.engine.sounds.set(TEXT, rising(240_000));
  const utterance = under.call.speak(TEXT, { interruptible: 'speech' });
  await whenHeard(under);
  const types = () =>
    under.events.map(({ type }) => type).filter((type) => /^(?:speech|turn|utterance\.[pri])/.test(type));
  const has = (type: CallEvent['type']) => types().includes(type);
  // Our voice alone first: the echo guard learns that nothing of it comes back.
  const spoken = framesOf(joined(silence(1000), words, silence(3000)));
  await feedUntil(under, spoken, () => has('utterance.paused') && has('speech.started'));
  const begun = types(); // what may be a word pauses the voice first
  assert.deepEqual(begun.toSorted(), ['speech.started', 'utterance.paused']);

  const death = new BroadcastChannel('hearing-worker-death');
  death.postMessage('now');
  death.close();
  await until(() => under.log.some(({ msg }) => msg === 'hearing worker replaced'));
  assert.equal(
    under.log.find(({ msg }) => msg === 'hearing worker replaced')?.['detail'],
    'the test ended this worker',
  );
  const ended = [...begun, 'utterance.resumed', 'speech.stopped', 'turn.ended'];
  await until(() => has('turn.ended'));
  assert.deepEqual(types(), ended, 'each ends once, while the clock stands');
  under.sent();
  under.pass(5 * FRAME_MS);
  assert.ok(
    heardOf(under.sent()).some((sample) => sample !== 0),
    'the voice goes on',
  );

  await until(() => under.log.filter(({ msg }) => msg === 'voice activity model loaded').length === 2);
  await whenHeard(under);
  assert.equal(utterance.state, 'speaking');
  await feedUntil(under, spoken, () => has('utterance.interrupted') && types().at(-1) === 'turn.ended');
  await until(() => types().filter((type) => type === 'turn.ended').length === 2);
  const later = types().slice(ended.length);
  const count = (type: CallEvent['type']) => later.filter((one) => one === type).length;
  assert.deepEqual(later.slice(0, 2).toSorted(), ['speech.started', 'utterance.paused']);
  // A short word may stop before the interruption is certain: the voice goes on until the next one.
  const voice = later.filter((type) => type.startsWith('utterance.')).map((type) => type.slice(10));
  assert.match(voice.join(' '), /^paused (?:resumed paused )*interrupted$/);
  assert.equal(count('speech.started'), count('speech.stopped'));
  assert.equal(count('turn.ended'), 1);
});
