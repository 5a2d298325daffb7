import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Turn1Mini } from '../../src/hearing/turn-1-mini.js';
import { ANY_FLOATS, floatTensor, openGraph } from '../../src/onnx/graph.js';
import { toy, toyGolden, toySound } from '../onnx/toys.js';

interface Golden {
  readonly probs: readonly number[];
  readonly peek: { readonly afterSamples: number; readonly value: number };
}

const FILE = toy('turn-1-mini/turn-1-mini.step.onnx');
const STEP = 2560;
const golden = toyGolden<Golden>('turn');
const sound = toySound('turn');
/** Probability of the golden after so many steps. */
const after = (steps: number) => golden.probs[8 * steps - 1] ?? NaN;

async function loaded(t: TestContext): Promise<Turn1Mini> {
  const model = await Turn1Mini.load(FILE);
  t.after(() => model.close());
  return model;
}

function assertNear(found: number | undefined, expected: number, message?: string): void {
  assert.ok(Math.abs((found ?? NaN) - expected) < 1e-4, `${message}: ${found}, not ${expected}`);
}

test('the sound of a turn gives the golden probabilities, in whatever pieces it comes', async (t) => {
  const model = await loaded(t);
  for (const length of [STEP, 512, 1000, sound.length]) {
    const listener = model.open();
    for (let at = 0; at < sound.length; at += length) {
      await listener.push(sound.subarray(at, at + length));
      const end = Math.min(at + length, sound.length);
      if (end % STEP === 0) assertNear(await listener.probability(), after(end / STEP), `${length}, ${end}`);
    }
  }
});

test('a question in the middle of a step looks ahead, and changes nothing', async (t) => {
  const { afterSamples, value } = golden.peek;
  const listener = (await loaded(t)).open();
  await listener.push(sound.subarray(0, afterSamples));
  assertNear(await listener.probability(), value);
  assertNear(await listener.probability(), value);
  await listener.push(sound.subarray(afterSamples, 9 * STEP));
  assertNear(await listener.probability(), after(9));
});

test('less than a frame of a new step leaves the probability of the last one; nothing has none', async (t) => {
  const listener = (await loaded(t)).open();
  await listener.push(sound.subarray(0, 319));
  assert.equal(await listener.probability(), undefined);
  await listener.push(sound.subarray(319, 10 * STEP + 319));
  assertNear(await listener.probability(), after(10));
});

test('a reset begins with another turn: what was heard before does not count', async (t) => {
  const listener = (await loaded(t)).open();
  await listener.push(sound.subarray(0, 11 * STEP + 700));
  listener.reset();
  assert.equal(await listener.probability(), undefined);
  await listener.push(sound.subarray(0, 9 * STEP));
  assertNear(await listener.probability(), after(9));
});

test('two callers do not hear each other', async (t) => {
  const model = await loaded(t);
  const [one, other] = [model.open(), model.open()];
  await one.push(sound.subarray(0, 5 * STEP));
  await other.push(sound.subarray(0, STEP));
  await one.push(sound.subarray(5 * STEP, 10 * STEP));
  assertNear(await one.probability(), after(10));
  assertNear(await other.probability(), after(1));
});

test('NaN is silence, and samples beyond full scale are clipped', async (t) => {
  const model = await loaded(t);
  const [dirty, clean] = [model.open(), model.open()];
  const bad = sound.slice(0, 10 * STEP);
  const good = bad.slice();
  for (const [at, value, meant] of [
    [5000, NaN, 0],
    [9001, Infinity, 1],
    [9002, -30_000, -1],
  ] as const) {
    bad[at] = value;
    good[at] = meant;
  }
  await dirty.push(bad);
  await clean.push(good);
  assert.equal(await dirty.probability(), await clean.probability());
});

test('a result that is no number begins the state anew, and is no answer', async (t) => {
  const ports = {
    inputs: {},
    outputs: {
      probs: ANY_FLOATS,
      new_state_audio: ANY_FLOATS,
      new_state_conv1: ANY_FLOATS,
      new_state_conv2: ANY_FLOATS,
      new_state_k: ANY_FLOATS,
      new_state_v: ANY_FLOATS,
      new_state_k_valid: ANY_FLOATS,
      new_state_h6: ANY_FLOATS,
    },
  };
  const graph = await openGraph({ file: FILE, kind: 'toy' }, ports);
  t.after(() => graph.close());
  let isBroken = false;
  const run: typeof graph.run = async (feeds, fetches) => {
    const results = await graph.run(feeds, fetches);
    return isBroken ? { ...results, probs: floatTensor(new Float32Array(8).fill(NaN), [8]) } : results;
  };
  const inputShape = (name: string) => graph.inputShape(name);
  const model = new Turn1Mini({ run, inputShape, close: () => Promise.resolve() }, FILE);
  const listener = model.open();
  await listener.push(sound.subarray(0, 4 * STEP));
  assertNear(await listener.probability(), after(4));
  isBroken = true;
  await listener.push(sound.subarray(4 * STEP, 5 * STEP));
  assert.equal(await listener.probability(), undefined);
  await listener.push(sound.subarray(0, 640));
  assert.equal(await listener.probability(), undefined, 'between two steps');
  isBroken = false;
  await listener.push(sound.subarray(0, 9 * STEP));
  assertNear(await listener.probability(), after(9), 'from zeros');
});

test('another model, or a state of no fixed size, is refused with the file and the input', async () => {
  const file = toy('moonshine-a/encoder.onnx');
  await assert.rejects(Turn1Mini.load(file), {
    code: 'CONFIG_INVALID',
    message: new RegExp(
      `^${file} is no turn-1-mini model: its input audio is missing \\(it has features\\); `,
    ),
  });
  const graph = {
    inputShape: (name: string) => (name === 'state_k' ? [6, 1, undefined, 4] : [1, 4]),
    run: () => assert.fail(),
    close: () => Promise.resolve(),
  };
  assert.throws(() => new Turn1Mini(graph, 'turn.onnx'), {
    message: 'turn.onnx is no turn-1-mini model: its input state_k has a free size',
  });
});
