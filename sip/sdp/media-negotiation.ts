// Offers and answers of one dialog, in order (RFC 3264, RFC 6337): who has
// offered what, what is agreed, and what an agreement changed. Everything that
// a door does with SDP goes through here; descriptions come and go as text.
import { refused, type Result } from '../message/refusal.js';
import { changesBetween, type AgreedAudio, type MediaChange } from './agreed-audio.js';
import { readAnswer } from './answer-reader.js';
import { answerOffer } from './answering.js';
import { readDescription } from './description-reader.js';
import type { Direction } from './direction.js';
import { LocalSide, type RandomBytes } from './local-side.js';
import type { LocalEnd, MediaPolicy } from './media-policy.js';
import { makeOffer, type Offered } from './offering.js';
import { writeDescription, type MediaDescription } from './session-description.js';

export interface Agreement {
  readonly agreed: AgreedAudio;
  readonly changes: ReadonlySet<MediaChange>;
}

export interface AnsweredOffer extends Agreement {
  /** The answer to send. */
  readonly answer: string;
}

export interface NegotiationOptions {
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
