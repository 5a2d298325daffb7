// Captions of calls: what the caller says, as the recogniser finds it, and what the voice says, as it is
// sent.
//
//   caller: texts of the caller, turn by turn (caller-texts.ts) ─────────┐
//   voice:  sentences as they begin, and as they end or are interrupted ─┴─▶ captions
//
// A call is recognised while somebody follows its captions.
import { attempt, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { CallerText, CallerTexts, HeardCall } from './caller-texts.js';
import { mayUseCall } from './switchboard.js';
import type { CallEvent } from './call-events.js';

/** Times are in milliseconds from `startedMs` of the captions. */
export interface Caption {
  readonly side: 'caller' | 'voice';
  /** Number of the text on its side. */
  readonly number: number;
  readonly beginMs: number;
  readonly endMs: number;
  readonly text: string;
  /** False for a text that goes on or may still change. */
  readonly isFinal: boolean;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
}

export type CaptionEvent =
  /** `startedMs`: when the time of the captions began, in milliseconds since 1970. */
  | { readonly type: 'started'; readonly startedMs: number; readonly isCallerRecognised: boolean }
  | { readonly type: 'caption'; readonly caption: Caption }
  /** The caller's speech is not recognised for now. */
  | { readonly type: 'failed'; readonly error: ParleyError }
  | { readonly type: 'ended'; readonly reason: string };

export interface NumberedCaptionEvent {
  readonly id: number;
  readonly event: CaptionEvent;
}

type Follower = (event: NumberedCaptionEvent) => void;

interface CaptionParts {
  readonly calls: { get(id: string): HeardCall | undefined };
  /** Name of the API key that owns a call; undefined: every key may use it. */
  readonly ownerOf: (id: string) => string | undefined;
  readonly callerTexts: CallerTexts;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

export class CallCaptions {
  readonly #parts: CaptionParts;
  readonly #calls = new Map<string, CaptionedCall>();

  constructor(parts: CaptionParts) {
    this.#parts = parts;
  }

  /**
   * Tells the captions of a call from the one after `after` on, as far as they are kept, until the returned
   * function is called. Throws NOT_FOUND for a call that is not open or that the key may not use.
   */
  follow(id: string, key: string | undefined, after: number, onEvent: Follower): () => void {
    const call = this.#parts.calls.get(id);
    if (call === undefined || !mayUseCall(key, this.#parts.ownerOf(id)))
      throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
    let captioned = this.#calls.get(id);
    if (captioned === undefined) {
      captioned = new CaptionedCall(call, this.#parts);
      this.#calls.set(id, captioned);
      void call.closed.then(() => this.#calls.delete(id));
    }
    return captioned.follow(after, onEvent);
  }
}

const MOST_KEPT = 200; // events that a client may have missed

/** A sentence of the voice that is being heard. */
interface SpokenSentence {
  readonly utterance: number;
  readonly text: string;
  readonly beganMs: number;
}

class CaptionedCall {
  readonly #call: HeardCall;
  readonly #parts: CaptionParts;
  readonly #startedMs: number;
  /** On the monotonic clock. */
  readonly #startMs: number;
  readonly #followers = new Set<Follower>();
  readonly #kept: NumberedCaptionEvent[] = [];
  #lastId = 0;
  #stopObserving: () => void = () => undefined;
  #sentence: SpokenSentence | undefined;
  #voiceNumber = 0;
  /** The caller's texts that were told and may change. */
  readonly #shown = new Set<number>();

  constructor(call: HeardCall, parts: CaptionParts) {
    this.#call = call;
    this.#parts = parts;
    this.#startedMs = parts.unixMs();
    this.#startMs = parts.time.now();
    void call.closed.then((reason) => {
      this.#stop();
      this.#tell({ type: 'ended', reason });
      this.#followers.clear();
    });
  }

  follow(after: number, onEvent: Follower): () => void {
    const follower: Follower = (event) => onEvent(event);
    const { isCallerRecognised } = this.#parts.callerTexts;
    follower({ id: after, event: { type: 'started', startedMs: this.#startedMs, isCallerRecognised } });
    for (const event of this.#kept) if (event.id > after) follower(event);
    if (this.#followers.size === 0) this.#start();
    this.#followers.add(follower);
    return () => {
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.#stop();
    };
  }

  #start(): void {
    const stopObserving = this.#call.observe((event) => this.#observe(event));
    const stopTexts = this.#parts.callerTexts.follow(this.#call, {
      text: (text) => this.#tellCaller(text),
      failed: (error) => this.#tell({ type: 'failed', error }),
    });
    this.#stopObserving = () => {
      stopObserving();
      stopTexts();
    };
  }

  #stop(): void {
    this.#stopObserving();
    this.#stopObserving = () => undefined;
  }

  #observe(event: CallEvent): void {
    switch (event.type) {
      case 'sentence.started':
        this.#sentence = { utterance: event.utterance, text: event.text, beganMs: this.#nowMs() };
        return this.#tellVoice(event.text, false);
      case 'sentence.spoken':
        return this.#sentenceOver(event.utterance, event.text);
      case 'utterance.interrupted':
      case 'utterance.failed':
        return this.#sentenceOver(event.utterance, endOf(event.text, this.#sentence?.text ?? ''));
      default:
        return undefined;
    }
  }

  /** An utterance that waits may end before the one that is being heard. */
  #sentenceOver(utterance: number, text: string): void {
    if (this.#sentence?.utterance !== utterance) return;
    this.#tellVoice(text, true);
    this.#sentence = undefined;
    this.#voiceNumber++;
  }

  #tellVoice(text: string, isFinal: boolean): void {
    const endMs = this.#nowMs();
    const beginMs = this.#sentence?.beganMs ?? endMs;
    const language = undefined;
    this.#caption({ side: 'voice', number: this.#voiceNumber, beginMs, endMs, text, isFinal, language });
  }

  #tellCaller({ number, text, isFinal, language, beginMs, endMs }: CallerText): void {
    const isShown = this.#shown.has(number);
    if (isFinal) this.#shown.delete(number);
    else this.#shown.add(number);
    if (text === '' && !isShown) return; // a noise; what was shown of it is taken back
    const at = (ms: number) => Math.round(ms - this.#startMs);
    const times = { beginMs: at(beginMs), endMs: at(endMs) };
    this.#caption({ side: 'caller', number, ...times, text, isFinal, language });
  }

  #caption(caption: Caption): void {
    this.#tell({ type: 'caption', caption });
  }

  #tell(event: CaptionEvent): void {
    const numbered = { id: ++this.#lastId, event };
    // A text that changes is told again, so that only the last of it need be kept.
    if (event.type !== 'caption' || event.caption.isFinal) this.#kept.push(numbered);
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
    for (const follower of this.#followers) attempt({ work: 'captions' }, () => follower(numbered));
  }

  #nowMs(): number {
    return Math.round(this.#parts.time.now() - this.#startMs);
  }
}

/** The end of a text that was sent, as far as it belongs to its last sentence. */
function endOf(sent: string, sentence: string): string {
  let length = Math.min(sent.length, sentence.length);
  while (length > 0 && !sent.endsWith(sentence.slice(0, length))) length--;
  return sentence.slice(0, length);
}
