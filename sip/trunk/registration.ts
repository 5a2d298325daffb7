// Keeps this server registered at a trunk (RFC 3261, section 10.2). It refreshes before expiry, registers
// again at once when the connection is lost, waits longer after each failure, and removes the binding at the
// end.
//
//   waiting ─▶ asking ─▶ waiting ─▶ ... ─▶ closed
import type { Time } from '../../src/time.js';
import { retryAfterMs } from '../client/attempts.js';
import type { Journey, RequestSender, SendOutcome } from '../client/request-sender.js';
import { wholeNumber } from '../message/scanner.js';
import { parseNameAddr, parseUri, type Uri } from '../message/uri.js';
import type { SipResponse } from '../message/message.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { Flow } from '../transport/flow.js';
import { isPingable, KeepAlive } from '../transport/keep-alive.js';

interface RegistrationOptions {
  readonly sender: Pick<RequestSender, 'send'>;
  /** Next hop and account, asked anew for each REGISTER. */
  readonly journey: () => Journey;
  /** Request-URI: the domain, without a user. */
  readonly registrar: string;
  /** The address of record. */
  readonly address: string;
  /** The Contact URI for a REGISTER on this flow. */
  readonly contact: (flow: Flow | undefined) => string;
  /** Requested seconds. */
  readonly expires: number;
  /** Further header fields: Route of an outbound proxy, User-Agent. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  readonly random: () => number;
  /** A new random token at each call. */
  readonly token: () => string;
  /** Called after each response, and when a registration was lost. */
  readonly changed?: (state: RegistrationState) => void;
}

export interface RegistrationState {
  readonly registered: boolean;
  /**
   * The latest failure; undefined after a success. `credentials` and `forbidden` are retried slowly: an
   * operator has to correct them.
   */
  readonly failure: 'credentials' | 'forbidden' | 'refused' | 'unreachable' | undefined;
  readonly status: number | undefined;
}

const LONGEST_SECONDS = 86_400; // upper limit for a Min-Expires
const SHORTEST_REFRESH_MS = 5000;
const STEADY_MS = 10_000; // a connection that is lost sooner counts as a failure
const CLOSE_MS = 4000;
const MOST_SECONDS = 86_400; // a longer interval counts as this one
const RETRY_BASE_MS = 30_000;
const RETRY_LONGEST_MS = 1_800_000;

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #callId: string;
  readonly #tag: string;
  #cseq = 0;
  #expires: number;
  #failures = 0;
  #state: RegistrationState = { registered: false, failure: undefined, status: undefined };
  #serviceRoute: readonly string[] = [];
  #path: readonly string[] = [];
  #registrar: string | undefined;
  #flow: Flow | undefined;
  #registeredAtMs = -Infinity;
  /** Contact of the latest registration; calls to it fail once its connection is lost. */
  #binding: string | undefined;
  #stale: string | undefined;
  #asking: Promise<void> | undefined;
  #cancelNext = (): void => undefined;
  #cancelLapse = (): void => undefined;
  #stopWatching = (): void => undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#callId = options.token();
    this.#tag = options.token();
    this.#expires = options.expires;
  }

  get state(): RegistrationState {
    return this.#state;
  }

  /** Route values for requests under this registration (RFC 3608); empty without one. */
  get serviceRoute(): readonly string[] {
    return this.#state.registered ? this.#serviceRoute : [];
  }

  /** Address of the registrar, from which calls will come. Undefined without a registration. */
  get registrar(): string | undefined {
    return this.#state.registered ? this.#registrar : undefined;
  }

  /** Path of incoming calls (RFC 3327). */
  get path(): readonly string[] {
    return this.#path;
  }

  /** The connection of the registration, while it is open. */
  get flow(): Flow | undefined {
    return this.#flow === undefined || this.#flow.closed ? undefined : this.#flow;
  }

  start(): void {
    if (this.#closed !== undefined || this.#asking !== undefined) return;
    this.#cancelNext();
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined;
    });
  }

  /** Removes the registration. Resolves at the response, after four seconds at the latest. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #ask(): Promise<void> {
    let outcome = await this.#send(this.#expires);
    const least =
      'response' in outcome && outcome.response.status === 423 ? this.#leastOf(outcome.response) : undefined;
    if (least !== undefined) {
      this.#expires = least;
      outcome = await this.#send(least);
    }
    if (this.#isTwofoldRefused(outcome)) {
      this.#stale = undefined;
      outcome = await this.#send(this.#expires);
    }
    if ('response' in outcome && outcome.response.status < 300)
      this.#accepted(outcome.response, outcome.flow);
    else this.#failed(outcome);
  }

  #send(expires: number): Promise<SendOutcome> {
    const { sender, journey } = this.#options;
    return sender.send((more) => this.#request(expires, more), journey());
  }

  #request(expires: number, more: readonly HeaderLine[]): UnsentRequest {
    const { registrar, address, contact, headers = [] } = this.#options;
    return {
      method: 'REGISTER',
      uri: registrar,
      contact: (flow) => `<${contact(flow)}>${this.#withdrawn(contact(flow))}`,
      headers: [
        ['From', `<${address}>;tag=${this.#tag}`],
        ['To', `<${address}>`],
        ['Call-ID', this.#callId],
        ['CSeq', `${++this.#cseq} REGISTER`],
        ['Expires', String(expires)],
        ['Supported', 'path'],
        ...headers,
        ...more,
      ],
    };
  }

  /**
   * A further Contact that removes the binding of a lost connection: the registrar would go on sending calls
   * to it.
   */
  #withdrawn(contact: string): string {
    return this.#stale === undefined || this.#stale === contact ? '' : `, <${this.#stale}>;expires=0`;
  }

  /** Some registrars accept only one Contact: the old binding is then left to expire. */
  #isTwofoldRefused(outcome: SendOutcome): boolean {
    if (!('response' in outcome) || outcome.response.status < 400 || outcome.response.status >= 500)
      return false;
    return this.#withdrawn(this.#options.contact(outcome.flow)) !== '';
  }

  /** The interval that a 423 asks for, if it is valid and longer than the requested one. */
  #leastOf(response: SipResponse): number | undefined {
    const least = wholeNumber(response.first('min-expires') ?? '', LONGEST_SECONDS);
    return least !== undefined && least > this.#expires ? least : undefined;
  }

  #accepted(response: SipResponse, flow: Flow | undefined): void {
    const { time, random, contact } = this.#options;
    const seconds = grantedSeconds(response, contact(flow), this.#expires);
    if (seconds === 0) return this.#failed({ response });
    this.#serviceRoute = response.all('service-route');
    this.#path = response.all('path');
    this.#registrar = flow?.remote.address;
    this.#binding = contact(flow);
    this.#stale = undefined;
    this.#failures = 0;
    this.#registeredAtMs = time.now();
    this.#cancelLapse();
    this.#cancelLapse = time.after(seconds * 1000, () => this.#lapsed());
    this.#watch(flow);
    // The connection was lost meanwhile, and #lost() has handled it.
    if (this.#flow === undefined && flow?.reliable === true) return;
    this.#become({ registered: true, failure: undefined, status: response.status });
    this.#next(Math.max(seconds * (800 + 100 * random()), SHORTEST_REFRESH_MS));
  }

  #failed(outcome: SendOutcome): void {
    const { random } = this.#options;
    this.#failures++;
    const response = 'response' in outcome ? outcome.response : undefined;
    const failure = failureOf(response);
    const status = 'response' in outcome ? outcome.response.status : outcome.failure.status;
    this.#become({ ...this.#state, failure, status });
    const isSlow = failure === 'credentials' || failure === 'forbidden';
    const delayMs = isSlow ? slowRetryMs(random) : retryDelayMs(this.#failures, random);
    const askedMs =
      response?.status === 503 ? Math.min(retryAfterMs(response) ?? 0, LONGEST_SECONDS * 1000) : 0;
    this.#next(Math.max(delayMs, askedMs));
  }

  /** The registration has expired without a refresh. */
  #lapsed(): void {
    this.#become({ ...this.#state, registered: false });
  }

  #watch(flow: Flow | undefined): void {
    this.#stopWatching();
    this.#stopWatching = () => undefined;
    this.#flow = flow?.reliable === true ? flow : undefined;
    if (this.#flow === undefined) return;
    let gone = false;
    const stop = this.#flow.onClose(() => {
      gone = true;
      this.#lost();
    });
    if (gone) return;
    // Incoming calls use this connection: without pings, its loss would show only at the next refresh.
    const keepAlive = isPingable(this.#flow)
      ? new KeepAlive(this.#flow, { time: this.#options.time })
      : undefined;
    this.#stopWatching = () => {
      stop();
      keepAlive?.close();
    };
  }

  /** The connection for incoming calls was lost. */
  #lost(): void {
    if (this.#flow === undefined) return;
    this.#flow = undefined;
    this.#stale = this.#binding;
    this.#stopWatching = () => undefined;
    this.#cancelLapse();
    this.#become({ ...this.#state, registered: false });
    const { time, random } = this.#options;
    if (time.now() - this.#registeredAtMs >= STEADY_MS) return this.#next(0);
    this.#failures++;
    this.#next(retryDelayMs(this.#failures, random));
  }

  #next(delayMs: number): void {
    this.#cancelNext();
    if (this.#closed !== undefined) return;
    this.#cancelNext = this.#options.time.after(delayMs, () => {
      this.#cancelNext = () => undefined;
      this.start();
    });
  }

  #become(state: RegistrationState): void {
    this.#state = state;
    if (this.#closed === undefined) this.#options.changed?.(state);
  }

  async #close(): Promise<void> {
    this.#cancelNext();
    this.#stopWatching();
    const isKnown = this.#state.registered || this.#asking !== undefined;
    if (isKnown) await this.#within(CLOSE_MS, this.#takenBack());
    this.#cancelLapse();
    this.#state = { registered: false, failure: undefined, status: undefined };
  }

  async #takenBack(): Promise<void> {
    await this.#asking;
    this.#cancelNext();
    this.#stopWatching();
    if (this.#state.registered) await this.#send(0);
  }

  #within(ms: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = this.#options.time.after(ms, resolve);
      void work.finally(() => {
        cancelTimer();
        resolve();
      });
    });
  }
}

function failureOf(response: SipResponse | undefined): RegistrationState['failure'] {
  if (response === undefined) return 'unreachable';
  const { status } = response;
  if (status === 401 || status === 407) return 'credentials';
  if (status === 403 || status === 404) return 'forbidden';
  return 'refused';
}

/**
 * Seconds that a registrar has granted (RFC 3261, section 10.2.4): from our Contact, from Expires, or as
 * requested. If the registrar has rewritten the Contact, a single one counts as ours. 0 if only other
 * Contacts are listed.
 */
function grantedSeconds(response: SipResponse, contact: string, asked: number): number {
  const listed = response.all('contact').flatMap((value) => parseNameAddr(value) ?? []);
  const ours = parseUri(contact);
  const found =
    listed.find(({ uri }) => ours !== undefined && isSame(uri, ours)) ??
    (listed.length === 1 ? listed[0] : undefined);
  if (found === undefined && listed.length > 0) return 0;
  const granted = seconds(found?.params.get('expires')) ?? seconds(response.first('expires'));
  return Math.min(granted ?? asked, MOST_SECONDS);
}

function seconds(text: string | undefined): number | undefined {
  return wholeNumber(text?.trim() ?? '', 2 ** 32 - 1);
}

/** Compares user and place; registrars often change parameters. */
function isSame(one: Uri, other: Uri): boolean {
  return one.user === other.user && one.host === other.host && one.port === other.port;
}

/**
 * Milliseconds to wait after the `failures`th failure in a row: 30-60 s after the first, doubled each time,
 * 15-30 min at most. The random part spreads the clients of a registrar that has failed (RFC 5626, section
 * 4.5).
 */
function retryDelayMs(failures: number, random: () => number): number {
  const upperMs = Math.min(RETRY_LONGEST_MS, RETRY_BASE_MS * 2 ** Math.min(failures, 16));
  return jittered(upperMs, random);
}

/** Milliseconds to wait after a refusal that repeating does not change: at least half an hour. */
function slowRetryMs(random: () => number): number {
  return 2 * jittered(RETRY_LONGEST_MS, random);
}

function jittered(upperMs: number, random: () => number): number {
  return upperMs * (0.5 + random() / 2);
}
