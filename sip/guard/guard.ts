// Decides whether a request from the network is admitted, before any other work. Strangers get no
// answer, so that address scans find nothing; only known sources are challenged, rate-limited or
// refused with a response.
import type { Time } from '../../src/time.js';
import { knownPeer, type KnownPeer } from '../auth/digest.js';
import { refusal, type Refusal } from '../message/refusal.js';
import { AddressList, parseAddress, sourceKey } from './address-list.js';
import { type RateBounds, SourceRates } from './source-rates.js';

export interface GuardOptions {
  readonly time: Time;
  /** Addresses and networks admitted without a password. */
  readonly allowed: readonly string[];
  /** Addresses and networks admitted with a password. `allowed` takes precedence. */
  readonly challenged: readonly string[];
  /** Temporarily allowed addresses: those that a trunk resolved to. */
  readonly allowedNow?: (address: string) => boolean;
  /** Request rate of one known source; the excess is refused with 503. */
  readonly requests: RateBounds;
  /**
   * Parsing rate of one source, in units of 2 kB per message; the excess is dropped before parsing. It
   * leaves room for all messages of calls within `requests`. No limit by default.
   */
  readonly reading?: RateBounds;
  /** Rate of wrong passwords; a source above it is ignored for a while. */
  readonly failures: RateBounds;
}

export const REQUEST_BOUNDS: RateBounds = { perSecond: 50, burst: 200, mostSources: 10_000 };
const UNIT_BYTES = 2048;
/** Messages that a call sends per admitted request, with retransmissions. */
const MESSAGES_A_REQUEST = 20;

/** Bounds for `reading` from the admitted requests per second; the burst is one second's worth. */
export function readingBounds(requestsPerSecond: number): RateBounds {
  const perSecond = MESSAGES_A_REQUEST * requestsPerSecond;
  return { perSecond, burst: perSecond, mostSources: 10_000 };
}

export const FAILURE_BOUNDS: RateBounds = { perSecond: 1 / 60, burst: 10, mostSources: 10_000 };

interface GuardedRequest {
  readonly address: string;
  readonly method: string;
  readonly userAgent: string | undefined;
  /** The message belongs to a dialog or transaction of this server. */
  readonly expected: boolean;
  /** This server has sent to that address: its expected messages are admitted. */
  readonly isRecentPeer?: boolean;
}

type Decision =
  | { readonly kind: 'accept'; readonly peer: KnownPeer }
  /** Admitted with the right password only; a challenge may be sent to this peer. */
  | { readonly kind: 'challenge'; readonly peer: KnownPeer }
  /** No answer is sent. */
  | { readonly kind: 'drop'; readonly cause: DropCause }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

type DropCause = 'scanner' | 'stranger' | 'banned' | 'flood';

type GuardCounts = Readonly<Record<'accepted' | 'challenged' | 'refused' | DropCause, number>>;

export class Guard {
  readonly #sources: Sources;
  readonly #allowedNow: (address: string) => boolean;
  readonly #requests: SourceRates;
  readonly #failures: SourceRates;
  readonly #reading: SourceRates | undefined;
  readonly #counts = { accepted: 0, challenged: 0, refused: 0, scanner: 0, stranger: 0, banned: 0, flood: 0 };

  constructor({ time, allowed, challenged, allowedNow, requests, failures, reading }: GuardOptions) {
    this.#sources = new Sources({
      allowed: new AddressList(allowed),
      challenged: new AddressList(challenged),
    });
    this.#allowedNow = allowedNow ?? (() => false);
    this.#requests = new SourceRates(requests, time);
    this.#failures = new SourceRates(failures, time);
    this.#reading = reading === undefined ? undefined : new SourceRates(reading, time);
  }

  get counts(): GuardCounts {
    return { ...this.#counts };
  }

  /** True if messages of this address are processed; counts nothing. */
  knows(address: string): boolean {
    const source = this.#sources.of(address);
    return this.#isAllowed(source) || source.challenged;
  }

  /** True if a message of this size from there may be parsed; otherwise it counts as dropped. */
  reads(address: string, bytes: number): boolean {
    const units = Math.ceil(bytes / UNIT_BYTES);
    if (this.#reading === undefined || this.#reading.take(this.#sources.of(address).key, units) === 0)
      return true;
    this.#counts.flood++;
    return false;
  }

  /** True if requests from there are admitted without a password and their identity claims are trusted. */
  allows(address: string): boolean {
    return this.#isAllowed(this.#sources.of(address));
  }

  /** True if a malformed message from there gets an answer now; it counts as a request. */
  answers(address: string): boolean {
    const source = this.#sources.of(address);
    const allowed = this.#isAllowed(source);
    if (!allowed && (!source.challenged || this.#failures.waitMs(source.key) > 0)) return false;
    return this.#requests.take(source.key) === 0;
  }

  decide({ address, method, userAgent, expected, isRecentPeer = false }: GuardedRequest): Decision {
    const source = this.#sources.of(address);
    const allowed = this.#isAllowed(source);
    const mayCall = allowed || source.challenged;
    if (!mayCall && !(expected && isRecentPeer)) return this.#drop('stranger');
    const peer = knownPeer(source.name);
    // Expected messages are not limited: a refused BYE would keep a call open.
    if (expected) return this.#accept(peer);
    if (isScanner(userAgent)) return this.#drop('scanner');
    if (!allowed && this.#failures.waitMs(source.key) > 0) return this.#drop('banned');
    if (this.#requests.take(source.key) > 0) return this.#limit(method, allowed);
    // ACK and CANCEL cannot be challenged (RFC 3261, section 22.1)
    if (allowed || method === 'ACK' || method === 'CANCEL') return this.#accept(peer);
    this.#counts.challenged++;
    return { kind: 'challenge', peer };
  }

  /** Counts a wrong answer to a challenge. */
  failed(address: string): void {
    this.#failures.take(this.#sources.of(address).key);
  }

  #isAllowed({ allowed, name }: Source): boolean {
    return allowed || this.#allowedNow(name);
  }

  #accept(peer: KnownPeer): Decision {
    this.#counts.accepted++;
    return { kind: 'accept', peer };
  }

  #drop(cause: DropCause): Decision {
    this.#counts[cause]++;
    return { kind: 'drop', cause };
  }

  /** Sources without a password get no answer above the limit, and ACK never gets one. */
  #limit(method: string, allowed: boolean): Decision {
    if (!allowed || method === 'ACK') return this.#drop('flood');
    this.#counts.refused++;
    // No Retry-After, because only the excess is refused: it would tell a proxy to send nothing at all
    // (RFC 3261, section 21.5.4).
    return { kind: 'refuse', refusal: refusal(503, 'Service Unavailable') };
  }
}

// Scanners of telephone systems by their User-Agent. Scanners that hide their name are caught by the
// address lists.

const SCANNERS =
  /(?:^|[^a-z])(?:friendly-(?:scanner|request)|sipvicious|sipcli|sip-scan|sundayddr|iwar|vaxsipuseragent|vaxasip|sivus|gulp|pplsip|siparmyknife|masscan|zgrab)(?:[^a-z]|$)/i;

function isScanner(userAgent: string | undefined): boolean {
  return userAgent !== undefined && SCANNERS.test(userAgent);
}

interface Source {
  /** The address in canonical notation. */
  readonly name: string;
  /** Shared by all addresses that are counted as one source. */
  readonly key: string;
  readonly allowed: boolean;
  readonly challenged: boolean;
}

interface SourceLists {
  readonly allowed: AddressList;
  readonly challenged: AddressList;
}

const MOST = 4096; // above this the oldest entry is dropped and looked up again

/** Caches what the configured lists say about an address; the lists do not change. */
export class Sources {
  readonly #lists: SourceLists;
  readonly #known = new Map<string, Source>();

  constructor(lists: SourceLists) {
    this.#lists = lists;
  }

  /** Number of cached sources. */
  get size(): number {
    return this.#known.size;
  }

  of(address: string): Source {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const source = this.#lookUp(address);
    const [oldest] = this.#known.size < MOST ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(address, source);
    return source;
  }

  #lookUp(address: string): Source {
    const parsed = parseAddress(address);
    const { allowed, challenged } = this.#lists;
    return {
      name: parsed?.toString() ?? address,
      key: sourceKey(address),
      allowed: allowed.has(parsed),
      challenged: challenged.has(parsed),
    };
  }
}
