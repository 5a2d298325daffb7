// Negotiates the media of one call with offers and answers (RFC 3264, RFC 6337). MediaNegotiation keeps the
// state of one dialog. ForkedNegotiation keeps a copy of it for each phone that answers the INVITE.
// Descriptions are text here.
import { type Result, refused } from '../message/refusal.js';
import type { AgreedAudio } from './agreed-audio.js';
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

const ASPECTS = {
  address: ({ remote, remoteRtcp }: AgreedAudio) => [remote, remoteRtcp ?? null],
  /** Our address changed. */
  'local-address': ({ local }: AgreedAudio) => local,
  codec: ({ codec, opus }: AgreedAudio) => [codec, opus ?? null],
  'payload-types': ({ send, receive, receivable, eventClockRate }: AgreedAudio) => [
    send,
    receive,
    [...receivable],
    eventClockRate ?? null,
  ],
  'packet-time': ({ packetTimeMs }: AgreedAudio) => packetTimeMs,
  direction: ({ direction }: AgreedAudio) => direction,
  keys: ({ keys }: AgreedAudio) => keys,
  /** ICE restarted. */
  ice: ({ ice }: AgreedAudio) => ice ?? null,
} as const;

type MediaChange = keyof typeof ASPECTS;

interface Agreement {
  readonly agreed: AgreedAudio;
  readonly changes: ReadonlySet<MediaChange>;
}

interface AnsweredOffer extends Agreement {
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
  /** Sections of the descriptions that were exchanged last. */
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

  /** The current agreement. */
  get agreed(): AgreedAudio | undefined {
    return this.#state.agreed;
  }

  /** An offer of ours has no answer yet. */
  get offering(): boolean {
    return this.#state.offered !== undefined;
  }

  /** A copy for another answer to the same offer: each phone that answers an INVITE has its own dialog. */
  fork(): MediaNegotiation {
    return new MediaNegotiation(this.#options, this);
  }

  /** Later descriptions name another address of ours. */
  moveTo(end: LocalEnd): void {
    this.#end = end;
  }

  /** Makes our offer with the direction that we want; 491 while an earlier offer has no answer. */
  offer(wanted: Direction = 'sendrecv'): Result<string> {
    if (this.offering) return refused(491, 'an offer of this side has not been answered yet');
    const { agreed: current, sections } = this.#state;
    const { policy } = this.#options;
    const offered = makeOffer({ policy, end: this.#end, wanted, side: this.#side, current, sections });
    this.#state = { ...this.#state, offered };
    return { value: writeDescription(offered.description) };
  }

  /** Takes the answer to our offer. If it is refused, the state is the one before the offer. */
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

  /** Our offer was refused with its request: the agreement before it holds (RFC 3261 section 14.1). */
  withdraw(): void {
    this.#state = { ...this.#state, offered: undefined };
  }

  /**
   * Answers the peer's offer. Refuses with 491 if offers crossed, and with 488 or 400 otherwise; nothing
   * changes then.
   */
  answer(offer: string | Uint8Array, wanted: Direction = 'sendrecv'): Result<AnsweredOffer> {
    if (this.offering) return refused(491, 'an offer of this side has not been answered yet');
    const description = readDescription(offer);
    if (description.refusal !== undefined) return description;
    const { policy } = this.#options;
    const by = { policy, end: this.#end, wanted, side: this.#side, current: this.#state.agreed };
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

// Negotiates the media of a call whose INVITE may be answered by several phones. Each phone has its own copy
// of the negotiation. The phone that answered last is heard, until one of them gets the call.
//
// A description takes effect only after the media could follow it: each step runs on a copy, which is adopted
// afterwards.

interface Proposal {
  readonly agreed: AgreedAudio;
  /** The answer to send, if the peer made the offer. */
  readonly answer: string;
  /** Makes the agreement current. Without this call, everything stays as it was before the offer. */
  readonly adopt: () => void;
}

interface Phone {
  readonly negotiation: MediaNegotiation;
  /** There was an offer after the first one: a repeated first answer is meaningless then. */
  readonly renewed: boolean;
}

export class ForkedNegotiation {
  /** The negotiation with the phone that is heard. */
  #current: MediaNegotiation;
  /** Keeps our first offer while phones may answer it. */
  #first: MediaNegotiation | undefined;
  readonly #phones = new Map<string, Phone>();
  #activeFork = '';
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

  /** Refuses with 491 until an earlier offer is answered or withdrawn. */
  offer(wanted: Direction): Result<string> {
    const offer = this.#current.offer(wanted);
    if (offer.refusal === undefined && this.#current.agreed === undefined) this.#first = this.#current;
    return offer;
  }

  /** Answers in the dialog that is heard. */
  answer(offer: Uint8Array, wanted: Direction): Result<Proposal> {
    const trial = this.#current.fork();
    const answered = trial.answer(offer, wanted);
    if (answered.refusal !== undefined) return answered;
    const adopt = () => this.#adopt(trial, this.#activeFork, true);
    return { value: { ...answered.value, adopt } };
  }

  /** If the answer is refused, an offer that only this phone could answer is withdrawn. */
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

  /** The phone of this fork gets the call; the other copies are dropped. */
  settle(fork: string): void {
    const phone = this.#phones.get(fork);
    this.#current = phone?.negotiation ?? this.#first ?? this.#current;
    this.#activeFork = fork;
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
    this.#activeFork = fork;
    this.#phones.set(fork, { negotiation, renewed });
  }
}

/** Aspects in which the second agreement differs from the first; all of them if there was none. */
function changesBetween(before: AgreedAudio | undefined, after: AgreedAudio): ReadonlySet<MediaChange> {
  const names = Object.keys(ASPECTS) as MediaChange[];
  const textOf = (name: MediaChange, agreed: AgreedAudio) => JSON.stringify(ASPECTS[name](agreed));
  return new Set(
    names.filter((name) => before === undefined || textOf(name, before) !== textOf(name, after)),
  );
}
