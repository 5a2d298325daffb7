// Checks with OPTIONS at intervals whether a trunk answers (RFC 3261, section 11). Every response except 503
// and 408 counts as an answer.
import type { Time } from '../../src/time.js';
import type { Journey, RequestSender, SendOutcome } from '../client/request-sender.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';

interface HealthOptions {
  readonly sender: Pick<RequestSender, 'send'>;
  readonly journey: () => Journey;
  /** Request-URI and From. */
  readonly target: string;
  readonly from: string;
  readonly intervalSeconds: number;
  /** Further header fields: Route of an outbound proxy, User-Agent. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  readonly random: () => number;
  readonly token: () => string;
  /** Called when the trunk becomes reachable or unreachable. */
  readonly changed?: (reachable: boolean) => void;
}

const FAILURES_UNTIL_DOWN = 2;

export class Health {
  readonly #options: HealthOptions;
  #failures = 0;
  #reachable = true; // until a check fails
  #cancelTimer = (): void => undefined;
  #closed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Begins after a random delay, so that several trunks are not checked at once. */
  start(): void {
    this.#next(this.#options.random() * 1000);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #next(delayMs: number): void {
    if (this.#closed) return;
    this.#cancelTimer = this.#options.time.after(delayMs, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const { sender, journey, random, intervalSeconds } = this.#options;
    const callId = this.#options.token();
    const tag = this.#options.token();
    let cseq = 0;
    const outcome = await sender.send((more) => this.#request(callId, tag, ++cseq, more), journey());
    if (this.#closed) return;
    this.#checked(isAnswer(outcome));
    this.#next(intervalSeconds * (900 + 200 * random()));
  }

  #checked(answered: boolean): void {
    this.#failures = answered ? 0 : this.#failures + 1;
    const reachable = answered || (this.#reachable && this.#failures < FAILURES_UNTIL_DOWN);
    if (reachable === this.#reachable) return;
    this.#reachable = reachable;
    this.#options.changed?.(reachable);
  }

  #request(callId: string, tag: string, cseq: number, more: readonly HeaderLine[]): RequestData {
    const { target, from, headers = [] } = this.#options;
    return {
      method: 'OPTIONS',
      uri: target,
      headers: [
        ['From', `<${from}>;tag=${tag}`],
        ['To', `<${target}>`],
        ['Call-ID', callId],
        ['CSeq', `${cseq} OPTIONS`],
        ['Accept', 'application/sdp'],
        ...headers,
        ...more,
      ],
    };
  }
}

function isAnswer(outcome: SendOutcome): boolean {
  return 'response' in outcome && outcome.response.status !== 503 && outcome.response.status !== 408;
}
