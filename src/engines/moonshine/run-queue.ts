// Decides whose graph runs next in a worker: final texts first, then partial texts, then files, and the
// oldest of each. A run cannot be interrupted, so the queue decides between two runs.
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import type { MoonshineGraphs } from './graphs.js';

const RANKS = { final: 0, partial: 1, file: 2 } as const;

/** The work for one text, which takes many runs. */
export interface Work {
  readonly rank: keyof typeof RANKS;
  /** Place of the work in time: older work goes first. */
  readonly sinceMs: number;
  /** Aborted work ends before its next run, with ABORTED. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly work: Work;
  readonly start: () => void;
}

export class RunQueue {
  readonly #time: Time;
  readonly #waiting: Waiting[] = [];
  /** Begin of the present run; undefined without one. */
  #runningSinceMs: number | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Milliseconds since the oldest live work that waits was asked for; 0 if none waits. Files may wait. */
  get oldestMs(): number {
    const live = this.#waiting.filter(({ work }) => work.rank !== 'file');
    const now = this.#time.now();
    return live.reduce((oldest, { work }) => Math.max(oldest, now - work.sinceMs), 0);
  }

  /** Milliseconds that the present run has taken; 0 without one. */
  get runMs(): number {
    return this.#runningSinceMs === undefined ? 0 : this.#time.now() - this.#runningSinceMs;
  }

  /** The graphs, whose runs wait for their turn on behalf of the work that there is then. */
  graphsFor(graphs: MoonshineGraphs, work: () => Work): MoonshineGraphs {
    const inTurn = <T>(run: () => Promise<T>) => this.#run(work(), run);
    return {
      sizes: graphs.sizes,
      frontend: (samples, state) => inTurn(() => graphs.frontend(samples, state)),
      encoder: (features) => inTurn(() => graphs.encoder(features)),
      adapter: (encoded, offset) => inTurn(() => graphs.adapter(encoded, offset)),
      crossKv: (memory) => inTurn(() => graphs.crossKv(memory)),
      decoder: (tokens, self, cross) => inTurn(() => graphs.decoder(tokens, self, cross)),
    };
  }

  async #run<T>(work: Work, run: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push({ work, start });
      this.#next();
    });
    try {
      if (work.signal.aborted) throw new ParleyError('ABORTED', 'the text is not needed any more');
      return await run();
    } finally {
      this.#runningSinceMs = undefined;
      this.#next();
    }
  }

  #next(): void {
    if (this.#runningSinceMs !== undefined || this.#waiting.length === 0) return;
    let first = 0;
    for (const [n, { work }] of this.#waiting.entries())
      if (isBefore(work, this.#waiting[first]?.work)) first = n;
    const [next] = this.#waiting.splice(first, 1);
    this.#runningSinceMs = this.#time.now();
    next?.start();
  }
}

function isBefore(work: Work, other: Work | undefined): boolean {
  if (other === undefined) return true;
  const ranks = RANKS[work.rank] - RANKS[other.rank];
  return ranks === 0 ? work.sinceMs < other.sinceMs : ranks < 0;
}
