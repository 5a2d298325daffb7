// Whether a trunk answers: OPTIONS now and then (RFC 3261, section 11). Any
// answer says that somebody is there, but 503 and 408.
import type { Time } from '../../src/time.js';
import type { Journey, RequestSender, SendOutcome } from '../client/request-sender.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';

export interface HealthOptions {
  readonly sender: Pick<RequestSender, 'send'>;
  readonly journey: () => Journey;
  /** Request-URI, and whom it is from. */
  readonly target: string;
  readonly from: string;
  readonly intervalSeconds: number;
  /** Further fields: Route of an outbound proxy, User-Agent. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly token: () => string;
  /** It went up or down. */
  readonly changed?: (reachable: boolean) => void;
}

const FAILURES_UNTIL_DOWN = 2;

export class Health {
  readonly #options: HealthOptions;
  #failures = 0;
  #reachable = true; // until the opposite shows
  #callOff = (): void => undefined;
  #closed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Asks soon: several trunks do not ask at once. */
  start(): void {
    this.#next(this.#options.random() * 1000);
  }

  close(): void {
    this.#closed = true;
    this.#callOff();
  }

  #next(delayMs: number): void {
    if (this.#closed) return;
    this.#callOff = this.#options.time.after(delayMs, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const { sender, journey, random, intervalSeconds } = this.#options;
    const callId = this.#options.token();
    const tag = this.#options.token();
    let cseq = 0;
    const outcome = await sender.send((more) => this.#request(callId, tag, ++cseq, more), journey());
    if (this.#closed) return;
    this.#heard(isAnswer(outcome));
    this.#next(intervalSeconds * (900 + 200 * random()));
  }

  #heard(answered: boolean): void {
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
