// Decides who answered a call that this server placed, from what its far end does. Time is a parameter.
//
//   before the answer: fax, another tone, an announcement
//   answered ─▶ open ─┬─▶ human ── a beep or other words soon after it ─▶ machine
//                     ├─▶ machine ─▶ its beep, or the silence behind its greeting
//                     ├─▶ screening ── `again` ─▶ open
//                     └─▶ fax, another tone, silence, unknown
//
// A greeting is judged by the length of its speech: a person says little and waits. Voice activity measures
// that, not energy. Words are a second opinion. `human` needs speech that has ended: it is no default.
import { ParleyError } from '../errors.js';
import type { HeardTone } from '../media/tone-events.js';
import type { AnswerPhrase } from '../text/answer-phrases.js';

export interface AnswerSettings {
  /** Speech of this length is a machine's greeting; shorter speech is a person's. */
  readonly speechThresholdMs: number;
  /** Silence that ends a person's greeting. */
  readonly speechEndThresholdMs: number;
  /** Silence after the answer that ends the detection. */
  readonly silenceTimeoutMs: number;
  /** The detection ends so long after the answer. */
  readonly timeoutMs: number;
}

/** Smallest, usual and greatest value of each setting in milliseconds. */
export const ANSWER_BOUNDS = {
  speechThresholdMs: [1000, 3600, 6000],
  speechEndThresholdMs: [500, 1000, 5000],
  silenceTimeoutMs: [2000, 5000, 10_000],
  timeoutMs: [3000, 30_000, 59_000],
} as const satisfies Readonly<Record<keyof AnswerSettings, readonly [number, number, number]>>;

export const ANSWERED_BY = [
  'human',
  'machine',
  /** The machine's beep has ended: it records from now on. */
  'machine_beep',
  /** The machine's greeting has ended, and no beep came. */
  'machine_silence',
  'fax',
  /** A service asks who is calling, and why. */
  'screening',
  /** Only before the answer: somebody speaks. */
  'announcement',
  /** A tone of the network, such as busy. */
  'tone',
  'silence',
  'unknown',
] as const;
export type AnsweredBy = (typeof ANSWERED_BY)[number];

/**
 * Tones that decide. `cng` and `ced`: of a fax that calls, and of one that answers. `sit`: before an
 * announcement of the network.
 */
export const ANSWER_TONES = ['beep', 'cng', 'ced', 'sit', 'busy', 'reorder'] as const;
export type AnswerToneKind = (typeof ANSWER_TONES)[number];

export type AnswerTone = Pick<HeardTone, 'kind' | 'atMs' | 'durationMs'>;

export interface DetectedAnswer {
  readonly by: AnsweredBy;
  /** Time of the decision on the monotonic clock. */
  readonly atMs: number;
  /** The kind of input that decided. */
  readonly basis: 'speech' | 'words' | 'tone' | 'time';
  /** The tone, if one decided. */
  readonly tone?: AnswerToneKind;
  /** The call was not answered yet. */
  readonly isEarly: boolean;
}

/** Shorter speech is a noise of the line, or the end of the ring-back; `Yes?` has 160 ms and more. */
const LEAST_SPEECH_MS = 150;
/** Speech before the answer is an announcement from this length on. */
const ANNOUNCEMENT_MS = 1200;
/** The end of speech is known so long after it: until then a greeting may have ended. */
const STOP_KNOWN_MS = 256;
/** Silence behind the greeting of a machine without a beep. */
const GREETING_END_MS = 2000;
/** A beep shortly after a person's greeting shows that it was a machine's. */
const CORRECTION_MS = 5000;
/** Words of a person make these of the thresholds of speech and of the silence behind it. */
const PERSON = { speech: 1.5, speechEnd: 0.6 };
/** Silence after the request of a screening service until the answer is due. */
const SCREENING_PAUSE_MS = 500;
const MOST_SCREENINGS = 3;
/** A person is not told so long after a tone has begun behind speech: it may be the beep of a machine. */
const TONE_HOLD_MS = 1600;
/** A shorter tone is a click. */
const LEAST_BEEP_MS = 90;
/** Speech before a beep: a tone without any is no end of a greeting. */
const LEAST_GREETING_MS = 200;

type Phase = 'early' | 'open' | 'human' | 'machine' | 'over';

export class AnswerDetector {
  readonly #settings: AnswerSettings;
  #phase: Phase = 'early';
  /** The answer, or the end of our words to a screening service. */
  #openedMs = 0;
  /** Speech that has stopped. */
  #speechMs = 0;
  /** Onset of the speech that lasts; undefined during silence. */
  #onsetMs: number | undefined;
  /** End of the last speech; undefined before the first. */
  #stoppedMs: number | undefined;
  #decidedMs = 0;
  /** A tone behind the speech goes on, or is not told yet: until then no person is told. */
  #heldUntilMs = 0;
  #isPerson = false;
  /** A screening service has asked, and may still speak. */
  #isAsked = false;
  #isScreening = false;
  #screenings = 0;
  /** The end of the machine's greeting was told. */
  #isGreetingOver = false;
  readonly #earlyTold = new Set<AnsweredBy>();

  /** Throws INVALID_FIELD for settings that are not allowed. */
  constructor(settings: AnswerSettings) {
    for (const name of Object.keys(ANSWER_BOUNDS) as (keyof AnswerSettings)[]) {
      const [least, , most] = ANSWER_BOUNDS[name];
      if (settings[name] >= least && settings[name] <= most) continue;
      const allowed = `${least} to ${most} ms, not ${settings[name]}`;
      throw new ParleyError('INVALID_FIELD', `${name} must be ${allowed}`, { field: name });
    }
    this.#settings = settings;
  }

  /** True if nothing more will be decided. */
  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** A screening service waits for our words: `again` goes on. */
  get isScreening(): boolean {
    return this.#isScreening;
  }

  /** `advance` is due at this time, unless something happens before. Infinity: never. */
  get nextMs(): number {
    if (this.isOver || this.#isScreening) return Infinity;
    return Math.min(this.#limitMs, this.#speechDueMs);
  }

  answered(atMs: number): void {
    if (this.#phase !== 'early') return;
    this.#open(atMs);
  }

  speechStarted(atMs: number): void {
    this.#onsetMs = this.#phase === 'early' ? atMs : Math.max(atMs, this.#openedMs);
  }

  /** `atMs`: the end of the speech, which is known at `nowMs`. */
  speechStopped(atMs: number, nowMs: number): DetectedAnswer | undefined {
    const onsetMs = this.#onsetMs;
    this.#onsetMs = undefined;
    if (onsetMs === undefined || atMs - onsetMs < LEAST_SPEECH_MS) return this.advance(nowMs);
    this.#speechMs += atMs - onsetMs;
    this.#stoppedMs = atMs;
    return this.advance(nowMs);
  }

  /**
   * The words so far are of this kind; undefined: of none. A greeting that goes on is no longer a
   * person's.
   */
  words(phrase: AnswerPhrase | undefined, nowMs: number): DetectedAnswer | undefined {
    if (this.#phase === 'early' || this.isOver || this.#isScreening) return undefined;
    this.#isPerson = phrase === 'person';
    if (phrase === 'waiting' && this.#screenings > 0) this.#open(nowMs);
    if (phrase === 'screening' && this.#screenings < MOST_SCREENINGS) this.#isAsked = true;
    if (phrase !== 'voicemail' || this.#phase === 'machine') return this.advance(nowMs);
    this.#isAsked = false;
    return this.#decided('machine', 'words', nowMs);
  }

  tone(tone: AnswerTone, nowMs: number): DetectedAnswer | undefined {
    if (this.isOver || this.#isScreening) return undefined;
    const isGreeted = this.#speechUntil(tone.atMs) >= LEAST_GREETING_MS;
    const { kind } = tone;
    if (kind === 'ring_back') return undefined;
    if (kind === 'steady') {
      if (this.#phase === 'open' && isGreeted) this.#heldUntilMs = tone.atMs + TONE_HOLD_MS;
      return undefined;
    }
    if (kind === 'ced' || (kind === 'cng' && (this.#phase === 'early' || !isGreeted)))
      return this.#toned('fax', kind, nowMs);
    if (kind === 'sit' || kind === 'busy' || kind === 'reorder') return this.#toned('tone', kind, nowMs);
    if (this.#phase === 'early' || !isGreeted || tone.durationMs < LEAST_BEEP_MS) return undefined;
    if (!this.#isAsked) return this.#toned('machine_beep', 'beep', nowMs);
    return this.#asked(nowMs); // a screening service beeps before it listens
  }

  /** The time is now `nowMs`. */
  advance(nowMs: number): DetectedAnswer | undefined {
    if (this.isOver || this.#isScreening || nowMs < this.nextMs) return undefined;
    if (nowMs >= this.#speechDueMs) return this.#speechDecides(nowMs);
    const isSilent = this.#phase === 'open' && this.#speechMs === 0 && this.#onsetMs === undefined;
    if (this.#phase === 'human' || this.#phase === 'machine') return this.#end();
    const by = isSilent && this.#screenings === 0 ? 'silence' : 'unknown';
    return this.#decided(by, 'time', nowMs);
  }

  /** Our words to the screening service were sent: the detection begins anew. */
  again(nowMs: number): void {
    if (!this.#isScreening) return;
    this.#isScreening = false;
    this.#open(nowMs);
  }

  /** Speech before this time does not count. */
  #open(atMs: number): void {
    this.#phase = 'open';
    this.#openedMs = atMs;
    if (this.#onsetMs !== undefined) this.#onsetMs = Math.max(this.#onsetMs, atMs);
    this.#speechMs = 0;
    this.#stoppedMs = undefined;
    this.#isPerson = false;
    this.#isGreetingOver = false;
    this.#heldUntilMs = 0;
  }

  #end(): undefined {
    this.#phase = 'over';
    return undefined;
  }

  /** Time at which the speech so far decides, if none begins or ends before. */
  get #speechDueMs(): number {
    const lasts = this.#onsetMs;
    if (this.#phase === 'early') {
      if (lasts === undefined || this.#earlyTold.has('announcement')) return Infinity;
      return lasts + ANNOUNCEMENT_MS - this.#speechMs;
    }
    if (lasts !== undefined)
      return this.#phase === 'open' ? lasts + this.#threshold - this.#speechMs + STOP_KNOWN_MS : Infinity;
    if (this.#stoppedMs === undefined) return Infinity;
    if (this.#isAsked) return this.#stoppedMs + SCREENING_PAUSE_MS;
    if (this.#phase === 'open') return Math.max(this.#stoppedMs + this.#endThreshold, this.#heldUntilMs);
    if (this.#phase !== 'machine' || this.#isGreetingOver) return Infinity;
    return this.#stoppedMs + GREETING_END_MS;
  }

  get #threshold(): number {
    return this.#settings.speechThresholdMs * (this.#isPerson ? PERSON.speech : 1);
  }

  get #endThreshold(): number {
    return this.#settings.speechEndThresholdMs * (this.#isPerson ? PERSON.speechEnd : 1);
  }

  /** Time at which the detection ends, or the silence after the answer decides. */
  get #limitMs(): number {
    if (this.#phase === 'early') return Infinity;
    if (this.#phase === 'human') return this.#decidedMs + CORRECTION_MS;
    const isSilent = this.#speechMs === 0 && this.#onsetMs === undefined && this.#screenings === 0;
    const { silenceTimeoutMs, timeoutMs } = this.#settings;
    const limitMs = this.#phase === 'open' && isSilent ? Math.min(silenceTimeoutMs, timeoutMs) : timeoutMs;
    return this.#openedMs + limitMs;
  }

  #speechDecides(nowMs: number): DetectedAnswer | undefined {
    if (this.#phase === 'early') return this.#told('announcement', 'speech', nowMs);
    if (this.#isAsked && this.#onsetMs === undefined) return this.#asked(nowMs);
    if (this.#phase === 'machine') {
      this.#isGreetingOver = true;
      return this.#result('machine_silence', 'speech', nowMs);
    }
    const isLong = this.#onsetMs !== undefined || this.#speechMs >= this.#threshold;
    const basis = this.#isPerson && !isLong ? 'words' : 'speech';
    return this.#decided(isLong ? 'machine' : 'human', basis, nowMs);
  }

  #asked(nowMs: number): DetectedAnswer {
    this.#isAsked = false;
    this.#isScreening = true;
    this.#screenings++;
    return this.#result('screening', 'words', nowMs);
  }

  #toned(by: AnsweredBy, tone: AnswerToneKind, nowMs: number): DetectedAnswer | undefined {
    if (this.#phase === 'early') return this.#told(by, 'tone', nowMs, tone);
    const result = this.#result(by, 'tone', nowMs, tone);
    this.#phase = 'over';
    return result;
  }

  /** Before the answer each result is told once. */
  #told(
    by: AnsweredBy,
    basis: DetectedAnswer['basis'],
    nowMs: number,
    tone?: AnswerToneKind,
  ): DetectedAnswer | undefined {
    if (this.#earlyTold.has(by)) return undefined;
    this.#earlyTold.add(by);
    return this.#result(by, basis, nowMs, tone);
  }

  #decided(by: AnsweredBy, basis: DetectedAnswer['basis'], nowMs: number): DetectedAnswer {
    this.#phase = by === 'human' || by === 'machine' ? by : 'over';
    this.#decidedMs = nowMs;
    return this.#result(by, basis, nowMs);
  }

  #result(
    by: AnsweredBy,
    basis: DetectedAnswer['basis'],
    atMs: number,
    tone?: AnswerToneKind,
  ): DetectedAnswer {
    const isEarly = this.#phase === 'early';
    return { by, atMs, basis, isEarly, ...(tone === undefined ? {} : { tone }) };
  }

  #speechUntil(atMs: number): number {
    return this.#speechMs + (this.#onsetMs === undefined ? 0 : Math.max(0, atMs - this.#onsetMs));
  }
}
