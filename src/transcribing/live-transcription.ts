// Transcribes the sound of one live client turn by turn: from samples at 16 kHz to texts.
//
//   samples ─▶ ring ─▶ voice activity ─▶ turns ─┐
//      └──▶ kept until they are analysed ───────┴▶ ring ─▶ recogniser ─▶ partial and final texts
//
// The recogniser gets each stretch of sound together with the orders about it, however fast the sound comes.
// Silence ends a turn, and silence outside of turns is not recognised. Or only the client ends turns: then
// all sound belongs to one, whatever voice activity finds, which is only told. Where a turn has sound that
// can be heard, the digital silence around it is left out: a recogniser may find words in it.
import type { PcmRing } from '../audio/pcm-ring.js';
import { LEAST_AUDIBLE } from '../codecs/g711.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { RecognisedText, Recogniser, RecognitionSession, TurnOrder } from '../engines/recogniser.js';
import { RingFeed } from '../engines/ring-feed.js';
import { asParleyError, ParleyError } from '../errors.js';
import { LIVE_RATE } from './live-sound.js';

/** The part of `Hearing` that finds speech in a ring. */
export interface VoiceActivity {
  listenToRing(
    name: string,
    ring: PcmRing,
    settings: HearingSettings,
    listener: {
      readonly event: (event: { readonly type: string; readonly atMs: number }, decidedMs: number) => void;
      readonly analysed: (atMs: number, isOver: boolean) => void;
      readonly lost: (error: ParleyError) => void;
    },
  ): { close(): void };
}

/** Turns are numbered from 0. Times are in seconds of the sound. */
export interface LiveListener {
  readonly speechStarted?: (turn: number, atSeconds: number) => void;
  readonly speechStopped?: (turn: number, atSeconds: number) => void;
  /** No more sound belongs to the turn; its final text follows. */
  readonly turnEnded?: (turn: number, atSeconds: number) => void;
  readonly partial: (text: RecognisedText) => void;
  /** Each turn has one, in order. The text is empty if no words were found. */
  readonly final: (text: RecognisedText) => void;
  /** Nothing follows. */
  readonly failed: (error: ParleyError) => void;
}

interface LiveOptions {
  /** Name in the log. */
  readonly name: string;
  readonly recogniser: Recogniser;
  readonly activity: VoiceActivity;
  readonly settings: HearingSettings;
  /** `commit`: only the client ends turns. Each has all of its sound, and one without sound is told, too. */
  readonly endsTurns: 'silence' | 'commit';
  /** BCP 47 tag; undefined: it is found. */
  readonly language?: string | undefined;
  readonly context?: string | undefined;
  readonly partials: boolean;
  readonly listener: LiveListener;
  /** Called with each final text, and the milliseconds from the end of its turn to it. */
  readonly onFinal?: ((text: RecognisedText, ms: number) => void) | undefined;
  readonly now: () => number;
}

const MOST_SECONDS = 60; // of sound that may wait, for voice activity or for the recogniser
const SAMPLES_PER_MS = LIVE_RATE / 1000;
const SILENCE_SAMPLES = LIVE_RATE / 5; // passed on together

export class LiveTranscription {
  readonly #options: LiveOptions;
  readonly #session: RecognitionSession;
  readonly #heard: RingFeed;
  readonly #recognised: RingFeed;
  readonly #stream: { close(): void } | undefined;
  /** Sound that voice activity has not analysed yet. */
  #waiting: Float32Array[] = [];
  /** Samples that came, and that were passed on to the recogniser. */
  #came = 0;
  #passed = 0;
  /** Samples that voice activity has analysed. */
  #analysedAt = 0;
  /** Number of the turn that is open, or of the next one. */
  #turn = 0;
  /** The turn of each part of the recogniser: not every turn has speech. */
  readonly #turnOfPart: number[] = [];
  /** Turns without speech that wait for the texts before them. */
  readonly #silent = new Map<number, RecognisedText>();
  /** The turn whose final text comes next. */
  #nextFinal = 0;
  #isOpen = false;
  /** Place at which the open turn began to get its sound. */
  #openedAt = 0;
  /** Place at which the last turn ended. */
  #endedAt = -1;
  #isSpeaking = false;
  /** The audible sound of the present manual turn, which only the client ends: places in samples. */
  readonly #manual = { from: 0, first: -1, last: -1 };
  /** Places at which such turns ended, which voice activity has not analysed. */
  #ends: number[] = [];
  /** End of the speech that was found last; infinite while it lasts. */
  #speechTo = -1;
  /** Places at which the client has ended a turn, in samples. */
  readonly #commits: { readonly at: number; readonly isDropped: boolean }[] = [];
  /** Turns whose texts are not told. */
  readonly #dropped = new Set<number>();
  readonly #endedAtMs = new Map<number, number>();
  #isEnding = false;
  #isLeaving = false;
  #isClosed = false;

  /**
   * Throws INVALID_FIELD for a language that the recogniser does not know, ENGINE_BUSY if too many sounds are
   * recognised, and HEARING_FAILED without voice activity.
   */
  constructor(options: LiveOptions) {
    this.#options = options;
    const { recogniser, language, context, partials, activity, settings, name } = options;
    this.#session = recogniser.open(
      {
        use: 'live',
        gated: true,
        endedByHand: this.#isByHand,
        language,
        context,
        partials,
        sampleRate: LIVE_RATE,
      },
      {
        partial: (text) => this.#tell('partial', this.#ofTurn(text)),
        final: (text) => this.#final(this.#ofTurn(text)),
      },
    );
    this.#heard = new RingFeed(LIVE_RATE);
    this.#recognised = new RingFeed(LIVE_RATE, {
      order: (order) => this.#session.turn(order),
      failed: (error) => this.#fail(error),
    });
    try {
      this.#session.push(this.#recognised.ring);
      this.#stream = activity.listenToRing(name, this.#heard.ring, settings, {
        event: ({ type, atMs }, decidedMs) => this.#hear(type, atMs, decidedMs * SAMPLES_PER_MS),
        analysed: (atMs, isOver) => this.#analysed(atMs * SAMPLES_PER_MS, isOver),
        lost: (error) => this.#fail(error),
      });
    } catch (error) {
      this.close();
      throw error;
    }
    this.#session.ended.then(
      () => undefined,
      (error: unknown) => this.#fail(asParleyError(error, 'ENGINE_FAILED')),
    );
  }

  /** Only the client ends turns. */
  get #isByHand(): boolean {
    return this.#options.endsTurns === 'commit';
  }

  /** Seconds of sound that came. */
  get seconds(): number {
    return this.#came / LIVE_RATE;
  }

  /** Takes samples over. */
  push(samples: Float32Array): void {
    if (this.#isClosed || this.#isEnding || samples.length === 0) return;
    this.#came += samples.length;
    const unheard = this.#came - (this.#isByHand ? this.#analysedAt : this.#passed);
    if (unheard + this.#recognised.waiting > MOST_SECONDS * LIVE_RATE) {
      const message = `more than ${MOST_SECONDS} s of sound wait to be recognised`;
      return this.#fail(new ParleyError('OVERLOADED', message));
    }
    this.#waiting.push(samples);
    if (this.#isByHand) this.#takeManual(samples);
    return this.#heard.push(samples);
  }

  /** Ends the turn here. */
  commit(): void {
    this.#commit(false);
  }

  /** Ends the turn here, and tells nothing more of it. */
  drop(): void {
    this.#commit(true);
  }

  /** Ends the sound. Resolves after the last text, or when it has failed. */
  async end(): Promise<void> {
    if (!this.#isEnding && !this.#isClosed) {
      this.#isEnding = true;
      this.#heard.end();
    }
    await this.#session.ended.catch(() => undefined);
    this.close();
  }

  /** Gives the rest up: the listener is not called any more. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream?.close();
    this.#session.close();
    this.#heard.close();
    this.#recognised.close();
    this.#waiting = [];
  }

  #commit(isDropped: boolean): void {
    if (this.#isClosed || this.#isEnding) return undefined;
    if (this.#isByHand) return this.#endManual(isDropped);
    this.#commits.push({ at: this.#came, isDropped });
    return this.#commitUntil(this.#analysedAt);
  }

  /** The turn begins with the first sound that can be heard. */
  #takeManual(samples: Float32Array): void {
    const manual = this.#manual;
    const start = this.#came - samples.length;
    const last = samples.findLastIndex(isAudible);
    if (last >= 0 && manual.first < 0) manual.first = start + samples.findIndex(isAudible);
    if (last >= 0) manual.last = start + last + 1;
    if (manual.first < 0) return this.#pass(this.#came - MOST_SILENT);
    if (!this.#isOpen && this.#came >= manual.first + ORDER_DELAY) this.#beginManual();
    return this.#isOpen ? this.#pass(manual.last) : undefined;
  }

  /** After a long silence the order comes late: a recogniser takes some sound from before it. */
  #beginManual(): void {
    const { from, first, last } = this.#manual;
    this.#pass(first - from <= KEPT_SILENCE ? from : Math.min(first + ORDER_DELAY, last));
    this.#order('begin');
  }

  #endManual(isDropped: boolean): void {
    const manual = this.#manual;
    if (this.#came > manual.from) {
      if (!this.#isOpen && !isDropped) this.#beginManual();
      if (manual.first < 0 || this.#came - manual.last <= KEPT_SILENCE) this.#pass(this.#came);
      this.#endTurn(this.#came, isDropped);
      this.#pass(this.#came);
      Object.assign(manual, { from: this.#came, first: -1, last: -1 });
    } else if (!isDropped) {
      this.#endSilentTurn(this.#came);
    }
  }

  /** The client is told where speech is, and that decides nothing. */
  #tellSpeech(type: string, atMs: number): void {
    const { listener } = this.#options;
    const at = atMs * SAMPLES_PER_MS;
    const turn = this.#turn - this.#ends.filter((end) => end > at).length;
    if (type === 'speech.started') {
      this.#speechTo = Infinity;
      listener.speechStarted?.(turn, atMs / 1000);
    } else if (type === 'speech.stopped') {
      this.#speechTo = at;
      listener.speechStopped?.(turn, atMs / 1000);
    }
  }

  /** Orders stand where they were decided, so that they do not depend on how fast the sound came. */
  #hear(type: string, atMs: number, at: number): void {
    if (this.#isClosed) return undefined;
    if (this.#isByHand) return this.#tellSpeech(type, atMs);
    const { listener } = this.#options;
    this.#commitUntil(at);
    this.#pass(at);
    if (type === 'speech.started') {
      this.#isSpeaking = true;
      this.#order(this.#isOpen ? 'resume' : 'begin');
      listener.speechStarted?.(this.#turn, atMs / 1000);
    } else if (type === 'speech.stopped') {
      this.#isSpeaking = false;
      if (this.#isOpen) this.#order('pause');
      listener.speechStopped?.(this.#turn, atMs / 1000);
    } else if (type === 'turn.ended') {
      this.#endTurn(at);
      if (this.#isSpeaking) this.#order('begin'); // the longest turn was cut
    }
    return undefined;
  }

  #analysed(at: number, isOver: boolean): void {
    if (this.#isClosed) return;
    this.#analysedAt = Math.max(this.#analysedAt, at);
    this.#ends = this.#ends.filter((end) => end > at);
    this.#commitUntil(at);
    // Silence between turns is not recognised, and need not be there at once.
    const isDue = this.#isOpen || at - this.#passed >= SILENCE_SAMPLES;
    if (isDue && !this.#isByHand) this.#pass(at);
    if (isOver && this.#isEnding) this.#finish();
  }

  /**
   * Ends the turns that the client has ended up to a place, or less than a window behind it: voice activity
   * analyses that only with the sound that follows.
   */
  #commitUntil(place: number): void {
    for (;;) {
      const [commit] = this.#commits;
      if (commit === undefined || commit.at >= place + WINDOW_SAMPLES) return;
      this.#commits.shift();
      this.#pass(commit.at);
      if (this.#hasSound) {
        this.#endTurn(commit.at, commit.isDropped);
        if (this.#isSpeaking) this.#order('begin');
      }
    }
  }

  #finish(): void {
    if (this.#isByHand) {
      if (this.#speechTo <= this.#manual.from || this.#manual.first < 0) return this.#leave();
      if (!this.#isOpen) this.#beginManual();
    }
    this.#commitUntil(this.#came);
    this.#pass(this.#came);
    this.#endTurn(this.#came);
    return this.#recognised.end();
  }

  /** The client has not committed the last sound, which is no speech: nothing follows the texts to come. */
  #leave(): void {
    this.#isLeaving = true;
    if (this.#nextFinal === this.#turn) this.close();
  }

  /** A turn is open that has sound. A recogniser tells nothing of one that has none. */
  get #hasSound(): boolean {
    return this.#isOpen && this.#passed > this.#openedAt;
  }

  #endTurn(at: number, isDropped = false): void {
    if (!this.#hasSound) return;
    this.#order('end');
    this.#isOpen = false;
    this.#endedAt = this.#passed;
    const turn = this.#nextTurn();
    if (isDropped) {
      this.#dropped.add(turn);
      return;
    }
    this.#endedAtMs.set(turn, this.#options.now());
    this.#options.listener.turnEnded?.(turn, at / LIVE_RATE);
  }

  /** Returns the number of the turn that ends. */
  #nextTurn(): number {
    if (this.#isByHand) this.#ends.push(this.#came);
    return this.#turn++;
  }

  #endSilentTurn(at: number): void {
    const part = this.#nextTurn();
    const seconds = at / LIVE_RATE;
    this.#options.listener.turnEnded?.(part, seconds);
    const times = { beginSeconds: seconds, endSeconds: seconds };
    this.#silent.set(part, { part, text: '', stable: 0, language: undefined, ...times });
    this.#tellSilent();
  }

  #tellSilent(): void {
    for (;;) {
      const text = this.#silent.get(this.#nextFinal);
      if (text === undefined) return;
      this.#silent.delete(this.#nextFinal++);
      this.#tell('final', text);
    }
  }

  #order(order: TurnOrder): void {
    if (order === 'begin') {
      this.#isOpen = true;
      // A turn that follows another one at once has no sound yet; others have some from before their onset.
      this.#openedAt = this.#passed === this.#endedAt ? this.#passed : -1;
      this.#turnOfPart.push(this.#turn);
    }
    this.#recognised.order(order);
  }

  /** Passes the sound before a place on to the recogniser. */
  #pass(place: number): void {
    const count = Math.min(Math.floor(place), this.#came) - this.#passed;
    if (count <= 0) return;
    this.#passed += count;
    this.#recognised.push(this.#takeWaiting(count));
  }

  /** The next samples in one piece: each write wakes the recogniser. */
  #takeWaiting(count: number): Float32Array {
    const [first = new Float32Array(0)] = this.#waiting;
    if (first.length === count) {
      this.#waiting.shift();
      return first;
    }
    const taken = new Float32Array(count);
    for (let at = 0; at < count;) {
      const [samples = new Float32Array(0)] = this.#waiting;
      const part = samples.subarray(0, count - at);
      taken.set(part, at);
      at += part.length;
      if (part.length === samples.length) this.#waiting.shift();
      else this.#waiting[0] = samples.subarray(part.length);
    }
    return taken;
  }

  #ofTurn(text: RecognisedText): RecognisedText {
    return { ...text, part: this.#turnOfPart[text.part] ?? text.part };
  }

  #final(text: RecognisedText): void {
    const endedAtMs = this.#endedAtMs.get(text.part);
    this.#endedAtMs.delete(text.part);
    if (endedAtMs !== undefined) this.#options.onFinal?.(text, this.#options.now() - endedAtMs);
    if (!this.#dropped.delete(text.part)) this.#tell('final', text);
    this.#nextFinal = text.part + 1;
    this.#tellSilent();
    if (this.#isLeaving) this.#leave();
  }

  #tell(what: 'partial' | 'final', text: RecognisedText): void {
    if (!this.#isClosed && !this.#dropped.has(text.part)) this.#options.listener[what](text);
  }

  #fail(error: ParleyError): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.listener.failed(error);
  }
}

const WINDOW_SAMPLES = 512;

const KEPT_SILENCE = LIVE_RATE / 2; // samples; more before or after what can be heard is left out
const ORDER_DELAY = LIVE_RATE / 10; // samples from the first audible one to the order
const MOST_SILENT = 10 * LIVE_RATE; // samples that are recognised of a turn that nobody can hear

function isAudible(sample: number): boolean {
  return Math.abs(sample) >= LEAST_AUDIBLE / 32_768;
}
