// Decides if this machine can carry another call now. A call that finds no processor time makes every other
// one stutter, so new calls are refused before that.
import type { Time } from '../time.js';

interface AdmissionOptions {
  /** Share of all cores that this process may use before it refuses calls, in percent; 0: no limit. */
  readonly maxCpuPercent: number;
  readonly cores: number;
  /** Processor time that this process has used so far, in microseconds. */
  readonly cpuMicroseconds: () => number;
  /** Busy share of the encoder workers, 0 to 1. */
  readonly encoderLoad: () => number;
  readonly time: Time;
}

const SAMPLE_MS = 1000;
const WEIGHT = 0.5; // of the newest sample
const MAX_ENCODER_LOAD = 0.95;

export class CallAdmission {
  readonly #options: AdmissionOptions;
  #usedMicroseconds: number;
  #sampledMs: number;
  /** Smoothed share of all cores, 0 to 1. */
  #cpu = 0;
  #cancelTimer: () => void;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#usedMicroseconds = options.cpuMicroseconds();
    this.#sampledMs = options.time.now();
    this.#cancelTimer = options.time.after(SAMPLE_MS, () => this.#sample());
  }

  /** The reason to refuse another call; undefined if there is none. */
  refusal(): string | undefined {
    const { maxCpuPercent, encoderLoad } = this.#options;
    const cpuPercent = Math.round(this.#cpu * 100);
    if (maxCpuPercent > 0 && cpuPercent > maxCpuPercent) {
      return `the server uses ${cpuPercent} % of its processor, and MAX_CPU_PERCENT allows ${maxCpuPercent}`;
    }
    if (encoderLoad() > MAX_ENCODER_LOAD) return 'the encoders have no time for another call';
    return undefined;
  }

  close(): void {
    this.#cancelTimer();
  }

  #sample(): void {
    const { cores, cpuMicroseconds, time } = this.#options;
    const [used, nowMs] = [cpuMicroseconds(), time.now()];
    const elapsedMs = Math.max(nowMs - this.#sampledMs, 1);
    const share = (used - this.#usedMicroseconds) / 1000 / elapsedMs / cores;
    this.#cpu += WEIGHT * (share - this.#cpu);
    [this.#usedMicroseconds, this.#sampledMs] = [used, nowMs];
    this.#cancelTimer = time.after(SAMPLE_MS, () => this.#sample());
  }
}
