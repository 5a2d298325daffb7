// Finds the onset and the end of speech in one call, from the probability of speech in each window.
//
// Hysteresis: speech begins after some windows above the upper threshold, and ends after a run below the
// lower one. The onset lies before the decision, at the first window of the run.
import { WINDOW_MS } from './ear-source.js';
import type { Sensitivity } from '../config/hearing-config.js';

interface Thresholds {
  /** Least probability of a window that may begin speech. */
  readonly on: number;
  /** Speech goes on while the probability is at least this. */
  readonly off: number;
  /** Windows in a row that begin speech. */
  readonly windows: number;
  /** One window of this probability begins speech alone. */
  readonly alone: number;
  /** Most loud windows before the run that count as part of it: a word may begin with a consonant. */
  readonly mostLead: number;
}

const THRESHOLDS: Readonly<Record<Sensitivity, Thresholds>> = {
  high: { on: 0.5, off: 0.35, windows: 2, alone: 0.85, mostLead: 1 },
  medium: { on: 0.6, off: 0.4, windows: 3, alone: Infinity, mostLead: 0 },
  low: { on: 0.75, off: 0.5, windows: 5, alone: Infinity, mostLead: 0 },
};

/** A gap of this length is a pause between words, not the end. */
const END_WINDOWS = 5; // 160 ms: few closures within a sentence are longer
/** The first sound of a word is often below the threshold: so far back the onset may lie. */
const MOST_LEAD_WINDOWS = 3;

export type SpeechChange =
  | { readonly type: 'started'; readonly atMs: number }
  | { readonly type: 'stopped'; readonly atMs: number; readonly durationMs: number };

interface DetectedWindow {
  readonly endMs: number;
  /** It is above the noise floor, so that the onset may lie in it. */
  readonly isLoud: boolean;
}

export class SpeechDetector {
  #thresholds: Thresholds;
  #run = 0;
  /** Windows above the noise floor before the run. */
  #lead = 0;
  #quiet = 0;
  #onsetMs = 0;
  /** End of the last window with speech. */
  #lastMs = 0;
  #isSpeaking = false;

  constructor(sensitivity: Sensitivity) {
    this.#thresholds = THRESHOLDS[sensitivity];
  }

  set sensitivity(sensitivity: Sensitivity) {
    this.#thresholds = THRESHOLDS[sensitivity];
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** Length of the present speech, up to its last window with a voice. */
  get speechMs(): number {
    return this.#isSpeaking ? this.#lastMs - this.#onsetMs : 0;
  }

  /** One window. Its probability of speech is from 0 to 1. */
  window(probability: number, window: DetectedWindow): SpeechChange | undefined {
    return this.#isSpeaking ? this.#during(probability, window.endMs) : this.#before(probability, window);
  }

  #before(probability: number, { endMs, isLoud }: DetectedWindow): SpeechChange | undefined {
    const { on, windows, alone, mostLead } = this.#thresholds;
    const lead = Math.min(this.#lead, mostLead);
    if (probability < on) {
      this.#run = 0;
      this.#lead = isLoud ? Math.min(MOST_LEAD_WINDOWS, this.#lead + 1) : 0;
      return undefined;
    }
    this.#run++;
    if (this.#run + lead < windows && probability < alone) return undefined;
    this.#onsetMs = endMs - (this.#run + this.#lead) * WINDOW_MS;
    this.#lastMs = endMs;
    this.#isSpeaking = true;
    this.#quiet = 0;
    return { type: 'started', atMs: this.#onsetMs };
  }

  #during(probability: number, endMs: number): SpeechChange | undefined {
    if (probability >= this.#thresholds.off) {
      this.#quiet = 0;
      this.#lastMs = endMs;
      return undefined;
    }
    this.#quiet++;
    if (this.#quiet < END_WINDOWS) return undefined;
    this.#isSpeaking = false;
    this.#run = 0;
    this.#lead = 0;
    return { type: 'stopped', atMs: this.#lastMs, durationMs: this.#lastMs - this.#onsetMs };
  }
}
