// Decides if this machine can carry another call now. A call that finds no processor time makes every other
// one stutter, so new calls are refused before that.
import type { Time } from '../time.js';

interface AdmissionOptions {
  /**
   * Share of all cores that this process may use before it refuses calls, in percent. 0 switches off this
   * limit and that of the main thread.
   */
  readonly maxCpuPercent: number;
  readonly cores: number;
  /** Milliseconds that the event loop of the main thread has been active and idle so far. */
  readonly eventLoop: () => { readonly active: number; readonly idle: number };
  /** Processor time that this process has used so far, in microseconds. */
  readonly cpuMicroseconds: () => number;
  /** Busy share of the encoder workers, 0 to 1. */
  readonly encoderLoad: () => number;
  readonly time: Time;
}

const SAMPLE_MS = 1000;
const WEIGHT = 0.5; // of the newest sample
const MAX_ENCODER_LOAD = 0.95;
// One busy thread is a small share of a machine with many cores, but the main thread sets up every call.
const MAX_LOOP_LOAD = 0.95;
// The start of the server, or one long piece of work, is no load that lasts: a busy loop counts after 13 s.
const LOOP_WEIGHT = 0.2; // of the newest sample

export class CallAdmission {
  readonly #options: AdmissionOptions;
  #usedMicroseconds: number;
  #sampledMs: number;
  /** Smoothed share of all cores, 0 to 1. */
  #cpu = 0;
  /** Smoothed busy share of the event loop, 0 to 1. */
  #loop = 0;
  #loopTimes: { readonly active: number; readonly idle: number };
  #cancelTimer: () => void;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#usedMicroseconds = options.cpuMicroseconds();
    this.#sampledMs = options.time.now();
    this.#loopTimes = options.eventLoop();
    this.#cancelTimer = options.time.after(SAMPLE_MS, () => this.#sample());
  }

  /** The reason to refuse another call; undefined if there is none. */
  refusal(): string | undefined {
    const { maxCpuPercent, encoderLoad } = this.#options;
    const cpuPercent = Math.round(this.#cpu * 100);
    if (maxCpuPercent > 0 && cpuPercent > maxCpuPercent) {
      return `the server uses ${cpuPercent} % of its processor, and MAX_CPU_PERCENT allows ${maxCpuPercent}`;
    }
    if (maxCpuPercent > 0 && this.#loop > MAX_LOOP_LOAD) {
      const loopPercent = Math.round(this.#loop * 100);
      const most = MAX_LOOP_LOAD * 100;
      return `the main thread of the server is busy for ${loopPercent} % of the time, and ${most} % is the most`;
    }
    if (encoderLoad() > MAX_ENCODER_LOAD) return 'the encoders have no time for another call';
    return undefined;
  }

  close(): void {
    this.#cancelTimer();
  }

  #sample(): void {
    const { cores, cpuMicroseconds, time } = this.#options;
    // First: a defect must not end the samples.
    this.#cancelTimer = time.after(SAMPLE_MS, () => this.#sample());
    const [used, nowMs] = [cpuMicroseconds(), time.now()];
    const elapsedMs = Math.max(nowMs - this.#sampledMs, 1);
    const share = (used - this.#usedMicroseconds) / 1000 / elapsedMs / cores;
    this.#cpu += WEIGHT * (share - this.#cpu);
    this.#sampleLoop();
    [this.#usedMicroseconds, this.#sampledMs] = [used, nowMs];
  }

  #sampleLoop(): void {
    const times = this.#options.eventLoop();
    const activeMs = times.active - this.#loopTimes.active;
    const elapsedMs = activeMs + times.idle - this.#loopTimes.idle;
    this.#loop += LOOP_WEIGHT * (activeMs / Math.max(elapsedMs, 1) - this.#loop);
    this.#loopTimes = times;
  }
}
