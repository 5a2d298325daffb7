// Records every message that a dialect sends to its client, in order. A binary message becomes a string of its bytes.
import type { Peer } from '../../src/api/http/socket-dialect.js';

export class RecordedPeer implements Peer {
  readonly messages: (Record<string, unknown> | string)[] = [];
  closedWith: readonly [code: number, reason: string] | undefined;
  #full: Promise<void> | undefined;
  #read: () => void = () => undefined;

  send(message: string | Uint8Array): void {
    const received =
      typeof message === 'string'
        ? (JSON.parse(message) as Record<string, unknown>)
        : Buffer.from(message).toString('latin1');
    this.messages.push(received);
  }

  drained(): Promise<void> {
    return this.#full ?? Promise.resolve();
  }

  close(code: number, reason: string): void {
    this.closedWith ??= [code, reason];
  }

  /** From now on it takes nothing, until it reads. */
  stall(): void {
    this.#full = new Promise((resolve) => (this.#read = resolve));
  }

  read(): void {
    this.#full = undefined;
    this.#read();
  }

  /** Everything since the last time it was asked. */
  taken(): (Record<string, unknown> | string)[] {
    return this.messages.splice(0);
  }
}
