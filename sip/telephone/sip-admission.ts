// Decides whether a request is admitted: by address first, then by password if the address alone is not
// enough. It stores nothing about rejected requests.
import type { Time } from '../../src/time.js';
import type { DigestServer } from '../auth/digest-server.js';
import type { KnownPeer } from '../auth/digest.js';
import type { Guard } from '../guard/guard.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import type { Flow } from '../transport/flow.js';

interface AdmissionParts {
  readonly guard: Guard;
  /** Undefined if no users are configured: then no request is challenged. */
  readonly digest: DigestServer | undefined;
  readonly recentPeers: RecentPeers;
}

/** The INVITE that began a call, and its flow. */
interface Began {
  readonly request: SipRequest;
  readonly flow: Flow;
}

export class SipAdmission {
  readonly #guard: Guard;
  readonly #digest: DigestServer | undefined;

  readonly #recentPeers: RecentPeers;
  /** User names of requests that were admitted by password. */
  readonly #users = new WeakMap<SipRequest, string>();

  constructor({ guard, digest, recentPeers }: AdmissionParts) {
    this.#guard = guard;
    this.#recentPeers = recentPeers;
    this.#digest = digest;
  }

  /** True if messages from this address are read at all. */
  knows(address: string): boolean {
    return this.#guard.knows(address) || this.#recentPeers.knows(address);
  }

  /** True if a message of that size is to be parsed. This is the cheapest check, so it comes first. */
  reads(address: string, bytes: number): boolean {
    return this.#guard.reads(address, bytes);
  }

  /**
   * True if identity headers from this address are believed (RFC 3325): a password vouches only for its own
   * user.
   */
  trusts(address: string): boolean {
    return this.#guard.allows(address);
  }

  /**
   * Returns a refusal, 'silence', or undefined if the request is admitted. `expected`: it belongs to a known
   * dialog or transaction. `busy`: the overloaded server will refuse it anyway; only whether it may be
   * answered is asked.
   */
  admits(request: SipRequest, flow: Flow, expected: boolean, busy = false): Refusal | 'silence' | undefined {
    const { address } = flow.remote;
    const { method } = request;
    const userAgent = request.first('user-agent');
    const isRecentPeer = this.#recentPeers.knows(address);
    const decision = this.#guard.decide({ address, method, userAgent, expected, isRecentPeer });
    if (decision.kind === 'drop') return 'silence';
    if (decision.kind === 'refuse') return decision.refusal;
    if (decision.kind === 'accept') return undefined;
    if (this.#digest === undefined) return 'silence';
    return busy ? undefined : this.#authenticate(this.#digest, request, decision.peer, address);
  }

  /**
   * True if it was admitted by password: its sender received our challenge, so its source address is real.
   */
  authenticated(request: SipRequest): boolean {
    return this.#users.has(request);
  }

  /**
   * True if the sender of `request` may replace the call that `before` began (RFC 3891, section 3): allowed
   * addresses may; others only their own call, with the same user from the same address.
   */
  mayReplace(request: SipRequest, flow: Flow, before: Began | undefined): boolean {
    const { address } = flow.remote;
    if (this.#guard.allows(address)) return true;
    const user = this.#users.get(request);
    if (user === undefined || before === undefined) return false;
    return before.flow.remote.address === address && this.#users.get(before.request) === user;
  }

  /**
   * True if malformed requests from there are answered: from allowed addresses, within the general limits.
   */
  answersMalformed(flow: Flow): boolean {
    return this.#guard.answers(flow.remote.address);
  }

  #authenticate(
    digest: DigestServer,
    request: SipRequest,
    peer: KnownPeer,
    address: string,
  ): Refusal | undefined {
    const { method, uri, body } = request;
    const verdict = digest.verify(peer, request.all('authorization'), { method, uri: uri.text, body });
    if ('username' in verdict) {
      this.#users.set(request, verdict.username);
      return undefined;
    }
    if (verdict.failure === 'malformed') return refusal(400, 'Bad Authorization');
    if (verdict.failure === 'wrong') this.#guard.failed(address);
    // A sender that knows the password and reused a nonce need not ask its user again.
    const isStale = verdict.failure === 'stale' || verdict.failure === 'replayed';
    const challenges = digest.challenge(peer, isStale);
    return refusal(
      401,
      'Unauthorized',
      challenges.map((value) => ['WWW-Authenticate', value] as const),
    );
  }
}

// Remembers addresses that this server has written to lately: their responses and in-dialog requests are read
// although they may not begin calls.

const KEPT_MS = 7_200_000; // longer than a session goes without a request of either side
const MOST = 10_000;

export class RecentPeers {
  readonly #time: Time;
  readonly #lastMs = new Map<string, number>(); // oldest first

  constructor(time: Time) {
    this.#time = time;
  }

  wrote(address: string): void {
    this.#lastMs.delete(address);
    this.#lastMs.set(address, this.#time.now());
    if (this.#lastMs.size <= MOST) return;
    const [oldest] = this.#lastMs.keys();
    if (oldest !== undefined) this.#lastMs.delete(oldest);
  }

  knows(address: string): boolean {
    const lastMs = this.#lastMs.get(address);
    return lastMs !== undefined && this.#time.now() - lastMs < KEPT_MS;
  }
}
