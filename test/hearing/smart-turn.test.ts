import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LogMels, MEL_SAMPLES } from '../../src/hearing/log-mels.js';
import { SmartTurn } from '../../src/hearing/smart-turn.js';
import { floatTensor } from '../../src/onnx/graph.js';
import { toy, toyGolden, toyNumbers, toySound } from '../onnx/toys.js';

const { probability: GOLDEN } = toyGolden<{ probability: number }>('smart_turn');
const FILE = toy('smart-turn/smart-turn-v3.2-cpu.onnx');
const sound = toySound('turn');

/** The last 8 s, with silence in front. */
function eightSeconds(end: Float32Array): Float32Array {
  const whole = new Float32Array(MEL_SAMPLES);
  whole.set(end.subarray(-MEL_SAMPLES), MEL_SAMPLES - Math.min(end.length, MEL_SAMPLES));
  return whole;
}

async function loaded(t: TestContext): Promise<SmartTurn> {
  const model = await SmartTurn.load(FILE);
  t.after(() => model.close());
  return model;
}

function assertGolden(found: number | undefined): void {
  assert.ok(Math.abs((found ?? NaN) - GOLDEN) < 1e-4, `${found}, not ${GOLDEN}`);
}

test('the features of a sound are those of the golden', () => {
  const golden = toyNumbers('whisper_mel_turn');
  const mels = new LogMels();
  for (let time = 0; time < 2; time++) {
    const found = mels.of(eightSeconds(sound));
    assert.equal(found.length, golden.length);
    let far = 0;
    for (const [n, value] of found.entries()) far = Math.max(far, Math.abs(value - (golden[n] ?? NaN)));
    assert.ok(far < 1e-4, `${far}`);
  }
});

test('the features of silence are all the same number', () => {
  assert.deepEqual(new Set(new LogMels().of(new Float32Array(MEL_SAMPLES))), new Set([-1.5]));
});

test('a turn gives the golden probability, in whatever pieces it comes', async (t) => {
  const model = await loaded(t);
  for (const length of [512, 7000, sound.length]) {
    const listener = model.open();
    for (let at = 0; at < sound.length; at += length) await listener.push(sound.subarray(at, at + length));
    assertGolden(await listener.probability());
  }
});

test('only the last eight seconds of a turn count', async (t) => {
  const listener = (await loaded(t)).open();
  const early = Float32Array.from({ length: 5 * 16_000 }, (_, n) => Math.sin(n * n));
  await listener.push(early);
  await listener.push(eightSeconds(sound));
  assertGolden(await listener.probability());
});

test('a reset forgets the turn, and a turn without sound has no probability', async (t) => {
  const listener = (await loaded(t)).open();
  assert.equal(await listener.probability(), undefined);
  await listener.push(eightSeconds(sound).reverse());
  listener.reset();
  assert.equal(await listener.probability(), undefined);
  await listener.push(sound);
  assertGolden(await listener.probability());
});

test('samples that are no numbers or beyond full scale do not spoil the features', async (t) => {
  const model = await loaded(t);
  const [dirty, clean] = [model.open(), model.open()];
  const bad = sound.slice();
  const good = sound.slice();
  for (const [at, value, meant] of [
    [40_000, NaN, 0],
    [40_001, Infinity, 1],
    [40_002, -1e30, -1],
  ] as const) {
    bad[at] = value;
    good[at] = meant;
  }
  await dirty.push(bad);
  await clean.push(good);
  assert.equal(await dirty.probability(), await clean.probability());
});

test('an answer that is no number is none', async () => {
  await SmartTurn.load(FILE).then((model) => model.close()); // loads the runtime
  const nothing = floatTensor(Float32Array.of(NaN), [1, 1]);
  const model = new SmartTurn({
    run: () => Promise.resolve({ logits: nothing }),
    close: () => Promise.resolve(),
  });
  const listener = model.open();
  await listener.push(sound);
  assert.equal(await listener.probability(), undefined);
});

test('another model is refused with the file, the input and what it has', async () => {
  const file = toy('turn-1-mini/turn-1-mini.step.onnx');
  await assert.rejects(SmartTurn.load(file), {
    code: 'CONFIG_INVALID',
    message: new RegExp(
      `^${file} is no Smart Turn v3 model: its input input_features is missing \\(it has audio, `,
    ),
  });
});
