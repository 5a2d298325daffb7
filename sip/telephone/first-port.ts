// The port that a call begins with: it comes with the first agreement, or never.
import type { MediaPort } from '../../src/call/call.js';
import type { ParleyError } from '../../src/errors.js';

export class FirstPort {
  readonly promise: Promise<MediaPort>;
  #settle!: { resolve(port: MediaPort): void; reject(error: ParleyError): void };
  #given: MediaPort | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.promise.catch(() => undefined);
  }

  /** The one that was given first. */
  get given(): MediaPort | undefined {
    return this.#given;
  }

  give(port: MediaPort): void {
    this.#given ??= port;
    this.#settle.resolve(port);
  }

  /** Nothing, where one was given. */
  fail(why: () => ParleyError): void {
    if (this.#given === undefined) this.#settle.reject(why());
  }
}
