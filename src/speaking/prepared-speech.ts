// Prepares speech before the first call. PreparedSpeech renders a greeting once, in a codec, into the cache
// that calls look in first: a call that speaks the same text with the same voice sends it at once, without an
// engine or an encoder. warmUpTexts has the code for texts compiled and its dictionaries loaded.
//
// A prepared sentence equals one that a call would have kept, and stays until it is released. One text is
// prepared at a time, and sentences of calls come first.
import type { Codec } from '../codecs/codec.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { TextRequest } from './speech-request.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { FrameCache, KeptSentence, CodecFrameCache, SentenceSettings } from './frame-cache.js';
import type { SpokenSentence } from './speech-piece.js';
import { preparedPace } from './pace.js';
import type { EncoderPool } from '../encoding/encoder-pool.js';
import { type SentenceFrames, SpeechPipeline } from './speech-pipeline.js';
import { spokenText } from './spoken-text.js';
import { isMarkup, type TextLimits } from './text-source.js';
import { wholeText } from './whole-text.js';

const MOST_WAITING = 16; // texts; a telephone number has a greeting or two
const CLIENT = 'prepared speech'; // shares engines with others under this name

interface PreparedSpeechParts {
  readonly routing: SpeechRouting;
  readonly encoders: Pick<EncoderPool, 'open'>;
  readonly frames: FrameCache;
  readonly limits: TextLimits;
  readonly time: Time;
}

/** A text that calls will speak, with its voice and codec. */
interface SpeechToPrepare extends Pick<TextRequest, 'text' | 'voice' | 'language'> {
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
   * Resolves when all of the text is ready, with the number of sentences that had to be rendered. Rejects
   * with WRONG_STATE if no sentences are kept at all or after a close, with QUEUE_FULL, with TOO_LARGE if it
   * does not fit, and with the errors of Call.speak, engines and encoders. Sentences that were ready by then
   * stay.
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
    const { text, voice, language } = speech;
    const markup = isMarkup(text);
    const pieces = wholeText(text, { voice, language, markup }, routing, limits);
    const sentences = pieces.filter((piece) => 'voice' in piece); // tones and silence need no preparing
    this.#waiting++;
    const prepared = this.#turn.then(() => this.#render(speech, sentences, frames));
    this.#turn = prepared.then(
      () => void this.#waiting--,
      () => void this.#waiting--,
    );
    return prepared;
  }

  /** Releases prepared sentences and gives up those in progress. Idempotent. */
  async close(): Promise<void> {
    this.#controller.abort();
    await this.#turn;
    for (const key of this.#keys) this.#parts.frames.unpin(key);
    this.#keys.clear();
  }

  async #render(
    { codec, frameMs }: SpeechToPrepare,
    sentences: readonly SpokenSentence[],
    frames: CodecFrameCache,
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
    const sink = { kind: 'kept', codec: codec.name, frameMs } as const;
    // With the configured complexity, however busy the worker is: these payloads stay.
    const { opus } = this.#parts.frames;
    const opener = { open: (options: object) => encoders.open(sink, { ...options, opus }) };
    const pipeline = new SpeechPipeline(opener, preparedPace(CLIENT), { whole: true }, pinning);
    await pipeline.run(missing.values(), Promise.resolve(), this.#controller.signal);
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

/** The cache for the pipeline of a preparation: it finds nothing and pins everything. */
class Pinning implements SentenceFrames {
  /** The first error of pinning. */
  failure: ParleyError | undefined;
  readonly #frames: CodecFrameCache;
  readonly #pin: (...kept: Parameters<CodecFrameCache['keep']>) => void;

  constructor(frames: CodecFrameCache, pin: (...kept: Parameters<CodecFrameCache['keep']>) => void) {
    this.#frames = frames;
    this.#pin = pin;
  }

  has(): boolean {
    return false;
  }

  find(): undefined {
    return undefined;
  }

  keeper(sentence: SentenceSettings): (kept: KeptSentence) => void {
    const key = this.#frames.keyOf(sentence);
    return (kept) => {
      try {
        this.#pin(key, kept);
      } catch (error) {
        this.failure ??= asParleyError(error, 'WRONG_STATE');
      }
    };
  }
}

const WARM_UP_TEXT = 'Good morning, Dr. Smith. It costs 3.14 at 9 a.m., as you know! Is that all right?';
const ROUNDS = 20; // enough for the first tier of the compiler; measured 25 ms in all

/**
 * Speaks a text without sound, so that the first caller need not wait for the compiler and for dictionaries.
 * Does nothing if the server has no voice of its own.
 */
export function warmUpTexts(routing: SpeechRouting): void {
  try {
    speakWithoutSound(routing);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'VOICE_UNKNOWN') throw error;
  }
}

/** Runs what the main thread does for a text before an engine gets it, and after an interruption. */
function speakWithoutSound(routing: SpeechRouting): void {
  for (let round = 0; round < ROUNDS; round++) {
    const limits = { maxTextLength: WARM_UP_TEXT.length, textIdleMs: 1 };
    for (const piece of wholeText(WARM_UP_TEXT, {}, routing, limits)) {
      const segment = {
        text: 'text' in piece ? piece.text : '',
        firstFrame: 0,
        frames: 10,
        soundMs: 200,
        madeMs: 200,
        trimmedStartMs: 0,
        words: [],
        pauses: [],
      };
      spokenText([segment], 5, 20);
    }
  }
}
