// Who is let in: first by address, then, where the address alone is not enough,
// by password. Nothing is kept of a request that is not.
import type { Time } from '../../src/time.js';
import type { DigestServer } from '../auth/digest-server.js';
import type { KnownPeer } from '../auth/known-peer.js';
import type { Guard } from '../guard/guard.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import type { Flow } from '../transport/flow.js';

export interface AdmissionParts {
  readonly guard: Guard;
  /** Absent where nobody has a password: then nobody is challenged. */
  readonly digest: DigestServer | undefined;
  readonly recentPeers: RecentPeers;
}

/** The INVITE of a peer, and the way it came. */
interface Began {
  readonly request: SipRequest;
  readonly flow: Flow;
}

export class Admission {
  readonly #guard: Guard;
  readonly #digest: DigestServer | undefined;

  readonly #recentPeers: RecentPeers;
  /** Who showed the password with which a request was let in. */
  readonly #users = new WeakMap<SipRequest, string>();

  constructor({ guard, digest, recentPeers }: AdmissionParts) {
    this.#guard = guard;
    this.#recentPeers = recentPeers;
    this.#digest = digest;
  }

  /** Whether anything from there is listened to. */
  knows(address: string): boolean {
    return this.#guard.knows(address) || this.#recentPeers.knows(address);
  }

  /** True if a message of so many bytes from there is to be parsed: the first bound of all, for it costs nothing. */
  reads(address: string, bytes: number): boolean {
    return this.#guard.reads(address, bytes);
  }

  /** Whether what is said from there of a caller may be believed (RFC 3325): a password vouches for nobody else. */
  trusts(address: string): boolean {
    return this.#guard.allows(address);
  }

  /**
   * `expected`: it belongs to a dialog or transaction that there is. `busy`: it will be refused for want of time, if not
   * here: only whether it hears so is asked.
   */
  admits(request: SipRequest, flow: Flow, expected: boolean, busy = false): Refusal | 'silence' | undefined {
    const { address } = flow.remote;
    const { method } = request;
    const userAgent = request.first('user-agent');
    const correspondent = this.#recentPeers.knows(address);
    const decision = this.#guard.decide({ address, method, userAgent, expected, correspondent });
    if (decision.kind === 'drop') return 'silence';
    if (decision.kind === 'refuse') return decision.refusal;
    if (decision.kind === 'accept') return undefined;
    if (this.#digest === undefined) return 'silence';
    return busy ? undefined : this.#judge(this.#digest, request, decision.peer, address);
  }

  /** True if it was let in by a password: its sender got our challenge, wherever its address says that it is. */
  authenticated(request: SipRequest): boolean {
    return this.#users.has(request);
  }

  /**
   * Whether whoever sends `request` may take over the call that `before` began (RFC 3891, section 3): allowed
   * addresses may; others only a call of theirs, by the same password from the same address.
   */
  mayReplace(request: SipRequest, flow: Flow, before: Began | undefined): boolean {
    const { address } = flow.remote;
    if (this.#guard.allows(address)) return true;
    const user = this.#users.get(request);
    if (user === undefined || before === undefined) return false;
    return before.flow.remote.address === address && this.#users.get(before.request) === user;
  }

  /** Whether what is not well-formed is answered: to those who are let in by address, within the same bounds as all else. */
  answersMalformed(flow: Flow): boolean {
    return this.#guard.answers(flow.remote.address);
  }

  #judge(digest: DigestServer, request: SipRequest, peer: KnownPeer, address: string): Refusal | undefined {
    const { method, uri, body } = request;
    const verdict = digest.verify(peer, request.all('authorization'), { method, uri: uri.text, body });
    if ('username' in verdict) {
      this.#users.set(request, verdict.username);
      return undefined;
    }
    if (verdict.failure === 'malformed') return refusal(400, 'Bad Authorization');
    if (verdict.failure === 'wrong') this.#guard.failed(address);
    // Who knows the password, and has only used this nonce before, need not ask anybody for it again.
    const isStale = verdict.failure === 'stale' || verdict.failure === 'replayed';
    const challenges = digest.challenge(peer, isStale);
    return refusal(
      401,
      'Unauthorized',
      challenges.map((value) => ['WWW-Authenticate', value] as const),
    );
  }
}

// Addresses that this server has written to lately: their answers, and what they
// say within calls, are heard although they may begin none.

const KEPT_MS = 7_200_000; // longer than a session goes without a request of either side
const MOST = 10_000;

export class RecentPeers {
  readonly #time: Time;
  readonly #lastMs = new Map<string, number>(); // longest ago first

  constructor(time: Time) {
    this.#time = time;
  }

  /** Something is being sent there. */
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
