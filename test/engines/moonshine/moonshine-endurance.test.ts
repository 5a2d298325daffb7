// Eight callers of the recogniser Moonshine for half an hour each, faster than real time: each turn has its
// text, and the memory of the process with its workers does not grow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { MoonshineRecogniser } from '../../../src/engines/moonshine/moonshine-recogniser.js';
import { isLong } from '../../fakes/long-run.js';
import { toy, toySound } from '../../onnx/toys.js';

const RATE = 16_000;
const CALLERS = 8;
const MINUTES = isLong ? 30 : 6;
const TURN_SECONDS = 4.9;
const TURNS = Math.ceil((MINUTES * 60) / TURN_SECONDS);
const MOST_GROWTH = 64 * 1024 * 1024; // bytes in the second half
const WORD = 1280 * 17; // samples up to a pause between two words

const text = 'alphas char bravo to deltas';
const speech = toySound('speech');
const silence = (seconds: number) => new Float32Array(seconds * RATE);

/** Speaks turns, each when the one before has its text. `onTurn` is called after each. */
async function call(recogniser: MoonshineRecogniser, onTurn: () => void): Promise<readonly string[]> {
  const finals: string[] = [];
  let onFinal: () => void = () => undefined;
  const ring = PcmRing.open(RATE, 10 * RATE);
  const options = { sampleRate: RATE, use: 'live', gated: true, partials: true } as const;
  const session = recogniser.open(options, {
    final: (one) => {
      finals.push(one.text);
      onFinal();
    },
    partial: () => undefined,
    pause: () => undefined,
  });
  session.push(ring);
  try {
    for (let turn = 0; turn < TURNS; turn++) {
      ring.write(silence(0.5));
      session.turn('begin');
      ring.write(silence(0.3));
      ring.write(speech.subarray(0, WORD));
      if (turn % 2 === 1) {
        session.turn('pause');
        session.turn('resume');
      }
      ring.write(speech.subarray(WORD));
      session.turn('pause');
      ring.write(silence(0.3));
      const told = new Promise<void>((resolve) => (onFinal = resolve));
      session.turn('end');
      await Promise.race([told, session.ended]);
      onTurn();
    }
    await session.end();
  } finally {
    ring.close();
  }
  return finals;
}

test('the memory of eight callers does not grow', async (t) => {
  const recogniser = await MoonshineRecogniser.open({
    models: [{ directory: toy('moonshine-a'), language: 'en' }],
    workers: 2,
    partialIntervalMs: 480,
    maxSessions: CALLERS,
    stallMs: 20_000,
  });
  t.after(() => recogniser.close());
  await recogniser.load();
  const sizes: number[] = [];
  const onTurn = () => void sizes.push(process.memoryUsage.rss());
  const calls = Array.from({ length: CALLERS }, () => call(recogniser, onTurn));
  const wanted = Array.from({ length: TURNS }, () => text);
  for (const finals of await Promise.all(calls)) assert.deepEqual(finals, wanted);
  const half = sizes.length / 2;
  const [before, after] = [Math.max(...sizes.slice(0, half)), Math.max(...sizes.slice(half))];
  t.diagnostic(`${MINUTES} minutes of ${CALLERS} callers: ${before} and ${after} bytes`);
  assert.ok(after - before < MOST_GROWTH, `${before} bytes in the first half, ${after} in the second`);
});
