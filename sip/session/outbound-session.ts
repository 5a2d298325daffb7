// Runs a call of ours: INVITEs until one of them is answered finally, and then its dialog.
//
//   inviting ─ 18x ─▶ early ─ 2xx ─▶ confirmed ─▶ ended
//       └─ final, hangUp ─┴─ no answer ──────────────▲
import type { SendOutcome } from '../client/request-sender.js';
import { stated } from '../../src/stated.js';
import type { SipResponse } from '../message/message.js';
import { readReason, type Reason, refused, type Result } from '../message/refusal.js';
import { unquoted } from '../message/scanner.js';
import { asRequestUri, parseNameAddr, type Uri } from '../message/uri.js';
import { type CallPlan, OutgoingInvite } from './outgoing-invite.js';
import type { Dialog } from './dialog.js';
import type { InDialog } from './in-dialog.js';
import type { SessionContext } from './session-context.js';
import type { ReferTarget, Session, SessionEnd, SessionState, SessionUser } from './session.js';

/** Alternatives for a refused call, called once per refusal; undefined ends the call. */
interface OtherWays {
  /** `rang` tells whether a phone has rung before. */
  next?(outcome: SendOutcome, rang: boolean): CallPlan | undefined;
  /** Plan for the target of a 3xx, five times per call at most. Redirections are not followed without it. */
  redirected?: ((target: Uri) => CallPlan | undefined) | undefined;
}

export interface OutboundSessionOptions {
  readonly plan: CallPlan;
  readonly context: SessionContext;
  readonly user: SessionUser;
  /** Milliseconds until an unanswered call is given up; 60,000 by default. */
  readonly ringTimeoutMs?: number | undefined;
  readonly ways?: OtherWays;
}

const RING_TIMEOUT_MS = 60_000;
const MOST_REDIRECTIONS = 5;

export class OutboundSession implements Session {
  user: SessionUser;
  readonly #options: OutboundSessionOptions;
  readonly #redirections: Uri[] = [];
  readonly #redirectedTo = new Set<string>();
  #invite: OutgoingInvite;
  #state: SessionState = 'inviting';
  #rang = false;
  /** End to report for a cancelled call; undefined before the cancel. */
  #ending: SessionEnd | undefined;
  #cancelRinging = (): void => undefined;
  #resolveOver = (): void => undefined;
  /** Resolves when the call is over, before the user's callback. */
  readonly over = new Promise<void>((resolve) => (this.#resolveOver = resolve));

  constructor(options: OutboundSessionOptions) {
    this.#options = options;
    this.user = options.user;
    this.#invite = this.#inviteBy(options.plan);
  }

  /** Sends the INVITE. Call this once. */
  start(): void {
    const { context, ringTimeoutMs = RING_TIMEOUT_MS } = this.#options;
    this.#cancelRinging = context.time.after(ringTimeoutMs, () =>
      this.#giveUp({ by: 'unanswered', status: 408 }),
    );
    this.#begin();
  }

  get state(): SessionState {
    return this.#state;
  }

  get dialog(): Dialog | undefined {
    return this.#invite.inDialog?.dialog;
  }

  /** Current dialog: the one that has the call, or the latest that rang. */
  get inDialog(): InDialog | undefined {
    return this.#invite.inDialog;
  }

  /** Resolves when BYE was answered or the cancelled INVITE ended, 64 T1 later at most. */
  async hangUp(reason?: Reason): Promise<void> {
    if (this.#state !== 'confirmed') this.#giveUp(stated({ by: 'us', reason }));
    else await this.inDialog?.hangUp(reason);
    await this.over;
    // If an answer has crossed, its BYE is pending.
    if (this.inDialog?.ended === true) await this.inDialog.hangUp();
  }

  reoffer(): Promise<Result<void>> {
    return this.inDialog?.reoffer() ?? Promise.resolve(refused(491, 'the call is not answered yet'));
  }

  sendDigit(digit: string, durationMs: number): Promise<boolean> {
    return this.inDialog?.sendDigit(digit, durationMs) ?? Promise.resolve(false);
  }

  refer(target: ReferTarget, onStatus?: (status: number) => void): Promise<Result<number>> {
    return this.#state === 'confirmed' && this.inDialog !== undefined
      ? this.inDialog.refer(target, onStatus)
      : Promise.resolve(refused(481, 'the call is not answered yet'));
  }

  #inviteBy(plan: CallPlan): OutgoingInvite {
    const { context } = this.#options;
    return new OutgoingInvite({
      plan,
      context,
      session: this,
      user: {
        progressed: (status) => this.#progressed(status),
        answered: () => this.#answered(),
        refused: (outcome) => this.#refused(outcome),
        over: (end) => this.#finish(end),
      },
    });
  }

  #begin(): void {
    const refusal = this.#invite.start();
    if (refusal !== undefined) this.#finish({ by: 'us', status: refusal.status, text: refusal.reason });
  }

  #giveUp(end: SessionEnd): void {
    if (this.#state !== 'inviting' && this.#state !== 'early') return;
    this.#cancelRinging();
    if (this.#ending !== undefined) return;
    this.#ending = end;
    this.#invite.cancel(end);
  }

  #progressed(status: number): void {
    if (this.#ending !== undefined) return;
    this.#state = 'early';
    this.#rang ||= status >= 180;
    this.user.progressed?.(status);
  }

  #answered(): void {
    this.#cancelRinging();
    this.#state = 'confirmed';
    this.user.established();
  }

  #refused(outcome: SendOutcome): void {
    const plan = this.#otherWay(outcome);
    if (plan === undefined) return this.#finish(endBy(outcome));
    this.#state = 'inviting';
    this.#invite = this.#inviteBy(plan);
    this.#begin();
  }

  #otherWay(outcome: SendOutcome): CallPlan | undefined {
    const { ways } = this.#options;
    if ('response' in outcome && ways?.redirected !== undefined)
      this.#redirect(redirectedTo(outcome.response));
    const target = this.#redirections.shift();
    const redirected = target === undefined ? undefined : ways?.redirected?.(target);
    return redirected ?? ways?.next?.(outcome, this.#rang);
  }

  #redirect(targets: readonly Uri[]): void {
    for (const target of targets) {
      if (this.#redirectedTo.has(target.text) || this.#redirectedTo.size >= MOST_REDIRECTIONS) continue;
      this.#redirectedTo.add(target.text);
      this.#redirections.push(target);
    }
  }

  #finish(end: SessionEnd): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelRinging();
    this.#resolveOver();
    this.user.ended(end);
  }
}

const MOST_CHARACTERS = 200;
const MOST_CONTACTS = 5;

function endBy(outcome: SendOutcome): SessionEnd {
  if ('failure' in outcome) {
    const { reason, status } = outcome.failure;
    return { by: reason === 'no-answer' ? 'unanswered' : 'transport', status };
  }
  const { response } = outcome;
  const reasons = response.all('reason').flatMap((value) => readReason(value) ?? []);
  const reason = reasons.find(({ protocol }) => protocol === 'q.850') ?? reasons[0];
  return stated({ by: 'rejected', status: response.status, reason, text: saidIn(response) || undefined });
}

/** Targets of a 3xx by preference (RFC 3261, section 8.1.3.4); SIP URIs only. */
function redirectedTo(response: SipResponse): readonly Uri[] {
  if (response.status < 300 || response.status >= 400) return [];
  const contacts = response.all('contact').flatMap((value) => parseNameAddr(value) ?? []);
  const rated = contacts.map(({ uri, params }) => ({ uri, q: Number(params.get('q') ?? 1) || 0 }));
  const usable = rated.filter(({ uri }) => uri.isSip && uri.headers.length === 0);
  return usable
    .sort((one, other) => other.q - one.q)
    .slice(0, MOST_CONTACTS)
    .map(({ uri }) => asRequestUri(uri));
}

/** `399 host "text"` → text. */
function saidIn(response: SipResponse): string {
  const [, warning] = /^\d{3} \S+ ("(?:[^"\\]|\\.)*")/.exec(response.first('warning') ?? '') ?? [];
  const text = warning === undefined ? response.reason : unquoted(warning);
  // oxlint-disable-next-line no-control-regex -- removes control characters
  const oneLine = text.replace(/[\x00-\x1f\x7f]/g, ' ');
  return oneLine.trim().slice(0, MOST_CHARACTERS);
}
