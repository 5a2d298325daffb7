// The models of TURN_MODEL in their worker, with toy graphs.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { TurnModelFile } from '../../src/config/hearing-config.js';
import { WorkerTurnModels } from '../../src/hearing/turn-models.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { disableTelemetry } from '../../src/onnx/telemetry.js';
import { systemTime, type Time } from '../../src/time.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { toy, toyGolden, toySound } from '../onnx/toys.js';

disableTelemetry();

const EN: TurnModelFile = { file: toy('turn-1-mini/turn-1-mini.step.onnx'), languages: ['en'] };
const MANY: TurnModelFile = {
  file: toy('smart-turn/smart-turn-v3.2-cpu.onnx'),
  languages: ['de', 'en', 'fr'],
};
const MORTAL = new URL('./mortal-turn-worker.js', import.meta.url);

async function started(
  t: TestContext,
  files: readonly TurnModelFile[],
  script?: URL,
  time: Time = systemTime,
) {
  const problems: (string | undefined)[] = [];
  const onProblem = (problem: string | undefined) => problems.push(problem);
  const models = await WorkerTurnModels.start({ files, time, onProblem, ...(script && { script }) });
  t.after(() => models.close());
  return { models, problems };
}

/** The windows of a sound. */
function windowsOf(sound: Float32Array): Float32Array[] {
  const count = Math.floor(sound.length / WINDOW_SAMPLES);
  return Array.from({ length: count }, (_, n) =>
    sound.subarray(n * WINDOW_SAMPLES, (n + 1) * WINDOW_SAMPLES),
  );
}

function assertNear(found: number | undefined, expected: number | undefined): void {
  assert.ok(Math.abs((found ?? NaN) - (expected ?? NaN)) < 1e-4, `${found}, not ${expected}`);
}

const order = (tenths: number) => new Float32Array(WINDOW_SAMPLES).fill(tenths / 10);

test('both models answer as the goldens say, each for the calls of its languages', async (t) => {
  const { models, problems } = await started(t, [EN, MANY]);
  assert.equal(models.open('en')?.name, 'turn-1-mini');
  assert.equal(models.open('en-GB')?.name, 'turn-1-mini');
  assert.equal(models.open('de')?.name, 'Smart Turn');
  assert.equal(models.open(undefined)?.name, 'Smart Turn', 'it knows more languages');
  assert.equal(models.open('xx'), undefined);
  const english = models.open('en') ?? assert.fail();
  const german = models.open('de-AT') ?? assert.fail();
  const { probs } = toyGolden<{ probs: readonly number[] }>('turn');
  const sound = toySound('turn');
  for (const [n, window] of windowsOf(sound).entries()) {
    english.push(window);
    german.push(window);
    if ((n + 1) % 5 === 0) assertNear(await english.ask(), probs[((n + 1) / 5) * 8 - 1]);
  }
  german.push(sound.subarray(sound.length - (sound.length % WINDOW_SAMPLES)));
  assertNear(await german.ask(), toyGolden<{ probability: number }>('smart_turn').probability);
  english.reset();
  assert.equal(await english.ask(), undefined, 'between two turns');
  for (const window of windowsOf(sound).slice(0, 45)) english.push(window);
  assertNear(await english.ask(), probs[71]);
  assert.deepEqual(problems, []);
});

test('a question in the middle of a step counts the windows that were not sent yet', async (t) => {
  const { models } = await started(t, [EN]);
  const call = models.open('en') ?? assert.fail();
  const { peek } = toyGolden<{ peek: { afterSamples: number; value: number } }>('turn');
  const sound = toySound('turn');
  for (const window of windowsOf(sound).slice(0, 41)) call.push(window);
  call.push(sound.subarray(41 * WINDOW_SAMPLES, peek.afterSamples));
  assertNear(await call.ask(), peek.value);
});

test('files that are damaged, missing or another model are named, and the others are used', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-turn-models-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const damaged = join(folder, 'damaged.onnx');
  writeFileSync(damaged, readFileSync(EN.file).subarray(0, 5000));
  const other = toy('moonshine-a/adapter.onnx');
  const { models, problems } = await started(t, [
    { file: damaged, languages: ['en'] },
    { file: join(folder, 'absent.onnx'), languages: ['en'] },
    { file: other, languages: ['en'] },
    MANY,
  ]);
  assert.equal(problems.length, 1);
  const [first, second, third] = problems[0]?.split('; ') ?? [];
  assert.match(first ?? '', /^TURN_MODEL: \S+damaged\.onnx is no ONNX model: /);
  assert.match(second ?? '', /^the model \S+absent\.onnx cannot be read: ENOENT/);
  assert.equal(
    third,
    `${other} is neither turn-1-mini nor Smart Turn v3: its inputs are encoded, pos_offset`,
  );
  assert.equal(models.open('en')?.name, 'Smart Turn');
  assert.deepEqual(models.names, ['Smart Turn']);
});

test('a file that is not as it was pulled is named and not opened', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-turn-models-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'turn.onnx');
  writeFileSync(file, readFileSync(EN.file));
  writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  turn.onnx\n`);
  const { models, problems } = await started(t, [{ file, languages: undefined }]);
  assert.match(problems[0] ?? '', /^TURN_MODEL: \S+turn\.onnx is not as pulled \(SHA-256 0000/);
  assert.equal(models.open('en'), undefined);
});

test('a worker that dies costs the turns that it followed, and another one follows the next', async (t) => {
  const { models, problems } = await started(t, [EN], MORTAL);
  const [one, other] = [models.open('en') ?? assert.fail(), models.open('en') ?? assert.fail()];
  for (let n = 0; n < 5; n++) other.push(order(0));
  assert.equal(await other.ask(), 0.1);
  for (let n = 0; n < 5; n++) one.push(order(1));
  assert.equal(await one.ask(), undefined);
  await until(() => problems.length > 0);
  assert.deepEqual(problems, ['TURN_MODEL gave no answer: the test ended this worker']);
  other.push(order(0));
  assert.equal(await other.ask(), undefined, 'the new worker does not know the turn');
  other.reset();
  other.push(order(0));
  await until(() => problems.length > 0);
  assert.equal(await other.ask(), 0.1);
  assert.deepEqual(problems.slice(1), [undefined]);
});

test('a worker that dies again and again is not started for ever', async (t) => {
  const { models, problems } = await started(t, [EN], MORTAL);
  for (let life = 0; life < 3; life++) {
    const call = models.open('en') ?? assert.fail();
    call.push(order(3));
    assert.equal(await call.ask(), undefined);
  }
  assert.deepEqual(problems, [
    'TURN_MODEL gave no answer: its worker exited with 7',
    'TURN_MODEL is not used any more: its worker exited with 7',
  ]);
  assert.deepEqual(models.names, []);
  assert.equal(models.open('en'), undefined);
});

test('a model that is stuck is asked no more than its limit, takes no more sound, and holds up no call', async (t) => {
  const time = new ManualTime();
  const starting = started(t, [EN], MORTAL, time);
  const { models, problems } = await starting;
  const call = models.open('en') ?? assert.fail();
  for (let n = 0; n < 5; n++) call.push(order(2));
  const asking = Array.from({ length: 32 }, () => call.ask());
  const refused = await call.ask(); // at once: 32 questions wait
  assert.equal(refused, undefined);
  assert.deepEqual(problems, ['TURN_MODEL gave no answer: too many calls pause at once']);
  time.advance(2000);
  assert.deepEqual(
    await Promise.all(asking),
    Array.from({ length: 32 }, () => undefined),
  );
  for (let n = 0; n < 5 * 300; n++) call.push(order(0));
  assert.equal(await call.ask(), undefined);
});

test('a worker that does nothing for ten seconds is ended, and another one follows the next turn', async (t) => {
  const time = new ManualTime();
  const { models, problems } = await started(t, [EN], MORTAL, time);
  const call = models.open('en') ?? assert.fail();
  for (let n = 0; n < 5; n++) call.push(order(2));
  const asking = call.ask();
  time.advance(2000);
  assert.equal(await asking, undefined);
  time.advance(8000);
  call.reset();
  for (let n = 0; n < 5; n++) call.push(order(0));
  assert.equal(await call.ask(), 0.1);
  assert.deepEqual(problems, ['TURN_MODEL gave no answer: nothing came within 2000 ms', undefined]);
});

test('workers that hang one after the other are not started for ever, and no model is named then', async (t) => {
  const time = new ManualTime();
  const { models, problems } = await started(t, [EN], MORTAL, time);
  const call = models.open('en') ?? assert.fail();
  for (let life = 0; life < 3; life++) {
    call.reset();
    for (let n = 0; n < 5; n++) call.push(order(2));
    time.advance(10_000);
  }
  assert.deepEqual(models.names, []);
  assert.equal(problems.at(-1), 'TURN_MODEL is not used any more: its worker did nothing for 10000 ms');
  assert.equal(await call.ask(), undefined);
});
