// One call that a dial has placed, from its INVITE to its end.
//
//   placing ──▶ ringing ──answer──▶ screening ──accepted──▶ joined ──▶ over
//      └───────────┴─────────────────────┴─ declined, or ended ──────▶ over
//
// The call accepts when it has answered and its program, if it has one, has ended: a voicemail that answers
// does not press the key that accepts.
import { reasonOf } from '../call/bridges.js';
import type { HandledCall } from '../call/call-handler.js';
import type { PhoneCallEnd, PhoneCallEvent, PhoneCallView } from '../call/phone-calls.js';
import { asParleyError, type ParleyError } from '../errors.js';
import { stated } from '../stated.js';
import { type Door, warningOf } from './door.js';
import type { ProgramCalls, Scene } from './scene.js';
import type { Dial, DialledState, DialStatus, DialTarget } from './verbs.js';

/** The longest time from the answer until the call accepts. */
const SCREENING_MS = 180_000;
/** A program over the call of a target may have these. */
const WHISPER = ['say', 'play', 'pause', 'gather', 'redirect', 'hangup'] as const;
export const FORBIDDEN_NUMBER = '13224';
const FORBIDDEN_CALLER = '13214';
const BUSY = new Set([486, 600, 603]);
const NOT_REACHED = new Set([408, 480, 487]);
const NUMBER = /^\+?\d+$/;

export interface AcceptedCall {
  readonly handled: HandledCall;
  /** On the monotonic clock. */
  readonly answeredMs: number;
}

export class DialAttempt {
  /** Undefined: the call has ended, or could not be placed. Never rejects. */
  readonly accepted: Promise<AcceptedCall | undefined>;
  status: DialStatus = 'failed';
  view: PhoneCallView | undefined;
  sipStatus: number | undefined;
  readonly #target: DialTarget;
  readonly #scene: Scene;
  readonly #calls: ProgramCalls;
  readonly #ending = new AbortController();
  #resolveAccepted!: (call: AcceptedCall | undefined) => void;
  /** Callbacks about this call. It sends them until the last one has gone. */
  #door: Door | undefined;
  #states = 0;
  #answeredMs: number | undefined;
  #cancelTimer = (): void => undefined;
  #unfollow = (): void => undefined;
  #isOver = false;
  #isReleased = false;

  constructor(target: DialTarget, scene: Scene, calls: ProgramCalls) {
    this.#target = target;
    this.#scene = scene;
    this.#calls = calls;
    this.accepted = new Promise((resolve) => (this.#resolveAccepted = resolve));
  }

  /** Called once. */
  async begin({ callerId, ringMs }: Pick<Dial, 'callerId' | 'ringMs'>): Promise<void> {
    const { about } = this.#scene;
    const { to, headers, detect } = this.#target;
    const { owner, path, id: parent } = about;
    const from = callerId ?? numberOf(about.from);
    const asked = stated({ from, headers, detect, owner, path, parent });
    try {
      const view = await this.#calls.place({ to, ringTimeoutMs: ringMs, ...asked });
      if (this.#isOver) return this.#calls.hangUp(view.id);
      this.#placed(view, ringMs);
    } catch (error) {
      if (this.#isOver) return;
      this.#refused(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
      this.#over('failed');
    }
  }

  /** Ends the call, whatever it does. Idempotent. */
  cancel(status: DialStatus = 'canceled'): void {
    if (this.#isOver || this.#isReleased) return;
    const { id } = this.view ?? {};
    this.#over(this.#answeredMs === undefined ? status : 'completed');
    if (id !== undefined) this.#calls.hangUp(id);
  }

  /** An application has taken the call: it goes on, and its states are still told. */
  release(): void {
    this.#isReleased = true;
  }

  #placed(view: PhoneCallView, ringMs: number): void {
    this.view = view;
    const { id, to, callId } = view;
    const { owner, id: parent, from: caller } = this.#scene.about;
    const from = view.from === '' ? caller : view.from;
    const isAnswered = () => this.#answeredMs !== undefined;
    this.#door = this.#scene.door.ofLeg({
      about: { id, protocol: 'sip', direction: 'outbound', owner, parent, from, to, callId },
      get isAnswered() {
        return isAnswered();
      },
      warn: (warning) => this.#scene.warn(warning),
    });
    this.#tell('initiated', view.createdAt);
    // The placed call ends only when the far end has confirmed its CANCEL, which may be gone.
    this.#cancelTimer = this.#scene.time.after(ringMs, () => this.cancel('no-answer'));
    this.#unfollow = this.#calls.follow(id, (event) => this.#followed(event));
    if (this.#isOver) this.#unfollow();
  }

  #followed(event: PhoneCallEvent): void {
    if (event.type === 'speech' && event.event.type === 'answer.detected') {
      const { by, ms } = event.event;
      const { detected } = this.#target;
      if (detected !== undefined && event.event.early !== true && by !== 'screening')
        this.#door?.tell(detected, { of: 'dialled answer', by, ms });
    }
    if (event.type !== 'state') return;
    if (event.state === 'ringing') this.#tell('ringing', event.at);
    if (event.state === 'connected' && this.#answeredMs === undefined) this.#answered(event.at);
    if (event.state === 'ended') {
      this.sipStatus = event.end?.status;
      this.#over(this.#answeredMs === undefined ? statusOf(event.end) : 'completed', event.at);
    }
  }

  #answered(at: number): void {
    this.#answeredMs = this.#scene.time.now();
    this.sipStatus = 200;
    this.#tell('answered', at);
    this.#cancelTimer();
    this.#cancelTimer = this.#scene.time.after(SCREENING_MS, () => this.cancel());
    // The call is open for programs once its state was told.
    queueMicrotask(() => void this.#screen());
  }

  async #screen(): Promise<void> {
    if (this.#isOver || this.view === undefined) return;
    const { digits, whisper } = this.#target;
    try {
      const handled = this.#calls.find(this.view.id);
      if (digits !== undefined) await handled.leg?.press({ digits });
      const isAccepted = whisper === undefined || (await this.#whispers(handled, whisper));
      if (this.#isOver || this.#answeredMs === undefined) return;
      if (!isAccepted) return this.cancel();
      this.#cancelTimer();
      this.#resolveAccepted({ handled, answeredMs: this.#answeredMs });
    } catch (error) {
      if (!this.#isOver) this.#scene.warn(warningOf(error));
      this.cancel();
    }
  }

  async #whispers(handled: HandledCall, target: NonNullable<DialTarget['whisper']>): Promise<boolean> {
    const { signal } = this.#ending;
    const result = { of: 'redirect' } as const;
    const end = await this.#scene.onLeg(handled, { target, result, allowed: WHISPER, signal });
    return end === 'done';
  }

  #tell(state: DialledState, at: number, more: { status?: DialStatus; durationMs?: number } = {}): void {
    const number = this.#states++;
    const { target, told } = this.#target.states ?? {};
    if (target === undefined || told?.includes(state) !== true) return;
    this.#door?.tell(target, { of: 'dialled', state, number, at, sipStatus: this.sipStatus, ...more });
  }

  #over(status: DialStatus, at = this.#calls.unixMs()): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.status = status;
    this.#cancelTimer();
    this.#unfollow();
    this.#ending.abort();
    const durationMs = this.#answeredMs === undefined ? 0 : this.#scene.time.now() - this.#answeredMs;
    this.#tell('completed', at, { status, durationMs });
    this.#resolveAccepted(undefined);
  }

  #refused(error: ParleyError): void {
    const { code, field, message } = error;
    const { to } = this.#target;
    const number = field === 'from' ? FORBIDDEN_CALLER : FORBIDDEN_NUMBER;
    const isOfCaller = field === 'from' || field === 'to' || code === 'FORBIDDEN' || code === 'RATE_LIMITED';
    const shown = JSON.stringify(to.slice(0, 100));
    this.#scene.warn({
      ...stated({ code: isOfCaller ? number : undefined }),
      message: `${shown}: ${message}`,
    });
  }
}

/** The number in an address of a caller, as trunks take it; undefined: it has none. */
function numberOf(address: string | undefined): string | undefined {
  const [, user = ''] = /^(?:sips?:|tel:)?([^@;]+)/i.exec(address ?? '') ?? [];
  return NUMBER.test(user) ? user : undefined;
}

function statusOf(end: PhoneCallEnd | undefined): DialStatus {
  if (end?.status !== undefined && BUSY.has(end.status)) return 'busy';
  if (end?.status !== undefined && NOT_REACHED.has(end.status)) return 'no-answer';
  return reasonOf(end) === 'no answer' ? 'no-answer' : 'failed';
}
