// Runs the first offer and answer of a call that came in (RFC 3261 section 13.2.1, RFC 3262 section 5,
// RFC 6337 section 2), and the reliable provisional responses that may carry them.
//
//   offer in INVITE   answer in a provisional response or in the 2xx
//   none in INVITE    our offer in a reliable provisional response, answer in PRACK;
//                     or our offer in the 2xx, answer in ACK
import { describedIn, descriptionIn } from '../message/body.js';
import type { SipRequest } from '../message/message.js';
import { refusal, refused, type Result } from '../message/refusal.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { SessionContext } from './session-context.js';
import type { SessionMedia } from './session.js';

export class FirstExchange {
  readonly #offer: Buffer | undefined;
  /** Our answer to the INVITE's offer. */
  #answer: string | undefined;
  /** The answer was sent reliably: the 2xx carries none. */
  #delivered = false;
  #offered: 'no' | 'provisional' | 'final' = 'no';

  /** `offer` is the session description of the INVITE. */
  constructor(offer: Buffer | undefined) {
    this.#offer = offer;
  }

  /** Description for a provisional response; undefined if it could not be answered. */
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

  /** Description for the 2xx. */
  final(media: SessionMedia): Result<string | undefined> {
    if (this.#offer !== undefined) {
      return this.#delivered ? { value: undefined } : this.#answered(media, this.#offer);
    }
    if (this.#offered === 'provisional' && media.agreed) return { value: undefined };
    // The PRACK lacked its answer: the offer is made again.
    if (media.offering) media.withdraw();
    const offer = media.offer();
    if (offer.refusal === undefined) this.#offered = 'final';
    return offer;
  }

  /** Takes the description in PRACK: the answer to our offer, or a new offer that the 200 answers. */
  pracked(request: SipRequest, media: SessionMedia, fork: string): Result<string | undefined> {
    const described = describedIn(request);
    if (described.refusal !== undefined) return described;
    if (described.value === undefined) return { value: undefined };
    if (!media.offering) return media.answer(described.value);
    const accepted = media.accept(described.value, fork);
    return accepted.refusal === undefined ? { value: undefined } : accepted;
  }

  /** Takes the ACK of the 2xx; refused if a required answer is missing or unusable. */
  acknowledged(ack: SipRequest, media: SessionMedia, fork: string): Result<void> {
    if (this.#offered !== 'final') return { value: undefined };
    const answer = descriptionIn(ack);
    return answer === undefined ? refused(488, 'ACK has no answer') : media.accept(answer, fork);
  }

  /** All responses carry the same answer until it is delivered reliably. */
  #answered(media: SessionMedia, offer: Buffer): Result<string> {
    if (this.#answer !== undefined) return { value: this.#answer };
    const answer = media.answer(offer);
    this.#answer = answer.value;
    return answer;
  }
}

type Response = Omit<ResponseData, 'toTag'>;

interface Provisional {
  readonly response: Response;
  readonly pracked: () => void;
}

const FIRST_NUMBER = 2 ** 31 - 1; // upper bound of the first number (RFC 3262, section 3)
const MOST_WAITING = 4;

/** Provisional responses repeated until their PRACK, one at a time (RFC 3262, section 3). */
export class ReliableProvisionals {
  readonly #transaction: ServerTransaction;
  readonly #context: SessionContext;
  readonly #unacknowledged: () => void;
  readonly #waiting: Provisional[] = [];
  #number: number;
  #current: Provisional | undefined;
  #cancelRepeat = () => {};
  #cancelLimit = () => {};

  /** `unacknowledged` is called if no PRACK came in 64 T1; the INVITE has to be refused (section 3). */
  constructor(transaction: ServerTransaction, context: SessionContext, unacknowledged: () => void) {
    this.#transaction = transaction;
    this.#context = context;
    this.#unacknowledged = unacknowledged;
    this.#number = context.randomInt(FIRST_NUMBER);
  }

  /** True while a response waits for its PRACK. */
  get open(): boolean {
    return this.#current !== undefined;
  }

  /** Sends a response once earlier ones are acknowledged; false if too many wait. */
  send(
    status: number,
    headers: readonly HeaderLine[],
    body?: string,
    pracked: () => void = () => undefined,
  ): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false;
    const content = body === undefined ? {} : { body };
    this.#waiting.push({ response: { status, headers, ...content }, pracked });
    if (!this.open) this.#next();
    return true;
  }

  /**
   * True if a PRACK acknowledges the current response. The caller answers the PRACK and then calls
   * `answered`.
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

  /** PRACK was answered: the next response follows. */
  answered(): void {
    const current = this.#current;
    this.#current = undefined;
    current?.pracked();
    if (!this.open) this.#next();
  }

  /** Stops the repetitions: PRACK came, or the INVITE got its final response. */
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
