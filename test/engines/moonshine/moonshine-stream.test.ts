// The streaming loop of Moonshine on toy models, with the outputs that a reference loop gave.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AttentionCache, MoonshineGraphs } from '../../../src/engines/moonshine/graphs.js';
import {
  type Hypothesis,
  MoonshineStream,
  type StreamRules,
} from '../../../src/engines/moonshine/moonshine-stream.js';
import { OnnxGraphs } from '../../../src/engines/moonshine/onnx-graphs.js';
import {
  readStreamingConfig,
  type StreamingConfig,
} from '../../../src/engines/moonshine/streaming-config.js';
import { MoonshineTokenizer } from '../../../src/engines/moonshine/tokenizer.js';
import fc from '../../fakes/properties.js';
import { toy, toyGolden, toySound } from '../../onnx/toys.js';

const STEP = 1280;
/** The rules of the reference loop, which commits at once and does not look for repetitions. */
const REFERENCE: StreamRules = { tokensPerSecond: 6.5, commitFrames: 0, commitReserve: 0, cutsLoops: false };
const OURS: StreamRules = { tokensPerSecond: 6.5 };

interface Toy {
  readonly graphs: MoonshineGraphs;
  readonly config: StreamingConfig;
  readonly tokenizer: MoonshineTokenizer;
}

interface Digest {
  readonly count: number;
  readonly sum: number;
  readonly square: number;
  readonly slope: number;
}

interface Golden {
  readonly partialEverySteps: number;
  readonly partials: readonly {
    readonly step: number;
    readonly features: number;
    readonly memory: number;
    readonly tokens: readonly number[];
    readonly committed: number;
    readonly capped: boolean;
    readonly text: string;
  }[];
  readonly pause: { readonly afterStep: number; readonly tokens: readonly number[] };
  readonly final: { readonly tokens: readonly number[]; readonly capped: boolean; readonly text: string };
  readonly offline: { readonly kCross: Digest; readonly vCross: Digest };
}

async function openToy(t: TestContext, name: 'moonshine-a' | 'moonshine-b'): Promise<Toy> {
  const folder = toy(name);
  const config = await readStreamingConfig(`${folder}/streaming_config.json`);
  const { graphs } = await OnnxGraphs.open(folder, config.sizes);
  t.after(() => graphs.close());
  const { vocabulary } = config.sizes;
  return { graphs, config, tokenizer: await MoonshineTokenizer.read(`${folder}/tokenizer.bin`, vocabulary) };
}

function golden(name: string): Golden {
  return toyGolden(name) as Golden;
}

function streamOf({ graphs, config }: Toy, rules: StreamRules = OURS): MoonshineStream {
  return new MoonshineStream(graphs, config, rules);
}

/** The sound with silence at its end up to a whole step. */
function steps(name: string): Float32Array[] {
  const sound = toySound(name);
  return Array.from({ length: Math.ceil(sound.length / STEP) }, (_, step) => {
    const samples = new Float32Array(STEP);
    samples.set(sound.subarray(step * STEP, (step + 1) * STEP));
    return samples;
  });
}

function digest(data: Float32Array): Digest {
  let [sum, square, slope] = [0, 0, 0];
  for (const [n, value] of data.entries()) {
    sum += value;
    square += value * value;
    slope += value * Math.sin(n);
  }
  return { count: data.length, sum, square, slope };
}

function assertDigest(data: Float32Array | undefined, wanted: Digest): void {
  assert(data !== undefined);
  const found = digest(data);
  assert.equal(found.count, wanted.count);
  const limit = 1e-3 * Math.sqrt(wanted.count * wanted.square);
  for (const field of ['sum', 'slope'] as const)
    assert(Math.abs(found[field] - wanted[field]) < limit, `${field} ${found[field]}, not ${wanted[field]}`);
  assert(Math.abs(found.square / wanted.square - 1) < 1e-3);
}

function farthest(a: Float32Array | undefined, b: Float32Array | undefined): number {
  assert(a !== undefined && b !== undefined && a.length === b.length);
  return a.reduce((most, value, n) => Math.max(most, Math.abs(value - (b[n] ?? NaN))), 0);
}

async function inOneGo(model: Toy, sound: Float32Array, rules = OURS) {
  const stream = streamOf(model, rules);
  stream.add(sound.slice());
  stream.fill();
  return { stream, final: await stream.finish() };
}

for (const [name, model] of [
  ['moonshine-a_speech', 'moonshine-a'],
  ['moonshine-a_loop', 'moonshine-a'],
  ['moonshine-b_umlaut', 'moonshine-b'],
] as const) {
  test(`each pass of ${name} has the tokens of the reference, and a pause changes none`, async (t) => {
    const opened = await openToy(t, model);
    const wanted = golden(name);
    const stream = streamOf(opened, REFERENCE);
    const told: Hypothesis[] = [];
    let pause: Hypothesis | undefined;
    for (const [at, samples] of steps(name.split('_')[1] ?? '').entries()) {
      stream.add(samples);
      const partial = wanted.partials.find(({ step }) => step === at + 1);
      if ((at + 1) % wanted.partialEverySteps > 0) continue;
      const got = partial === undefined ? undefined : await stream.partial();
      if (partial === undefined || got === undefined) continue;
      assert.deepEqual(
        [stream.features, stream.frames, got.tokens, got.committed, got.isCapped],
        [partial.features, partial.memory, partial.tokens, partial.committed, partial.capped],
      );
      assert.equal(opened.tokenizer.text(got.tokens), partial.text.replace(/\uFFFD$/, ''));
      told.push(got);
      if (wanted.pause.afterStep !== at + 1) continue;
      pause = await stream.finish();
      stream.resume();
    }
    assert.equal(told.length, wanted.partials.length);
    assert.deepEqual(pause?.tokens, wanted.pause.tokens);
    const final = await stream.finish();
    assert.deepEqual([final.tokens, final.isCapped], [wanted.final.tokens, wanted.final.capped]);
    assert.equal(opened.tokenizer.text(final.tokens), wanted.final.text);
    assertDigest(stream.cross?.keys, wanted.offline.kCross);
    assertDigest(stream.cross?.values, wanted.offline.vCross);
  });
}

test('a sound in any pieces with passes at any time has the memory and the text of the whole', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const sound = toySound('speech');
  const whole = await inOneGo(model, sound);
  const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 9000 }), fc.boolean()), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(pieces, async (lengths) => {
      const stream = streamOf(model);
      let at = 0;
      for (const [length, hasPass] of [...lengths, [sound.length, false] as const]) {
        stream.add(sound.slice(at, at + length));
        at += length;
        if (hasPass) await stream.partial();
      }
      stream.fill();
      const final = await stream.finish();
      assert.deepEqual(final.tokens, whole.final.tokens);
      assert(farthest(stream.cross?.keys, whole.stream.cross?.keys) < 1e-4);
      assert(farthest(stream.cross?.values, whole.stream.cross?.values) < 1e-4);
    }),
    { numRuns: 12 },
  );
});

test('tokens are committed by two passes at least 240 ms apart, but for the last of them', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const stream = streamOf(model);
  const told: (readonly [number, number])[] = [];
  for (const [at, samples] of steps('speech').entries()) {
    stream.add(samples);
    const got = await stream.partial();
    if (got !== undefined && at % 4 === 3) told.push([got.tokens.length, got.committed]);
  }
  assert.deepEqual(told, [
    [1, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 3],
    [5, 4],
    [6, 4],
    [7, 5],
    [8, 6],
    [9, 7],
  ]);
});

test('a text that repeats itself without end is cut to one of the repeats, streamed or not', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const { final } = await inOneGo(model, toySound('loop'));
  assert.equal(model.tokenizer.text(final.tokens), 'alpha you');
  const stream = streamOf(model);
  for (const samples of steps('loop')) {
    stream.add(samples);
    const got = await stream.partial();
    assert((got?.committed ?? 0) <= 2);
  }
  assert.deepEqual((await stream.finish()).tokens, final.tokens);
});

test('the limit of tokens follows the length of the sound and the language', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  for (const [tokensPerSecond, most] of [
    [6.5, 11],
    [9, 15],
    [13, 21],
  ] as const) {
    const { final } = await inOneGo(model, toySound('loop'), { ...REFERENCE, tokensPerSecond });
    assert.deepEqual([final.tokens.length, final.isCapped], [most, true]);
  }
});

test('a cut forgets the sound behind it', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const sound = toySound('speech');
  const short = await inOneGo(model, sound.subarray(0, 100 * 320));
  for (const heard of [0, 50 * 320, sound.length]) {
    const stream = streamOf(model);
    stream.add(sound.slice(0, heard));
    await stream.partial();
    stream.add(sound.slice(heard));
    stream.cut(100);
    const final = await stream.finish();
    assert.equal(stream.frames, 100);
    assert.deepEqual(final.tokens, short.final.tokens);
  }
});

test('sounds of less than a feature have no text, and cost no run', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  for (const count of [0, 1, 319]) {
    const stream = streamOf(model);
    stream.add(new Float32Array(count));
    assert.equal(await stream.partial(), undefined);
    assert.deepEqual(await stream.finish(), { tokens: [], committed: 0, isCapped: false });
    assert.equal(stream.features, 0);
  }
});

/** Graphs of a toy, one of which fails as often as stated. */
function failing(graphs: MoonshineGraphs, name: 'adapter' | 'decoder', from: { fails: number }) {
  const broken = () => (from.fails-- > 0 ? Promise.reject(new Error(`${name} fails`)) : undefined);
  return {
    sizes: graphs.sizes,
    frontend: graphs.frontend.bind(graphs),
    encoder: graphs.encoder.bind(graphs),
    crossKv: graphs.crossKv.bind(graphs),
    adapter: (encoded: Float32Array, offset: number) =>
      (name === 'adapter' ? broken() : undefined) ?? graphs.adapter(encoded, offset),
    decoder: (tokens: readonly number[], self: AttentionCache | undefined, cross: AttentionCache) =>
      (name === 'decoder' ? broken() : undefined) ?? graphs.decoder(tokens, self, cross),
  } satisfies MoonshineGraphs;
}

test('a stream whose run was given up goes on as if it had not begun', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const whole = await inOneGo(model, toySound('speech'));
  for (const name of ['adapter', 'decoder'] as const) {
    const left = { fails: 0 };
    const stream = streamOf({ ...model, graphs: failing(model.graphs, name, left) });
    for (const [at, samples] of steps('speech').entries()) {
      stream.add(samples);
      left.fails = at % 8 === 0 ? 1 : 0;
      if (at % 8 === 0 && stream.features > 0)
        await assert.rejects(stream.finish(), { message: `${name} fails` });
      else await stream.partial();
    }
    left.fails = 0;
    assert.deepEqual((await stream.finish()).tokens, whole.final.tokens);
  }
});

test('a row with a logit that is no number is an error, not a text', async (t) => {
  const model = await openToy(t, 'moonshine-a');
  const { vocabulary } = model.config.sizes;
  for (const bad of [NaN, Infinity, -Infinity])
    for (const place of [0, 7, vocabulary - 1]) {
      const graphs: MoonshineGraphs = {
        ...failing(model.graphs, 'decoder', { fails: 0 }),
        decoder: async (tokens, self, cross) => {
          const got = await model.graphs.decoder(tokens, self, cross);
          return { ...got, logits: got.logits.map((logit, at) => (at % vocabulary === place ? bad : logit)) };
        },
      };
      const stream = streamOf({ ...model, graphs });
      stream.add(toySound('speech'));
      await assert.rejects(stream.finish(), { code: 'ENGINE_FAILED', message: /values that are no numbers/ });
    }
});
