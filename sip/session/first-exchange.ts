// The first offer and answer of a call that came in: in which messages they go
// (RFC 3261 section 13.2.1, RFC 3262 section 5, RFC 6337 section 2).
//
//   offer in INVITE   answer in a provisional response, in PRACK's stead final,
//                     or in the 2xx
//   none in INVITE    ours in a reliable provisional response, answer in PRACK;
//                     or ours in the 2xx, answer in ACK
import { describedIn, descriptionIn } from '../message/body.js';
import type { SipRequest } from '../message/message.js';
import { refusal, refused, type Result } from '../message/refusal.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { SessionContext } from './session-context.js';
import type { SessionMedia } from './session.js';

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

// Provisional responses that are repeated until their PRACK comes (RFC 3262,
// section 3): one at a time, numbered from a random beginning.

type Response = Omit<ResponseData, 'toTag'>;

interface Provisional {
  readonly response: Response;
  readonly pracked: () => void;
}

const FIRST_NUMBER = 2 ** 31 - 1; // section 3: below it, for the first
const MOST_WAITING = 4;

export class ReliableProvisionals {
  readonly #transaction: ServerTransaction;
  readonly #context: SessionContext;
  readonly #unacknowledged: () => void;
  readonly #waiting: Provisional[] = [];
  #number: number;
  #current: Provisional | undefined;
  #cancelRepeat = () => {};
  #cancelLimit = () => {};

  /** `unacknowledged`: no PRACK came in 64 T1; the INVITE is to be refused (section 3). */
  constructor(transaction: ServerTransaction, context: SessionContext, unacknowledged: () => void) {
    this.#transaction = transaction;
    this.#context = context;
    this.#unacknowledged = unacknowledged;
    this.#number = context.randomInt(FIRST_NUMBER);
  }

  /** One waits for its PRACK. */
  get open(): boolean {
    return this.#current !== undefined;
  }

  /** Now, or once those before are acknowledged; false if too many wait. */
  send(status: number, headers: readonly HeaderLine[], body?: string, pracked: () => void = () => undefined): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false;
    const content = body === undefined ? {} : { body };
    this.#waiting.push({ response: { status, headers, ...content }, pracked });
    if (!this.open) this.#next();
    return true;
  } // prettier-ignore

  /**
   * Whether a PRACK acknowledges what waits for it. It is not answered here where it does: `answered` is to be called
   * once it is.
   */
  takes(prack: SipRequest): boolean {
    const [, number, cseq, method] =
      /^\s*(\d{1,10})\s+(\d{1,10})\s+(\S+)\s*$/.exec(prack.first('rack') ?? '') ?? [];
    const isMeant =
      this.open &&
      Number(number) === this.#number &&
      Number(cseq) === this.#transaction.request.cseq.number &&
      method === 'INVITE';
    if (isMeant) this.stop();
    return isMeant;
  }

  /** PRACK was answered: what waited for it goes on. */
  answered(): void {
    const current = this.#current;
    this.#current = undefined;
    current?.pracked();
    if (!this.open) this.#next();
  }

  /** Nothing is repeated any more: PRACK has come, or the INVITE was answered for good. */
  stop(): void {
    this.#cancelRepeat();
    this.#cancelLimit();
  }

  refuse(transaction: ServerTransaction): void {
    this.#context.refuse(transaction, refusal(481, 'there is no response that this acknowledges'));
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined || this.#transaction.answered) return;
    this.#number++;
    const { headers = [] } = next.response;
    const response: Response = {
      ...next.response,
      headers: [...headers, ['Require', '100rel'], ['RSeq', String(this.#number)]],
    };
    this.#current = { ...next, response };
    this.#cancelLimit = this.#context.time.after(this.#context.patienceMs, () => {
      this.stop();
      this.#unacknowledged();
    });
    this.#send(response, this.#context.durations.t1);
  }

  #send(response: Response, againMs: number): void {
    if (!this.#context.respond(this.#transaction, response)) {
      this.stop();
      return;
    }
    this.#cancelRepeat = this.#context.time.after(againMs, () => this.#send(response, againMs * 2));
  }
}
