// Reads a text as a stream of sentences, whether it comes whole or in tokens. It enforces the limits on the
// length of a text and on the silence of its producer.
//
// Normalising a long text takes tens of milliseconds. TextTurns cuts that work into slices, and the event
// loop goes round once between two slices of any text, so that calls, other requests and /health are served
// meanwhile. Short texts need no turn.
import { setImmediate as nextLoop } from 'node:timers/promises';
import { ParleyError } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import { looksLikeMarkup } from '../text/markup/read-markup.js';
import { type MayBegin, type Sentence, SentenceStream } from '../text/sentences.js';
import type { Time } from '../time.js';
import { tagOfStated } from './language-plan.js';
import type { SpeakerTables } from './text-tables.js';

/** UTF-16 units of the longest text that is read at once, and of a slice of a longer one. */
export const SLICE = 500;
const MOST_OF_CLIENT = 256 * 1024; // UTF-16 units of a client's long texts in work

/** Resolves when the next slice may be read; rejects with ABORTED when the text is given up. */
export type Turn = () => Promise<void>;

/** Work on a text. It yields before each slice and each sentence. */
export type TextSteps<T> = Generator<void, T, void>;

/** Does the whole work now. */
export function atOnce<T>(steps: TextSteps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Does each step at a turn. Rejects with the errors of the work and those of `turn`. */
export async function inTurns<T>(steps: TextSteps<T>, turn: Turn): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    await turn();
    step = steps.next();
  }
  return step.value;
}

export class TextTurns {
  readonly #mostOfClient: number;
  readonly #characters = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(mostOfClient = MOST_OF_CLIENT) {
    this.#mostOfClient = mostOfClient;
  }

  /**
   * Reads a long text of a client. Rejects as `work` does, with QUEUE_FULL if the client has too many
   * characters in work, and with ABORTED. A client without texts in work may have one of any length.
   */
  async read<T>(
    client: string,
    characters: number,
    work: (turn: Turn) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const before = this.#characters.get(client) ?? 0;
    if (before > 0 && before + characters > this.#mostOfClient) {
      const message = `${before} characters of this client's texts are being read; ${this.#mostOfClient} are the most`;
      throw new ParleyError('QUEUE_FULL', message, { retryAfterSeconds: 1 });
    }
    this.#characters.set(client, before + characters);
    try {
      return await work(() => this.#turn(signal));
    } finally {
      const left = (this.#characters.get(client) ?? 0) - characters;
      if (left > 0) this.#characters.set(client, left);
      else this.#characters.delete(client);
    }
  }

  /** Each turn is one round of the event loop, shared by no other text. */
  async #turn(signal: AbortSignal | undefined): Promise<void> {
    this.#last = this.#last.then(() => nextLoop());
    await this.#last;
    if (signal?.aborted === true) throw new ParleyError('ABORTED', 'the text was given up');
  }
}

export interface TextLimits {
  /** UTF-16 units that one text may have. */
  readonly maxTextLength: number;
  /** Milliseconds without a token after which an unfinished text fails. */
  readonly textIdleMs: number;
  /** Pronunciations of the server. */
  readonly lexicon?: Lexicon | undefined;
  readonly tables?: SpeakerTables | undefined;
}

export function tooLong(maxTextLength: number): ParleyError {
  return new ParleyError(
    'TEXT_TOO_LONG',
    `"text" is longer than the ${maxTextLength} characters that MAX_TEXT_LENGTH allows`,
    { field: 'text' },
  );
}

export function nothingToSay(): ParleyError {
  return new ParleyError('TEXT_EMPTY', '"text" holds no letter or digit, so there is nothing to speak', {
    field: 'text',
  });
}

/** The stated language, and the client whose word tables apply: both decide where sentences end. */
interface TextOwner {
  readonly language?: string | undefined;
  readonly client?: string | undefined;
}

/**
 * The sentences of a whole text in its stated language. They are the same however the text is cut. Throws
 * TEXT_TOO_LONG and TEXT_EMPTY.
 */
export function* sentencesOf(
  text: string,
  { maxTextLength, tables }: Pick<TextLimits, 'maxTextLength' | 'tables'>,
  { language, client }: TextOwner = {},
): TextSteps<Sentence[]> {
  if (text.length > maxTextLength) throw tooLong(maxTextLength);
  const stream = new SentenceStream({ language: tagOfStated(language), tables: tables?.layerFor(client) });
  const sentences: Sentence[] = [];
  for (let at = 0; at < text.length; at += SLICE) {
    yield;
    sentences.push(...stream.push(text.slice(at, at + SLICE)));
  }
  sentences.push(...stream.end());
  if (sentences.length === 0) throw nothingToSay();
  return sentences;
}

const BLANK_LINE = '\n\n'; // ends a sentence without a look at what follows

export interface Tokens extends AsyncIterable<string> {
  /** UTF-16 units that its producer did not write. They do not count towards the limit. */
  readonly addedLength?: number;
  /** True once no token follows those that the reader has or gets with its next read. */
  readonly ended?: boolean;
}

/** The speech of a text in tokens begins with this part. */
export type FirstPiece = 'clause' | 'sentence';

interface SentenceOfTokens extends Sentence {
  /** The text has ended and this is all of it. */
  readonly isOnly: boolean;
}

export interface TokenOptions {
  readonly limits: TextLimits;
  /** BCP 47 tag of the stated language. */
  readonly language?: string | undefined;
  /** Its key decides which word tables apply. Sentences end by those at the beginning of the text. */
  readonly client?: string | undefined;
  readonly time: Time;
  readonly signal: AbortSignal;
  /** Called when the producer has no token ready: sound that runs out then is not late. */
  readonly onPause: () => void;
  /** Called once, when the end of the first piece is certain. */
  readonly onFirst?: () => void;
  /** See SentenceStreamOptions: the first piece of a text that still grows may be a clause. */
  readonly mayBegin?: MayBegin | undefined;
}

/**
 * The sentences of a text that arrives in tokens, each as soon as its end is certain. A long token is read in
 * slices, with a round of the event loop between two of them. Throws TEXT_TOO_LONG, TEXT_EMPTY, TIMEOUT when
 * the producer falls silent, ABORTED with the signal.
 */
export async function* sentencesFrom(
  tokens: Tokens,
  options: TokenOptions,
): AsyncGenerator<SentenceOfTokens, void, undefined> {
  const { limits, language, client, mayBegin } = options;
  const tables = limits.tables?.layerFor(client);
  const stream = new SentenceStream({ language: tagOfStated(language), mayBegin, tables });
  const iterator = tokens[Symbol.asyncIterator]();
  let length = 0;
  let spoken = false;
  try {
    for (;;) {
      const next = await withinIdle(iterator.next(), options);
      if (next.done) break;
      length += next.value.length;
      if (length - (tokens.addedLength ?? 0) > limits.maxTextLength) throw tooLong(limits.maxTextLength);
      if (tokens.ended === true) stream.arrivesWhole();
      for (let at = 0; at < next.value.length; at += SLICE) {
        if (at > 0) await nextLoop();
        for (const sentence of stream.push(next.value.slice(at, at + SLICE))) {
          if (!spoken) options.onFirst?.();
          spoken = true;
          yield { ...sentence, isOnly: false };
        }
      }
    }
    const last = stream.end();
    if (!spoken && last.length === 0) throw nothingToSay();
    if (!spoken) options.onFirst?.();
    for (const sentence of last) yield { ...sentence, isOnly: !spoken && last.length === 1 };
  } finally {
    // Not awaited, because a producer may hang in its own clean-up.
    iterator.return?.().then(undefined, () => undefined);
  }
}

function withinIdle<T>(wait: Promise<T>, { limits, time, signal, onPause }: TokenOptions): Promise<T> {
  const idleMs = limits.textIdleMs;
  return new Promise<T>((resolve, reject) => {
    // A token that is ready arrives before this turn of the loop ends.
    const pause = setImmediate(onPause);
    const aborted = () => settle(() => reject(new ParleyError('ABORTED', 'the text was given up')));
    const cancel = time.after(idleMs, () =>
      settle(() =>
        reject(new ParleyError('TIMEOUT', `no text arrived for ${idleMs} ms and it had not ended`)),
      ),
    );
    const settle = (how: () => void) => {
      cancel();
      clearImmediate(pause);
      signal.removeEventListener('abort', aborted);
      how();
    };
    if (signal.aborted) {
      aborted();
      return;
    }
    signal.addEventListener('abort', aborted, { once: true });
    wait.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error as Error)),
    );
  });
}

/**
 * A queue of tokens between their producer and the utterance that speaks them. The producer bounds its
 * length.
 */
export class TokenStream implements Tokens {
  #tokens: string[] = [];
  #addedLength = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  /** True once it takes no more tokens. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  push(token: string): void {
    if (this.#end !== undefined || token === '') return;
    this.#tokens.push(token);
    this.#wake?.();
  }

  get addedLength(): number {
    return this.#addedLength;
  }

  /** The sentence so far is complete, whatever follows. */
  endSentence(): void {
    this.#addedLength += BLANK_LINE.length;
    this.push(BLANK_LINE);
  }

  /** The text is complete. */
  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** The text is refused: tokens that were not read yet are dropped. */
  fail(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#tokens = [];
    this.#wake?.();
  }

  /** The tokens, for one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        while (this.#tokens.length === 0 && this.#end === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
        const waiting = this.#tokens;
        this.#tokens = [];
        if (waiting.length > 0) yield waiting.join('');
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else return;
      }
    } finally {
      this.end();
      this.#tokens = [];
    }
  }
}

/** `auto`: SSML where it begins with `<speak`. */
export const TEXT_FORMATS = ['auto', 'text', 'ssml'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/** True if a whole text is SSML. A text in tokens is always plain text. */
export function isMarkup(text: string, format: TextFormat = 'auto'): boolean {
  return format === 'ssml' || (format === 'auto' && looksLikeMarkup(text));
}
