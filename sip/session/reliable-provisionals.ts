// Provisional responses that are repeated until their PRACK comes (RFC 3262,
// section 3): one at a time, numbered from a random beginning.
import { refusal } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { SessionContext } from './session-context.js';

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
