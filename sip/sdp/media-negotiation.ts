// Offers and answers of one dialog, in order (RFC 3264, RFC 6337): who has
// offered what, what is agreed, and what an agreement changed. Everything that
// a door does with SDP goes through here; descriptions come and go as text.
import { type Result, refused } from '../message/refusal.js';
import { type AgreedAudio, changesBetween, type MediaChange } from './agreed-audio.js';
import { answerOffer } from './answering.js';
import { LocalSide, type RandomBytes } from './local-side.js';
import type { LocalEnd, MediaPolicy } from './media-policy.js';
import { makeOffer, type Offered, readAnswer } from './offering.js';
import {
  type Direction,
  type MediaDescription,
  readDescription,
  writeDescription,
} from './session-description.js';

export interface Agreement {
  readonly agreed: AgreedAudio;
  readonly changes: ReadonlySet<MediaChange>;
}

export interface AnsweredOffer extends Agreement {
  /** The answer to send. */
  readonly answer: string;
}

interface NegotiationOptions {
  readonly policy: MediaPolicy;
  readonly end: LocalEnd;
  readonly randomBytes: RandomBytes;
}

interface State {
  readonly agreed: AgreedAudio | undefined;
  readonly offered: Offered | undefined;
  /** Of the latest descriptions that were exchanged. */
  readonly sections: readonly MediaDescription[];
}

export class MediaNegotiation {
  readonly #options: NegotiationOptions;
  readonly #side: LocalSide;
  #end: LocalEnd;
  #state: State = { agreed: undefined, offered: undefined, sections: [] };

  constructor(options: NegotiationOptions, original?: MediaNegotiation) {
    this.#options = options;
    this.#end = options.end;
    this.#side = new LocalSide(options.randomBytes, original === undefined ? undefined : original.#side);
    if (original === undefined) return;
    this.#end = original.#end;
    this.#state = original.#state;
  }

  /** What both sides stand by now. */
  get agreed(): AgreedAudio | undefined {
    return this.#state.agreed;
  }

  /** An offer of ours waits for its answer. */
  get offering(): boolean {
    return this.#state.offered !== undefined;
  }

  /** For another answer to the same offer: an INVITE that rang at several phones has a dialog with each. */
  fork(): MediaNegotiation {
    return new MediaNegotiation(this.#options, this);
  }

  /** From now on, descriptions name another end of ours. */
  moveTo(end: LocalEnd): void {
    this.#end = end;
  }

  /** Our offer, with the way we would have the sound flow; 491 while another waits for its answer. */
  offer(wish: Direction = 'sendrecv'): Result<string> {
    if (this.offering) return refused(491, 'an offer of this side has not been answered yet');
    const { agreed: current, sections } = this.#state;
    const { policy } = this.#options;
    const offered = makeOffer({ policy, end: this.#end, wish, side: this.#side, current, sections });
    this.#state = { ...this.#state, offered };
    return { value: writeDescription(offered.description) };
  }

  /** The answer to our offer; where it is refused, everything stays as it was before the offer. */
  accept(answer: string | Uint8Array): Result<Agreement> {
    const { offered } = this.#state;
    if (offered === undefined) return refused(400, 'there is no offer that this could answer');
    this.withdraw();
    const description = readDescription(answer);
    if (description.refusal !== undefined) return description;
    const agreed = readAnswer(description.value, offered);
    if (agreed.refusal !== undefined) return agreed;
    return { value: this.#settle(agreed.value, offered.description.media) };
  }

  /** Our offer was refused with its request: back to what was agreed before it (RFC 3261 section 14.1). */
  withdraw(): void {
    this.#state = { ...this.#state, offered: undefined };
  }

  /** Answers the peer's offer; 491 where offers crossed, 488 or 400 where nothing changes. */
  answer(offer: string | Uint8Array, wish: Direction = 'sendrecv'): Result<AnsweredOffer> {
    if (this.offering) return refused(491, 'an offer of this side has not been answered yet');
    const description = readDescription(offer);
    if (description.refusal !== undefined) return description;
    const { policy } = this.#options;
    const by = { policy, end: this.#end, wish, side: this.#side, current: this.#state.agreed };
    const answered = answerOffer(description.value, by);
    if (answered.refusal !== undefined) return answered;
    const { description: ours, agreed } = answered.value;
    return { value: { answer: writeDescription(ours), ...this.#settle(agreed, ours.media) } };
  }

  #settle(agreed: AgreedAudio, sections: readonly MediaDescription[]): Agreement {
    const changes = changesBetween(this.#state.agreed, agreed);
    this.#state = { agreed, offered: undefined, sections };
    return { agreed, changes };
  }
}

// The descriptions of one call, although its INVITE may ring at several phones:
// each phone that answers has a copy of the negotiation, and the one that
// answered latest is heard, until one of them has the call.
//
// What a description asks for stands only once the media could follow it: every
// step is tried on a copy, and adopted afterwards.

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
