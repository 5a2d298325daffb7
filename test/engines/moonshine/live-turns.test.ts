// One live caller in a worker: which texts are made of the orders that come while another text is made.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { LiveTurns } from '../../../src/engines/moonshine/live-turns.js';
import type { TurnMessage } from '../../../src/engines/moonshine/moonshine-messages.js';
import { RunQueue } from '../../../src/engines/moonshine/run-queue.js';
import type { TurnOrder } from '../../../src/engines/recogniser.js';
import type { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { scriptedModel, textOf, words } from './scripted-model.js';

const RATE = 16_000;

/** A caller whose first text is made when the test calls `goOn`. */
function caller(t: TestContext) {
  const ring = PcmRing.open(RATE, RATE * 60);
  t.after(() => ring.close());
  const time = new ManualTime();
  const told: TurnMessage[] = [];
  const over: (ParleyError | undefined)[] = [];
  let goOn: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (goOn = resolve));
  const { graphs } = scriptedModel();
  const model = scriptedModel({
    frontend: (samples, state) => first.then(() => graphs.frontend(samples, state)),
  });
  const request = { id: 1, language: 'en', ring: ring.handle, rate: RATE, isGated: false };
  const live = new LiveTurns({ ...request, hasPartials: false, orders: [] }, ring, {
    model,
    queue: new RunQueue(time),
    time,
    partialIntervalMs: 480,
    tell: (turn) => told.push(turn),
    takeMessages: () => undefined,
    over: (error) => over.push(error),
  });
  t.after(() => live.close());
  const order = async (what: TurnOrder) => {
    live.order({ order: what, at: ring.status()?.written ?? 0 });
    await until(() => ring.status()?.readable === 0);
  };
  const end = async () => {
    goOn();
    ring.end();
    await order('resume'); // of no pause: the caller looks into the ring
    await until(() => over.length === 1);
    assert.deepEqual(over, [undefined]);
    return told.map(({ kind, part, text }) => [kind, part, text]);
  };
  return { ring, order, end };
}

test('a pause from which the caller went on has no text, also when the turn has ended', async (t) => {
  const { ring, order, end } = caller(t);
  ring.write(words(0, 2));
  await order('end');
  ring.write(words(2, 4));
  await order('pause');
  await order('resume');
  ring.write(words(4, 6));
  await order('end');
  assert.deepEqual(await end(), [
    ['final', 0, textOf(0, 2)],
    ['final', 1, textOf(2, 6)],
  ]);
});

test('a turn that ends in its pause has the text of the pause, and the same as its final text', async (t) => {
  const { ring, order, end } = caller(t);
  ring.write(words(0, 2));
  await order('end');
  ring.write(words(2, 4));
  await order('pause');
  await order('end');
  assert.deepEqual(await end(), [
    ['final', 0, textOf(0, 2)],
    ['pause', 1, textOf(2, 4)],
    ['final', 1, textOf(2, 4)],
  ]);
});
