import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimerQueue } from '../../../sip/transaction/timer-queue.js';
import { ManualTime } from '../../fakes/manual-time.js';

test('timers fire in time, in order, and not once they are stopped; the system sees one for each duration', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  const fired: string[] = [];
  const owner = (name: string) => ({
    expired: (timer: string) => fired.push(`${time.now()} ${name} ${timer}`),
  });
  const stopped = queue.start(100, 'A', owner('stopped'));
  queue.start(100, 'A', owner('first'));
  queue.start(50, 'B', owner('second'));
  time.advance(30);
  queue.start(100, 'D', owner('third'));
  assert.equal(time.waiting, 2);
  stopped.stop();
  time.advance(200);
  assert.deepEqual(fired, ['50 second B', '100 first A', '130 third D']);
  assert.equal(time.waiting, 0);
});

test('a timer that is started while others fire waits its turn, and thousands of them leave nothing', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  let fired = 0;
  const owner = {
    expired(): void {
      fired++;
      if (fired <= 5000) queue.start(10, 'A', owner);
    },
  };
  for (let index = 0; index < 5000; index++) queue.start(10, 'A', owner);
  time.advance(10);
  assert.equal(fired, 5000);
  time.advance(10);
  assert.equal(fired, 10_000);
  assert.equal(time.waiting, 0);
});

test('nothing fires after closing', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  const owner = { expired: () => assert.fail('fired') };
  queue.start(10, 'A', owner);
  queue.close();
  queue.start(10, 'A', owner);
  assert.equal(time.waiting, 0);
  time.advance(100);
});

test('an owner that throws does not stop the timers behind its own', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  let fired = 0;
  queue.start(10, 'A', {
    expired(): void {
      throw new RangeError('a defect');
    },
  });
  queue.start(10, 'A', { expired: () => fired++ });
  time.advance(5);
  queue.start(10, 'A', { expired: () => fired++ });
  assert.throws(() => time.advance(5), RangeError);
  time.advance(10);
  assert.deepEqual([fired, time.waiting], [2, 0]);
});
