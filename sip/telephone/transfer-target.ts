// Somebody else is being called who is to take a far end's place; meanwhile the
// far end may leave, and the call goes on without it. One for each transfer.
import type { SessionEnd } from '../session/session.js';
import type { Leg } from './leg.js';

export class TransferTarget {
  #left: { readonly leg: Leg; readonly end: SessionEnd } | undefined;

  /** Whether the far end may leave in this way. */
  lets(leg: Leg | undefined, end: SessionEnd): boolean {
    if (end.by !== 'peer' || leg === undefined) return false;
    this.#left = { leg, end };
    return true;
  }

  /** Nobody is awaited any more: how the call ends where the far end has left and nobody has come. */
  settled(leg: Leg | undefined): SessionEnd | undefined {
    return this.#left !== undefined && this.#left.leg === leg ? this.#left.end : undefined;
  }
}
