import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENCE_DB, WINDOW_MS } from '../../src/hearing/ear-source.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { EchoGuard, EchoGuardWorkspace } from '../../src/hearing/echo-guard.js';
import { heard } from './heard-script.js';
import { amplified, companded, delayed, joined, mixed, noise, repeated, silence, speech } from './sounds.js';

const THRESHOLD_DB = -55;

const said = await Promise.all([
  speech('Thank you for calling. Your order was sent on Monday, and it will arrive by Friday.', 'slt'),
  speech('The train to the airport leaves at ten minutes past eight from platform four.', 'slt'),
]);
/** We say this for 24 s, with pauses. */
const ours = repeated(joined(...said.flatMap((sentence) => [sentence, silence(600)])), 2);
const reply = await speech('Excuse me, I would like to change the address of my order.', 'awb');

function levelOf(samples: Float32Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return energy === 0 ? SILENCE_DB : 10 * Math.log10(energy / samples.length);
}

/** Loud windows of a caller, and how many of them the guard takes for an echo. */
function judged(caller: Float32Array, sent: Float32Array, fromMs = 0) {
  const guard = new EchoGuard(new EchoGuardWorkspace());
  let loud = 0;
  let echoes = 0;
  for (let at = 0; at + WINDOW_SAMPLES <= caller.length; at += WINDOW_SAMPLES) {
    const window = caller.subarray(at, at + WINDOW_SAMPLES);
    const oursNow = sent.subarray(at, at + WINDOW_SAMPLES);
    const levels = { callerDb: levelOf(window), oursDb: levelOf(oursNow), thresholdDb: THRESHOLD_DB };
    const isEcho = guard.isEcho(window, oursNow, levels);
    if (levels.callerDb <= THRESHOLD_DB || at < fromMs * 16) continue;
    loud++;
    if (isEcho) echoes++;
  }
  return { loud, echoes };
}

function returned(lossDb: number, delayMs: number): Float32Array {
  return mixed(companded(amplified(delayed(ours, delayMs), lossDb)), noise(ours.length / 16, -65));
}

for (const lossDb of [-10, -20]) {
  for (const delayMs of [50, 120, 200]) {
    test(`our own voice that returns after ${delayMs} ms at ${lossDb} dB is no speech of the caller`, async () => {
      const { events } = await heard({ caller: returned(lossDb, delayMs), ours });
      assert.deepEqual(events, []);
    });
  }

  test(`speech over an echo of ${lossDb} dB pauses the voice within 300 ms and is confirmed`, async () => {
    const atMs = 5000;
    const onsetMs = atMs + leadOf(reply);
    const caller = mixed(returned(lossDb, 120), joined(silence(atMs), reply));
    const { events } = await heard({ caller, ours });
    const [paused, confirmed] = events.filter(({ type }) => type.startsWith('bargein'));
    assert.equal(paused?.type, 'bargein.paused');
    assert.equal(confirmed?.type, 'bargein.confirmed');
    const lateMs = (paused?.atMs ?? 0) - 1000 - onsetMs;
    assert.ok(lateMs > 0 && lateMs <= 300, `${lateMs} ms after the onset`);
  });
}

/** Milliseconds before the first loud sample. */
function leadOf(sound: Float32Array): number {
  return sound.findIndex((sample) => Math.abs(sample) > 0.02) / 16;
}

test('an echo whose delay changes is found again', () => {
  const half = ours.length / 2;
  const jumps = joined(returned(-10, 80).subarray(0, half), returned(-10, 180).subarray(half));
  const { loud, echoes } = judged(jumps, ours);
  assert.ok(loud > 300 && echoes / loud > 0.97, `${echoes} of ${loud}`);
});

test('a caller without an echo is no echo, whether we speak or not', () => {
  const caller = repeated(reply, Math.ceil(ours.length / reply.length)).subarray(0, ours.length);
  const talking = judged(caller, ours);
  assert.ok(
    talking.loud > 300 && talking.echoes / talking.loud < 0.15,
    `${talking.echoes} of ${talking.loud}`,
  );
  const alone = judged(caller, silence(ours.length / 16));
  assert.equal(alone.echoes, 0);
});

test('while nothing is sent, and after the last echo has come back, the guard lets everything pass', () => {
  const guard = new EchoGuard(new EchoGuardWorkspace());
  const [loud, quiet] = [noise(WINDOW_MS, -20), silence(WINDOW_MS)];
  const isEcho = (oursDb: number, sent: Float32Array) =>
    guard.isEcho(loud, sent, { callerDb: -20, oursDb, thresholdDb: THRESHOLD_DB });
  assert.equal(isEcho(SILENCE_DB, quiet), false);
  isEcho(-20, noise(WINDOW_MS, -20, 9));
  for (let n = 0; n < 20; n++) isEcho(SILENCE_DB, quiet);
  assert.equal(isEcho(SILENCE_DB, quiet), false);
});
