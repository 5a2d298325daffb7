import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { floats, floatTensor, longs, longTensor, openGraph } from '../../src/onnx/graph.js';
import { toy, toyNumbers } from './toys.js';

const SMART_TURN = toy('smart-turn/smart-turn-v3.2-cpu.onnx');
const MELS = { inputs: { input_features: floats('free', 80, 800) }, outputs: { logits: floats('free', 1) } };
const kind = 'toy';

test('a graph is opened by path and by bytes, and answers the same', async () => {
  const answers: number[] = [];
  for (const bytes of [undefined, readFileSync(SMART_TURN)]) {
    const graph = await openGraph({ file: SMART_TURN, kind, ...(bytes && { bytes }) }, MELS);
    const features = floatTensor(toyNumbers('whisper_mel_turn'), [1, 80, 800]);
    const { logits } = await graph.run({ input_features: features }, ['logits']);
    assert.deepEqual(logits.dims, [1, 1]);
    answers.push(logits.data[0] ?? NaN);
    await graph.close();
  }
  assert.ok(Math.abs((answers[0] ?? NaN) - 0.403407) < 1e-5, String(answers));
  assert.equal(answers[0], answers[1]);
});

test('an .ort graph tells the sizes of its states and the inputs that nobody expected', async () => {
  const shapes = { audio_chunk: floats(1, 'free'), conv1_buffer: floats(1, 'any', 4), sample_len: longs(1) };
  const graph = await openGraph(
    { file: toy('moonshine-b/frontend.model.ort'), kind },
    { inputs: shapes, outputs: { features: floats(1, 'free', 'any') } },
  );
  assert.deepEqual(graph.inputShape('conv1_buffer'), [1, 28, 4]);
  assert.deepEqual(graph.inputShape('audio_chunk'), [1, undefined]);
  assert.throws(() => graph.inputShape('audio'), /^RangeError: the graph has no input audio$/);
  assert.deepEqual(graph.otherInputs, [
    'sample_buffer',
    'conv2_buffer',
    'frame_count',
    'frontend.linear.weight',
    'frontend.conv1.weight',
    'frontend.conv2.weight',
  ]);
  await graph.close();
});

test('a graph without inputs gives outputs whose names nobody expected', async () => {
  const file = toy('moonshine-b/frontend.weights.ort');
  const graph = await openGraph({ file, kind }, { inputs: {}, outputs: {} as Record<string, never> });
  const weights = await graph.run({}, graph.outputNames);
  assert.deepEqual(
    Object.entries(weights).map(([name, { dims }]: [string, { dims: readonly number[] }]) => [name, ...dims]),
    [
      ['frontend.linear.weight', 80, 28],
      ['frontend.conv1.weight', 56, 28, 5],
      ['frontend.conv2.weight', 28, 56, 5],
    ],
  );
  await graph.close();
});

test('only the outputs that were asked for come back, and whole numbers and empty caches go in', async () => {
  const file = toy('moonshine-b/decoder_kv.ort');
  const cache = floats(3, 1, 2, 'free', 10);
  const graph = await openGraph(
    { file, kind },
    {
      inputs: {
        token: longs(1, 'free'),
        k_self: cache,
        v_self: cache,
        out_k_cross: cache,
        out_v_cross: cache,
      },
      outputs: { logits: floats(1, 'free', 280), out_k_self: cache },
    },
  );
  const empty = floatTensor(new Float32Array(0), [3, 1, 2, 0, 10]);
  const cross = floatTensor(new Float32Array(3 * 2 * 5 * 10), [3, 1, 2, 5, 10]);
  const feeds = { k_self: empty, v_self: empty, out_k_cross: cross, out_v_cross: cross };
  const answer = await graph.run({ token: longTensor([1, 7], [1, 2]), ...feeds }, ['logits', 'out_k_self']);
  assert.deepEqual(Object.keys(answer), ['logits', 'out_k_self']);
  assert.deepEqual(answer.logits.dims, [1, 2, 280]);
  assert.deepEqual(answer.out_k_self.dims, [3, 1, 2, 2, 10]);
  await assert.rejects(graph.run(feeds, ['logits']), /token/);
  await graph.close();
});

test('what is wrong with a graph is named: file, port, what was found and what was expected', async () => {
  const wrong = [
    [{ features: floats('free', 80, 800) }, 'its input features is missing (it has input_features)'],
    [
      { input_features: longs('free', 80, 800) },
      'its input input_features is float32 [batch_size, 80, 800], not int64 [free, 80, 800]',
    ],
    [
      { input_features: floats(1, 128, 800) },
      'its input input_features is float32 [batch_size, 80, 800], not float32 [1, 128, 800]',
    ],
    [
      { input_features: floats(1, 'free', 800) },
      'its input input_features is float32 [batch_size, 80, 800], not float32 [1, free, 800]',
    ],
    [
      { input_features: floats(1, 80) },
      'its input input_features is float32 [batch_size, 80, 800], not float32 [1, 80]',
    ],
  ] as const;
  for (const [inputs, difference] of wrong) {
    await assert.rejects(openGraph({ file: SMART_TURN, kind: 'speech model' }, { inputs, outputs: {} }), {
      code: 'CONFIG_INVALID',
      message: `${SMART_TURN} is no speech model: ${difference}`,
    });
  }
  const outputs = { probs: floats(8), logits: floats(1, 2) };
  await assert.rejects(openGraph({ file: SMART_TURN, kind }, { inputs: {}, outputs }), {
    message:
      `${SMART_TURN} is no toy: its output probs is missing (it has logits); ` +
      'its output logits is float32 [batch_size, 1], not float32 [1, 2]',
  });
});

test('a size that the graph leaves free may be any that the caller wants', async () => {
  const graph = await openGraph(
    { file: SMART_TURN, kind },
    { inputs: { input_features: floats(1, 80, 800) }, outputs: { logits: floats('any', 'any') } },
  );
  await graph.close();
});

test('a file that is missing, a folder, damaged or empty is named with the reason', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-graph-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const whole = readFileSync(toy('turn-1-mini/turn-1-mini.step.onnx'));
  writeFileSync(join(folder, 'half.onnx'), whole.subarray(0, whole.length / 2));
  writeFileSync(join(folder, 'empty.onnx'), '');
  writeFileSync(join(folder, 'text.ort'), 'Not found');
  for (const [name, reason] of [
    ['missing.onnx', /^the model \S+missing\.onnx cannot be read: ENOENT/],
    ['', /^the model \S+ cannot be read: it is no file$/],
    ['half.onnx', /half\.onnx is no ONNX model: ./],
    ['empty.onnx', /empty\.onnx is no ONNX model: ./],
    ['text.ort', /text\.ort is no ONNX model: ./],
  ] as const) {
    const file = join(folder, name);
    await assert.rejects(openGraph({ file, kind }, MELS), { code: 'CONFIG_INVALID', message: reason }, name);
  }
});

/** A program that opens a graph in a worker; its main thread has or has not switched the telemetry off. */
const PROGRAM = `
import { Worker } from 'node:worker_threads';
import { disableTelemetry } from '${new URL('../../src/onnx/telemetry.js', import.meta.url).href}';
if (process.argv[1] === 'off') disableTelemetry();
const source = \`
  import { openGraph } from '${new URL('../../src/onnx/graph.js', import.meta.url).href}';
  const graph = await openGraph({ file: ${JSON.stringify(SMART_TURN)}, kind: 'toy' }, { inputs: {}, outputs: {} });
  await graph.close();
\`;
new Worker(new URL('data:text/javascript,' + encodeURIComponent(source)))
  .on('error', (error) => { console.error(error.message); process.exitCode = 1; });
`;

function runProgram(home: string, mode: 'off' | 'as it is') {
  const env = { PATH: process.env['PATH'], HOME: home };
  return spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM, mode], { env, encoding: 'utf8' });
}

test('the runtime reports nothing to its maker, and refuses to open a graph before that is sure', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'));
  t.after(() => rmSync(home, { recursive: true }));
  assert.equal(runProgram(home, 'off').status, 0);
  assert.deepEqual(readdirSync(home), []); // the runtime would keep an identifier of the machine here
  const { status, stderr } = runProgram(home, 'as it is');
  assert.equal(status, 1);
  assert.equal(stderr, 'the main thread has not switched the telemetry of ONNX off\n');
});
