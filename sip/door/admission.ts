// Who is let in: first by address, then, where the address alone is not enough,
// by password. Nothing is kept of a request that is not.
import type { DigestServer } from '../auth/digest-server.js';
import type { KnownPeer } from '../auth/known-peer.js';
import type { Guard } from '../guard/guard.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { SipRequest } from '../message/request.js';
import type { Correspondents } from './correspondents.js';
import type { Flow } from '../transport/flow.js';

export interface AdmissionParts {
  readonly guard: Guard;
  /** Absent where nobody has a password: then nobody is challenged. */
  readonly digest: DigestServer | undefined;
  readonly correspondents: Correspondents;
}

export class Admission {
  readonly #guard: Guard;
  readonly #digest: DigestServer | undefined;

  readonly #correspondents: Correspondents;

  constructor({ guard, digest, correspondents }: AdmissionParts) {
    this.#guard = guard;
    this.#correspondents = correspondents;
    this.#digest = digest;
  }

  /** Whether anything from there is listened to. */
  knows(address: string): boolean {
    return this.#guard.knows(address) || this.#correspondents.knows(address);
  }

  /** Whether what is said from there of a caller may be believed (RFC 3325): a password vouches for nobody else. */
  trusts(address: string): boolean {
    return this.#guard.trusts(address);
  }

  /** `expected`: it belongs to a dialog or transaction that there is. */
  admits(request: SipRequest, flow: Flow, expected: boolean): Refusal | 'silence' | undefined {
    const { address } = flow.remote;
    const { method } = request;
    const userAgent = request.first('user-agent');
    const correspondent = this.#correspondents.knows(address);
    const decision = this.#guard.decide({ address, method, userAgent, expected, correspondent });
    if (decision.kind === 'drop') return 'silence';
    if (decision.kind === 'refuse') return decision.refusal;
    return decision.kind === 'accept' ? undefined : this.#judge(request, address, decision.peer);
  }

  #judge(request: SipRequest, address: string, peer: KnownPeer): Refusal | 'silence' | undefined {
    const digest = this.#digest;
    if (digest === undefined) return 'silence';
    const { method, uri, body } = request;
    const verdict = digest.judge(peer, request.all('authorization'), { method, uri: uri.text, body });
    if ('username' in verdict) return undefined;
    if (verdict.failure === 'malformed') return refusal(400, 'Bad Authorization');
    if (verdict.failure === 'wrong') this.#guard.failed(address);
    const challenges = digest.challenge(peer, verdict.failure === 'stale');
    return refusal(401, 'Unauthorized', challenges.map((value) => ['WWW-Authenticate', value] as const)); // prettier-ignore
  }
}
