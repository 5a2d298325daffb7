// A leg that is being set up before it carries a call: what its media tells
// meanwhile is kept, and told to the call that it comes to carry.
import type { MediaPort } from '../../src/call/call.js';
import type { CallMedia } from '../media/call-media.js';
import type { Leg } from './leg.js';
import type { PhoneCall } from './phone-call.js';

export class ComingLeg {
  #port: MediaPort | undefined;
  #held = false;
  #media: CallMedia | undefined;

  /** `failed`: no keys could be agreed on. */
  constructor(media: CallMedia, failed: () => void) {
    this.follow(media, failed);
  }

  /** Another media takes the place of the one before, whose owner closes it. */
  follow(media: CallMedia, failed: () => void): void {
    this.#port = undefined;
    this.#held = false;
    this.#media = media;
    media.onPort = (port) => (this.#port = port);
    media.onHeld = (held) => (this.#held = held);
    media.onFailed = failed;
  }

  /** From now on the call is carried by it. */
  carry(phone: PhoneCall, leg: Leg): void {
    phone.carriedBy(leg);
    if (this.#media === leg.media && this.#port !== undefined) leg.media.onPort?.(this.#port);
    if (this.#media === leg.media && this.#held) leg.media.onHeld?.(true);
  }
}
