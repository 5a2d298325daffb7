// One conversation: what the caller says, types and presses, and what the caller has heard of our voice. It
// joins the events of the call with the texts of the caller, in order, for whoever answers.
//
//   speech.started ─▶ turn.ended ─▶ final text ─┬─▶ said
//                                               └─▶ no words: noise
//
// Every turn that has ended is settled: by its text, by a recogniser that fails, or by a time limit. So is
// every order to end a turn.
import type { HandledCall } from '../call/call-handler.js';
import type { CallerText, CallerTexts, ExpectedSpeech } from '../call/caller-texts.js';
import type { SpeakOptions } from '../call/call.js';
import type { CallEvent, Utterance } from '../call/utterance.js';
import type { HearingSettings } from '../config/hearing-config.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { LikelyEnd, type LikelyTurn } from './likely-end.js';
import type { Log } from '../log.js';

/** When a turn of the caller was over, in milliseconds of the monotonic clock. */
export interface TurnTimes {
  readonly endOfSpeechMs: number;
  /** The turn was found to be over. */
  readonly decidedMs: number;
  /** Its text was final. */
  readonly textMs: number;
}

/** Milliseconds. */
export interface TurnLength {
  readonly speechMs: number;
  /** From the end of the speech until the turn was found to be over. */
  readonly silenceMs: number;
}

export interface CallerTurn {
  /** Its number among the turns that have ended; undefined for a text that no such turn has. */
  readonly number: number | undefined;
  readonly text: string;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
  /** Undefined for a text that was typed. */
  readonly times: TurnTimes | undefined;
  /** It began and ended while our voice spoke on. */
  readonly isOverVoice: boolean;
  /** And speech can interrupt that voice, but this did not. */
  readonly wasNoInterruption: boolean;
}

/** How an utterance became heard, in milliseconds from the arrival of its text. */
export interface UtteranceStart {
  /** Until its first sentence was whole; undefined for a text that came whole. */
  readonly sentenceMs?: number;
  readonly queuedMs: number;
  readonly firstPacketMs: number;
}

export interface ConversationListener {
  said(turn: CallerTurn): void;
  /** A turn of the caller had no words, or they could not be recognised. */
  noise(): void;
  /** The caller has said this so far in a turn that is not over. */
  partial?(text: string, language: string | undefined): void;
  callerSpeaks?(isSpeaking: boolean): void;
  /**
   * A turn is over: `said` or `unsaid` follows, in the order of the turns. `isByOrder`: `endTurn` has ended
   * it; each call of that has one such turn, in their order.
   */
  turnEnded?(turn: number, length: TurnLength, isByOrder: boolean): void;
  /** A turn that is over has no text: without an error, there were no words in it. */
  unsaid?(turn: number, error: ParleyError | undefined): void;
  /** The caller was expected to speak, and did not. */
  noInput?(): void;
  /** A turn has probably ended with this text; undefined: that is no longer so. Only with `earlyStartMs`. */
  likely?(turn: LikelyTurn | undefined): void;
  pressed(digit: string): void;
  started(utterance: number, start: UtteranceStart): void;
  /** The last packet of a sentence has left. */
  sentencePlayed?(utterance: number, sentence: string): void;
  /** The caller has heard all of it. */
  spoken(utterance: number, durationMs: number): void;
  /** The caller has heard `heard` of it, and hears no more. */
  interrupted(utterance: number, heard: string, durationMs: number): void;
  failed(utterance: number, error: { readonly code: string }, heard: string): void;
  /** Nothing can be said any more. */
  ended(): void;
}

interface ConversationParts {
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly time: Time;
  readonly log: Log;
}

interface ConversationOptions {
  readonly expected: ExpectedSpeech;
  readonly hearing?: Partial<HearingSettings>;
  /** Milliseconds of silence after which a turn has probably ended; 0, the default: never. */
  readonly earlyStartMs?: number;
}

/** A turn that is over, and whose text has not come. */
interface OpenTurn {
  readonly number: number;
  readonly endOfSpeechMs: number;
  readonly decidedMs: number;
  readonly isOverVoice: boolean;
  readonly wasNoInterruption: boolean;
  readonly cancel: () => void;
}

/** An order to end the turn that has no effect yet. */
interface EndOrder {
  cancel: () => void;
}

/**
 * Milliseconds from the end of a turn to its text, and from an order to the end of its turn. A recogniser
 * that takes longer is as good as lost.
 */
const TEXT_MS = 8000;
/** Milliseconds of silence after a sound that was no turn: longer than any pause within one. */
const NOISE_MS = 3000;
const NOISE_MARGIN_MS = 500;

export class Conversation {
  readonly #handled: HandledCall;
  readonly #parts: ConversationParts;
  readonly #listener: ConversationListener;
  readonly #turns: OpenTurn[] = [];
  readonly #ordersToEnd: EndOrder[] = [];
  /** The last of them is due then. */
  #orderedMs = -Infinity;
  #turnCount = 0;
  #hearing: Partial<HearingSettings> = {};
  #isRecognised = false;
  #isCallerSpeaking = false;
  /** There is sound that may be speech, and it has not ended. */
  #isSoundOn = false;
  #isTurnOpen = false;
  /** Our voice spoke when the caller began, and nothing has interrupted it. */
  #isOverVoice = false;
  #speaking: number | undefined;
  /** Utterances of ours that speech interrupts. */
  readonly #interruptible = new Set<number>();
  readonly #likely: LikelyEnd | undefined;
  #expected: ExpectedSpeech;
  #hasInput = true;
  #follow: () => void = () => undefined;
  #cancelNoise: () => void = () => undefined;
  #stop: () => void = () => undefined;

  constructor(
    handled: HandledCall,
    listener: ConversationListener,
    parts: ConversationParts,
    options: ConversationOptions,
  ) {
    this.#handled = handled;
    this.#listener = listener;
    this.#parts = parts;
    this.#hearing = options.hearing ?? {};
    this.#expected = options.expected;
    const { call } = handled;
    const { earlyStartMs = 0 } = options;
    if (earlyStartMs > 0)
      this.#likely = new LikelyEnd(parts.time, earlyStartMs, (turn) => listener.likely?.(turn));
    // Before the texts: the end of a turn is known before its text.
    const stopObserving = call.observe((event) => this.#observe(event));
    const stopTexts = this.#hear();
    this.#stop = () => {
      stopObserving();
      stopTexts();
      for (const { cancel } of this.#turns.splice(0)) cancel();
      for (const { cancel } of this.#ordersToEnd.splice(0)) cancel();
      this.#cancelNoise();
      this.#likely?.ended();
      this.#stop = () => undefined;
      listener.ended();
    };
    void call.closed.then(() => this.#stop());
  }

  /** The caller's speech becomes text. */
  get isCallerRecognised(): boolean {
    return this.#isRecognised;
  }

  /** The caller speaks, or what was said is not known yet: an answer now would talk over it. */
  get isCallerHeard(): boolean {
    return this.#isCallerSpeaking || this.awaitsTexts;
  }

  /** A turn is over, or is being ended by order, and its words are not known. */
  get awaitsTexts(): boolean {
    return this.#turns.length > 0 || this.#ordersToEnd.length > 0;
  }

  /**
   * The caller has spoken since the last turn was over, and nobody has ordered the end of this one. Where
   * turns are ended by order only, one is always open.
   */
  get isTurnOpen(): boolean {
    if (this.#isByHand) return this.#isRecognised;
    return this.#isTurnOpen && this.#ordersToEnd.length === 0;
  }

  /** Turns are ended by order only: that the caller speaks means nothing until then. */
  get #isByHand(): boolean {
    return this.#hearing.endedByHand === true;
  }

  /** An utterance is being heard. */
  get isSpeaking(): boolean {
    return this.#speaking !== undefined;
  }

  /** The recogniser is to expect something else from now on. */
  expect(expected: ExpectedSpeech): void {
    this.#expected = expected;
    this.#follow();
  }

  /** If only orders end turns: sound belongs to a turn from now on, or to none. */
  set hasInput(hasInput: boolean) {
    if (hasInput === this.#hasInput) return;
    this.#hasInput = hasInput;
    if (this.#isByHand) this.#follow();
  }

  /** Hears the caller with these settings from now on. A caller who is not recognised is not heard. */
  hear(hearing: Partial<HearingSettings>): void {
    const wasByHand = this.#isByHand;
    this.#hearing = { ...this.#hearing, ...hearing };
    if (this.#isRecognised) this.#handled.call.listen(hearing);
    if (this.#isByHand === wasByHand) return;
    this.#cancelNoise();
    this.#follow();
    this.#callerSpeaks(wasByHand && this.#isSoundOn);
  }

  /**
   * Ends the turn of the caller `delayMs` from now, when the sound of it has come: `turnEnded` follows within
   * a bound, also if nothing was said. Throws CALL_STATE for a caller who is not heard.
   */
  endTurn(delayMs: number): void {
    if (!this.#isRecognised)
      throw new ParleyError('CALL_STATE', 'the caller is not heard, so that no turn can be ended');
    const { time } = this.#parts;
    this.#orderedMs = Math.max(time.now() + delayMs, this.#orderedMs); // orders keep their order
    const order: EndOrder = {
      cancel: time.after(this.#orderedMs - time.now(), () => {
        order.cancel = time.after(TEXT_MS, () => this.#orderLost(order));
        try {
          this.#handled.call.endTurn();
        } catch {
          this.#orderLost(order); // the far end has stopped its sound since
        }
      }),
    };
    this.#ordersToEnd.push(order);
  }

  #orderLost(order: EndOrder): void {
    const at = this.#ordersToEnd.indexOf(order);
    if (at < 0) return;
    this.#ordersToEnd.splice(at, 1);
    order.cancel();
    const number = ++this.#turnCount;
    this.#listener.turnEnded?.(number, { speechMs: 0, silenceMs: 0 }, true);
    this.#listener.unsaid?.(number, new ParleyError('TIMEOUT', 'the turn could not be ended'));
    this.#listener.noise();
  }

  /** Throws as `Call.speak`. */
  say(text: string | AsyncIterable<string>, options: SpeakOptions): Utterance {
    const utterance = this.#handled.call.speak(text, options);
    const { number, interruptible, ended } = utterance;
    if (interruptible !== 'speech' && interruptible !== 'any') return utterance;
    this.#interruptible.add(number);
    void ended.then(() => this.#interruptible.delete(number));
    return utterance;
  }

  /** Ends what is said. */
  interrupt(reason: string): void {
    this.#handled.call.interrupt(reason);
  }

  /** The call goes on without this conversation. Idempotent. */
  leave(): void {
    this.#stop();
  }

  /**
   * A caller who is not recognised, or sends no sound, can still type and press keys. The microphone of a
   * browser may be switched on later.
   */
  #hear(): () => void {
    const { callerTexts, log } = this.#parts;
    const { call } = this.#handled;
    if (!callerTexts.isCallerRecognised) return () => undefined;
    const stopFollowing = call.follow(({ socket }) => {
      if (socket === undefined || this.#isRecognised) {
        this.#isRecognised = socket !== undefined;
        if (socket === undefined) this.#callerLeft();
        return;
      }
      try {
        call.listen(this.#hearing);
        this.#isRecognised = true;
      } catch (error) {
        const { code, message: detail } = asParleyError(error, 'HEARING_FAILED');
        log.warn({ call: call.id, code, detail }, 'the agent cannot hear the caller');
      }
    });
    const listener = {
      text: (text: CallerText) => this.#heard(text),
      failed: (error: ParleyError) => this.#unheard(error),
    };
    const follow = () => {
      const byHand = this.#hasInput ? 'open' : 'closed';
      const turns = this.#isByHand ? ({ byHand } as const) : {};
      return callerTexts.follow(call, listener, { ...this.#expected, ...turns });
    };
    let stopTexts = follow();
    this.#follow = () => {
      const stopBefore = stopTexts;
      stopTexts = follow();
      stopBefore();
    };
    return () => {
      stopFollowing();
      stopTexts();
    };
  }

  #observe(event: CallEvent): void {
    const listener = this.#listener;
    switch (event.type) {
      case 'speech.started':
        this.#isSoundOn = true;
        this.#isTurnOpen = true;
        if (this.#isByHand) return undefined;
        this.#cancelNoise();
        this.#likely?.started();
        if (!this.#isCallerSpeaking) this.#isOverVoice = this.#speaking !== undefined;
        return this.#callerSpeaks(true);
      case 'turn.ended':
        return this.#turnEnded(event, event.reason === 'client');
      case 'speech.stopped':
        this.#isSoundOn = false;
        if (this.#isByHand) return undefined;
        this.#likely?.stopped();
        this.#cancelNoise = this.#parts.time.after(this.#noiseMs, () => this.#wasNoise());
        return undefined;
      case 'no_input':
        return listener.noInput?.();
      case 'digit':
        return listener.pressed(event.digit);
      case 'utterance.started':
        this.#speaking = event.utterance;
        return listener.started(event.utterance, event);
      case 'sentence.spoken':
        return listener.sentencePlayed?.(event.utterance, event.text);
      case 'utterance.spoken':
        this.#over(event.utterance);
        return listener.spoken(event.utterance, event.durationMs);
      case 'utterance.interrupted':
        this.#isOverVoice = false;
        this.#over(event.utterance);
        return listener.interrupted(event.utterance, event.heard, event.durationMs);
      case 'utterance.failed':
        this.#over(event.utterance);
        return listener.failed(event.utterance, event.error, event.text);
      default:
        return undefined;
    }
  }

  #callerSpeaks(isSpeaking: boolean): void {
    if (isSpeaking === this.#isCallerSpeaking) return;
    this.#isCallerSpeaking = isSpeaking;
    this.#listener.callerSpeaks?.(isSpeaking);
  }

  #over(utterance: number): void {
    if (this.#speaking === utterance) this.#speaking = undefined;
  }

  get #noiseMs(): number {
    const { silenceMs = 0, maxSilenceMs = 0 } = this.#hearing;
    return Math.max(NOISE_MS, silenceMs + NOISE_MARGIN_MS, maxSilenceMs + NOISE_MARGIN_MS);
  }

  /** The caller's sound has ended: nothing tells the end of what is being said. */
  #callerLeft(): void {
    this.#cancelNoise();
    this.#isSoundOn = false;
    if (this.#isCallerSpeaking) this.#wasNoise();
    while (this.#ordersToEnd[0] !== undefined) this.#orderLost(this.#ordersToEnd[0]);
  }

  /** A sound that was too short for a turn: nothing else tells that it is over. */
  #wasNoise(): void {
    this.#isTurnOpen = false;
    this.#likely?.forget();
    this.#callerSpeaks(false);
    this.#listener.noise();
  }

  #turnEnded({ speechMs, silenceMs }: TurnLength, isByOrder: boolean): void {
    this.#cancelNoise();
    if (isByOrder) this.#ordersToEnd.shift()?.cancel();
    this.#isTurnOpen = this.#isSoundOn;
    this.#likely?.ended();
    const decidedMs = this.#parts.time.now();
    const late = () => this.#settle('', undefined, new ParleyError('TIMEOUT', 'the text came too late'));
    const cancel = this.#parts.time.after(TEXT_MS, late);
    const isOverVoice = this.#isOverVoice && !isByOrder && this.#speaking !== undefined;
    const wasNoInterruption = isOverVoice && this.#interruptible.has(this.#speaking ?? NaN);
    const number = ++this.#turnCount;
    const times = { endOfSpeechMs: decidedMs - silenceMs, decidedMs };
    this.#turns.push({ number, ...times, isOverVoice, wasNoInterruption, cancel });
    this.#listener.turnEnded?.(number, { speechMs, silenceMs }, isByOrder);
    this.#callerSpeaks(false);
    if (isByOrder && this.#isSoundOn && !this.#isByHand) this.#callerSpeaks(true);
  }

  #heard({ text, isFinal, language }: CallerText): void {
    if (isFinal) return this.#settle(text, language);
    if (this.#turns.length === 0) this.#likely?.partial(text, language);
    this.#listener.partial?.(text, language);
  }

  /** The oldest turn that is over has this text. */
  #settle(text: string, language: string | undefined, error?: ParleyError): void {
    const turn = this.#turns.shift();
    turn?.cancel();
    const said = text.trim();
    if (said === '') {
      if (turn !== undefined) this.#listener.unsaid?.(turn.number, error);
      return this.#listener.noise();
    }
    const textMs = this.#parts.time.now();
    const times = turn && { endOfSpeechMs: turn.endOfSpeechMs, decidedMs: turn.decidedMs, textMs };
    const { number, isOverVoice = false, wasNoInterruption = false } = turn ?? {};
    this.#listener.said({ number, text: said, language, times, isOverVoice, wasNoInterruption });
    return undefined;
  }

  /** The recogniser failed: the turns that wait have no texts. */
  #unheard(error: ParleyError): void {
    const { call } = this.#handled;
    this.#parts.log.warn({ call: call.id, code: error.code }, 'the caller is not recognised for now');
    this.#likely?.forget();
    this.#callerSpeaks(false);
    while (this.#turns.length > 0) this.#settle('', undefined, error);
  }
}
