// Who holds a call: the far end, or we at the application's wish. Ours is asked
// of the far end, one request after the other, each with what was asked for last
// known by then.
import { ParleyError } from '../../src/errors.js';
import type { Leg } from './leg.js';

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
