// Whether a request from the network is let in, before anything else is done
// with it. Strangers hear nothing, so that a scan of addresses finds nothing;
// only sources that are known are challenged, limited or refused in words.
import type { Time } from '../../src/time.js';
import { knownPeer, type KnownPeer } from '../auth/known-peer.js';
import { refusal, type Refusal } from '../message/refusal.js';
import { AddressList } from './address-list.js';
import { isScanner } from './scanners.js';
import { SourceRates, type RateBounds } from './source-rates.js';
import { type Source, Sources } from './sources.js';

export interface GuardOptions {
  readonly time: Time;
  /** Addresses and networks whose requests are let in as they are. */
  readonly allowed: readonly string[];
  /** Those whose requests are let in with the right password. `allowed` goes first. */
  readonly challenged: readonly string[];
  /** Addresses that are allowed for now: those that a trunk was found at. */
  readonly allowedNow?: (address: string) => boolean;
  /** Requests of one known source that are more than that are refused with 503. */
  readonly requests: RateBounds;
  /**
   * What one source may have read of it, a unit for each 2 kB of a message or a part of them; more is dropped before it
   * is parsed. It has room for everything that calls within `requests` need. No limit if absent.
   */
  readonly reading?: RateBounds;
  /** Wrong passwords: a source with more than that is not heard for a while. */
  readonly failures: RateBounds;
}

export const REQUEST_BOUNDS: RateBounds = { perSecond: 50, burst: 200, mostSources: 10_000 };
const UNIT_BYTES = 2048;
/** Of each request that is let in, a call has up to so many messages, with those that are repeated. */
const MESSAGES_A_REQUEST = 20;

/** For `reading`, where so many requests a second are let in: those of one second at once. */
export function readingBounds(requestsPerSecond: number): RateBounds {
  const perSecond = MESSAGES_A_REQUEST * requestsPerSecond;
  return { perSecond, burst: perSecond, mostSources: 10_000 };
}

export const FAILURE_BOUNDS: RateBounds = { perSecond: 1 / 60, burst: 10, mostSources: 10_000 };

export interface Visit {
  readonly address: string;
  readonly method: string;
  readonly userAgent: string | undefined;
  /** It belongs to a dialog or transaction that this server has. */
  readonly expected: boolean;
  /** This server has written there: what is expected of it is let in. */
  readonly correspondent?: boolean;
}

export type Decision =
  | { readonly kind: 'accept'; readonly peer: KnownPeer }
  /** Let in with the right password only; a challenge may be sent to this peer. */
  | { readonly kind: 'challenge'; readonly peer: KnownPeer }
  /** Not a word to it. */
  | { readonly kind: 'drop'; readonly cause: DropCause }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

export type DropCause = 'scanner' | 'stranger' | 'banned' | 'flood';

export type GuardCounts = Readonly<Record<'accepted' | 'challenged' | 'refused' | DropCause, number>>;

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

  /** Whether this address is heard at all; counts nothing. */
  knows(address: string): boolean {
    const source = this.#sources.of(address);
    return this.#isAllowed(source) || source.challenged;
  }

  /** True if a message of so many bytes from there is to be parsed; one that is not counts as dropped. */
  reads(address: string, bytes: number): boolean {
    const units = Math.ceil(bytes / UNIT_BYTES);
    if (this.#reading === undefined || this.#reading.take(this.#sources.of(address).key, units) === 0)
      return true;
    this.#counts.flood++;
    return false;
  }

  /** Whether requests from there are let in as they are, and what they say of others may be believed. */
  allows(address: string): boolean {
    return this.#isAllowed(this.#sources.of(address));
  }

  /** Whether something from there that is no request is worth an answer now: it counts as a request. */
  answers(address: string): boolean {
    const source = this.#sources.of(address);
    const allowed = this.#isAllowed(source);
    if (!allowed && (!source.challenged || this.#failures.waitMs(source.key) > 0)) return false;
    return this.#requests.take(source.key) === 0;
  }

  decide({ address, method, userAgent, expected, correspondent = false }: Visit): Decision {
    const source = this.#sources.of(address);
    const allowed = this.#isAllowed(source);
    const mayCall = allowed || source.challenged;
    if (!mayCall && !(expected && correspondent)) return this.#drop('stranger');
    const peer = knownPeer(source.name);
    // What we wait for is no visit: to refuse a BYE would keep a call open.
    if (expected) return this.#accept(peer);
    if (isScanner(userAgent)) return this.#drop('scanner');
    if (!allowed && this.#failures.waitMs(source.key) > 0) return this.#drop('banned');
    if (this.#requests.take(source.key) > 0) return this.#limit(method, allowed);
    if (allowed || method === 'ACK' || method === 'CANCEL') return this.#accept(peer); // these cannot be challenged (RFC 3261 section 22.1)
    this.#counts.challenged++;
    return { kind: 'challenge', peer };
  }

  /** The source answered a challenge wrongly. */
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

  /** One who has not shown a password yet is not worth an answer each; nor has ACK ever one. */
  #limit(method: string, allowed: boolean): Decision {
    if (!allowed || method === 'ACK') return this.#drop('flood');
    this.#counts.refused++;
    // Only the excess is refused: Retry-After would tell a proxy to send nothing at all (RFC 3261, section 21.5.4).
    return { kind: 'refuse', refusal: refusal(503, 'Service Unavailable') };
  }
}
