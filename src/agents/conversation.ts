// One conversation: what the caller says, types and presses, and what the caller has heard of our voice, for
// whoever answers. CallerTexts tells the turns of the caller with their texts.
//
//   speech.started ─▶ turn ended ─▶ final text ─┬─▶ said
//                                               └─▶ no words: noise
//
// Words that were said over our voice end it, unless they are those of one who only listens.
//
// Every order to end a turn is settled within a bound: by the end of its turn, or as lost.
import type { HandledCall } from '../call/call-handler.js';
import type { CallerListener, CallerText, CallerTexts, ExpectedSpeech } from '../call/caller-texts.js';
import { type CallerTurn, type EndedTurn, TEXT_MS } from '../call/caller-turns.js';
import type { SpeakOptions } from '../call/call.js';
import type { CallEvent } from '../call/call-events.js';
import type { Interruptible, Utterance } from '../call/utterance.js';
import type { HearingSettings } from '../config/hearing-config.js';
import { asParleyError, ParleyError } from '../errors.js';
import { isBackchannel } from '../text/turn-end.js';
import type { Time } from '../time.js';
import { LikelyEnd, type LikelyTurn } from './likely-end.js';
import type { Log } from '../log.js';

/** When a turn of the caller was over, in milliseconds of the monotonic clock. */
export type TurnTimes = Pick<CallerTurn, 'endOfSpeechMs' | 'decidedMs' | 'textMs'>;

/** Milliseconds. */
export type TurnLength = Pick<EndedTurn, 'speechMs' | 'silenceMs'>;

/** A turn of the caller that has words, and whether our voice spoke meanwhile. */
export interface SaidTurn extends CallerTurn, TurnOverVoice {}

interface TurnOverVoice {
  /** It began and ended while our voice spoke on. */
  readonly isOverVoice: boolean;
  /** And speech can interrupt that voice, but this did not: the caller only listens. */
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
  said(turn: SaidTurn): void;
  /** A turn of the caller had no words, or they could not be recognised. */
  noise(): void;
  /** The caller has said this so far in a turn that is not over. */
  partial?(text: string, language: string | undefined): void;
  callerSpeaks?(isSpeaking: boolean): void;
  /**
   * A turn is over: `said` or `unsaid` follows, in the order of the turns. `isByOrder`: `endTurn` has ended
   * it; each call of that has one such turn, in their order. The number is negative for an order that was
   * lost.
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

export interface ConversationOptions {
  readonly expected: ExpectedSpeech;
  readonly hearing?: Partial<HearingSettings>;
  /** Milliseconds of silence after which a turn has probably ended; 0, the default: never. */
  readonly earlyStartMs?: number;
}

/** An order to end the turn that has no effect yet. */
interface EndOrder {
  cancel: () => void;
}

const ORDER_MS = TEXT_MS; // from an order to the end of its turn
/** Milliseconds of silence after a sound that was no turn: longer than any pause within one. */
const NOISE_MS = 3000;
const NOISE_MARGIN_MS = 500;
const NOT_OVER_VOICE: TurnOverVoice = { isOverVoice: false, wasNoInterruption: false };

export class Conversation {
  readonly #handled: HandledCall;
  readonly #parts: ConversationParts;
  readonly #listener: ConversationListener;
  /** Turns that are over, and whose texts have not come, by their numbers. */
  readonly #turns = new Map<number, TurnOverVoice>();
  readonly #ordersToEnd: EndOrder[] = [];
  /** The last of them is due then. */
  #orderedMs = -Infinity;
  #lostOrders = 0;
  #hearing: Partial<HearingSettings> = {};
  /** All settings with which the caller is heard. */
  #heardWith: Pick<HearingSettings, 'silenceMs' | 'maxSilenceMs'> | undefined;
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
    const stopObserving = call.observe((event) => this.#observe(event));
    const stopTexts = this.#hear();
    this.#stop = () => {
      stopObserving();
      stopTexts();
      this.#turns.clear();
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

  /** Somebody speaks, or what the caller said is not known yet. */
  get isBusy(): boolean {
    return this.isSpeaking || this.isCallerHeard;
  }

  /** A turn is over, or is being ended by order, and its words are not known. */
  get awaitsTexts(): boolean {
    return this.#turns.size > 0 || this.#ordersToEnd.length > 0;
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
    if (this.#isRecognised) this.#heardWith = this.#handled.call.listen(hearing);
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
        order.cancel = time.after(ORDER_MS, () => this.#orderLost(order));
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
    const number = -++this.#lostOrders;
    this.#listener.turnEnded?.(number, { speechMs: 0, silenceMs: 0 }, true);
    this.#listener.unsaid?.(number, new ParleyError('TIMEOUT', 'the turn could not be ended'));
    this.#listener.noise();
  }

  /** Without a recogniser, speech must not interrupt: nothing would follow. */
  allowed(interruptible: Interruptible): Interruptible {
    if (this.#isRecognised) return interruptible;
    return interruptible === 'any' || interruptible === 'dtmf' ? 'dtmf' : 'none';
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
        this.#heardWith = call.listen(this.#hearing);
        this.#isRecognised = true;
      } catch (error) {
        const { code, message: detail } = asParleyError(error, 'HEARING_FAILED');
        log.warn({ call: call.id, code, detail }, 'the agent cannot hear the caller');
      }
    });
    const listener: CallerListener = {
      text: (text) => text.isFinal || this.#partial(text),
      turnEnded: (turn) => this.#turnEnded(turn),
      said: (turn) => this.#said(turn),
      unsaid: (turn, error) => this.#unsaid(turn, error),
      failed: (error) => this.#notRecognised(error),
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
    if (event.type.startsWith('speech.') && !this.#parts.callerTexts.isCallerRecognised) return undefined;
    switch (event.type) {
      case 'speech.started':
        this.#isSoundOn = true;
        this.#isTurnOpen = true;
        if (this.#isByHand) return undefined;
        this.#cancelNoise();
        this.#likely?.started();
        if (!this.#isCallerSpeaking) this.#isOverVoice = this.#speaking !== undefined;
        return this.#callerSpeaks(true);
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
        for (const turn of this.#turns.keys()) this.#turns.set(turn, NOT_OVER_VOICE);
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
    const { silenceMs = 0, maxSilenceMs = 0 } = this.#heardWith ?? {};
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

  #turnEnded({ number, speechMs, silenceMs, isByOrder }: EndedTurn): void {
    this.#cancelNoise();
    if (isByOrder) this.#ordersToEnd.shift()?.cancel();
    this.#isTurnOpen = this.#isSoundOn;
    this.#likely?.ended();
    const isOverVoice = this.#isOverVoice && !isByOrder && this.#speaking !== undefined;
    const wasNoInterruption = isOverVoice && this.#interruptible.has(this.#speaking ?? NaN);
    this.#turns.set(number, { isOverVoice, wasNoInterruption });
    this.#listener.turnEnded?.(number, { speechMs, silenceMs }, isByOrder);
    this.#callerSpeaks(false);
    if (isByOrder && this.#isSoundOn && !this.#isByHand) this.#callerSpeaks(true);
  }

  #partial({ text, language }: CallerText): void {
    if (this.#turns.size === 0) this.#likely?.partial(text, language);
    this.#listener.partial?.(text, language);
  }

  #said(turn: CallerTurn): void {
    const text = turn.text.trim();
    if (text === '') return this.#unsaid(turn, undefined);
    if (turn.isDistant) return this.#unsaid(turn, undefined); // it was not the caller
    if (this.#turns.get(turn.number)?.wasNoInterruption === true && !this.#isBackchannel(turn))
      this.#interruptedBy(turn);
    const overVoice = this.#turns.get(turn.number) ?? NOT_OVER_VOICE;
    this.#turns.delete(turn.number);
    return this.#listener.said({ ...turn, ...overVoice, text });
  }

  /** The voice speaks on: to a voice that has ended, the same words are an answer. */
  #isBackchannel({ text, language = this.#expected.language }: CallerTurn): boolean {
    return this.isSpeaking && this.#hearing.ignoreBackchannel !== false && isBackchannel(text, language);
  }

  /** The voice that the caller spoke over ends, if it has not ended yet. */
  #interruptedBy({ number, text, language }: CallerTurn): void {
    this.#handled.call.words({ turn: number, text, language, upTo: 'end' });
    this.#turns.set(number, NOT_OVER_VOICE);
  }

  #unsaid({ number }: EndedTurn, error: ParleyError | undefined): void {
    if (this.#turns.delete(number)) this.#listener.unsaid?.(number, error);
    this.#listener.noise();
  }

  /** The recogniser failed. The end of a turn that it has lost is told all the same. */
  #notRecognised(error: ParleyError): void {
    const { call } = this.#handled;
    this.#parts.log.warn({ call: call.id, code: error.code }, 'the caller is not recognised for now');
    this.#likely?.forget();
  }
}
