// Plays the sound of a bot in a call while it comes, and tells when the sound before a mark was sent.
//
//   push ─▶ shortened after a stall ─▶ spurt: one SoundStream, one utterance ─▶ queue of the call
//   mark ─▶ cut of the stream ─▶ end of the stretch, by packets really sent ─▶ marked
//
// A bot does not say where its speech ends. A spurt ends when its sound is played and nothing has come for
// REST_MS, or a little earlier if the bot has paused for PAUSE_MS. Sound that comes later begins the next
// spurt. If that comes soon, it was no pause but jitter of the network: the next spurts then begin later, so
// that more of their sound is in hand. Sound that was held back by a stall comes at once and delays all sound
// behind it. It is shortened until that delay is gone.
import { ShortenedSound } from '../audio/shortened-sound.js';
import { asParleyError, ParleyError } from '../errors.js';
import { SoundStream } from '../speaking/sound-stream.js';
import type { Time } from '../time.js';
import type { Call } from './call.js';
import type { CallEvent } from './call-events.js';
import { StallDelay } from './stall-delay.js';

/** The playout holds back three frames at the beginning of a spurt. */
const REST_MS = 60;
const PAUSE_MS = 120;
/** A spurt that begins within this time after the one before is late by jitter. */
const JITTER_MS = 300;
const LEAD_STEP_MS = 40;
const MOST_LEAD_MS = 160;
/** So much more than is in hand at the beginning may wait. */
const SLACK_MS = 40;
const SOON_MS = 20;
/** Between looks at a spurt that has no utterance yet. */
const LATER_MS = 100;
const MOST_SECONDS = 600; // of sound that waits
const MOST_MARKS = 1000;

interface Mark {
  readonly name: string;
  /** It is due when this stretch was sent. */
  readonly stretch: number;
}

interface Spurt {
  readonly stream: SoundStream;
  /** Number of its utterance; undefined while it is held back, or the queue of the call is full. */
  utterance: number | undefined;
  /** The last stretch that was sent; -1 before the first. */
  sent: number;
  readonly marks: Mark[];
}

interface FeedParts {
  readonly call: Pick<Call, 'play' | 'observe' | 'interrupt' | 'stats' | 'spoken'>;
  /** Hz. */
  readonly sampleRate: number;
  readonly time: Time;
  /** Everything before this mark was sent, or dropped. Marks come back in their order. */
  readonly marked: (name: string) => void;
}

export class SoundFeed {
  readonly #parts: FeedParts;
  readonly #unobserve: () => void;
  /** Talkspurts that were not played to their end, oldest first. */
  readonly #spurts: Spurt[] = [];
  /** The one that takes sound: the last of them. */
  #open: Spurt | undefined;
  #lastMs = -Infinity;
  #leadMs = 0;
  #cancelLook: (() => void) | undefined;
  #cancelLead: () => void = () => undefined;
  #onPlayed: (() => void)[] = [];
  readonly #delay = new StallDelay();
  readonly #shortened: ShortenedSound;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#shortened = new ShortenedSound(parts.sampleRate);
    this.#unobserve = parts.call.observe((event) => this.#observe(event));
  }

  /** Seconds of sound that wait to be played, apart from the two that are on their way to the encoder. */
  get waitingSeconds(): number {
    const samples = this.#spurts.reduce((sum, { stream }) => sum + stream.waiting, 0);
    return samples / this.#parts.sampleRate;
  }

  /**
   * Appends samples, which must not be changed afterwards. Throws QUEUE_FULL if more than ten minutes would
   * wait: then none of them is taken. Also throws as `Call.play`, except for a full queue of utterances.
   */
  push(samples: Int16Array): void {
    if (samples.length === 0) return;
    const { sampleRate, time } = this.#parts;
    if (this.waitingSeconds + samples.length / sampleRate > MOST_SECONDS)
      throw new ParleyError('QUEUE_FULL', `more than ${MOST_SECONDS / 60} minutes of sound would wait`);
    const quietMs = time.now() - this.#lastMs;
    this.#lastMs = time.now();
    const kept = this.#shortened.take(samples, this.#lateMs(samples.length));
    if (kept.length > 0 && this.#open?.stream.push(kept) !== true) this.#beginSpurt(kept, quietMs);
  }

  /** Milliseconds by which sound is to be shortened, of which so many samples come. */
  #lateMs(samples: number): number {
    const { time, sampleRate } = this.#parts;
    const ms = (samples * 1000) / sampleRate;
    const lateMs = this.#delay.came(time.now(), ms, () => this.#leftMs + ms);
    return lateMs - Math.max(REST_MS, this.#leadMs) - SLACK_MS;
  }

  /** Milliseconds of sound that wait to be sent. */
  get #leftMs(): number {
    return this.waitingSeconds * 1000 + this.#parts.call.stats().queuedMs;
  }

  #beginSpurt(samples: Int16Array, quietMs: number): void {
    const { sampleRate, time } = this.#parts;
    const stream = new SoundStream(sampleRate);
    stream.push(samples);
    const spurt: Spurt = { stream, utterance: undefined, sent: -1, marks: [] };
    if (quietMs < JITTER_MS) this.#leadMs = Math.min(this.#leadMs + LEAD_STEP_MS, MOST_LEAD_MS);
    const isLong = samples.length >= (sampleRate * MOST_LEAD_MS) / 1000;
    if (this.#leadMs === 0 || isLong) this.#begin(spurt);
    else this.#cancelLead = time.after(this.#leadMs, () => this.#beginLater(spurt));
    this.#open = spurt;
    this.#spurts.push(spurt);
    this.#lookAfter(REST_MS);
  }

  /** Calls `marked` when everything pushed so far was sent or dropped. Throws QUEUE_FULL. */
  mark(name: string): void {
    const spurt = this.#spurts.at(-1);
    const stretch = spurt?.stream.cut() ?? -1;
    if (spurt === undefined || stretch <= spurt.sent) return this.#parts.marked(name);
    if (this.#spurts.reduce((sum, { marks }) => sum + marks.length, 0) >= MOST_MARKS)
      throw new ParleyError('QUEUE_FULL', `${MOST_MARKS} marks wait already`, { field: 'mark' });
    spurt.marks.push({ name, stretch });
    return undefined;
  }

  /** Drops everything within one frame. The marks that wait come back now. */
  clear(reason: string): void {
    this.#delay.restart();
    this.#shortened.drop();
    if (this.#spurts.length === 0) return;
    this.#parts.call.interrupt(reason);
    this.#lastMs = -Infinity;
    // A spurt without an utterance has no event. One that was sent to its last packet reports that itself.
    for (const spurt of this.#spurts.filter(({ utterance }) => utterance === undefined)) this.#over(spurt);
  }

  /** No sound follows for now. Resolves when everything pushed so far was sent or dropped. */
  async played(): Promise<void> {
    this.#endSpurt();
    if (this.#spurts.length > 0) await new Promise<void>((resolve) => this.#onPlayed.push(resolve));
  }

  /** Ends without a word about the marks that wait. What is playing goes on. Idempotent. */
  close(): void {
    this.#unobserve();
    this.#cancelLead();
    this.#endSpurt();
    this.#spurts.length = 0;
    this.#tellPlayed();
  }

  /** If too many utterances wait in the call, this one begins when those have ended. */
  #begin(spurt: Spurt): void {
    const { call } = this.#parts;
    try {
      spurt.utterance = call.play(spurt.stream).number;
    } catch (error) {
      if (asParleyError(error, 'WRONG_STATE').code !== 'QUEUE_FULL') throw error;
      void call.spoken().then(() => this.#beginLater(spurt));
    }
  }

  #beginLater(spurt: Spurt): void {
    if (!this.#spurts.includes(spurt)) return;
    try {
      this.#begin(spurt);
    } catch {
      this.#over(spurt); // the call has ended, or its far end hears nothing any more
    }
  }

  #observe(event: CallEvent): void {
    if (!('utterance' in event)) return;
    const spurt = this.#spurts.find(({ utterance }) => utterance === event.utterance);
    if (spurt === undefined) return;
    if (event.type === 'sentence.spoken') this.#sentTo(spurt, event.sentence);
    else if (OVER.has(event.type)) this.#over(spurt);
  }

  #sentTo(spurt: Spurt, stretch: number): void {
    spurt.sent = Math.max(spurt.sent, stretch);
    for (let next = spurt.marks[0]; next !== undefined && next.stretch <= spurt.sent; next = spurt.marks[0]) {
      spurt.marks.shift();
      this.#parts.marked(next.name);
    }
  }

  #over(spurt: Spurt): void {
    const at = this.#spurts.indexOf(spurt);
    if (at >= 0) this.#spurts.splice(at, 1);
    if (this.#open === spurt) {
      this.#cancelLead();
      this.#endSpurt();
      this.#lastMs = -Infinity; // it was cut: what follows is not late
    }
    this.#sentTo(spurt, Infinity);
    if (this.#spurts.length === 0) this.#tellPlayed();
  }

  #tellPlayed(): void {
    for (const resolve of this.#onPlayed.splice(0)) resolve();
  }

  #endSpurt(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    this.#open?.stream.end();
    this.#open = undefined;
  }

  #lookAfter(ms: number): void {
    this.#cancelLook = this.#parts.time.after(Math.max(ms, SOON_MS), () => this.#look());
  }

  #look(): void {
    const spurt = this.#open;
    if (spurt === undefined) return;
    const { call, time, sampleRate } = this.#parts;
    if (spurt.utterance === undefined) return this.#lookAfter(LATER_MS);
    const leftMs = (spurt.stream.waiting * 1000) / sampleRate + call.stats().queuedMs;
    if (leftMs > REST_MS) return this.#lookAfter(leftMs - REST_MS);
    const waitMs = this.#lastMs + (leftMs > 0 ? PAUSE_MS : REST_MS) - time.now();
    if (waitMs <= 0) return this.#endSpurt();
    return this.#lookAfter(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs);
  }
}

const OVER: ReadonlySet<CallEvent['type']> = new Set([
  'utterance.spoken',
  'utterance.interrupted',
  'utterance.failed',
]);
