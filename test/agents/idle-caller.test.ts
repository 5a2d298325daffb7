// The agent asks a silent caller whether he is still there. Time, the voice and the call are the test's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdleCaller } from '../../src/agents/idle-caller.js';
import type { IdleCallerConfig } from '../../src/config/idle-config.js';
import { ManualTime } from '../fakes/manual-time.js';
import { settle } from './handled-call.js';

const CONFIG = { idleMs: 10_000, phrase: 'Still there?', times: 2, goodbye: 'Goodbye.' };

type End = 'spoken' | 'interrupted' | 'failed';

class IdleUnderTest {
  readonly time = new ManualTime();
  /** Phrases, and the end of the call. */
  readonly done: string[] = [];
  readonly idle: IdleCaller;
  isBusy = false;
  isMute = false;
  #ends: ((end: { readonly end: End }) => void)[] = [];

  constructor(config: IdleCallerConfig | undefined = CONFIG) {
    this.idle = new IdleCaller(config, {
      time: this.time,
      isBusy: () => this.isBusy,
      say: (phrase) => {
        this.done.push(phrase);
        return this.isMute ? undefined : this.speaks();
      },
      hangUp: () => {
        this.done.push('hang up');
        return Promise.resolve();
      },
    });
    this.idle.look();
  }

  /** Our side begins to say something. */
  speaks() {
    const said = { ended: new Promise<{ readonly end: End }>((resolve) => this.#ends.push(resolve)) };
    this.idle.says(said);
    return said;
  }

  /** The oldest utterance ends. */
  async ends(end: End = 'spoken'): Promise<void> {
    this.#ends.shift()?.({ end });
    await settle();
  }

  /** Lets the time pass, and the phrase that is due be spoken. */
  async silence(ms = 10_000): Promise<void> {
    this.time.advance(ms);
    await settle();
    await this.ends();
  }
}

test('a silent caller is asked twice, and hears a goodbye before the call ends', async () => {
  const under = new IdleUnderTest();
  under.time.advance(9999);
  assert.deepEqual(under.done, []);
  await under.silence(1);
  assert.deepEqual(under.done, ['Still there?']);
  await under.silence();
  assert.deepEqual(under.done, ['Still there?', 'Still there?']);
  under.time.advance(10_000);
  assert.deepEqual(under.done.slice(2), ['Goodbye.']);
  await under.ends();
  assert.deepEqual(under.done.slice(3), ['hang up']);
});

test('time does not run while the phrase is spoken', async () => {
  const under = new IdleUnderTest();
  under.time.advance(10_000);
  under.time.advance(60_000);
  assert.deepEqual([under.done, under.time.waiting], [['Still there?'], 0]);
  await under.ends();
  under.time.advance(9999);
  assert.equal(under.done.length, 1);
  under.time.advance(1);
  assert.equal(under.done.length, 2);
});

test('time begins anew when somebody has spoken, until all that is said has ended', async () => {
  const under = new IdleUnderTest();
  under.time.advance(9000);
  under.isBusy = true;
  under.idle.look();
  assert.equal(under.time.waiting, 0);
  under.isBusy = false;
  under.idle.look();
  under.time.advance(9000);
  for (let number = 0; number < 2; number++) under.speaks();
  await under.ends();
  under.time.advance(60_000);
  assert.deepEqual(under.done, []);
  await under.ends();
  under.time.advance(10_000);
  assert.deepEqual(under.done, ['Still there?']);
});

test('a caller who does something is asked as often as before', async () => {
  const under = new IdleUnderTest();
  await under.silence();
  await under.silence();
  under.time.advance(9999);
  under.idle.acts();
  under.time.advance(9999);
  assert.equal(under.done.length, 2);
  await under.silence(1);
  await under.silence();
  assert.deepEqual(
    under.done,
    Array.from({ length: 4 }, () => 'Still there?'),
  );
});

test('a sound without words begins the time anew, but the caller has answered nothing', async () => {
  const under = new IdleUnderTest({ ...CONFIG, times: 1 });
  await under.silence();
  under.time.advance(9000);
  for (const isBusy of [true, false]) {
    under.isBusy = isBusy;
    under.idle.look();
  }
  under.time.advance(9999);
  assert.deepEqual(under.done, ['Still there?']);
  await under.silence(1);
  assert.deepEqual(under.done, ['Still there?', 'Goodbye.', 'hang up']);
});

for (const [what, during, end] of [
  ['interrupts the goodbye', () => undefined, 'interrupted'],
  ['does something during the goodbye', (under: IdleUnderTest) => under.idle.acts(), 'spoken'],
] as const) {
  test(`a caller who ${what} stays, and is asked again`, async () => {
    const under = new IdleUnderTest({ ...CONFIG, times: 1 });
    await under.silence();
    under.time.advance(10_000);
    during(under);
    await under.ends(end);
    await under.silence();
    assert.deepEqual(under.done, ['Still there?', 'Goodbye.', 'Still there?']);
  });
}

test('a caller who speaks at the end of the goodbye stays; a noise alone is no answer', async () => {
  const under = new IdleUnderTest({ ...CONFIG, times: 0 });
  under.time.advance(10_000);
  under.isBusy = true;
  await under.ends();
  assert.deepEqual([under.done, under.time.waiting], [['Goodbye.'], 0]);
  under.isBusy = false;
  under.idle.look();
  await under.silence();
  assert.deepEqual(under.done, ['Goodbye.', 'Goodbye.', 'hang up']);
});

test('where nothing can be said the call ends all the same', async () => {
  const under = new IdleUnderTest();
  under.isMute = true;
  for (let round = 0; round < 3; round++) await under.silence();
  assert.deepEqual(under.done, ['Still there?', 'Still there?', 'Goodbye.', 'hang up']);
});

test('a call that could not be ended is tried again', async () => {
  const under = new IdleUnderTest({ ...CONFIG, times: 0 });
  await under.silence();
  await under.silence();
  assert.deepEqual(under.done, ['Goodbye.', 'hang up', 'Goodbye.', 'hang up']);
});

test('after the end of the call nothing is due, not even after the goodbye', async () => {
  const under = new IdleUnderTest({ ...CONFIG, times: 0 });
  under.time.advance(10_000);
  under.idle.close();
  await under.ends();
  under.idle.acts();
  assert.deepEqual([under.done, under.time.waiting], [['Goodbye.'], 0]);
});

test('without a configuration no time runs', () => {
  const under = new IdleUnderTest(undefined);
  assert.equal(new IdleUnderTest().time.waiting, 1);
  const off = new IdleCaller(undefined, {
    time: under.time,
    isBusy: () => false,
    say: () => assert.fail(),
    hangUp: () => assert.fail(),
  });
  under.idle.close();
  off.look();
  off.acts();
  assert.equal(under.time.waiting, 0);
});
