// Acts on what the caller of one call does, as src/hearing reports it: the voice that the caller interrupts
// was faded out by the worker that decides, and is interrupted or resumed here.
//
//   onset ─▶ bargein.paused ─┬─▶ bargein.confirmed ─▶ the call is interrupted
//            (voice faded)   └─▶ bargein.false ─────▶ the voice goes on with its unfinished word
//
// Where the caller is recognised, the words decide about speech that is shorter than an interruption: words
// interrupt, back-channels do not. They also tell the worker whether the sentence is complete.
//
// A call is heard from the first text that speech may interrupt, or from `listen`. While it has a port
// without sound it keeps its settings, and it is heard again through the next port that has sound.
import { ParleyError } from '../errors.js';
import type { Hearing, HearingStream } from '../hearing/hearing.js';
import type { ExpectedWords, HearingEvent } from '../hearing/hearing-messages.js';
import type { HearingSettings } from '../config/hearing-config.js';
import { changedSettings } from '../hearing/hearing-settings.js';
import { completenessOf, isBackchannel } from '../text/turn-end.js';
import type { Time } from '../time.js';
import type { MediaPort } from './call-route.js';
import type { CallEvent } from './call-events.js';
import type { Interruptible } from './utterance.js';
import type { UtteranceQueue } from './utterance-queue.js';

type HeardStream = Pick<
  HearingStream,
  'follow' | 'change' | 'interruptible' | 'expectWords' | 'words' | 'awaitInput' | 'endTurn' | 'close'
>;

/** What was recognised of a turn so far. */
export interface RecognisedWords {
  /** Number of the turn in the call. */
  readonly turn: number;
  readonly text: string;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
  /** `pause`: all that was said before the present pause. `end`: all of a turn that is over. */
  readonly upTo: 'now' | 'pause' | 'end';
}

/** Hears the calls of this server, with settings for calls that state none. */
export interface CallHearing {
  readonly service: {
    listen(...heard: Parameters<Hearing['listen']>): HeardStream;
  };
  readonly settings: HearingSettings;
}

interface CallerSpeechParts {
  /** Name of the call. */
  readonly call: string;
  /** Absent if this server hears no callers. */
  readonly hearing?: CallHearing | undefined;
  readonly queue: Pick<
    UtteranceQueue,
    'port' | 'size' | 'interruptible' | 'isInterruptedByKeys' | 'faded' | 'resumeFaded'
  >;
  readonly time: Time;
  readonly emit: (event: CallEvent) => void;
  readonly interrupt: (reason: string) => void;
  readonly metrics: CallerMetrics;
}

export interface CallerMetrics {
  /** The caller has finished a turn. */
  turnEnded(): void;
  /** The voice was paused, and it was speech, or not. */
  bargeIn(isSpeech: boolean): void;
}

const CONCEALED = '*';

export class CallerSpeech {
  readonly #parts: CallerSpeechParts;
  #stream: HeardStream | undefined;
  /** Settings of the call while it is to be heard, also while nothing arrives that could be heard. */
  #settings: HearingSettings | undefined;
  /** The caller is expected to speak once nothing is spoken. */
  #awaitsInput = false;
  /** The time without input runs. */
  #isAwaiting = false;
  /** Track of the voice that stands still. */
  #faded: number | undefined;
  /** The voice over which the caller spoke last, and the turn of the caller. */
  #challenged: { readonly track: number; readonly turn: number } | undefined;
  /** Number of the last turn that was taken for somebody behind the caller. */
  #distantTurn: number | undefined;
  #expectedWords: ExpectedWords = 'none';
  /** End of the latest speech, on the monotonic clock. */
  #stoppedMs = 0;
  /** Turns that have ended. */
  #turns = 0;
  /** Only `hear` wants the caller heard. */
  #isBorrowed = false;
  /** Number of calls of `hear` that have not been ended. */
  #borrowers = 0;
  /** Calls of `listen`. */
  #listens = 0;
  readonly #keyTakers = new Set<(digit: string) => void>();
  #concealers = 0;
  #isClosed = false;

  constructor(parts: CallerSpeechParts) {
    this.#parts = parts;
  }

  /** Number of the turn of the caller that is open, or of the next one. The first one of a call is 0. */
  get turn(): number {
    return this.#turns;
  }

  /**
   * Hears the caller from now on, or with other settings. With `noInputMs` the caller is expected to speak
   * once nothing is spoken. Returns all settings of the call. Throws CALL_STATE if there is nothing to hear.
   */
  listen(settings: Partial<HearingSettings> = {}): HearingSettings | undefined {
    if (this.#isClosed) return undefined;
    this.#isBorrowed = false;
    this.#listens++;
    if (this.#stream === undefined) this.#open(settings);
    else this.#change(settings);
    this.#awaitsInput = (settings.noInputMs ?? 0) > 0;
    this.changed();
    return this.#settings;
  }

  #open(change: Partial<HearingSettings>): void {
    const { call, hearing, queue } = this.#parts;
    const { socket, playout } = queue.port;
    if (hearing === undefined) throw new ParleyError('CALL_STATE', 'this server does not hear callers');
    if (socket === undefined) {
      throw new ParleyError('CALL_STATE', `the far end of call ${call} sends no sound`);
    }
    const settings = changedSettings(this.#settings ?? hearing.settings, change);
    const media = { socket, playout };
    this.#stream = hearing.service.listen(call, media, settings, (event) => this.#heard(event));
    if (this.#expectedWords !== 'none') this.#stream.expectWords(this.#expectedWords);
    this.#settings = settings;
  }

  #change(change: Partial<HearingSettings>): void {
    this.#stream?.change(change);
    if (this.#settings !== undefined) this.#settings = changedSettings(this.#settings, change);
  }

  /** Hears the caller no longer. Idempotent. */
  stop(): undefined {
    this.#leave();
    this.#settings = undefined;
    this.#isAwaiting = false;
    this.#isBorrowed = false;
    return undefined;
  }

  #leave(): void {
    this.#stream?.close(); // a paused voice goes on: the worker ends its pause, and says so
    this.#stream = undefined;
  }

  /**
   * Hears the caller, unless it does so already. The returned function ends that, unless another one has
   * called `hear`, or `listen` or an utterance has asked for it since. With settings these hold until then,
   * and only `listen`, or another one who hears, keeps the caller heard. Throws CALL_STATE as `prepare` does.
   */
  hear(settings?: Partial<HearingSettings>): () => void {
    const wasHeard = this.#stream !== undefined;
    if (!wasHeard) {
      this.prepare('speech');
      this.#isBorrowed = true;
    }
    const before = this.#settings;
    const listens = this.#listens;
    if (settings !== undefined) this.#change(settings);
    this.#borrowers++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#borrowers--;
      if (settings !== undefined && this.#listens === listens) this.#giveBack(settings, before, wasHeard);
      else if (this.#borrowers === 0 && this.#isBorrowed) this.stop();
    };
  }

  /** The settings are again what they were before `changed`. */
  #giveBack(changed: Partial<HearingSettings>, before: HearingSettings | undefined, wasHeard: boolean): void {
    if (!wasHeard && this.#borrowers === 0) return this.stop();
    if (!wasHeard) this.#isBorrowed = true;
    if (before === undefined) return undefined;
    const names = Object.keys(changed) as (keyof HearingSettings)[];
    return this.#change(Object.fromEntries(names.map((name) => [name, before[name]])));
  }

  /**
   * Ends the turn of the caller now: `turn.ended` follows, also if nothing was said. Throws CALL_STATE if the
   * caller is not heard.
   */
  endTurn(): void {
    if (this.#stream === undefined) throw new ParleyError('CALL_STATE', 'the caller is not heard');
    this.#stream.endTurn();
  }

  /** States what will be known of the caller's words from now on. */
  expectWords(expected: ExpectedWords): void {
    if (expected === this.#expectedWords) return;
    this.#expectedWords = expected;
    this.#stream?.expectWords(expected);
  }

  /** The recogniser has understood this. */
  words({ turn, text, language, upTo }: RecognisedWords): void {
    const isWhole = upTo !== 'now';
    const challenged = this.#challenged?.turn === turn ? this.#challenged : undefined;
    const interrupts = challenged !== undefined && isWhole && this.#isInterruption(text, language);
    if (interrupts) this.#confirmed(challenged.track);
    const isOpen = turn === this.#turns && upTo !== 'end';
    const isNoInterruption = challenged !== undefined && isWhole && !interrupts;
    if (!isOpen && !isNoInterruption) return;
    this.#stream?.words({
      hint: isOpen ? completenessOf(text, language) : undefined,
      ...(upTo === 'pause' ? { pauseMs: this.#stoppedMs } : {}),
      isNoInterruption,
      ...(language === undefined ? {} : { language }),
    });
  }

  #isInterruption(text: string, language: string | undefined): boolean {
    if (text.trim() === '') return false;
    return this.#settings?.ignoreBackchannel !== true || !isBackchannel(text, language);
  }

  /**
   * An utterance is about to be queued that this may interrupt. Throws CALL_STATE if nothing is heard. If no
   * hearing worker can be started, which the log and /health say, the text is spoken and no speech interrupts
   * it.
   */
  prepare(interruptible: Interruptible): void {
    if (interruptible !== 'speech' && interruptible !== 'any') return;
    this.#isBorrowed = false;
    if (this.#isClosed || this.#stream !== undefined) return;
    try {
      this.#open({});
    } catch (error) {
      if (!(error instanceof ParleyError && error.code === 'HEARING_FAILED')) throw error;
    }
  }

  /** The utterances that are queued have changed. */
  changed(): void {
    const { queue } = this.#parts;
    this.#stream?.interruptible(queue.interruptible);
    if (!this.#awaitsInput || queue.size > 0) return;
    this.#awaitsInput = false;
    this.#isAwaiting = true;
    this.#stream?.awaitInput();
  }

  /** `taker` gets each key, also while keys are concealed, until the returned function is called. */
  onKey(taker: (digit: string) => void): () => void {
    this.#keyTakers.add(taker);
    return () => void this.#keyTakers.delete(taker);
  }

  /** Observers get `*` for each key, until the returned function is called. */
  concealKeys(): () => void {
    this.#concealers++;
    let isOver = false;
    return () => {
      if (!isOver) this.#concealers--;
      isOver = true;
    };
  }

  /** The key as observers may see it. */
  shownKey(digit: string): string {
    return this.#concealers === 0 ? digit : CONCEALED;
  }

  /** A key of the caller goes down: the voice stops before it is known whether the key is held. */
  keyDown(): void {
    if (this.#parts.queue.isInterruptedByKeys) this.#parts.interrupt('key pressed');
  }

  /** The caller pressed a key, which is input, too. */
  pressed(digit: string): void {
    this.#awaitsInput = false;
    this.#isAwaiting = false;
    this.#change({ noInputMs: 0 });
    this.keyDown();
    const shown = this.shownKey(digit);
    for (const taker of this.#keyTakers) taker(digit);
    this.#parts.emit({ type: 'digit', digit: shown });
  }

  /** The call goes on through this port. */
  moved({ socket, playout }: MediaPort): void {
    const faded = this.#faded;
    this.#faded = undefined;
    if (faded !== undefined) this.#parts.queue.resumeFaded(faded);
    if (socket === undefined) this.#leave();
    else if (this.#stream !== undefined) this.#stream.follow({ socket, playout });
    else if (this.#settings !== undefined) this.#hearAgain();
  }

  /** The time without input begins anew. Without a worker that hears, the call goes on unheard. */
  #hearAgain(): void {
    try {
      this.#open({});
    } catch {
      return;
    }
    this.#awaitsInput ||= this.#isAwaiting;
    this.changed();
  }

  /** The call has ended. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#faded = undefined;
    this.#stream?.close();
    this.#stream = undefined;
  }

  #heard(event: HearingEvent): void {
    if (this.#isClosed) return;
    const { emit, metrics, queue } = this.#parts;
    switch (event.type) {
      case 'speech.started':
        if (this.#distantTurn !== this.#turns) this.#challenge(queue.interruptible[0]?.track);
        return emit({ type: event.type, onsetAt: this.#wallMs(event.atMs) });
      case 'speech.stopped':
        this.#stoppedMs = event.atMs;
        return emit({ type: event.type, durationMs: Math.round(event.durationMs) });
      case 'turn.ended':
        this.#isAwaiting = false;
        metrics.turnEnded();
        return emit(this.#turn(event));
      case 'no_input':
        this.#isAwaiting = false;
        return emit({ type: event.type });
      case 'bargein.paused':
        this.#faded = event.track;
        this.#challenge(event.track);
        return queue.faded(event.track);
      case 'bargein.confirmed':
        return this.#confirmed(event.track);
      case 'bargein.false':
        if (event.track !== this.#faded) return;
        metrics.bargeIn(false);
        if (event.isDistant === true) this.#setAside();
        return this.#resume();
    }
  }

  /** A turn that is as long as turns may be has no silence at its end. */
  #turn(ended: Extract<HearingEvent, { type: 'turn.ended' }>): CallEvent {
    const { type, atMs, speechMs, reason, isDistant } = ended;
    const silenceMs = reason === 'silence' ? Math.max(0, Math.round(atMs - this.#stoppedMs)) : 0;
    const turn = this.#turns++;
    const event = { type, turn, speechMs: Math.round(speechMs), silenceMs, reason };
    return isDistant === true ? { ...event, isDistant } : event;
  }

  /** The caller speaks over this voice: the words of the turn may end it. */
  #challenge(track: number | undefined): void {
    if (track !== undefined) this.#challenged = { track, turn: this.#turns };
  }

  /** Somebody behind the caller speaks: the words of the turn end nothing, unless the voice pauses again. */
  #setAside(): void {
    this.#distantTurn = this.#turns;
    this.#challenged = undefined;
  }

  /** The voice may have ended since it was paused, or a text that may not be interrupted was queued. */
  #confirmed(track: number): void {
    const { metrics, queue, interrupt } = this.#parts;
    if (!queue.interruptible.some((one) => one.track === track)) return this.#resume();
    metrics.bargeIn(true);
    this.#faded = undefined;
    this.#challenged = undefined;
    interrupt('caller spoke');
  }

  #resume(): void {
    const faded = this.#faded;
    this.#faded = undefined;
    if (faded !== undefined) this.#parts.queue.resumeFaded(faded);
  }

  /** Milliseconds since 1970 of a time of the monotonic clock. */
  #wallMs(atMs: number): number {
    return Math.round(Date.now() - (this.#parts.time.now() - atMs));
  }
}
