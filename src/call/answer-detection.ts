// Detects who answers a call that this server placed: it feeds the detector with the speech, the words and
// the tones of the far end, and tells each result as an event of the call.
//
//   hearing ───── speech ──┐
//   recogniser ── words ───┼─▶ AnswerDetector ─▶ answer.detected
//   socket ────── tones ───┘         ▲
//                                    └── our words to a screening service were sent
import type { Country } from '../audio/country-tones.js';
import { asParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { MediaSocket } from '../media/media-socket.js';
import { answerPhraseOf } from '../text/answer-phrases.js';
import type { Time } from '../time.js';
import {
  ANSWER_BOUNDS,
  AnswerDetector,
  type AnswerSettings,
  type AnswerTone,
  type DetectedAnswer,
} from './answer-detector.js';
import type { AnswerDetected, CallEvent } from './call-events.js';
import type { Call } from './call.js';
import type { AnswerRequest } from './phone-calls.js';
import type { TurnRecogniser } from './turn-texts.js';

type AnsweredCall = Pick<
  Call,
  'id' | 'turn' | 'observe' | 'follow' | 'hear' | 'words' | 'expectWords' | 'closed' | 'tell' | 'speak'
>;

interface AnswerDetectionParts {
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser | undefined;
  /** Country of the network's tones, where the request names none; `US`, if absent. */
  readonly toneCountry?: Country | undefined;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly log: Log;
}

/** Throws INVALID_FIELD for settings that are not allowed. */
export function answerSettings(request: Partial<AnswerSettings>): AnswerSettings {
  const usual = (name: keyof AnswerSettings): number => request[name] ?? ANSWER_BOUNDS[name][1];
  return {
    speechThresholdMs: usual('speechThresholdMs'),
    speechEndThresholdMs: usual('speechEndThresholdMs'),
    silenceTimeoutMs: usual('silenceTimeoutMs'),
    timeoutMs: usual('timeoutMs'),
  };
}

export class AnswerDetection {
  readonly #parts: AnswerDetectionParts;
  readonly #request: AnswerRequest;
  readonly #detector: AnswerDetector;
  /** The far end could be heard, or has answered. */
  #beganMs = 0;
  #onsetMs = 0;
  #call: AnsweredCall | undefined;
  #stopHearing: () => void = () => undefined;
  #stopFollowing: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;

  /** Throws INVALID_FIELD for settings that are not allowed. */
  constructor(request: AnswerRequest, parts: AnswerDetectionParts) {
    this.#request = request;
    this.#parts = parts;
    this.#detector = new AnswerDetector(answerSettings(request));
  }

  /** The far end can be heard from now on, before its answer or with it. Called once. */
  follow(call: AnsweredCall): void {
    if (this.#detector.isOver) return;
    const { callerTexts, time } = this.#parts;
    const { language } = this.#request;
    this.#call = call;
    if (this.#beganMs === 0) this.#beganMs = time.now();
    const stops = [
      call.observe((event) => this.#observe(event)),
      call.follow(({ socket }) => this.#hear(call, socket)),
    ];
    if (callerTexts?.isCallerRecognised === true) {
      const text = ({ text: said }: { readonly text: string }) => this.#words(said);
      stops.push(callerTexts.follow(call, { text }, language === undefined ? {} : { language }));
    }
    this.#stopFollowing = () => stops.splice(0).forEach((stop) => stop());
    void call.closed.then(() => this.close());
    this.#plan();
  }

  /** The far end has answered. */
  answered(): void {
    this.#beganMs = this.#parts.time.now();
    this.#detector.answered(this.#beganMs);
    this.#plan();
  }

  /** Idempotent. */
  close(): void {
    this.#cancelTimer();
    this.#stopFollowing();
    this.#stopHearing();
    this.#stopHearing = () => undefined;
  }

  /** A far end that sends no sound yet may send some through its next port. */
  #hear(call: AnsweredCall, socket: MediaSocket | undefined): void {
    this.#stopHearing();
    this.#stopHearing = () => undefined;
    if (socket === undefined) return;
    const { time, toneCountry = 'US' } = this.#parts;
    const onTone = (tone: AnswerTone): void => this.#take(this.#detector.tone(tone, time.now()));
    const stops = [call.hear(), socket.followTones(this.#request.country ?? toneCountry, onTone)];
    this.#stopHearing = () => stops.splice(0).forEach((stop) => stop());
  }

  #observe(event: CallEvent): void {
    const { time, wallMs } = this.#parts;
    if (event.type === 'speech.started') {
      this.#onsetMs = time.now() - (wallMs() - event.onsetAt);
      this.#detector.speechStarted(this.#onsetMs);
      this.#plan();
    } else if (event.type === 'speech.stopped') {
      this.#take(this.#detector.speechStopped(this.#onsetMs + event.durationMs, time.now()));
    }
  }

  #words(text: string): void {
    this.#take(this.#detector.words(answerPhraseOf(text), this.#parts.time.now()));
  }

  #take(result: DetectedAnswer | undefined): void {
    if (result !== undefined) this.#told(result);
    if (this.#detector.isOver) this.close();
    else this.#plan();
  }

  #told(result: DetectedAnswer): void {
    const ms = Math.max(0, Math.round(result.atMs - this.#beganMs));
    const { by, basis, tone, isEarly } = result;
    const early = isEarly ? ({ early: true } as const) : {};
    const event: AnswerDetected = {
      type: 'answer.detected',
      by,
      ms,
      basis,
      ...early,
      ...(tone === undefined ? {} : { tone }),
    };
    this.#call?.tell(event);
    if (by === 'screening') this.#answerScreening();
  }

  /** The detection goes on once our words were sent, or if there are none. */
  #answerScreening(): void {
    const { time, log } = this.#parts;
    const again = (): void => {
      this.#detector.again(time.now());
      this.#plan();
    };
    const { screening } = this.#request;
    if (screening === undefined || this.#call === undefined) return again();
    const { text, ...options } = screening;
    try {
      void this.#call.speak(text, options).ended.then(again);
    } catch (error) {
      const { code, message: detail } = asParleyError(error, 'ENGINE_FAILED');
      log.warn({ call: this.#call.id, code, detail }, 'call screening not answered');
      again();
    }
  }

  #plan(): void {
    this.#cancelTimer();
    const { time } = this.#parts;
    const { nextMs, isOver } = this.#detector;
    if (isOver || nextMs === Infinity || this.#call === undefined) return;
    const waitMs = Math.max(0, nextMs - time.now());
    this.#cancelTimer = time.after(waitMs, () => this.#take(this.#detector.advance(time.now())));
  }
}
