// Bad input and mishaps of the recogniser Moonshine, with toy models: each has a bounded result, and other
// callers go on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import type { MoonshineGraphs } from '../../../src/engines/moonshine/graphs.js';
import type { MoonshineModel } from '../../../src/engines/moonshine/moonshine-model.js';
import { MoonshineRecogniser } from '../../../src/engines/moonshine/moonshine-recogniser.js';
import { SpokenTurn } from '../../../src/engines/moonshine/spoken-turn.js';
import type { RecognitionOptions } from '../../../src/engines/recogniser.js';
import { until } from '../../fakes/until.js';
import { toy, toySound } from '../../onnx/toys.js';

const RATE = 16_000;
const SPEECH = 'alphas char bravo to deltas';
const STALL_MS = 2000;
const RECOGNISER = new URL('../../../src/engines/moonshine/moonshine-recogniser.js', import.meta.url).href;

async function openRecogniser(t: TestContext): Promise<MoonshineRecogniser> {
  const recogniser = await MoonshineRecogniser.open({
    models: [{ directory: toy('moonshine-a'), language: 'en' }],
    workers: 2,
    partialIntervalMs: 320,
    maxSessions: 16,
    stallMs: STALL_MS,
    workerFile: new URL('./mortal-worker.js', import.meta.url),
  });
  t.after(() => recogniser.close());
  return recogniser;
}

function listen(t: TestContext, recogniser: MoonshineRecogniser, options: Partial<RecognitionOptions> = {}) {
  const finals: string[] = [];
  const ring = PcmRing.open(RATE, RATE * 60);
  t.after(() => ring.close());
  const session = recogniser.open(
    { sampleRate: RATE, use: 'live', ...options },
    { final: ({ text }) => finals.push(text) },
  );
  session.push(ring);
  return { session, ring, finals };
}

/** Two callers on two workers; the second one's speech is understood after the mishap of the first. */
async function mishap(t: TestContext, mark: number, error: object): Promise<MoonshineRecogniser> {
  const recogniser = await openRecogniser(t);
  await recogniser.load();
  const [first, second] = [listen(t, recogniser), listen(t, recogniser)];
  const failing = assert.rejects(first.session.ended, error);
  first.ring.write(new Float32Array(1600).fill(mark));
  await until(() => first.ring.status()?.readable === 0);
  first.ring.write(toySound('speech'));
  await failing;
  second.ring.write(new Float32Array(0.8 * RATE));
  second.ring.write(toySound('speech'));
  await second.session.end();
  assert.deepEqual(second.finals, [SPEECH]);
  return recogniser;
}

async function assertServes(t: TestContext, recogniser: MoonshineRecogniser, callers: number): Promise<void> {
  const all = Array.from({ length: callers }, () => listen(t, recogniser));
  for (const { ring } of all) {
    ring.write(new Float32Array(0.8 * RATE));
    ring.write(toySound('speech'));
  }
  await Promise.all(all.map(({ session }) => session.end()));
  assert.deepEqual(
    all.map(({ finals }) => finals),
    all.map(() => [SPEECH]),
  );
}

test('a graph that never ends costs its worker, whose turns end, and others go on', async (t) => {
  const message = /the worker .* has ended: a run of a graph has not ended within 2000 ms/;
  const recogniser = await mishap(t, 0.213, { code: 'ENGINE_LOST', message });
  await assertServes(t, recogniser, 2); // the worker is replaced
});

test('a run without memory ends its session, and no other', async (t) => {
  const recogniser = await mishap(t, 0.231, { code: 'ENGINE_FAILED', message: /bad_alloc/ });
  await assertServes(t, recogniser, 2);
});

test('a caller of no samples has no text, and one of one sample an empty one', async (t) => {
  const recogniser = await openRecogniser(t);
  for (const [samples, texts] of [
    [0, []],
    [1, ['']],
  ] as const) {
    const { session, ring, finals } = listen(t, recogniser);
    ring.write(new Float32Array(samples).fill(0.5));
    await session.end();
    assert.deepEqual(finals, texts, `${samples} samples`);
  }
});

test('a pause of ten hours keeps two seconds of its silence, and the speech before it', () => {
  const model = { graphs: {} as MoonshineGraphs } as MoonshineModel;
  const turn = new SpokenTurn(model, () => model.graphs);
  turn.add(new Float32Array(RATE).fill(0.5));
  turn.pause();
  const second = new Float32Array(RATE);
  for (let n = 0; n < 10 * 3600; n++) {
    second[RATE - 1] = n;
    turn.add(second);
  }
  assert.equal(turn.waiting, RATE);
  const rest = turn.end();
  assert.ok(rest.length <= 2 * RATE, `${rest.length} samples`);
  assert.equal(rest.at(-1), 10 * 3600 - 1, 'the last sample is kept');
});

test('speech after a long pause is understood in the same turn', async (t) => {
  const recogniser = await openRecogniser(t);
  const { session, ring, finals } = listen(t, recogniser, { gated: true });
  ring.write(new Float32Array(0.4 * RATE));
  session.turn('begin');
  ring.write(new Float32Array(0.4 * RATE));
  ring.write(toySound('speech'));
  session.turn('pause');
  ring.write(new Float32Array(40 * RATE));
  session.turn('resume');
  ring.write(toySound('speech'));
  session.turn('end');
  await session.end();
  assert.match(finals[0] ?? '', /^alphas char bravo to delta.*(?:alpha|s).*(?:char|lie).*(?:bravo|to)/);
});

test('the workers report nothing to the maker of the runtime', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'));
  t.after(() => rmSync(home, { recursive: true }));
  const program = `
    void import(${JSON.stringify(RECOGNISER)}).then(async ({ MoonshineRecogniser }) => {
      const models = [{ directory: ${JSON.stringify(toy('moonshine-a'))}, language: 'en' }];
      const options = { workers: 1, partialIntervalMs: 320, maxSessions: 1, stallMs: 20000 };
      const recogniser = await MoonshineRecogniser.open({ models, ...options });
      await recogniser.load();
      await recogniser.close();
    });
  `;
  const env = { PATH: process.env['PATH'], HOME: home };
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(home), []); // the runtime would keep an identifier of the machine here
});
