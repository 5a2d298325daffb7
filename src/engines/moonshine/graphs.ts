// Defines the five graphs of a Moonshine model as the streaming loop calls them, whatever computes them, and
// joins and cuts their caches of keys and values.
import type { MoonshineSizes } from './streaming-config.js';

/** Samples of 16 kHz that a feature stands for: 20 ms. */
export const FEATURE_SAMPLES = 320;

/** Memory of the frontend between two stretches of sound. Only the graphs know what it holds. */
export type FrontendState = object;

/** Keys and values of attention: layers, heads, frames and the width of a head, in this order. */
export interface AttentionCache {
  readonly frames: number;
  readonly keys: Float32Array;
  readonly values: Float32Array;
}

/** Each call is one run, and none begins before the one before has ended. */
export interface MoonshineGraphs {
  readonly sizes: MoonshineSizes;
  /** Features of a number of samples that is a multiple of 320; no state: at the beginning of a sound. */
  frontend(
    samples: Float32Array,
    state: FrontendState | undefined,
  ): Promise<{ readonly features: Float32Array; readonly state: FrontendState }>;
  /** A frame for each feature of a window. */
  encoder(features: Float32Array): Promise<Float32Array>;
  /** Memory of encoded frames; `offset` is the number of frames before them. */
  adapter(encoded: Float32Array, offset: number): Promise<Float32Array>;
  /** Keys and values of frames of memory. */
  crossKv(memory: Float32Array): Promise<AttentionCache>;
  /** Logits of each token, and the cache with the tokens; no cache: before the first token. */
  decoder(
    tokens: readonly number[],
    self: AttentionCache | undefined,
    cross: AttentionCache,
  ): Promise<{ readonly logits: Float32Array; readonly self: AttentionCache }>;
}

/** The frames of two caches, one after the other. */
export function joinCaches(
  sizes: MoonshineSizes,
  first: AttentionCache | undefined,
  second: AttentionCache,
): AttentionCache {
  if (first === undefined || first.frames === 0) return second;
  const [before, after] = [first.frames * sizes.headWidth, second.frames * sizes.headWidth];
  const rows = sizes.layers * sizes.heads;
  const join = (a: Float32Array, b: Float32Array) => {
    const all = new Float32Array(rows * (before + after));
    for (let row = 0; row < rows; row++) {
      const at = row * (before + after);
      all.set(a.subarray(row * before, (row + 1) * before), at);
      all.set(b.subarray(row * after, (row + 1) * after), at + before);
    }
    return all;
  };
  return {
    frames: first.frames + second.frames,
    keys: join(first.keys, second.keys),
    values: join(first.values, second.values),
  };
}

/** The first frames of a cache. */
export function firstFrames(sizes: MoonshineSizes, cache: AttentionCache, frames: number): AttentionCache {
  if (frames >= cache.frames) return cache;
  const [whole, part] = [cache.frames * sizes.headWidth, frames * sizes.headWidth];
  const rows = sizes.layers * sizes.heads;
  const cut = (from: Float32Array) => {
    const first = new Float32Array(rows * part);
    for (let row = 0; row < rows; row++)
      first.set(from.subarray(row * whole, row * whole + part), row * part);
    return first;
  };
  return { frames, keys: cut(cache.keys), values: cut(cache.values) };
}
