// Samples of voices in memory, ready to be spoken with; the least recently used
// leave first. A minute of one takes 5.5 MiB.
export interface VoiceCacheFigures {
  readonly entries: number;
  readonly maxEntries: number;
  readonly hits: number;
}

export class VoiceCache {
  readonly #maxEntries: number;
  readonly #samples = new Map<string, Float32Array>(); // least recently used first
  #hits = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get figures(): VoiceCacheFigures {
    return { entries: this.#samples.size, maxEntries: this.#maxEntries, hits: this.#hits };
  }

  /** @param key what they were made from */
  find(key: string): Float32Array | undefined {
    const samples = this.#samples.get(key);
    if (samples === undefined) return undefined;
    this.#samples.delete(key);
    this.#samples.set(key, samples);
    this.#hits++;
    return samples;
  }

  keep(key: string, samples: Float32Array): void {
    this.#samples.delete(key);
    this.#samples.set(key, samples);
    for (const oldest of this.#samples.keys()) {
      if (this.#samples.size <= this.#maxEntries) break;
      this.#samples.delete(oldest);
    }
  }

  drop(key: string): void {
    this.#samples.delete(key);
  }
}
