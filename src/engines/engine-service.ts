// Serves an engine in its worker thread: renders jobs one after the other and writes each sound into its
// ring. Rendered sounds whose rings are full wait here without blocking later jobs. Messages carry no sound.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { PcmRing } from '../audio/pcm-ring.js';
import { collectWithOthers } from '../encoding/idle-memory.js';
import type { SpeechHint, SpeechOptions, WordTime } from './engine.js';

const NICE = 5; // same as the encoders: below the clock and the event loop

const PORTION_SAMPLES = 4096;
const FULL_SCALE = 32_768;

export interface Rendering {
  /** Samples at the rate of the job's ring. */
  readonly samples: Int16Array;
  /** Factor on the samples, because voices differ in loudness. */
  readonly gain: number;
  readonly words: readonly WordTime[];
}

interface Renderer {
  render(job: SpeakJob): Promise<Rendering>;
  /** Called after each job, when its sound is out. */
  afterJob?(): void;
  /** Called before the thread ends. */
  close?(): Promise<void>;
}

function say(message: FromEngine): void {
  parentPort?.postMessage(message);
}

/** Writes as much as the ring accepts, and continues when it has room again. */
class RingWriter {
  readonly #job: SpeakJob;
  readonly #ring: PcmRing;
  readonly #sound: Rendering;
  readonly #portion = new Float32Array(PORTION_SAMPLES);
  #written = 0;

  constructor(job: SpeakJob, ring: PcmRing, sound: Rendering) {
    this.#job = job;
    this.#ring = ring;
    this.#sound = sound;
  }

  /** False if the ring is full: the remaining samples follow when it has room. Never throws. */
  write(): boolean {
    try {
      return this.#write();
    } catch (error) {
      say({ type: 'failed', id: this.#job.id, message: (error as Error).message });
      return true;
    }
  }

  #write(): boolean {
    const { id } = this.#job;
    const { samples, words } = this.#sound;
    while (this.#written < samples.length) {
      const portion = this.#convert();
      const taken = this.#ring.write(portion);
      if (taken < 0) {
        say({ type: 'dropped', id });
        return true;
      }
      this.#written += taken;
      if (taken < portion.length) {
        this.#ring.onWritable(() => this.write());
        return false;
      }
    }
    this.#ring.end();
    say({ type: 'written', id, samples: this.#written, words });
    return true;
  }

  #convert(): Float32Array {
    const { samples, gain } = this.#sound;
    const count = Math.min(PORTION_SAMPLES, samples.length - this.#written);
    const scale = gain / FULL_SCALE;
    for (let i = 0; i < count; i++) {
      const value = (samples[this.#written + i] ?? 0) * scale;
      this.#portion[i] = Math.max(-1, Math.min(1, value));
    }
    return this.#portion.subarray(0, count);
  }
}

async function speak(job: SpeakJob, renderer: Renderer): Promise<void> {
  const { id } = job;
  const ring = PcmRing.attach(job.ring, job.rate);
  if (ring.status()?.aborted !== false) return say({ type: 'dropped', id });
  try {
    const sound = await renderer.render(job);
    const { samples, words } = sound;
    if (!new RingWriter(job, ring, sound).write())
      say({ type: 'rendered', id, samples: samples.length, words });
    renderer.afterJob?.();
  } catch (error) {
    say({ type: 'failed', id, message: (error as Error).message });
  }
}

function lowerPriority(): void {
  const addon = loadAddon<{ lowerThreadPriority?: (nice: number) => void }>();
  addon.lowerThreadPriority?.(NICE);
}

/** Serves the main thread until it sends `close`. */
export function serveEngine(renderer: Renderer): void {
  lowerPriority();
  collectWithOthers();
  let last = Promise.resolve();
  parentPort?.on('message', (message: ToEngine) => {
    if (message.type === 'speak') {
      last = last.then(() => speak(message.job, renderer));
      return;
    }
    parentPort?.close();
    void renderer.close?.();
  });
  say({ type: 'loaded' });
}

export interface SpeakJob {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** The ring that takes the sound, and its rate in Hz. */
  readonly ring: number;
  readonly rate: number;
  readonly options: SpeechOptions | undefined;
  readonly hints: readonly SpeechHint[] | undefined;
}

export type ToEngine = { readonly type: 'speak'; readonly job: SpeakJob } | { readonly type: 'close' };

/** A job ends with exactly one of `written`, `dropped` and `failed`. */
export type FromEngine =
  | { readonly type: 'loaded' }
  /** The engine is free for the next job, while the sound waits for room in its ring. */
  | {
      readonly type: 'rendered';
      readonly id: number;
      readonly samples: number;
      readonly words: readonly WordTime[];
    }
  | {
      readonly type: 'written';
      readonly id: number;
      readonly samples: number;
      readonly words: readonly WordTime[];
    }
  /** The reader aborted the ring. */
  | { readonly type: 'dropped'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };
