// Keeps this server registered at a trunk (RFC 3261, section 10.2), so that
// calls find it: again before it expires, at once when the connection is lost,
// later and later while it fails, and taken back at the end.
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

export interface RegistrationOptions {
  readonly sender: Pick<RequestSender, 'send'>;
  /** Where it goes, asked anew each time. */
  readonly journey: () => Journey;
  /** Request-URI: the domain, without a user. */
  readonly registrar: string;
  /** The address of record: what is registered. */
  readonly address: string;
  /** The URI that calls are to come to, for a REGISTER that goes out on this flow. */
  readonly contact: (flow: Flow | undefined) => string;
  /** Seconds that are asked for. */
  readonly expires: number;
  /** Further fields: Route of an outbound proxy, User-Agent. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Random text of token characters, new at every call. */
  readonly token: () => string;
  /** After each answer, and when a registration was lost. */
  readonly changed?: (state: RegistrationState) => void;
}

export interface RegistrationState {
  readonly registered: boolean;
  /** The latest refusal; undefined after a success. `credentials` and `forbidden` are retried slowly: somebody has to mend them. */
  readonly failure: 'credentials' | 'forbidden' | 'refused' | 'unreachable' | undefined;
  readonly status: number | undefined;
}

const LONGEST_SECONDS = 86_400; // that a Min-Expires may raise it to
const SHORTEST_REFRESH_MS = 5000;
const STEADY_MS = 10_000; // a connection that is lost sooner than that is a failure
const CLOSE_MS = 4000;

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
  #callOffNext = (): void => undefined;
  #callOffLapse = (): void => undefined;
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

  /** Values for Route of what goes out by this registration (RFC 3608); none while there is no registration. */
  get serviceRoute(): readonly string[] {
    return this.#state.registered ? this.#serviceRoute : [];
  }

  /** Whoever granted it, from where calls will come. Undefined while there is no registration. */
  get registrar(): string | undefined {
    return this.#state.registered ? this.#registrar : undefined;
  }

  /** By which calls come in (RFC 3327). */
  get path(): readonly string[] {
    return this.#path;
  }

  /** The connection that the registrar knows us by, while it stands. */
  get flow(): Flow | undefined {
    return this.#flow === undefined || this.#flow.closed ? undefined : this.#flow;
  }

  /** Registers now, and keeps it up. */
  start(): void {
    if (this.#closed !== undefined || this.#asking !== undefined) return;
    this.#callOffNext();
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined;
    });
  }

  /** Takes the registration back; resolves when that was answered, after four seconds at the latest. */
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

  /** A further Contact that takes the binding of a lost connection back: the registrar would go on sending calls to it. */
  #withdrawn(contact: string): string {
    return this.#stale === undefined || this.#stale === contact ? '' : `, <${this.#stale}>;expires=0`;
  }

  /** Some registrars take one Contact alone: the old binding is then left until it expires. */
  #isTwofoldRefused(outcome: SendOutcome): boolean {
    if (!('response' in outcome) || outcome.response.status < 400 || outcome.response.status >= 500)
      return false;
    return this.#withdrawn(this.#options.contact(outcome.flow)) !== '';
  }

  /** What a 423 asks for, where that is more than was asked for and no mistake. */
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
    this.#callOffLapse();
    this.#callOffLapse = time.after(seconds * 1000, () => this.#lapsed());
    this.#watch(flow);
    if (this.#flow === undefined && flow?.reliable === true) return; // it was lost already, and that was dealt with
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

  /** Nobody refreshed it: the registrar has forgotten it. */
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
    // Calls come in by it: that it is dead would else show with the next refresh, long after.
    const keepAlive = isPingable(this.#flow)
      ? new KeepAlive(this.#flow, { time: this.#options.time })
      : undefined;
    this.#stopWatching = () => {
      stop();
      keepAlive?.close();
    };
  }

  /** Calls would come in by a connection that is no more. */
  #lost(): void {
    if (this.#flow === undefined) return;
    this.#flow = undefined;
    this.#stale = this.#binding;
    this.#stopWatching = () => undefined;
    this.#callOffLapse();
    this.#become({ ...this.#state, registered: false });
    const { time, random } = this.#options;
    if (time.now() - this.#registeredAtMs >= STEADY_MS) return this.#next(0);
    this.#failures++;
    this.#next(retryDelayMs(this.#failures, random));
  }

  #next(delayMs: number): void {
    this.#callOffNext();
    if (this.#closed !== undefined) return;
    this.#callOffNext = this.#options.time.after(delayMs, () => {
      this.#callOffNext = () => undefined;
      this.start();
    });
  }

  #become(state: RegistrationState): void {
    this.#state = state;
    if (this.#closed === undefined) this.#options.changed?.(state);
  }

  async #close(): Promise<void> {
    this.#callOffNext();
    this.#stopWatching();
    const isKnown = this.#state.registered || this.#asking !== undefined;
    if (isKnown) await this.#within(CLOSE_MS, this.#takenBack());
    this.#callOffLapse();
    this.#state = { registered: false, failure: undefined, status: undefined };
  }

  async #takenBack(): Promise<void> {
    await this.#asking;
    this.#callOffNext();
    this.#stopWatching();
    if (this.#state.registered) await this.#send(0);
  }

  #within(ms: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#options.time.after(ms, resolve);
      void work.finally(() => {
        callOff();
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

// How long a registrar has granted a Contact (RFC 3261, section 10.2.4).

const MOST_SECONDS = 86_400; // longer is as if nobody had to refresh

/**
 * Seconds: of the parameter of our Contact, of Expires, or what was asked for. A registrar that writes Contacts of its
 * own is understood where there is one alone. 0 where other Contacts are listed and ours is not.
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

/** Of one user at one place; parameters are what registrars change most. */
function isSame(one: Uri, other: Uri): boolean {
  return one.user === other.user && one.host === other.host && one.port === other.port;
}

// How long to wait after failures in a row: twice as long each time, and never
// the same for two servers that lost the same registrar (RFC 5626, section 4.5).

const BASE_MS = 30_000;
const LONGEST_MS = 1_800_000;

/** Milliseconds after the `failures`th failure: 30-60 s after the first, 15-30 min at the most. */
function retryDelayMs(failures: number, random: () => number): number {
  const upperMs = Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(failures, 16));
  return jittered(upperMs, random);
}

/** After a refusal that asking again does not change: half an hour or more, until somebody has mended it. */
function slowRetryMs(random: () => number): number {
  return 2 * jittered(LONGEST_MS, random);
}

function jittered(upperMs: number, random: () => number): number {
  return upperMs * (0.5 + random() / 2);
}
