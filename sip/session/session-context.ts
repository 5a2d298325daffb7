// What all sessions of a user agent share: time and randomness, the transaction
// layer below, the way out, the table of dialogs, and who counts.
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { Journey, RequestMaker, RequestSender, SendOutcome } from '../client/request-sender.js';
import { DialogTable } from './dialog-table.js';
import type { Refusal } from '../message/refusal.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { AcceptedAnswer, ServerTransaction } from '../transaction/server-transaction.js';
import { lifetime, SIP_TIMERS, type SipTimers } from '../transaction/timer-queue.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import type { InDialog } from './in-dialog.js';
import type { SessionMedia } from './session.js';

export interface SessionContextOptions {
  readonly time: Time;
  /** Random text of token characters, new at every call; nobody may guess it. */
  readonly token: () => string;
  /** A whole number from 0 to below `below`, at random. */
  readonly randomInt: (below: number) => number;
  /** For Server and User-Agent; not sent where it is empty. */
  readonly product: string;
  /** The session interval that is asked for, in seconds; 0 asks for none. */
  readonly sessionSeconds: number;
  /** The shortest session interval that is accepted, in seconds. */
  readonly leastSeconds: number;
  /** As those of the transaction layer. */
  readonly durations?: Partial<SipTimers>;
  /** Every request that was answered for good: `in` those of peers, `out` ours (408 and 503 where no answer came). */
  readonly onResponse?: (direction: 'in' | 'out', method: string, status: number) => void;
  /** That this media carries this call, before anything of it is sent. */
  readonly carried?: (callId: string, media: SessionMedia) => void;
}

export class SessionContext {
  readonly time: Time;
  readonly token: () => string;
  readonly randomInt: (below: number) => number;
  readonly sessionSeconds: number;
  readonly leastSeconds: number;
  readonly durations: SipTimers;
  readonly dialogs: DialogTable<InDialog>;
  readonly #product: string;
  readonly #told: SessionContextOptions['onResponse'];
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
    this.#told = options.onResponse;
    this.#carried = options.carried;
  }

  /** 64 T1: how long anything is waited for that a peer is to do. */
  get patienceMs(): number {
    return lifetime(this.durations);
  }

  start(layer: Pick<TransactionLayer, 'accept'>, sender: RequestSender): void {
    this.#layer = layer;
    this.#sender = sender;
  }

  /** WRONG_STATE before `start`. */
  get sender(): RequestSender {
    if (this.#sender === undefined) throw notStarted();
    return this.#sender;
  }

  /** The name of this server for requests. */
  get userAgent(): readonly HeaderLine[] {
    return this.#product === '' ? [] : [['User-Agent', this.#product]];
  }

  /** False if it is too late. */
  respond(transaction: ServerTransaction, response: Omit<ResponseData, 'toTag'>): boolean {
    const sent = transaction.respond(this.#named(response));
    if (sent && response.status >= 200) this.#told?.('in', transaction.request.method, response.status);
    return sent;
  }

  /** A request of a peer was refused without a transaction. */
  refused(method: string, status: number): void {
    this.#told?.('in', method, status);
  }

  refuse(transaction: ServerTransaction, { status, reason, headers }: Refusal): boolean {
    return this.respond(transaction, { status, reason, headers });
  }

  /** A 2xx to an INVITE, repeated until it is stopped; undefined if it is too late. */
  accept(transaction: ServerTransaction, response: Omit<ResponseData, 'toTag'>, unanswered: () => void): AcceptedAnswer | undefined {
    if (this.#layer === undefined) throw notStarted();
    const answer = this.#layer.accept(transaction, this.#named(response), unanswered);
    if (answer !== undefined) this.#told?.('in', 'INVITE', response.status);
    return answer;
  } // prettier-ignore

  async send(method: string, make: RequestMaker, journey: Journey): Promise<SendOutcome> {
    const outcome = await this.sender.send(make, journey);
    this.sent(method, outcome);
    return outcome;
  }

  /** What came of a request of ours, for whoever counts. */
  sent(method: string, outcome: SendOutcome): void {
    this.#told?.('out', method, statusOf(outcome));
  }

  /** This media carries this call from now on. */
  carried(callId: string, media: SessionMedia): void {
    this.#carried?.(callId, media);
  }

  #named(response: Omit<ResponseData, 'toTag'>): Omit<ResponseData, 'toTag'> {
    if (this.#product === '' || response.status === 100) return response;
    return { ...response, headers: [...(response.headers ?? []), ['Server', this.#product]] };
  }
}

/** Of a request that nobody answered, the status that stands for that. */
export function statusOf(outcome: SendOutcome): number {
  return 'response' in outcome ? outcome.response.status : outcome.failure.status;
}

function notStarted(): ParleyError {
  return new ParleyError('WRONG_STATE', 'the user agent was not given its transaction layer yet');
}
