// Speech that is ready before a call is: a greeting rendered once, in a codec,
// into the cache that calls look in first. A call that speaks the same text with
// the same voice sends it at once, without an engine or an encoder.
//
// What is prepared is exactly what a call would have kept, and stays until it is
// released. One text is prepared at a time: a call's sentences come first.
import type { Codec } from '../codecs/codec.js';
import type { SpeechRouting, VoiceWish } from '../engines/routing.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { FrameCache, LineFrames } from './frame-cache.js';
import type { SpokenSentence } from './line-piece.js';
import { preparedPace } from './pace.js';
import { type EncoderSource, type SentenceFrames, SpeechLine } from './speech-line.js';
import { spokenText } from './spoken-text.js';
import { isMarkup, sentencesOf, type TextLimits } from './text-source.js';
import { VoicePlan } from './voice-plan.js';
import { wholeText } from './whole-text.js';

const MOST_WAITING = 16; // texts; a door has a greeting or two
const CLIENT = 'prepared speech'; // shares engines with others under this name

export interface PreparedSpeechParts {
  readonly routing: SpeechRouting;
  readonly encoders: EncoderSource;
  readonly frames: FrameCache;
  readonly limits: TextLimits;
  readonly time: Time;
}

/** What calls will speak, and how. */
export interface SpeechToPrepare {
  readonly text: string;
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
  readonly codec: Codec;
  readonly frameMs: number;
}

export class PreparedSpeech {
  readonly #parts: PreparedSpeechParts;
  readonly #keys = new Set<string>();
  readonly #controller = new AbortController();
  #waiting = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: PreparedSpeechParts) {
    this.#parts = parts;
  }

  /**
   * Resolves, with the number of sentences that had to be rendered, when all of the text is there. Rejects with
   * WRONG_STATE where no sentences are kept at all or after a close, QUEUE_FULL, TOO_LARGE where it does not fit, and
   * with what Call.speak throws and an engine or encoder fails with; sentences that were ready by then stay.
   */
  async prepare(speech: SpeechToPrepare): Promise<number> {
    const { routing, frames: cache, limits } = this.#parts;
    if (this.#controller.signal.aborted) throw new ParleyError('WRONG_STATE', 'prepared speech was released');
    const frames = cache.of(speech.codec, speech.frameMs);
    if (frames === undefined) {
      throw new ParleyError(
        'WRONG_STATE',
        'speech cannot be prepared: FRAME_CACHE_BYTES=0 keeps no sentences',
      );
    }
    if (this.#waiting >= MOST_WAITING) {
      throw new ParleyError('QUEUE_FULL', `${MOST_WAITING} texts wait to be prepared already`);
    }
    const markup = isMarkup(speech.text);
    const pieces = wholeText(speech.text, { ...wishOf(speech), markup }, routing, limits);
    const sentences = pieces.filter((piece) => 'voice' in piece); // tones and silence need no preparing
    this.#waiting++;
    const prepared = this.#turn.then(() => this.#render(speech, sentences, frames));
    this.#turn = prepared.then(
      () => void this.#waiting--,
      () => void this.#waiting--,
    );
    return prepared;
  }

  /** What was prepared may leave the cache, and what is being prepared is given up. Idempotent. */
  async close(): Promise<void> {
    this.#controller.abort();
    await this.#turn;
    for (const key of this.#keys) this.#parts.frames.unpin(key);
    this.#keys.clear();
  }

  async #render(
    { codec, frameMs }: SpeechToPrepare,
    sentences: readonly SpokenSentence[],
    frames: LineFrames,
  ): Promise<number> {
    const { encoders } = this.#parts;
    const keyOf = (sentence: SpokenSentence) =>
      frames.keyOf({ ...sentence, options: undefined, trimSilence: true });
    const missing = new Map(
      sentences
        .filter((sentence) => !this.#pin(keyOf(sentence)))
        .map((sentence) => [keyOf(sentence), sentence] as const),
    );
    if (missing.size === 0) return 0;
    const pinning = new Pinning(frames, (key, sentence) => this.#pin(key, sentence));
    const outlet = { open: (options: object) => encoders.open({ kind: 'kept', codec, frameMs }, options) };
    const line = new SpeechLine(outlet, preparedPace(CLIENT), {}, pinning);
    await line.run(missing.values(), Promise.resolve(), this.#controller.signal);
    if (pinning.failure !== undefined) throw pinning.failure;
    for (const [key, { text }] of missing) {
      if (this.#keys.has(key)) continue;
      throw new ParleyError(
        'TOO_LARGE',
        `a sentence of ${text.length} characters made no sound that is kept`,
      );
    }
    return missing.size;
  }

  #pin(key: string, made?: Parameters<FrameCache['pin']>[1]): boolean {
    const isPinned = this.#parts.frames.pin(key, made);
    if (isPinned) this.#keys.add(key);
    return isPinned;
  }
}

function wishOf({ voice, language }: SpeechToPrepare): VoiceWish {
  return { ...(voice === undefined ? {} : { voice }), ...(language === undefined ? {} : { language }) };
}

/** The cache as the line of a preparation sees it: nothing is found, all is pinned. */
class Pinning implements SentenceFrames {
  /** Why a sentence could not be pinned. */
  failure: ParleyError | undefined;
  readonly #frames: LineFrames;
  readonly #pin: (...kept: Parameters<LineFrames['keep']>) => void;

  constructor(frames: LineFrames, pin: (...kept: Parameters<LineFrames['keep']>) => void) {
    this.#frames = frames;
    this.#pin = pin;
  }

  keyOf(...manner: Parameters<LineFrames['keyOf']>): string {
    return this.#frames.keyOf(...manner);
  }

  has(): boolean {
    return false;
  }

  find(): undefined {
    return undefined;
  }

  keep(...kept: Parameters<LineFrames['keep']>): void {
    try {
      this.#pin(...kept);
    } catch (error) {
      this.failure ??= asParleyError(error, 'WRONG_STATE');
    }
  }
}

// The first text of a process pays for what every later one has for free: code
// not compiled yet, dictionaries not loaded. Better before the first caller.

const TEXT = 'Good morning, Dr. Smith. It costs 3.14 at 9 a.m., as you know! Is that all right?';
const ROUNDS = 20; // enough for the first tier of the compiler; measured 25 ms in all

/** Nothing where the server has no voice but those that requests name or bring. */
export function warmUpTexts(routing: SpeechRouting): void {
  try {
    speakWithoutSound(routing);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'VOICE_UNKNOWN') throw error;
  }
}

/** Does to a text what is done on the main thread before an engine sees it, and after an interruption. */
function speakWithoutSound(routing: SpeechRouting): void {
  for (let round = 0; round < ROUNDS; round++) {
    const plan = new VoicePlan(routing, {});
    const sentences = sentencesOf(TEXT, { maxTextLength: TEXT.length, textIdleMs: 1 });
    for (const { text } of plan.whole(sentences)) {
      const segment = {
        text,
        firstFrame: 0,
        frames: 10,
        soundMs: 200,
        madeMs: 200,
        trimmedStartMs: 0,
        words: [],
      };
      spokenText([segment], 5, 20);
    }
  }
}
