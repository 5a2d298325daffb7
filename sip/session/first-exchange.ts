// The first offer and answer of a call that came in: in which messages they go
// (RFC 3261 section 13.2.1, RFC 3262 section 5, RFC 6337 section 2).
//
//   offer in INVITE   answer in a provisional response, in PRACK's stead final,
//                     or in the 2xx
//   none in INVITE    ours in a reliable provisional response, answer in PRACK;
//                     or ours in the 2xx, answer in ACK
import { refused, type Result } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import { describedIn, descriptionIn } from '../message/body.js';
import type { SessionMedia } from './session-media.js';

export class FirstExchange {
  readonly #offer: Buffer | undefined;
  /** Of ours, to the INVITE's offer. */
  #answer: string | undefined;
  /** The answer went out in a response that was repeated until PRACK: the 2xx has none. */
  #delivered = false;
  #offered: 'no' | 'provisional' | 'final' = 'no';

  /** `offer`: what the INVITE describes. */
  constructor(offer: Buffer | undefined) {
    this.#offer = offer;
  }

  /** What a provisional response carries; nothing if it could not be answered. */
  provisional(media: SessionMedia, reliable: boolean): Result<string | undefined> {
    if (this.#offer !== undefined) {
      if (this.#delivered) return { value: undefined };
      const answer = this.#answered(media, this.#offer);
      if (answer.refusal === undefined) this.#delivered = reliable;
      return answer;
    }
    if (!reliable || this.#offered !== 'no') return { value: undefined };
    const offer = media.offer();
    if (offer.refusal === undefined) this.#offered = 'provisional';
    return offer;
  }

  /** What the 2xx carries. */
  final(media: SessionMedia): Result<string | undefined> {
    if (this.#offer !== undefined) {
      return this.#delivered ? { value: undefined } : this.#answered(media, this.#offer);
    }
    if (this.#offered === 'provisional' && media.agreed) return { value: undefined };
    // A PRACK without the answer that it owed: the offer is made once more.
    if (media.offering) media.withdraw();
    const offer = media.offer();
    if (offer.refusal === undefined) this.#offered = 'final';
    return offer;
  }

  /** What PRACK brings: the answer to our offer, or an offer of its own, which its 200 answers. */
  pracked(request: SipRequest, media: SessionMedia, fork: string): Result<string | undefined> {
    const described = describedIn(request);
    if (described.refusal !== undefined) return described;
    if (described.value === undefined) return { value: undefined };
    if (!media.offering) return media.answer(described.value);
    const accepted = media.accept(described.value, fork);
    return accepted.refusal === undefined ? { value: undefined } : accepted;
  }

  /** The ACK of the 2xx: refused where it owes an answer and has none that can be used. */
  acknowledged(ack: SipRequest, media: SessionMedia, fork: string): Result<void> {
    if (this.#offered !== 'final') return { value: undefined };
    const answer = descriptionIn(ack);
    return answer === undefined ? refused(488, 'ACK has no answer') : media.accept(answer, fork);
  }

  /** Until it is delivered reliably, every response has the same one. */
  #answered(media: SessionMedia, offer: Buffer): Result<string> {
    if (this.#answer !== undefined) return { value: this.#answer };
    const answer = media.answer(offer);
    this.#answer = answer.value;
    return answer;
  }
}
