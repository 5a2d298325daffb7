// The media of a session as far as its descriptions go: a real negotiation, and
// what came of it.
import type { SessionMedia } from '../../../sip/session/session.js';
import type { Result } from '../../../sip/message/refusal.js';
import type { Direction } from '../../../sip/sdp/session-description.js';
import type { MediaPolicy } from '../../../sip/sdp/media-policy.js';
import { negotiation } from '../sdp/negotiation-under-test.js';

export class NegotiatedMedia implements SessionMedia {
  /** The way that the sound is wanted to flow; `inactive` and `sendonly` are hold. */
  wantedDirection: Direction = 'sendrecv';
  readonly #negotiation;

  constructor(address: string, seed: number, policy: Partial<MediaPolicy> = {}) {
    this.#negotiation = negotiation(
      { keyings: ['sdes'], security: 'off', ...policy },
      { ip4: address },
      seed,
    );
  }

  get offering(): boolean {
    return this.#negotiation.offering;
  }

  get agreed(): boolean {
    return this.#negotiation.agreed !== undefined;
  }

  get direction(): Direction | undefined {
    return this.#negotiation.agreed?.direction;
  }

  answer(offer: Uint8Array): Result<string> {
    const answered = this.#negotiation.answer(offer, this.wantedDirection);
    return answered.refusal === undefined ? { value: answered.value.answer } : answered;
  }

  offer(): Result<string> {
    return this.#negotiation.offer(this.wantedDirection);
  }

  accept(answer: Uint8Array): Result<void> {
    const accepted = this.#negotiation.accept(answer);
    return accepted.refusal === undefined ? { value: undefined } : accepted;
  }

  settle(): void {}

  signalledFrom(): void {}

  /** True if media may leave. */
  isConfirmed = false;

  confirmed(): void {
    this.isConfirmed = true;
  }

  withdraw(): void {
    this.#negotiation.withdraw();
  }
}
