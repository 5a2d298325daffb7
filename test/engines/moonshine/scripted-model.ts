// A model of Moonshine that is a script: a stretch of sound of one amplitude is a word, whose number is the
// amplitude times 256. The decoder says the words of its memory in order, whatever it has said before.
import {
  type AttentionCache,
  FEATURE_SAMPLES,
  type MoonshineGraphs,
} from '../../../src/engines/moonshine/graphs.js';
import type { MoonshineModel } from '../../../src/engines/moonshine/moonshine-model.js';
import type { MoonshineTokenizer } from '../../../src/engines/moonshine/tokenizer.js';

const RATE = 16_000;
const [BEGIN, END] = [1, 2];
const FIRST_WORD = 3;
const VOCABULARY = 256;
const WORD_SECONDS = 0.3;
const GAP_SECONDS = 0.2;
/** Seconds from the begin of a word to that of the next. */
export const WORD_EVERY = WORD_SECONDS + GAP_SECONDS;

const sizes = { encoder: 1, decoder: 1, layers: 1, heads: 1, headWidth: 1, vocabulary: VOCABULARY };

export function silence(seconds: number): Float32Array {
  return new Float32Array(Math.round(seconds * RATE));
}

/** Words number `from` to before `to`, each with the gap behind it. */
export function words(from: number, to: number): Float32Array {
  const one = Math.round(WORD_EVERY * RATE);
  const sound = new Float32Array((to - from) * one);
  for (let n = from; n < to; n++) {
    const at = (n - from) * one;
    sound.fill((n + FIRST_WORD) / VOCABULARY, at, at + Math.round(WORD_SECONDS * RATE));
  }
  return sound;
}

/** What the model hears in the words. */
export function textOf(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, n) => `w${from + n}`).join(' ');
}

export function scriptedModel(graphs: Partial<MoonshineGraphs> = {}): MoonshineModel {
  const tokenizer = {
    text: (tokens: readonly number[]) => tokens.map((token) => `w${token - FIRST_WORD}`).join(' '),
    stableUnits: (tokens: readonly number[], committed: number) =>
      tokens
        .slice(0, committed)
        .map((token) => `w${token - FIRST_WORD}`)
        .join(' ').length,
  } as unknown as MoonshineTokenizer;
  return {
    config: { sizes, begin: BEGIN, end: END, lookAhead: 4, mostTokens: 448 },
    tokenizer,
    language: 'en',
    rules: { tokensPerSecond: 6.5 },
    hasSpaces: true,
    graphs: { ...scripted, ...graphs },
    hashes: {},
  };
}

const scripted: MoonshineGraphs = {
  sizes,
  frontend: (samples) => {
    const count = samples.length / FEATURE_SAMPLES;
    const middle = (n: number) => samples[n * FEATURE_SAMPLES + FEATURE_SAMPLES / 2] ?? 0;
    return Promise.resolve({
      features: Float32Array.from({ length: count }, (_, n) => middle(n)),
      state: {},
    });
  },
  encoder: (features) => Promise.resolve(features),
  adapter: (encoded) => Promise.resolve(encoded),
  crossKv: (memory) => Promise.resolve({ frames: memory.length, keys: memory, values: memory }),
  decoder: (tokens, self, cross) => {
    const said = self?.frames ?? 0;
    const heard = wordsIn(cross);
    const logits = new Float32Array(tokens.length * VOCABULARY);
    for (let row = 0; row < tokens.length; row++) logits[row * VOCABULARY + (heard[said + row] ?? END)] = 1;
    const frames = said + tokens.length;
    const empty = new Float32Array(frames);
    return Promise.resolve({ logits, self: { frames, keys: empty, values: empty } });
  },
};

function wordsIn({ keys }: AttentionCache): number[] {
  const numbers = [...keys].map((amplitude) => Math.round(amplitude * VOCABULARY));
  return numbers.filter((word, at) => word >= FIRST_WORD && word !== numbers[at - 1]);
}
