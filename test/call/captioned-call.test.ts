// A call with captions: media plane and hearing worker are real, the recogniser is scripted; the
// test holds the clock of the plane and feeds what the caller says, and the voice speaks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CallerTexts } from '../../src/call/caller-texts.js';
import { type Caption, CallCaptions } from '../../src/call/call-captions.js';
import { CODECS } from '../../src/codecs/codec.js';
import { frameEncoder } from '../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { readWav } from '../../src/codecs/wav.js';
import { Hearing } from '../../src/hearing/hearing.js';
import { createLog } from '../../src/observe/log.js';
import { GOLDEN } from '../engines/golden.js';
import { FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { FAR, rtp } from '../media/plane-under-test.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';

const FRAME = 160; // samples of 20 ms of G.711
const AHEAD_WINDOWS = 4; // windows that may wait for the worker; more than eight are dropped
const TEXT = 'One moment, please.';

const calls = openCalls();

/** A second of silence, a sentence, and two seconds of silence in G.711, in frames of 20 ms. */
function spokenFrames(): Uint8Array[] {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips/odd37.wav')));
  const sound = new Float32Array(16_000 + wav.frames + 32_000);
  wav.read(0, 0, sound.subarray(16_000, 16_000 + wav.frames));
  const encoder = frameEncoder(CODECS.PCMU, FRAME_MS, OPUS_SPEECH);
  const half = Float32Array.from(
    { length: Math.floor(sound.length / 2) },
    (_, n) => ((sound[2 * n] ?? 0) + (sound[2 * n + 1] ?? 0)) / 2,
  );
  return Array.from({ length: Math.floor(half.length / FRAME) }, (_, n) =>
    encoder.encode(half.subarray(FRAME * n, FRAME * (n + 1))).slice(),
  );
}

test('both sides of a call have captions with their times', async (t) => {
  const recogniser = new ScriptedRecogniser();
  const later: { hearing?: Hearing } = {};
  const service = {
    listen: (...heard: Parameters<Hearing['listen']>) => (later.hearing ?? assert.fail()).listen(...heard),
  };
  const under = calls.open(undefined, { hearing: { service, settings: HEARING_SETTINGS } });
  const { plane, time, call } = under;
  const hearing = await Hearing.open({ plane, log: createLog({ level: 'silent', logText: false }), time });
  later.hearing = hearing;
  t.after(() => hearing.close());
  const socket = under.port.socket ?? assert.fail();
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  socket.bind(under.port.playout);
  const captions = new CallCaptions({
    calls: { get: () => call },
    ownerOf: () => undefined,
    callerTexts: new CallerTexts({ recogniser, time }),
    time,
    unixMs: () => 0,
  });
  const followedMs = time.now();
  const told: Caption[] = [];
  const stop = captions.follow(call.id, undefined, 0, ({ event }) => {
    if (event.type === 'caption') told.push(event.caption);
  });
  t.after(stop);
  let sequence = 100;
  const feed = (payload: Uint8Array) => {
    socket.feed(rtp({ sequence, timestamp: FRAME * sequence, payload }), FAR.address, FAR.port);
    sequence++;
    under.pass(FRAME_MS);
  };
  const frames = spokenFrames();
  const [quiet = assert.fail()] = frames;
  await until(() => (feed(quiet), hearing.figures().windows > 0));
  const [beganMs, began] = [plane.nowMs, hearing.figures().windows];
  const startMs = time.now();
  for (const frame of frames) {
    feed(frame);
    const due = Math.floor((plane.nowMs - beganMs) / 32) - AHEAD_WINDOWS;
    await until(() => hearing.figures().windows - began >= due);
    await setImmediate(); // the events of those windows come with the next turn of the event loop
  }
  await until(() => told.some(({ isFinal }) => isFinal));
  const caption = told.find(({ isFinal }) => isFinal) ?? assert.fail();
  assert.equal(caption.side, 'caller');
  assert.equal(caption.text, 'turn 0');
  // The sentence begins a second after `startMs` and lasts for 3.7 s; 600 ms of silence end its turn.
  const before = startMs - followedMs;
  const at = JSON.stringify({ before, ...caption });
  assert.ok(caption.beginMs > before + 700 && caption.beginMs < before + 1900, at);
  assert.ok(caption.endMs > before + 3500 && caption.endMs < before + 6500, at);
  const [session = assert.fail()] = recogniser.opened;
  assert.ok(
    session.sound.some((sample) => Math.abs(sample) > 0.05),
    'the sentence was heard',
  );
  call.speak(TEXT);
  await until(() => (under.pass(FRAME_MS), told.some(({ side, isFinal }) => side === 'voice' && isFinal)));
  const voice = told.filter(({ side }) => side === 'voice');
  assert.deepEqual(
    voice.map(({ text, isFinal }) => [text, isFinal]),
    [
      [TEXT, false],
      [TEXT, true],
    ],
  );
  await call.close('test over');
  await until(() => recogniser.sessions === 0);
});
