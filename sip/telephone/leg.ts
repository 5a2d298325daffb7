// What carries a call: the signalling to one far end, and its media.
import { ParleyError } from '../../src/errors.js';
import type { CallMedia } from '../media/call-media.js';
import type { Session, SessionEnd } from '../session/session.js';

export interface Leg {
  readonly session: Session;
  readonly media: CallMedia;
  /** Name of the trunk that it goes through now. */
  readonly trunk?: () => string | undefined;
}

// Who holds a call: the far end, or we at the application's wish. Ours is asked
// of the far end, one request after the other, each with what was asked for last
// known by then.

export class Holding {
  /** What carries the call now; throws where it cannot be held. */
  readonly #leg: () => Leg;
  readonly #changed: () => void;
  #byUs = false;
  #byPeer = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(leg: () => Leg, changed: () => void) {
    this.#leg = leg;
    this.#changed = changed;
  }

  get held(): boolean {
    return this.#byUs || this.#byPeer;
  }

  /** Another leg, which nobody on our side holds; `changed` is the owner's to call. */
  carried(heldByPeer: boolean): void {
    this.#byUs = false;
    this.#byPeer = heldByPeer;
  }

  /** The far end says so. */
  peer(held: boolean): void {
    this.#byPeer = held;
    this.#changed();
  }

  /** Resolves when the far end has agreed; WRONG_STATE where it refuses, or the call has ended meanwhile. */
  ask(held: boolean): Promise<void> {
    const asked = this.#turn.then(() => this.#ask(held));
    this.#turn = asked.catch(() => undefined);
    return asked;
  }

  async #ask(held: boolean): Promise<void> {
    const { session, media } = this.#leg();
    if (this.#byUs === held) return;
    media.hold(held);
    const outcome = await session.reoffer();
    if (this.#leg().media !== media) return this.#ask(held); // another leg has come, which knows nothing of it
    if (outcome.refusal !== undefined) {
      media.hold(!held);
      const { status, reason } = outcome.refusal;
      const message = `the far end refused to be ${held ? 'held' : 'resumed'}: ${status} ${reason}`;
      throw new ParleyError('WRONG_STATE', message);
    }
    this.#byUs = held;
    this.#changed();
  }
}

// Somebody else is being called who is to take a far end's place; meanwhile the
// far end may leave, and the call goes on without it. One for each transfer.

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
