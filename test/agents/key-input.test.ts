import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyInput } from '../../src/agents/key-input.js';
import { ManualTime } from '../fakes/manual-time.js';

const NEVER = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const time = new ManualTime();
  const inputs: string[] = [];
  const keys = new KeyInput(time, 1500, (input) => void inputs.push(input));
  const press = (all: string) => all.split('').forEach((key) => keys.pressed(key));
  return { time, inputs, keys, press };
}

test('keys that are pressed without a pause are one input', () => {
  const { time, inputs, press } = open();
  press('12');
  time.advance(1400);
  press('3');
  time.advance(1499);
  assert.deepEqual(inputs, []);
  time.advance(1);
  assert.deepEqual(inputs, ['123']);
  assert.equal(time.waiting, 0);
});

test('# ends an input, and is one where it stands alone', () => {
  const { time, inputs, press } = open();
  press('42#');
  assert.deepEqual(inputs, ['42']);
  press('#');
  time.advance(1500);
  assert.deepEqual(inputs, ['42', '#']);
});

test('no input is longer than 64 keys', () => {
  const { inputs, press } = open();
  press('1'.repeat(65));
  assert.deepEqual(inputs, ['1'.repeat(64)]);
});

test('a function gets the number of keys that it waits for, with those that came before it', async () => {
  const { time, inputs, keys, press } = open();
  press('1');
  const got = keys.collect({ most: 3, until: undefined, timeoutMs: 5000 }, Promise.resolve(), NEVER);
  press('23');
  assert.equal(await got, '123');
  time.advance(10_000);
  assert.deepEqual(inputs, []);
  assert.equal(time.waiting, 0);
});

test('a function gets the keys before the one that ends its input', async () => {
  const { keys, press } = open();
  const got = keys.collect({ most: 10, until: '#', timeoutMs: 5000 }, Promise.resolve(), NEVER);
  press('77#');
  assert.equal(await got, '77');
});

test('# ends what a function waits for, unless it stands alone, or another key or none ends it', async () => {
  for (const [until, pressed, expected] of [
    [undefined, '4711#', '4711'],
    [undefined, '#', '#'],
    [undefined, '*7#', '*7'],
    ['#', '4711#', '4711'],
    ['#', '#', ''],
    ['*', '47#1*', '47#1'],
    ['', '47#*11', '47#*11'],
  ] as const) {
    const { time, inputs, keys, press } = open();
    const got = keys.collect({ most: 6, until, timeoutMs: 5000 }, Promise.resolve(), NEVER);
    await tick();
    press(pressed);
    time.advance(5000);
    assert.equal(await got, expected, `${pressed} until ${until}`);
    assert.deepEqual(inputs, []);
  }
});

test('the time to press begins when the question was spoken, and again with each key', async () => {
  const { time, keys, press } = open();
  let spoken = () => {};
  const asked = new Promise<void>((resolve) => (spoken = resolve));
  const got = keys.collect({ most: 4, until: undefined, timeoutMs: 5000 }, asked, NEVER);
  time.advance(60_000);
  spoken();
  await tick();
  time.advance(4999);
  press('9');
  time.advance(4999);
  press('8');
  time.advance(5000);
  assert.equal(await got, '98');
  const none = keys.collect({ most: 4, until: undefined, timeoutMs: 5000 }, Promise.resolve(), NEVER);
  await tick();
  time.advance(5000);
  assert.equal(await none, '');
});

test('a function that is given up waits no longer', async () => {
  const { time, keys } = open();
  const end = new AbortController();
  const got = keys.collect({ most: 4, until: undefined, timeoutMs: 5000 }, Promise.resolve(), end.signal);
  await tick();
  end.abort();
  await assert.rejects(got, { code: 'ABORTED' });
  assert.equal(time.waiting, 0);
});

/** A function waits for four keys; the caller presses some, and then speaks. */
async function cutShort({ keys, press }: ReturnType<typeof open>, pressed: string): Promise<string[]> {
  const [end, cuts] = [new AbortController(), [] as string[]];
  const wanted = { most: 4, until: undefined, timeoutMs: 5000 };
  const got = keys.collect(wanted, Promise.resolve(), end.signal, (digits) => void cuts.push(digits));
  await tick();
  press(pressed);
  end.abort();
  press('3'); // before the function knows
  await assert.rejects(got, { code: 'ABORTED' });
  return cuts;
}

test('keys before and after the words of the caller are one number', async () => {
  const under = open();
  assert.deepEqual(await cutShort(under, '12'), ['12']);
  under.press('4');
  under.time.advance(1500);
  assert.deepEqual(under.inputs, ['1234']);
  assert.equal(under.time.waiting, 0);
});

test('the next function begins with the keys before the words, unless it is fresh', async () => {
  for (const [isFresh, expected] of [
    [false, '1234'],
    [true, '3456'],
  ] as const) {
    const under = open();
    await cutShort(under, '12');
    const wanted = { most: 4, until: undefined, timeoutMs: 5000, isFresh };
    const got = under.keys.collect(wanted, Promise.resolve(), NEVER);
    under.press('4');
    if (isFresh) under.press('56');
    assert.equal(await got, expected);
    assert.equal(under.time.waiting, 0);
  }
});

test('keys before the words are forgotten after half a minute', async () => {
  for (const [waitMs, expected] of [
    [29_999, '125'],
    [30_000, '5'],
  ] as const) {
    const { time, inputs, keys, press } = open();
    const end = new AbortController();
    const wanted = { most: 4, until: undefined, timeoutMs: 5000 };
    const got = keys.collect(wanted, Promise.resolve(), end.signal);
    press('12');
    end.abort();
    await assert.rejects(got, { code: 'ABORTED' });
    time.advance(waitMs);
    press('5#');
    assert.deepEqual(inputs, [expected]);
    assert.equal(time.waiting, 0);
  }
});

test('words without keys before them leave nothing to the next input', async () => {
  const under = open();
  assert.deepEqual(await cutShort(under, ''), []);
  under.time.advance(1500);
  assert.deepEqual(under.inputs, ['3']);
});

test('a function that is given up before it begins leaves the keys to others', async () => {
  const { time, inputs, keys, press } = open();
  press('12');
  const wanted = { most: 4, until: undefined, timeoutMs: 5000 };
  await assert.rejects(keys.collect(wanted, Promise.resolve(), AbortSignal.abort()), { code: 'ABORTED' });
  time.advance(1500);
  assert.deepEqual(inputs, ['12']);
});

test('keys behind the last one that a function waits for are an input of their own', async () => {
  const { time, inputs, keys, press } = open();
  const got = keys.collect({ most: 2, until: undefined, timeoutMs: 5000 }, Promise.resolve(), NEVER);
  press('123');
  assert.equal(await got, '12');
  time.advance(1500);
  assert.deepEqual(inputs, ['3']);
});

test('keys that are forgotten are no input, and a function that waits goes on', async () => {
  const { time, inputs, keys, press } = open();
  press('12');
  keys.forget();
  time.advance(1500);
  const got = keys.collect({ most: 2, until: undefined, timeoutMs: 5000 }, Promise.resolve(), NEVER);
  press('3');
  keys.forget();
  press('4');
  assert.deepEqual([await got, inputs, time.waiting], ['34', [], 0]);
});

test('the beginning of an input that a function has given up is forgotten too', async () => {
  const { time, inputs, keys, press } = open();
  const abort = new AbortController();
  const got = keys.collect({ most: 4, until: undefined, timeoutMs: 5000 }, Promise.resolve(), abort.signal);
  press('12');
  abort.abort();
  await assert.rejects(got);
  keys.forget();
  assert.equal(time.waiting, 0);
  press('3');
  time.advance(1500);
  assert.deepEqual(inputs, ['3']);
});
