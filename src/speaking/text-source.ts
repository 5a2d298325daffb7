// A text as a stream of sentences, whether it came whole or in tokens.
//
// The limits live here: how long a text may be, and how long a producer of
// tokens may stay silent before its text counts as given up.
import { setImmediate as nextLoop } from 'node:timers/promises';
import { ParleyError } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import { SentenceStream, type Sentence } from '../text/sentences.js';
import type { Time } from '../time.js';
import { SLICE } from './text-turns.js';

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
