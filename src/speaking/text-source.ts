// A text as a stream of sentences, whether it came whole or in tokens.
//
// The limits live here: how long a text may be, and how long a producer of
// tokens may stay silent before its text counts as given up.
import { setImmediate as nextLoop } from 'node:timers/promises';
import { ParleyError } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import { looksLikeMarkup } from '../text/markup/read-markup.js';
import { type Sentence, SentenceStream } from '../text/sentences.js';
import type { Time } from '../time.js';

// Turns of the main thread for long texts.
//
// The words of a long text take tens of milliseconds. So its work is done in
// slices, and between two slices of any text the event loop goes round once:
// calls, other requests and /health are served meanwhile. Short texts need no
// turn. A client may have a limited number of characters in work.

/** UTF-16 units of the longest text that is read at once, and of a slice of a longer one. */
export const SLICE = 500;
const MOST_OF_CLIENT = 256 * 1024; // UTF-16 units of long texts that are being read

/** Resolves when the next slice may be read; rejects with ABORTED when the text is given up. */
export type Turn = () => Promise<void>;

export class TextTurns {
  readonly #mostOfClient: number;
  readonly #characters = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();

  constructor(mostOfClient = MOST_OF_CLIENT) {
    this.#mostOfClient = mostOfClient;
  }

  /**
   * Reads a long text of a client. Rejects as `work` does, with QUEUE_FULL where the client has too many characters in
   * work, and with ABORTED. One text of any length is always taken.
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

  /** Each turn is a round of the event loop of its own, whoever asked for it. */
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
  /** How the server has words said. */
  readonly lexicon?: Lexicon | undefined;
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

/**
 * The sentences of a text that is there as a whole, in the language that was stated for it; refuses one that is too
 * long or has nothing to speak.
 */
export function sentencesOf(text: string, limits: TextLimits, language?: string): Sentence[] {
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  const stream = new SentenceStream({ language });
  const sentences = [...stream.push(text), ...stream.end()];
  if (sentences.length === 0) throw nothingToSay();
  return sentences;
}

export interface SentenceOfTokens extends Sentence {
  /** The text has ended and this is all of it. */
  readonly isOnly: boolean;
}

export interface TokenOptions {
  readonly limits: TextLimits;
  /** BCP 47 tag that was stated for the text. */
  readonly language?: string | undefined;
  readonly time: Time;
  readonly signal: AbortSignal;
  /** Called when the producer has no token ready: sound may run out without anybody being late. */
  readonly onPause: () => void;
}

/**
 * The sentences of a text that arrives in tokens, each as soon as its end is certain. A long token is read in slices,
 * with a round of the event loop between two of them. Throws TEXT_TOO_LONG,
 * TEXT_EMPTY, TIMEOUT when the producer falls silent, ABORTED with the signal.
 */
export async function* sentencesFrom(
  tokens: AsyncIterable<string>,
  options: TokenOptions,
): AsyncGenerator<SentenceOfTokens, void, undefined> {
  const { limits, language } = options;
  const stream = new SentenceStream({ language });
  const iterator = tokens[Symbol.asyncIterator]();
  let length = 0;
  let spoken = false;
  try {
    for (;;) {
      const next = await withinIdle(iterator.next(), options);
      if (next.done) break;
      length += next.value.length;
      if (length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
      for (let at = 0; at < next.value.length; at += SLICE) {
        if (at > 0) await nextLoop();
        for (const sentence of stream.push(next.value.slice(at, at + SLICE))) {
          spoken = true;
          yield { ...sentence, isOnly: false };
        }
      }
    }
    const last = stream.end();
    if (!spoken && last.length === 0) throw nothingToSay();
    for (const sentence of last) yield { ...sentence, isOnly: !spoken && last.length === 1 };
  } finally {
    // Not awaited: a producer that hangs in its own clean-up holds nobody here.
    iterator.return?.().then(undefined, () => undefined);
  }
}

function withinIdle<T>(wait: Promise<T>, { limits, time, signal, onPause }: TokenOptions): Promise<T> {
  const idleMs = limits.textIdleMs;
  return new Promise<T>((resolve, reject) => {
    // A token that is there already comes before this turn of the loop ends.
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

// Tokens between the page that sends them and the utterance that speaks them.
// Its length is bounded by whoever pushes: it never holds more than one text.

export class TokenStream implements AsyncIterable<string> {
  #tokens: string[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  push(token: string): void {
    if (this.#end !== undefined || token === '') return;
    this.#tokens.push(token);
    this.#wake?.();
  }

  /** The text is complete. */
  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** The text is refused: what was not read of it yet is dropped. */
  fail(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#tokens = [];
    this.#wake?.();
  }

  /** For one reader. */
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

// What a text is: words, or SSML that says how they are spoken.

/** `auto`: SSML where it begins with `<speak`. */
export const TEXT_FORMATS = ['auto', 'text', 'ssml'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/** Of a text that is there whole; one that comes in tokens is words. */
export function isMarkup(text: string, format: TextFormat = 'auto'): boolean {
  return format === 'ssml' || (format === 'auto' && looksLikeMarkup(text));
}
