// Holds what all sessions of a user agent share: time, randomness, the transaction layer, the request
// sender, the table of dialogs and the counters of answered requests.
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { Journey, RequestMaker, RequestSender, SendOutcome } from '../client/request-sender.js';
import type { SipRequest } from '../message/message.js';
import type { Refusal } from '../message/refusal.js';
import type { HeaderLine, ResponseData } from '../message/serialiser.js';
import type { AcceptedAnswer, ServerTransaction } from '../transaction/server-transaction.js';
import { lifetime, SIP_TIMERS, type SipTimers } from '../transaction/timer-queue.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import { type DialogId, dialogKey } from './dialog.js';
import type { Session, SessionEnd, SessionMedia } from './session.js';

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

interface TabledDialog {
  readonly dialog: DialogId;
  readonly confirmed: boolean;
}

/** A dialog that a received request may name: in its tags, or in Replaces. */
export interface KnownDialog extends TabledDialog {
  readonly session: Session;
  /** True if we sent the INVITE that began it. */
  readonly calling: boolean;
  readonly ended: boolean;
  /** Handles a request within the dialog that the user agent has checked. */
  request(request: SipRequest, transaction: ServerTransaction): void;
  acknowledged(ack: SipRequest): void;
  bye(end: SessionEnd): Promise<void>;
}

const MOST_ENDED = 10_000;

/**
 * Finds the early and confirmed dialogs of a user agent by the IDs of their requests. Ended dialogs are
 * remembered for a while, because RFC 3891 answers for them differently than for unknown ones.
 */
export class DialogTable<T extends TabledDialog> {
  readonly #time: Time;
  readonly #rememberMs: number;
  readonly #dialogs = new Map<string, T>();
  /** Dialogs of peers that omit their tag, by the ID without it. */
  readonly #untagged = new Map<string, T>();
  /** End times, the oldest first. */
  readonly #ended = new Map<string, number>();

  /** Ended dialogs are remembered for `rememberMs` milliseconds. */
  constructor(time: Time, rememberMs: number) {
    this.#time = time;
    this.#rememberMs = rememberMs;
  }

  /** Numbers of existing dialogs; counted at each call. */
  get counts(): { readonly early: number; readonly confirmed: number } {
    let confirmed = 0;
    for (const one of this.#dialogs.values()) if (one.confirmed) confirmed++;
    return { early: this.#dialogs.size - confirmed, confirmed };
  }

  get all(): readonly T[] {
    return [...this.#dialogs.values()];
  }

  /** A peer that omitted its tag once is found by requests with and without one. */
  find(id: DialogId): T | undefined {
    return this.#dialogs.get(dialogKey(id)) ?? this.#untagged.get(untaggedKey(id));
  }

  /** True if the dialog ended recently. */
  hasEnded(id: DialogId): boolean {
    const atMs = this.#ended.get(dialogKey(id)) ?? this.#ended.get(untaggedKey(id));
    return atMs !== undefined && this.#time.now() - atMs < this.#rememberMs;
  }

  add(one: T): void {
    this.#dialogs.set(dialogKey(one.dialog), one);
    if (one.dialog.remoteTag === '') this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** The peer of this dialog omitted the tag that it sent before. */
  lostTag(one: T): void {
    if (this.#dialogs.get(dialogKey(one.dialog)) === one) this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** Idempotent; another dialog with the same ID stays. */
  remove(one: T): void {
    const key = dialogKey(one.dialog);
    if (this.#dialogs.get(key) !== one) return;
    this.#dialogs.delete(key);
    this.#ended.set(key, this.#time.now());
    const untagged = untaggedKey(one.dialog);
    if (this.#untagged.get(untagged) === one) {
      this.#untagged.delete(untagged);
      this.#ended.set(untagged, this.#time.now());
    }
    this.#forget();
  }

  #forget(): void {
    const oldestMs = this.#time.now() - this.#rememberMs;
    for (const [key, atMs] of this.#ended) {
      if (atMs > oldestMs && this.#ended.size <= MOST_ENDED) break;
      this.#ended.delete(key);
    }
  }
}

function untaggedKey({ callId, localTag }: DialogId): string {
  return dialogKey({ callId, localTag, remoteTag: '' });
}
