// A leg carries a call: the session with one far end, and its media. Holding tracks who holds it, and
// TransferTarget bridges the time until another far end takes over.
import { ParleyError } from '../../src/errors.js';
import type { CallMedia } from '../media/call-media.js';
import type { Session, SessionEnd } from '../session/session.js';

export interface Leg {
  readonly session: Session;
  readonly media: CallMedia;
  /** Name of its current trunk. */
  readonly trunk?: () => string | undefined;
}

// Tracks who holds a call: the far end, or we on behalf of the application. Our requests go to the far end
// one after the other; each uses the latest wanted state.

export class Holding {
  /** The current leg; throws if it cannot be held. */
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

  /** Another leg, which we do not hold. The owner calls `changed`. */
  carried(heldByPeer: boolean): void {
    this.#byUs = false;
    this.#byPeer = heldByPeer;
  }

  /** The far end holds or resumes. */
  peer(held: boolean): void {
    this.#byPeer = held;
    this.#changed();
  }

  /** Resolves when the far end has agreed. Rejects with WRONG_STATE if it refuses, or the call has ended. */
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
    if (this.#leg().media !== media) return this.#ask(held); // another leg has come, which was not asked
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

// Someone is being called who is to replace the far end. The far end may leave meanwhile, and the call goes
// on without it. There is one object for each transfer.

export class TransferTarget {
  #left: { readonly leg: Leg; readonly end: SessionEnd } | undefined;

  /** Returns true if the far end may leave in this way. */
  lets(leg: Leg | undefined, end: SessionEnd): boolean {
    if (end.by !== 'peer' || leg === undefined) return false;
    this.#left = { leg, end };
    return true;
  }

  /** The transfer has ended. Returns how the call ends if the far end has left without a successor. */
  settled(leg: Leg | undefined): SessionEnd | undefined {
    return this.#left !== undefined && this.#left.leg === leg ? this.#left.end : undefined;
  }
}
