// The descriptions of one call, although its INVITE may ring at several phones:
// each phone that answers has a copy of the negotiation, and the one that
// answered latest is heard, until one of them has the call.
//
// What a description asks for stands only once the media could follow it: every
// step is tried on a copy, and adopted afterwards.
import { refused, type Result } from '../message/refusal.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { Direction } from '../sdp/direction.js';
import { MediaNegotiation, type NegotiationOptions } from '../sdp/media-negotiation.js';

export interface Proposal {
  readonly agreed: AgreedAudio;
  /** The answer to send, where the peer's was the offer. */
  readonly answer: string;
  /** From now on it is agreed. Not called: everything stays as it was before the offer. */
  readonly adopt: () => void;
}

interface Phone {
  readonly negotiation: MediaNegotiation;
  /** There was an offer after the first one: a repeated first answer means nothing any more. */
  readonly renewed: boolean;
}

export class ForkedNegotiation {
  /** The one that is heard. */
  #current: MediaNegotiation;
  /** Holds our first offer as long as phones may answer it. */
  #first: MediaNegotiation | undefined;
  readonly #phones = new Map<string, Phone>();
  #heard = '';
  #settled = false;

  constructor(options: NegotiationOptions) {
    this.#current = new MediaNegotiation(options);
  }

  get agreed(): AgreedAudio | undefined {
    return this.#current.agreed;
  }

  get offering(): boolean {
    return this.#current.offering;
  }

  /** Not before an offer that waits is answered or withdrawn: 491. */
  offer(wish: Direction): Result<string> {
    const offer = this.#current.offer(wish);
    if (offer.refusal === undefined && this.#current.agreed === undefined) this.#first = this.#current;
    return offer;
  }

  /** In the dialog that is heard. */
  answer(offer: Uint8Array, wish: Direction): Result<Proposal> {
    const trial = this.#current.fork();
    const answered = trial.answer(offer, wish);
    if (answered.refusal !== undefined) return answered;
    const adopt = () => this.#adopt(trial, this.#heard, true);
    return { value: { ...answered.value, adopt } };
  }

  /** A refusal takes back an offer that nobody else could answer. */
  accept(answer: Uint8Array, fork: string): Result<Proposal> {
    const phone = this.#phones.get(fork);
    if (phone === undefined && this.#settled && this.#phones.size > 0) {
      return refused(400, 'the call was taken by another phone');
    }
    if (phone?.renewed === true && !phone.negotiation.offering) return this.#standing(phone, fork);
    const again = phone?.negotiation.offering === true;
    const origin = again ? phone.negotiation : (this.#first ?? this.#current);
    const trial = origin.fork();
    const accepted = trial.accept(answer);
    if (accepted.refusal !== undefined) {
      if (origin !== this.#first) origin.withdraw();
      return accepted;
    }
    const adopt = () => this.#adopt(trial, fork, origin !== this.#first);
    return { value: { agreed: accepted.value.agreed, answer: '', adopt } };
  }

  /** Its copy is the call; the others are forgotten. */
  settle(fork: string): void {
    const phone = this.#phones.get(fork);
    this.#current = phone?.negotiation ?? this.#first ?? this.#current;
    this.#heard = fork;
    this.#settled = true;
    this.#phones.clear();
    if (phone !== undefined) this.#phones.set(fork, phone);
  }

  withdraw(): void {
    if (this.#first === this.#current) this.#first = undefined;
    this.#current.withdraw();
  }

  #standing({ negotiation }: Phone, fork: string): Result<Proposal> {
    const { agreed } = negotiation;
    if (agreed === undefined) return refused(400, 'nothing has been agreed on in this dialog');
    return { value: { agreed, answer: '', adopt: () => this.#adopt(negotiation, fork, true) } };
  }

  #adopt(negotiation: MediaNegotiation, fork: string, renewed: boolean): void {
    this.#current = negotiation;
    this.#heard = fork;
    this.#phones.set(fork, { negotiation, renewed });
  }
}
