// Turns of the main thread for long texts.
//
// The words of a long text take tens of milliseconds. So its work is done in
// slices, and between two slices of any text the event loop goes round once:
// calls, other requests and /health are served meanwhile. Short texts need no
// turn. A client may have a limited number of characters in work.
import { setImmediate as nextLoop } from 'node:timers/promises';
import { ParleyError } from '../errors.js';

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
