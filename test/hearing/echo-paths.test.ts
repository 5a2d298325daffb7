// Our voice through the telephones of callers, with the real model: filtered, late, coded again. None of the
// echoes pauses the voice, and a caller who speaks over one still does. Time is that of the samples.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong } from '../fakes/long-run.js';
import { interruptionsBy, quantileOf, timesToPause } from './echo-trial.js';
import { ECHOES, ourVoice, replies } from './echoes.js';

const SECONDS = isLong ? 600 : 30;
const OVER_SECONDS = isLong ? 240 : 60;
const FOUND_WITHIN_MS = 300;

const ours = await ourVoice(Math.max(SECONDS, OVER_SECONDS));
const [alone, under] = [ours.subarray(0, SECONDS * 16_000), ours.subarray(0, OVER_SECONDS * 16_000)];
const said = await replies();

for (const echo of ECHOES) {
  test(`the echo of ${echo.name} interrupts nothing in ${SECONDS} s, and pauses once at most`, async () => {
    const { pauses, interruptions } = await interruptionsBy(echo.coded(echo.returned(alone)), alone);
    assert.equal(interruptions, 0);
    assert.ok(pauses <= (isLong ? 1 : 0), `${pauses} pauses`);
  });

  test(`speech over the echo of ${echo.name} pauses the voice within ${FOUND_WITHIN_MS} ms`, async (t) => {
    const times = await timesToPause({ echo, ours: under, replies: said });
    t.diagnostic(`${times.length} replies: p50 ${quantileOf(times, 0.5)}, p95 ${quantileOf(times, 0.95)} ms`);
    assert.ok(times.length >= 6);
    assert.ok(quantileOf(times, 0.95) <= FOUND_WITHIN_MS, times.map(Math.round).join());
  });
}
