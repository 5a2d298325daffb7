// A reader of a ring whose taker throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { RingReader } from '../../src/engines/openai/ring-reader.js';
import type { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';

test('samples whose handling throws end the reading of that ring, and the error is reported', async () => {
  const ring = PcmRing.open(16_000, 16_000);
  const ends: (ParleyError | undefined)[] = [];
  const reader = new RingReader(ring, {
    rate: 16_000,
    everyMs: 0,
    time: new ManualTime(),
    take: () => {
      throw new Error('a defect');
    },
    hasRoom: () => true,
    over: (error) => ends.push(error),
  });
  const rejections = await rejectionsOf(async () => {
    ring.write(new Float32Array(1600));
    await until(() => ends.length > 0);
  });
  assert.deepEqual(rejections.map(String), ['Defect: recognition: a defect']);
  assert.equal(ends[0]?.message, 'a defect');
  assert.equal(ring.status()?.aborted, true);
  reader.stop();
  ring.close();
});
