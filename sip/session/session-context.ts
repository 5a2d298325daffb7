// Holds what all sessions of a user agent share: time, randomness, the transaction layer, the request
// sender, the table of dialogs and the counters of answered requests.
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { Journey, RequestMaker, RequestSender, SendOutcome } from '../client/request-sender.js';
import type { Refusal } from '../message/refusal.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { AcceptedAnswer, ServerTransaction } from '../transaction/server-transaction.js';
import { lifetime, SIP_TIMERS, type SipTimers } from '../transaction/timer-queue.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import { DialogTable, type KnownDialog } from './dialog-table.js';
import type { SessionMedia } from './session.js';

export interface SessionContextOptions {
  readonly time: Time;
  /** Returns a new unpredictable random token at each call. */
  readonly token: () => string;
  /** Returns a random integer from 0 to below `below`. */
  readonly randomInt: (below: number) => number;
  /** Value of Server and User-Agent; not sent if empty. */
  readonly product: string;
  /** Requested session interval in seconds; 0 requests none. */
  readonly sessionSeconds: number;
  /** Shortest accepted session interval in seconds. */
  readonly leastSeconds: number;
  /** Same values as in the transaction layer. */
  readonly durations?: Partial<SipTimers>;
  /**
   * Called for every final response: `in` for requests of peers, `out` for ours (408 and 503 stand for a
   * missing answer).
   */
  readonly onResponse?: (direction: 'in' | 'out', method: string, status: number) => void;
  /** Called with the media of a call before anything of the call is sent. */
  readonly carried?: (callId: string, media: SessionMedia) => void;
}

export class SessionContext {
  readonly time: Time;
  readonly token: () => string;
  readonly randomInt: (below: number) => number;
  readonly sessionSeconds: number;
  readonly leastSeconds: number;
  readonly durations: SipTimers;
  readonly dialogs: DialogTable<KnownDialog>;
  readonly #product: string;
  readonly #onResponse: SessionContextOptions['onResponse'];
  readonly #carried: SessionContextOptions['carried'];
  #layer: Pick<TransactionLayer, 'accept'> | undefined;
  #sender: RequestSender | undefined;

  constructor(options: SessionContextOptions) {
    this.time = options.time;
    this.token = options.token;
    this.randomInt = options.randomInt;
    this.sessionSeconds = options.sessionSeconds;
    this.leastSeconds = options.leastSeconds;
    this.durations = { ...SIP_TIMERS, ...options.durations };
    this.dialogs = new DialogTable(options.time, lifetime(this.durations));
    this.#product = options.product;
    this.#onResponse = options.onResponse;
    this.#carried = options.carried;
  }

  /** 64 T1: the longest wait for anything that a peer has to do. */
  get patienceMs(): number {
    return lifetime(this.durations);
  }

  start(layer: Pick<TransactionLayer, 'accept'>, sender: RequestSender): void {
    this.#layer = layer;
    this.#sender = sender;
  }

  /** Throws WRONG_STATE before `start`. */
  get sender(): RequestSender {
    if (this.#sender === undefined) throw notStarted();
    return this.#sender;
  }

  /** User-Agent field of requests. */
  get userAgent(): readonly HeaderLine[] {
    return this.#product === '' ? [] : [['User-Agent', this.#product]];
  }

  /** Sends a response; false if it is too late. */
  respond(transaction: ServerTransaction, response: Omit<ResponseData, 'toTag'>): boolean {
    const sent = transaction.respond(this.#named(response));
    if (sent && response.status >= 200) this.#onResponse?.('in', transaction.request.method, response.status);
    return sent;
  }

  /** Counts a request that was refused without a transaction. */
  refused(method: string, status: number): void {
    this.#onResponse?.('in', method, status);
  }

  refuse(transaction: ServerTransaction, { status, reason, headers }: Refusal): boolean {
    return this.respond(transaction, { status, reason, headers });
  }

  /** Answers an INVITE with a 2xx that is repeated until it is stopped; undefined if it is too late. */
  accept(
    transaction: ServerTransaction,
    response: Omit<ResponseData, 'toTag'>,
    unanswered: () => void,
  ): AcceptedAnswer | undefined {
    if (this.#layer === undefined) throw notStarted();
    const answer = this.#layer.accept(transaction, this.#named(response), unanswered);
    if (answer !== undefined) this.#onResponse?.('in', 'INVITE', response.status);
    return answer;
  }

  async send(method: string, make: RequestMaker, journey: Journey): Promise<SendOutcome> {
    const outcome = await this.sender.send(make, journey);
    this.sent(method, outcome);
    return outcome;
  }

  /** Counts the outcome of a request of ours. */
  sent(method: string, outcome: SendOutcome): void {
    this.#onResponse?.('out', method, statusOf(outcome));
  }

  /** Assigns the media to a call. */
  carried(callId: string, media: SessionMedia): void {
    this.#carried?.(callId, media);
  }

  #named(response: Omit<ResponseData, 'toTag'>): Omit<ResponseData, 'toTag'> {
    if (this.#product === '' || response.status === 100) return response;
    return { ...response, headers: [...(response.headers ?? []), ['Server', this.#product]] };
  }
}

/** Status of an outcome; a missing answer counts as 408 or 503. */
export function statusOf(outcome: SendOutcome): number {
  return 'response' in outcome ? outcome.response.status : outcome.failure.status;
}

function notStarted(): ParleyError {
  return new ParleyError('WRONG_STATE', 'the user agent was not given its transaction layer yet');
}
