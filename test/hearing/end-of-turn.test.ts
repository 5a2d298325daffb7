import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { CheckedEndOfTurnModel, loadEndOfTurnModel, RecentSound } from '../../src/hearing/end-of-turn.js';
import { codeBlocksOf } from '../docs/markdown.js';
import { ManualTime } from '../fakes/manual-time.js';
import { amplified, joined, silence, speech } from './sounds.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-end-of-turn-'));
after(() => rmSync(folder, { recursive: true }));

const ignored = { time: new ManualTime(), onProblem: () => undefined };

function moduleOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('the module of the documents tells a sentence that fades out from one that breaks off', async () => {
  const blocks = codeBlocksOf('public/docs/hearing.md');
  const example = blocks.find(({ code }) => code.includes('end-of-turn.mjs')) ?? assert.fail('no example');
  const model = await loadEndOfTurnModel(moduleOf('end-of-turn.mjs', example.code), ignored);
  assert.ok(model instanceof CheckedEndOfTurnModel);
  const words = await speech('I would like to speak to somebody about my order.');
  const spoken = words.subarray(0, words.length - 8000);
  const last = spoken.subarray(spoken.length - 8000);
  const before = spoken.subarray(0, spoken.length - 8000);
  const answerTo = async (db: number) => {
    const sound = joined(before, amplified(last, db), silence(200));
    return (await model.ask(sound.subarray(sound.length - model.seconds * 16_000))) ?? assert.fail();
  };
  assert.ok((await answerTo(-15)) > 0.5, 'it fades out');
  assert.ok((await answerTo(15)) < 0.5, 'it breaks off');
});

for (const [name, text, reason] of [
  ['absent', undefined, /absent\.mjs cannot be loaded: Cannot find module/],
  ['broken', 'export default {', /broken\.mjs cannot be loaded: /],
  ['empty', '', /empty\.mjs: its default export must be an object with open, or seconds and ask/],
  [
    'long',
    'export default { seconds: 31, ask: () => 1 }',
    /must have seconds: a number above 0, at most 30, not 31/,
  ],
  ['mute', 'export default { seconds: 2 }', /must have a function ask, not undefined/],
] as const) {
  test(`a module that is ${name} is refused with the name of the variable`, async () => {
    const file = join(folder, `${name}.mjs`);
    if (text !== undefined) writeFileSync(file, text);
    await assert.rejects(loadEndOfTurnModel(file, ignored), (error: Error & { code: string }) => {
      assert.equal(error.code, 'CONFIG_INVALID');
      assert.match(error.message, /^END_OF_TURN_MODULE /);
      assert.match(error.message, reason);
      return true;
    });
  });
}

test('a module that never finishes loading is refused after ten seconds', async () => {
  const time = new ManualTime();
  const file = moduleOf('endless.mjs', 'await new Promise(() => setInterval(() => undefined, 1e6).unref())');
  const loading = loadEndOfTurnModel(file, { time, onProblem: () => undefined });
  time.advance(10_000);
  await assert.rejects(loading, /endless\.mjs cannot be loaded: nothing came within 10000 ms/);
  assert.equal(time.waiting, 0);
});

test('a failure is reported once, and the next answer ends it', async () => {
  const problems: (string | undefined)[] = [];
  const answers: (() => number | Promise<number>)[] = [
    () => 0.25,
    () => {
      throw new Error('no memory');
    },
    () => Promise.reject(new Error('still none')),
    () => 7,
    () => Promise.resolve(1),
  ];
  const time = new ManualTime();
  const ask = () => (answers.shift() ?? assert.fail())();
  const model = new CheckedEndOfTurnModel(
    { seconds: 1, ask },
    { time, onProblem: (problem) => problems.push(problem) },
  );
  const found: (number | undefined)[] = [];
  for (let n = 0; n < 5; n++) found.push(await model.ask(silence(1000)));
  assert.deepEqual(found, [0.25, undefined, undefined, undefined, 1]);
  assert.deepEqual(problems, ['END_OF_TURN_MODULE gave no answer: no memory', undefined]);
  assert.equal(time.waiting, 0);
});

test('a model that fails and answers in turn is reported once a minute', async () => {
  const problems: (string | undefined)[] = [];
  const time = new ManualTime();
  let count = 0;
  const model = new CheckedEndOfTurnModel(
    { seconds: 1, ask: () => (count++ % 2 === 0 ? NaN : 1) },
    { time, onProblem: (problem) => problems.push(problem) },
  );
  for (let second = 0; second < 61; second++) {
    for (let n = 0; n < 2; n++) await model.ask(silence(1000));
    time.advance(1000);
  }
  const failed = 'END_OF_TURN_MODULE gave no answer: it answered NaN, not a number from 0 to 1';
  assert.deepEqual(problems, [failed, undefined, failed, undefined]);
});

test('an answer that does not come within two seconds is none', async () => {
  const time = new ManualTime();
  const problems: (string | undefined)[] = [];
  const model = new CheckedEndOfTurnModel(
    { seconds: 1, ask: () => new Promise(() => undefined) },
    { time, onProblem: (problem) => problems.push(problem) },
  );
  const asking = model.ask(silence(1000));
  time.advance(2000);
  assert.equal(await asking, undefined);
  assert.deepEqual(problems, ['END_OF_TURN_MODULE gave no answer: nothing came within 2000 ms']);
});

test('a module with open follows each turn of a call, and its failures are reported', async () => {
  const problems: (string | undefined)[] = [];
  const file = moduleOf(
    'following.mjs',
    `export default {
      open(language) {
        if (language !== 'en') throw new Error('only English');
        let samples = 0;
        return {
          push(sound) { samples += sound.length; },
          probability: () => (samples === 0 ? undefined : samples / 1000),
          reset() { throw new Error('never'); },
        };
      },
    };`,
  );
  const time = new ManualTime();
  const models = await loadEndOfTurnModel(file, { time, onProblem: (problem) => problems.push(problem) });
  assert.ok('open' in models);
  const call = models.open('en') ?? assert.fail();
  assert.equal(call.asks, 'each step');
  assert.equal(await call.ask(), undefined);
  assert.deepEqual(problems, []);
  call.push(silence(32));
  assert.equal(await call.ask(), 0.512);
  for (let n = 0; n < 2; n++) call.push(silence(32));
  assert.equal(await call.ask(), undefined);
  call.reset();
  for (const language of ['de', undefined]) assert.equal(models.open(language), undefined);
  assert.deepEqual(problems, [
    'END_OF_TURN_MODULE gave no answer: it answered 1.536, not a number from 0 to 1',
  ]);
});

/** Follows a module that notes its calls, and whose pushes end when the test says so. */
async function slowModule(name: string) {
  const file = moduleOf(
    name,
    `export const calls = [];
    export const ends = [];
    export default {
      open: () => ({
        push(sound) {
          calls.push('push ' + sound[0]);
          return new Promise((end) => ends.push(end));
        },
        probability() { calls.push('ask'); return 0.5; },
        reset() { calls.push('reset'); },
      }),
    };`,
  );
  const problems: (string | undefined)[] = [];
  const onProblem = (problem: string | undefined) => problems.push(problem);
  const models = await loadEndOfTurnModel(file, { time: new ManualTime(), onProblem });
  assert.ok('open' in models);
  const { calls, ends } = (await import(file)) as { calls: string[]; ends: (() => void)[] };
  return { call: models.open('en') ?? assert.fail(), calls, ends, problems };
}

test('the calls of a module with open come one after another, with the sound as it was', async () => {
  const { call, calls, ends } = await slowModule('ordered.mjs');
  const window = silence(32);
  for (const value of [1, 2]) call.push(window.fill(value));
  window.fill(3);
  const asking = call.ask();
  await turnOfLoop();
  assert.deepEqual(calls, ['push 1']);
  ends[0]?.();
  await turnOfLoop();
  assert.deepEqual(calls, ['push 1', 'push 2']);
  ends[1]?.();
  assert.equal(await asking, 0.5);
  assert.deepEqual(calls, ['push 1', 'push 2', 'ask']);
});

test('a module with open that is too slow loses the rest of the turn, and gets the next one', async () => {
  const { call, calls, ends, problems } = await slowModule('slow.mjs');
  for (let n = 0; n < 100; n++) call.push(silence(32));
  await turnOfLoop();
  assert.equal(await call.ask(), undefined);
  assert.deepEqual(problems, ['END_OF_TURN_MODULE gave no answer: it is too slow for the turn']);
  for (let n = 0; n < 2; n++) call.reset();
  ends[0]?.();
  await turnOfLoop();
  assert.deepEqual(calls, ['push 0', 'reset']);
  call.push(silence(32).fill(1));
  const asking = call.ask();
  await turnOfLoop();
  ends[1]?.();
  assert.equal(await asking, 0.5);
  assert.deepEqual(calls, ['push 0', 'reset', 'push 1', 'ask']);
});

test('the recent sound is the last seconds in order, with silence before the first', () => {
  const recent = new RecentSound(0.1); // 1600 samples: three windows and a part
  const sound = Float32Array.from({ length: 6 * WINDOW_SAMPLES }, (_, n) => n + 1);
  recent.add(sound.subarray(0, WINDOW_SAMPLES));
  assert.deepEqual(
    recent.get(),
    joined(new Float32Array(1600 - WINDOW_SAMPLES), sound.subarray(0, WINDOW_SAMPLES)),
  );
  for (let at = WINDOW_SAMPLES; at < sound.length; at += WINDOW_SAMPLES) {
    recent.add(sound.subarray(at, at + WINDOW_SAMPLES));
  }
  assert.deepEqual(recent.get(), sound.slice(-1600));
});
