// One trunk at work: registered where it must be, asked whether it answers,
// and counted: how many calls it has and how fast they may come.
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import { DigestClient } from '../auth/digest-client.js';
import { knownPeer } from '../auth/known-peer.js';
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
 * The URI of a user of this server, as peers over that transport reach it. `flow`: what the request goes out on, where
 * that is known already; over TLS it may be the only way back.
 */
export type ContactMaker = (
  user: string,
  transport: TrunkTransport | undefined,
  flow: Flow | undefined,
) => string;

export interface TrunkOptions {
  readonly settings: TrunkSettings;
  readonly sender: Pick<RequestSender, 'send'>;
  readonly contact: ContactMaker;
  /** User-Agent, or nothing. */
  readonly headers?: readonly HeaderLine[];
  readonly time: Time;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Random text of token characters, new at every call; nobody may guess it. */
  readonly token: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** For the log: the registration changed, or the trunk went up or down. */
  readonly changed?: (name: string, change: RegistrationState | { readonly reachable: boolean }) => void;
}

/** Why a trunk takes no call now. */
type TrunkRefusal =
  | { readonly reason: 'closing' | 'unregistered' | 'down' | 'most-calls' }
  /** It said 503, or has had as many calls in this second as are allowed. */
  | { readonly reason: 'paused' | 'rate'; readonly waitMs: number };

interface TrunkView {
  readonly name: string;
  /** Undefined where it does not register. */
  readonly registration: RegistrationState | undefined;
  /** Undefined where nobody asks. */
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

  /** Whether calls may come from there: it is where this server is registered. */
  isAt(address: string): boolean {
    return this.#registration?.registrar === address;
  }

  /** Whether calls from there are its calls: by what is configured, too. */
  owns(address: string): boolean {
    return this.isAt(address) || this.#addresses.has(address);
  }

  /** Whether it knows us under this name, as the user of a Contact. */
  knowsAs(user: string | undefined): boolean {
    const { register, username } = this.settings;
    return user !== undefined && user === (register?.contactUser ?? username);
  }

  start(): void {
    this.#registration?.start();
    this.#health?.start();
  }

  /** Why it takes no call now; undefined where it does. Counts nothing. */
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

  /** Counts a call of this trunk, until the function returned is called; or says why not. */
  take(): (() => void) | TrunkRefusal {
    const { refusal } = this;
    if (refusal !== undefined) return refusal;
    this.#rates?.take(this.name);
    return this.counted();
  }

  /** Counts a call that is there already, such as one that came in. */
  counted(): () => void {
    let counts = true;
    this.#calls++;
    return () => {
      if (counts) this.#calls--;
      counts = false;
    };
  }

  /** It said that it has too much to do: no calls for so long, five minutes at most. */
  pause(forMs: number): void {
    this.#pausedUntilMs = this.#options.time.now() + Math.min(forMs, LONGEST_PAUSE_MS);
  }

  /** Values for Route of a call: the outbound proxy where it routes loosely, and what the registrar said (RFC 3608). */
  get routes(): readonly string[] {
    return [...this.#proxyRoute, ...(this.#registration?.serviceRoute ?? [])];
  }

  /** Where a request to this URI outside of dialogs goes: the proxy, else the first route, else the domain. */
  journeyOf(uri: string): Journey {
    const [first] = this.#registration?.serviceRoute ?? [];
    const route = first === undefined ? undefined : parseNameAddr(first)?.uri;
    const journey = this.#journeyTo(this.settings.proxy ?? route ?? this.#home);
    return /^sips:/i.test(uri) ? secured(journey) : journey;
  }

  /** What requests within its calls keep to. */
  get within(): PeerJourney {
    return {
      ...(this.account === undefined ? {} : { account: this.account }),
      ...(this.settings.transport === 'udp' ? { udpOnly: true } : {}),
    };
  }

  /** Of a user of this server, for Contact of what goes out on this flow. */
  contact(user: string, flow: Flow | undefined): string {
    return this.#options.contact(user, this.settings.transport, flow);
  }

  /** Takes the registration back; resolves within some seconds. */
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
    const account = this.account === undefined ? {} : { leadsToPeer: true };
    return {
      nextHop: transport === undefined ? nextHop : over(nextHop, transport),
      ...(flow === undefined ? {} : { flow }),
      ...account,
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

/** As it is located over this transport, whatever it says of one: what the trunk is configured for counts. */
function over(uri: Uri, transport: TrunkTransport): Uri {
  return { ...uri, params: uri.params.with('transport', transport) };
}

/** Every hop to a sips URI is one of TLS (RFC 3261, section 26.2.2); where the trunk has no such way, there is none. */
function secured({ flow, nextHop, ...journey }: Journey): Journey {
  const isSecure = flow?.transport === 'tls';
  return { ...journey, nextHop: { ...nextHop, scheme: 'sips' }, ...(isSecure ? { flow } : {}) };
}

/** The domain as a URI to be located. */
function homeOf({ domain, name }: TrunkSettings): Uri {
  const uri = parseUri(`sip:${domain}`);
  if (uri === undefined) throw new TypeError(`the domain of trunk ${name} is none`); // trunk-file.ts has judged it
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

// All trunks, in the order in which they are tried for a call.

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

  /** The one of this name alone, or all of them. NOT_FOUND for a name that no trunk has. */
  named(name: string | undefined): readonly Trunk[] {
    if (name === undefined) return this.#trunks;
    const found = this.#trunks.filter((trunk) => trunk.name === name);
    if (found.length > 0) return found;
    throw new ParleyError('NOT_FOUND', `there is no trunk named ${JSON.stringify(name.slice(0, 100))}`, {
      field: 'trunk',
    });
  }

  /** The one that calls from this address to this user of ours are of; of several accounts there, else the first. */
  of(address: string, user: string | undefined): Trunk | undefined {
    const there = this.#trunks.filter((trunk) => trunk.owns(address));
    return there.find((trunk) => trunk.knowsAs(user)) ?? there[0];
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#trunks.map((trunk) => trunk.close())).then(() => undefined);
    return this.#closed;
  }
}

/** One call's way through the trunks: each of them at most once. */
export class TrunkTurn {
  readonly #left: Trunk[];
  readonly #refusals: TrunkRefusal[] = [];
  #release = (): void => undefined;

  constructor(candidates: readonly Trunk[]) {
    this.#left = [...candidates];
  }

  /** The next trunk that takes a call, which counts as its call until `done` or the next `next`; undefined after the last. */
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

  /** The call is over. */
  done(): void {
    this.#release();
    this.#release = () => undefined;
  }

  /** Why none took the call: RATE_LIMITED or CALL_LIMIT where waiting helps, else ENGINE_UNAVAILABLE. */
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
