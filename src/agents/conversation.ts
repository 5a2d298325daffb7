// One conversation: what the caller says, types and presses, and what the caller has heard of our voice. It
// joins the events of the call with the texts of the caller, in order, for whoever answers.
//
//   speech.started ─▶ turn.ended ─▶ final text ─┬─▶ said
//                                               └─▶ no words: noise
//
// Every turn that has ended is settled: by its text, by a recogniser that fails, or by a time limit.
import type { HandledCall } from '../call/call-handler.js';
import type { CallerText, CallerTexts, ExpectedSpeech } from '../call/caller-texts.js';
import type { SpeakOptions } from '../call/call.js';
import type { CallEvent, Utterance } from '../call/utterance.js';
import type { HearingSettings } from '../config/hearing-config.js';
import { asParleyError, type ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { LikelyEnd, type LikelyTurn } from './likely-end.js';

/** When a turn of the caller was over, in milliseconds of the monotonic clock. */
export interface TurnTimes {
  readonly endOfSpeechMs: number;
  /** The turn was found to be over. */
  readonly decidedMs: number;
  /** Its text was final. */
  readonly textMs: number;
}

export interface CallerTurn {
  readonly text: string;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
  /** Undefined for a text that was typed. */
  readonly times: TurnTimes | undefined;
  /** It began and ended while our voice spoke on. */
  readonly isOverVoice: boolean;
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
  /** What the caller has said so far of a turn that is not over. */
  partial?(text: string, language: string | undefined): void;
  callerSpeaks?(isSpeaking: boolean): void;
  /** A turn has probably ended with this text; undefined: that is no longer so. Only with `earlyStartMs`. */
  likely?(turn: LikelyTurn | undefined): void;
  pressed(digit: string): void;
  started(utterance: number, start: UtteranceStart): void;
  /** The last packet of a sentence has left. */
  sentencePlayed?(utterance: number, sentence: string): void;
  /** The caller has heard all of it. */
  spoken(utterance: number): void;
  /** The caller has heard `heard` of it, and hears no more. */
  interrupted(utterance: number, heard: string, durationMs: number): void;
  failed(utterance: number, error: { readonly code: string }, heard: string): void;
  /** Nothing can be said any more. */
  ended(): void;
}

interface ConversationParts {
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly time: Time;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
}

interface ConversationOptions {
  readonly expected: ExpectedSpeech;
  readonly hearing?: Partial<HearingSettings>;
  /** Milliseconds of silence after which a turn has probably ended; 0, the default: never. */
  readonly earlyStartMs?: number;
}

/** A turn that is over, and whose text has not come. */
interface OpenTurn {
  readonly endOfSpeechMs: number;
  readonly decidedMs: number;
  readonly isOverVoice: boolean;
  readonly cancel: () => void;
}

/** Milliseconds from the end of a turn to its text. A recogniser that takes longer is as good as lost. */
const TEXT_MS = 8000;
/** Milliseconds of silence after a sound that was no turn: longer than any pause within one. */
const NOISE_MS = 3000;

export class Conversation {
  readonly #handled: HandledCall;
  readonly #parts: ConversationParts;
  readonly #listener: ConversationListener;
  readonly #turns: OpenTurn[] = [];
  #isRecognised = false;
  #isCallerSpeaking = false;
  /** Our voice spoke when the caller began, and nothing has interrupted it. */
  #isOverVoice = false;
  #speaking: number | undefined;
  readonly #likely: LikelyEnd | undefined;
  #expect: (expected: ExpectedSpeech) => void = () => undefined;
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
    const { call } = handled;
    const { earlyStartMs = 0 } = options;
    if (earlyStartMs > 0)
      this.#likely = new LikelyEnd(parts.time, earlyStartMs, (turn) => listener.likely?.(turn));
    // Before the texts: the end of a turn is known before its text.
    const stopObserving = call.observe((event) => this.#observe(event));
    const stopTexts = this.#hear(options);
    this.#stop = () => {
      stopObserving();
      stopTexts();
      for (const { cancel } of this.#turns.splice(0)) cancel();
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
    return this.#isCallerSpeaking || this.#turns.length > 0;
  }

  /** An utterance is being heard. */
  get isSpeaking(): boolean {
    return this.#speaking !== undefined;
  }

  /** What is known about the caller's speech has changed. */
  expect(expected: ExpectedSpeech): void {
    this.#expect(expected);
  }

  /** Throws as `Call.speak`. */
  say(text: string | AsyncIterable<string>, options: SpeakOptions): Utterance {
    return this.#handled.call.speak(text, options);
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
  #hear({ expected, hearing = {} }: ConversationOptions): () => void {
    const { callerTexts, log } = this.#parts;
    const { call } = this.#handled;
    if (!callerTexts.isCallerRecognised) return () => undefined;
    const stopFollowing = call.follow(({ socket }) => {
      if (socket === undefined || this.#isRecognised) {
        this.#isRecognised = socket !== undefined;
        return;
      }
      try {
        call.listen(hearing);
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
    let stopTexts = callerTexts.follow(call, listener, expected);
    this.#expect = (changed) => {
      const stopBefore = stopTexts;
      stopTexts = callerTexts.follow(call, listener, changed);
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
        this.#cancelNoise();
        this.#likely?.started();
        if (!this.#isCallerSpeaking) this.#isOverVoice = this.#speaking !== undefined;
        return this.#callerSpeaks(true);
      case 'turn.ended':
        return this.#turnEnded(event.silenceMs);
      case 'speech.stopped':
        this.#likely?.stopped();
        this.#cancelNoise = this.#parts.time.after(NOISE_MS, () => this.#wasNoise());
        return undefined;
      case 'digit':
        return listener.pressed(event.digit);
      case 'utterance.started':
        this.#speaking = event.utterance;
        return listener.started(event.utterance, event);
      case 'sentence.spoken':
        return listener.sentencePlayed?.(event.utterance, event.text);
      case 'utterance.spoken':
        this.#over(event.utterance);
        return listener.spoken(event.utterance);
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

  /** A sound that was too short for a turn: nothing else tells that it is over. */
  #wasNoise(): void {
    this.#likely?.forget();
    this.#callerSpeaks(false);
    this.#listener.noise();
  }

  #turnEnded(silenceMs: number): void {
    this.#cancelNoise();
    this.#likely?.ended();
    const decidedMs = this.#parts.time.now();
    const cancel = this.#parts.time.after(TEXT_MS, () => this.#settle('', undefined));
    const isOverVoice = this.#isOverVoice && this.#speaking !== undefined;
    this.#turns.push({ endOfSpeechMs: decidedMs - silenceMs, decidedMs, isOverVoice, cancel });
    this.#callerSpeaks(false);
  }

  #heard({ text, isFinal, language }: CallerText): void {
    if (isFinal) return this.#settle(text, language);
    if (this.#turns.length === 0) this.#likely?.partial(text, language);
    this.#listener.partial?.(text, language);
  }

  /** The oldest turn that is over has this text. */
  #settle(text: string, language: string | undefined): void {
    const turn = this.#turns.shift();
    turn?.cancel();
    const said = text.trim();
    if (said === '') return this.#listener.noise();
    const textMs = this.#parts.time.now();
    const times = turn && { endOfSpeechMs: turn.endOfSpeechMs, decidedMs: turn.decidedMs, textMs };
    this.#listener.said({ text: said, language, times, isOverVoice: turn?.isOverVoice === true });
  }

  /** The recogniser failed: the turns that wait have no texts. */
  #unheard(error: ParleyError): void {
    const { call } = this.#handled;
    this.#parts.log.warn({ call: call.id, code: error.code }, 'the caller is not recognised for now');
    this.#likely?.forget();
    this.#callerSpeaks(false);
    while (this.#turns.length > 0) this.#settle('', undefined);
  }
}
