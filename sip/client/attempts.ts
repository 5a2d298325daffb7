// Chooses the next attempt of one request: the next target if one fails, and credentials if one
// challenges. It sends nothing itself.
import type { AuthorizationField } from '../auth/digest-client.js';
import type { SipResponse } from '../message/message.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import { wholeNumber } from '../message/scanner.js';
import type { ClientFailure } from '../transaction/client-transaction.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { Target } from '../transport/outbound.js';
import { type SenderContext, TargetWalk, UNREACHABLE_MS } from './target-walk.js';
import type { Journey, RequestMaker, SendOutcome } from './request-sender.js';

export interface Attempt {
  readonly data: UnsentRequest;
  readonly target: Target;
  /** Credentials among the headers of `data`. */
  readonly credentials: readonly HeaderLine[];
}

const MOST_CHALLENGES = 3; // per target: a proxy, the server behind it, and a stale nonce
const OVERLOADED_MS = 5000; // default without a Retry-After
const MOST_RETRY_AFTER = 2 ** 31;

export class Attempts {
  readonly #make: RequestMaker;
  readonly #journey: Journey;
  readonly #context: SenderContext;
  readonly #walk: TargetWalk;
  #sent: readonly AuthorizationField[] = [];
  #challenges = 0;

  constructor(make: RequestMaker, journey: Journey, context: SenderContext) {
    this.#make = make;
    this.#journey = journey;
    this.#context = context;
    this.#walk = new TargetWalk(journey, context);
  }

  /** Undefined if there is no target, or after `close`. */
  async first(): Promise<Attempt | undefined> {
    const target = await this.#walk.next();
    if (target === undefined) return undefined;
    if (this.#journey.leadsToPeer === true) this.#journey.account?.found(target);
    return this.#fresh(target);
  }

  /** Returns the attempt that follows this outcome; undefined if the outcome is final. */
  async after(outcome: SendOutcome, { data, target }: Attempt): Promise<Attempt | undefined> {
    const { passedOver } = this.#context;
    if ('failure' in outcome) {
      if (isOurs(outcome.failure)) return undefined;
      const reopens = outcome.failure.reason === 'closed' && this.#walk.reopens(target);
      if (!reopens) passedOver.add(target, UNREACHABLE_MS);
      return this.first();
    }
    const { response } = outcome;
    if (response.status === 503) {
      passedOver.add(target, retryAfterMs(response) ?? OVERLOADED_MS);
      return this.first();
    }
    passedOver.remove(target);
    const isChallenge = response.status === 401 || response.status === 407;
    return isChallenge ? this.#answered(response, data, target) : undefined;
  }

  /** Stops the attempts; a pending one resolves with undefined. */
  close(): void {
    this.#walk.close();
  }

  /** Adds the credentials that this target has asked for before, if it is the account's peer. */
  #fresh(target: Target): Attempt {
    const data = this.#make([]);
    this.#sent = this.#journey.account?.authorize(target, { ...data, body: bodyOf(data) }) ?? [];
    this.#challenges = 0;
    const credentials = linesOf(this.#sent);
    return { data: { ...data, headers: [...data.headers, ...credentials] }, target, credentials };
  }

  #answered(response: SipResponse, challenged: RequestData, target: Target): Attempt | undefined {
    const { account } = this.#journey;
    this.#challenges++;
    if (account === undefined || this.#challenges > MOST_CHALLENGES) return undefined;
    const challenges = { www: response.all('www-authenticate'), proxy: response.all('proxy-authenticate') };
    // The challenge matched a branch that only the recipient of the request can know.
    const asked = { ...challenged, body: bodyOf(challenged) };
    const verdict = account.answer(target, challenges, asked, this.#sent);
    if ('failure' in verdict) return undefined;
    this.#sent = verdict.fields;
    const credentials = linesOf(verdict.fields);
    return { data: this.#make(credentials), target, credentials };
  }
}

/** Retry-After in milliseconds; text after the number is ignored (RFC 3261, section 20.33). */
export function retryAfterMs(response: SipResponse): number | undefined {
  const [digits = ''] = /^\d+/.exec(response.first('retry-after') ?? '') ?? [];
  const seconds = wholeNumber(digits, MOST_RETRY_AFTER);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** True for failures that another target would not change. */
function isOurs({ reason }: ClientFailure): boolean {
  return reason === 'cancelled' || reason === 'too-many';
}

function linesOf(fields: readonly AuthorizationField[]): HeaderLine[] {
  return fields.map(({ name, value }): HeaderLine => [name, value]);
}

function bodyOf({ body = '' }: RequestData): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}
