// A trunk in operation: it registers, checks whether the far end answers, and limits its calls. Trunks keeps
// all of them in order; TrunkTurn takes one call through them.
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import { DigestClient } from '../auth/digest-client.js';
import { knownPeer } from '../auth/digest.js';
import { PeerAccount } from '../client/peer-account.js';
import type { Journey, PeerJourney, RequestSender } from '../client/request-sender.js';
import { AddressList } from '../guard/address-list.js';
import { SourceRates } from '../guard/source-rates.js';
import { parseNameAddr, parseUri, type Uri } from '../message/uri.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';
import { addressAt } from './call-fields.js';
import { Health } from './health.js';
import { Registration, type RegistrationState } from './registration.js';
import type { TrunkSettings, TrunkTransport } from './trunk-settings.js';

/**
 * Makes the URI of a user of this server, as peers over that transport reach it. `flow` is the flow of the
 * request, if it is known already; over TLS it may be the only way back.
 */
export type ContactMaker = (
  user: string,
  transport: TrunkTransport | undefined,
  flow: Flow | undefined,
) => string;

interface TrunkOptions {
  readonly settings: TrunkSettings;
  readonly sender: Pick<RequestSender, 'send'>;
  readonly contact: ContactMaker;
  /** Further header fields: User-Agent. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  readonly random: () => number;
  /** A new random token at each call, unpredictable for others. */
  readonly token: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Called for the log when the registration or the reachability changes. */
  readonly changed?: (name: string, change: RegistrationState | { readonly reachable: boolean }) => void;
}

/** Reason why a trunk takes no call now. */
type TrunkRefusal =
  | { readonly reason: 'closing' | 'unregistered' | 'down' | 'most-calls' }
  /** It answered 503, or the calls per second have reached their limit. */
  | { readonly reason: 'paused' | 'rate'; readonly waitMs: number };

interface TrunkView {
  readonly name: string;
  /** Undefined if it does not register. */
  readonly registration: RegistrationState | undefined;
  /** Undefined if no health checks are configured. */
  readonly reachable: boolean | undefined;
  readonly calls: number;
}

const LONGEST_PAUSE_MS = 300_000;

export class Trunk {
  readonly settings: TrunkSettings;
  readonly account: PeerAccount | undefined;
  readonly #options: TrunkOptions;
  readonly #home: Uri;
  readonly #addresses: AddressList;
  readonly #rates: SourceRates | undefined;
  readonly #registration: Registration | undefined;
  readonly #health: Health | undefined;
  #calls = 0;
  #pausedUntilMs = -Infinity;
  #closed: Promise<void> | undefined;

  constructor(options: TrunkOptions) {
    const { settings, time } = options;
    const { callsPerSecond } = settings;
    this.#options = options;
    this.settings = settings;
    this.#home = homeOf(settings);
    this.#addresses = new AddressList(settings.addresses);
    this.account = accountOf(options, this.#addresses);
    if (callsPerSecond !== undefined) {
      const burst = Math.max(1, Math.ceil(callsPerSecond));
      this.#rates = new SourceRates({ perSecond: callsPerSecond, burst, mostSources: 1 }, time);
    }
    this.#registration = this.#registers();
    this.#health = this.#asks();
  }

  get name(): string {
    return this.settings.name;
  }

  get view(): TrunkView {
    const { name } = this;
    const registration = this.#registration?.state;
    return { name, registration, reachable: this.#health?.reachable, calls: this.#calls };
  }

  /** True for the address of the registrar: its calls are accepted. */
  isAt(address: string): boolean {
    return this.#registration?.registrar === address;
  }

  /** True if calls from this address are its calls: the registrar's address, or a configured one. */
  owns(address: string): boolean {
    return this.isAt(address) || this.#addresses.has(address);
  }

  /** True if `user` is our Contact user at this trunk. */
  knowsAs(user: string | undefined): boolean {
    const { register, username } = this.settings;
    return user !== undefined && user === (register?.contactUser ?? username);
  }

  start(): void {
    this.#registration?.start();
    this.#health?.start();
  }

  /** Why the trunk takes no call now; undefined if it takes one. Counts nothing. */
  get refusal(): TrunkRefusal | undefined {
    if (this.#closed !== undefined) return { reason: 'closing' };
    if (this.#registration?.state.registered === false) return { reason: 'unregistered' };
    if (this.#health?.reachable === false) return { reason: 'down' };
    const pausedMs = this.#pausedUntilMs - this.#options.time.now();
    if (pausedMs > 0) return { reason: 'paused', waitMs: pausedMs };
    if (this.#calls >= (this.settings.mostCalls ?? Infinity)) return { reason: 'most-calls' };
    const waitMs = this.#rates?.waitMs(this.name) ?? 0;
    return waitMs > 0 ? { reason: 'rate', waitMs } : undefined;
  }

  /** Counts a call of this trunk until the returned function is called, or returns why it takes none. */
  take(): (() => void) | TrunkRefusal {
    const { refusal } = this;
    if (refusal !== undefined) return refusal;
    this.#rates?.take(this.name);
    return this.counted();
  }

  /** Counts an existing call, such as an incoming one. */
  counted(): () => void {
    let counts = true;
    this.#calls++;
    return () => {
      if (counts) this.#calls--;
      counts = false;
    };
  }

  /** The trunk is overloaded: it takes no calls for that time, five minutes at most. */
  pause(forMs: number): void {
    this.#pausedUntilMs = this.#options.time.now() + Math.min(forMs, LONGEST_PAUSE_MS);
  }

  /**
   * Route values for a call: the outbound proxy if it is a loose router, then the Service-Route (RFC 3608).
   */
  get routes(): readonly string[] {
    return [...this.#proxyRoute, ...(this.#registration?.serviceRoute ?? [])];
  }

  /**
   * Next hop for a request to this URI outside of dialogs: the proxy, else the first route, else the domain.
   */
  journeyOf(uri: string): Journey {
    const [first] = this.#registration?.serviceRoute ?? [];
    const route = first === undefined ? undefined : parseNameAddr(first)?.uri;
    const journey = this.#journeyTo(this.settings.proxy ?? route ?? this.#home);
    return /^sips:/i.test(uri) ? secured(journey) : journey;
  }

  /** Account and transport for requests within its calls. */
  get within(): PeerJourney {
    return { account: this.account, udpOnly: this.settings.transport === 'udp' || undefined };
  }

  /** The Contact URI of a user of this server for a request on this flow. */
  contact(user: string, flow: Flow | undefined): string {
    return this.#options.contact(user, this.settings.transport, flow);
  }

  /** Removes the registration; resolves within some seconds. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#health?.close();
    await this.#registration?.close();
  }

  get #proxyRoute(): readonly string[] {
    const { proxy } = this.settings;
    return proxy?.params.has('lr') === true ? [`<${proxy.text}>`] : [];
  }

  #journeyTo(nextHop: Uri): Journey {
    const flow = this.#registration?.flow;
    const { transport } = this.settings;
    return {
      nextHop: transport === undefined ? nextHop : over(nextHop, transport),
      flow,
      leadsToPeer: this.account !== undefined,
      ...this.within,
    };
  }

  #registers(): Registration | undefined {
    const { settings, changed } = this.#options;
    const { register, username, domain, proxy } = settings;
    if (register === undefined) return undefined;
    const user = register.contactUser ?? username ?? '';
    return new Registration({
      ...this.#upkeep(),
      journey: () => this.#journeyTo(proxy ?? this.#home),
      registrar: `sip:${domain}`,
      address: addressAt(username ?? user, domain),
      contact: (flow) => this.contact(user, flow),
      expires: register.expires,
      changed: (state) => changed?.(this.name, state),
    });
  }

  #asks(): Health | undefined {
    const { settings, changed } = this.#options;
    const { options, domain, username } = settings;
    if (options === undefined) return undefined;
    return new Health({
      ...this.#upkeep(),
      journey: () => this.#journeyTo(settings.proxy ?? this.#home),
      target: `sip:${domain}`,
      from: addressAt(username ?? 'ping', domain),
      intervalSeconds: options.intervalSeconds,
      changed: (reachable) => changed?.(this.name, { reachable }),
    });
  }

  #upkeep() {
    const { sender, time, random, token, headers = [] } = this.#options;
    const routes = this.#proxyRoute.map((route): HeaderLine => ['Route', route]);
    return { sender, time, random, token, headers: [...routes, ...headers] };
  }
}

/** The configured transport overrides the one in the URI. */
function over(uri: Uri, transport: TrunkTransport): Uri {
  return { ...uri, params: uri.params.with('transport', transport) };
}

/** Every hop to a sips URI uses TLS (RFC 3261, section 26.2.2). A flow without TLS is not used. */
function secured({ flow, nextHop, ...journey }: Journey): Journey {
  const isSecure = flow?.transport === 'tls';
  return { ...journey, nextHop: { ...nextHop, scheme: 'sips' }, flow: isSecure ? flow : undefined };
}

function homeOf({ domain, name }: TrunkSettings): Uri {
  const uri = parseUri(`sip:${domain}`);
  // The reader in trunk-settings.ts has checked it.
  if (uri === undefined) throw new TypeError(`the domain of trunk ${name} is none`);
  return uri;
}

function accountOf({ settings, randomBytes }: TrunkOptions, listed: AddressList): PeerAccount | undefined {
  const { name, username, password, authRealms, transport } = settings;
  if (username === undefined || password === undefined) return undefined;
  const account = { username, secret: { password }, realms: authRealms };
  return new PeerAccount({
    digest: new DigestClient(knownPeer(`trunk ${name}`), account, randomBytes),
    listed,
    secureOnly: transport === 'tls',
  });
}

// The trunks, in the order in which a call tries them.

export class Trunks {
  readonly #trunks: readonly Trunk[];
  #closed: Promise<void> | undefined;

  constructor(trunks: readonly Trunk[]) {
    this.#trunks = trunks;
  }

  get views(): readonly TrunkView[] {
    return this.#trunks.map(({ view }) => view);
  }

  get all(): readonly Trunk[] {
    return this.#trunks;
  }

  start(): void {
    for (const trunk of this.#trunks) trunk.start();
  }

  /** The trunk of this name, or all of them. Throws NOT_FOUND for an unknown name. */
  named(name: string | undefined): readonly Trunk[] {
    if (name === undefined) return this.#trunks;
    const found = this.#trunks.filter((trunk) => trunk.name === name);
    if (found.length > 0) return found;
    throw new ParleyError('NOT_FOUND', `there is no trunk named ${JSON.stringify(name.slice(0, 100))}`, {
      field: 'trunk',
    });
  }

  /**
   * The trunk of an incoming call, by its source address and our user name; the first of several accounts
   * there otherwise.
   */
  of(address: string, user: string | undefined): Trunk | undefined {
    const there = this.#trunks.filter((trunk) => trunk.owns(address));
    return there.find((trunk) => trunk.knowsAs(user)) ?? there[0];
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#trunks.map((trunk) => trunk.close())).then(() => undefined);
    return this.#closed;
  }
}

/** Takes one call through the trunks, each of them at most once. */
export class TrunkTurn {
  readonly #left: Trunk[];
  readonly #refusals: TrunkRefusal[] = [];
  #release = (): void => undefined;

  constructor(candidates: readonly Trunk[]) {
    this.#left = [...candidates];
  }

  /**
   * The next trunk that takes the call. It counts the call until `done` or the next `next`. Undefined after
   * the last trunk.
   */
  next(): Trunk | undefined {
    this.done();
    for (let trunk = this.#left.shift(); trunk !== undefined; trunk = this.#left.shift()) {
      const taken = trunk.take();
      if (typeof taken === 'function') {
        this.#release = taken;
        return trunk;
      }
      this.#refusals.push(taken);
    }
    return undefined;
  }

  done(): void {
    this.#release();
    this.#release = () => undefined;
  }

  /** Why no trunk took the call: RATE_LIMITED or CALL_LIMIT if waiting helps, else ENGINE_UNAVAILABLE. */
  refusal(): ParleyError {
    const rates = this.#refusals.flatMap((one) => ('waitMs' in one ? [one] : []));
    if (rates.some(({ reason }) => reason === 'rate')) {
      const waitMs = Math.min(...rates.map((one) => one.waitMs));
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      return new ParleyError('RATE_LIMITED', 'the trunks have had as many calls as are allowed in a second', {
        retryAfterSeconds,
      });
    }
    if (this.#refusals.some(({ reason }) => reason === 'most-calls')) {
      return new ParleyError('CALL_LIMIT', 'the trunks have as many calls as are allowed');
    }
    const why = [...new Set(this.#refusals.map(({ reason }) => reason))].join(', ');
    return new ParleyError(
      'ENGINE_UNAVAILABLE',
      `no trunk takes calls now: ${why === '' ? 'there is none' : why}`,
    );
  }
}
