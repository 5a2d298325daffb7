// Sound as server-sent events: each chunk becomes one, and so does the end.
//
// What fails after the first chunk is told as an event too: unlike a file, a
// stream of events can say that it is not complete.
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import { ownOutcome } from './timing-headers.js';
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';

/** How a dialect writes its events, blank line and all. */
export interface EventWords {
  chunk(bytes: Uint8Array): string;
  done(outcome: SoundOutcome): string;
  failed(error: ParleyError): string;
}

export class EventStream implements SoundSource {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #source: SoundSource;
  readonly #words: EventWords;

  constructor(source: SoundSource, words: EventWords) {
    this.#source = source;
    this.#words = words;
    this.outcome = source.outcome;
  }

  get cache(): 'hit' | 'miss' | undefined {
    return this.#source.cache;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let begun = false;
    try {
      for await (const chunk of this.#source) {
        yield Buffer.from(this.#words.chunk(chunk));
        begun = true;
      }
      const outcome = await ownOutcome(this);
      if (outcome === undefined) throw new ParleyError('ABORTED', 'the sound broke off');
      yield Buffer.from(this.#words.done(outcome));
    } catch (error) {
      // Before the first event the answer is an ordinary error; whoever left hears nothing anyway.
      if (!begun || isAborted(error)) throw error;
      yield Buffer.from(this.#words.failed(asParleyError(error, 'ENGINE_FAILED')));
    }
  }
}
