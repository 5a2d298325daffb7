// The calls of the REST API: placed, read, listed, changed, ended and hidden, each under its SID, for the API
// key that they belong to.
import { mayUseCall } from '../../call/switchboard.js';
import type { PhoneCallView } from '../../call/phone-calls.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { ProgramError } from '../../ivr/door.js';
import type { RecordingView } from '../../recording/call-recording.js';
import { stated } from '../../stated.js';
import { callSid } from '../twiml/sids.js';
import type { CallChange, CallOrder, RecordingOrder } from './call-order.js';
import { FollowedCall, type FollowedCallParts } from './followed-call.js';
import { answerRequest } from './machine-detection.js';
import { notFound, NUMBERS, placingError, RestError } from './rest-error.js';

/** Name of the API key that asks; undefined: the server has no keys. */
type Key = string | undefined;

const MOST_SIDS = 10_000;
const MOST_HIDDEN = 10_000;
/** A request that ends a call is answered after so long, even if the far end has not confirmed the end. */
const MOST_ENDING_MS = 2000;
/** Callbacks that wait are given up so long after the server has begun to close. */
const CLOSE_MS = 5000;

export class RestCalls {
  readonly #parts: FollowedCallParts;
  readonly #followed = new Map<string, FollowedCall>();
  readonly #sids = new Map<string, string>();
  /** Ids of ended calls that a client has deleted. */
  readonly #hidden = new Set<string>();

  constructor(parts: FollowedCallParts) {
    this.#parts = parts;
  }

  /** SID of the account of an API key. */
  accountOf(key: Key): string {
    return this.#parts.accountOf(key).sid;
  }

  get config(): FollowedCallParts['config'] {
    return this.#parts.config;
  }

  /** Rejects with a RestError, and as `PhoneCalls.place`. */
  async place(order: CallOrder, key: Key): Promise<PhoneCallView> {
    const { programs, calls } = this.#parts;
    const problem = programs.problemOf(order.source);
    if (problem !== undefined) throw new RestError(400, NUMBERS.invalidUrl, problem);
    if (order.recording !== undefined && this.#parts.recorded === undefined) throw recordingOff();
    const { to, from, ringMs: ringTimeoutMs, headers, detection } = order;
    const detect = detection && answerRequest(detection);
    const request = stated({ owner: key, to, from, ringTimeoutMs, headers, detect });
    const view = await calls()
      .place(request)
      .catch((error: unknown) => {
        throw placingError(error);
      });
    this.#follow(view, order);
    return view;
  }

  /** Newest first. */
  list(key: Key): readonly PhoneCallView[] {
    const all = this.#parts.calls().list();
    return all.filter(({ id, owner }) => mayUseCall(key, owner) && !this.#hidden.has(id));
  }

  /** Throws a RestError if there is no such call for the key. */
  get(sid: string, key: Key): PhoneCallView {
    const id = this.#sids.get(sid) ?? this.#idOf(sid);
    const view = id === undefined || this.#hidden.has(id) ? undefined : this.#viewOf(id);
    if (view !== undefined && mayUseCall(key, view.owner)) return view;
    throw notFound('call');
  }

  /** Rejects with a RestError. */
  async change(sid: string, change: CallChange, key: Key): Promise<PhoneCallView> {
    const view = this.get(sid, key);
    const { source, status, statusCallback, limitMs } = change;
    if (view.state === 'ended')
      throw new RestError(400, NUMBERS.wrongState, 'the call is over, and cannot be changed');
    if (status === 'canceled' && view.answeredAt !== undefined)
      throw new RestError(400, NUMBERS.wrongState, 'the call is answered; Status=completed ends it');
    const followed = this.#followed.get(view.id) ?? this.#follow(view, undefined);
    if (statusCallback !== undefined) followed.callBack(statusCallback);
    if (limitMs !== undefined) followed.limit(limitMs);
    if (status !== undefined) await this.#end(view.id);
    else if (source !== undefined) this.#redirect(followed, source);
    return this.#viewOf(view.id) ?? view;
  }

  /** Undefined: this server records no calls. */
  get recorded(): FollowedCallParts['recorded'] {
    return this.#parts.recorded;
  }

  /** Rejects with a RestError, and as `CallRecorder.start`. */
  async record(sid: string, order: RecordingOrder, key: Key): Promise<RecordingView> {
    const view = this.get(sid, key);
    if (view.state === 'ended') throw new RestError(400, NUMBERS.wrongState, 'the call is over');
    const followed = this.#followed.get(view.id) ?? this.#follow(view, undefined);
    return followed.record(order);
  }

  /** A call that has ended is not listed any more. Throws a RestError. */
  hide(sid: string, key: Key): void {
    const { id, state } = this.get(sid, key);
    if (state !== 'ended')
      throw new RestError(409, NUMBERS.inProgress, 'the call is in progress; end it before you delete it');
    this.#hidden.add(id);
    const [oldest] = this.#hidden;
    if (oldest !== undefined && this.#hidden.size > MOST_HIDDEN) this.#hidden.delete(oldest);
  }

  /** Resolves when the callbacks of all calls were sent, or after some seconds. */
  async close(): Promise<void> {
    await Promise.all([...this.#followed.values()].map((followed) => followed.close(CLOSE_MS)));
  }

  #follow(view: PhoneCallView, order: CallOrder | undefined): FollowedCall {
    const followed = new FollowedCall(view, order, this.#parts);
    this.#followed.set(view.id, followed);
    void followed.over.then(() => this.#followed.delete(view.id));
    return followed;
  }

  #redirect(followed: FollowedCall, source: NonNullable<CallChange['source']>): void {
    const problem = this.#parts.programs.problemOf(source);
    if (problem !== undefined) throw new RestError(400, NUMBERS.invalidUrl, problem);
    try {
      followed.redirect(source);
    } catch (error) {
      if (error instanceof ProgramError) {
        const { code = NUMBERS.invalidParameter, message } = error.warning;
        throw new RestError(400, Number(code), message);
      }
      const { code, message } = asParleyError(error, 'WRONG_STATE');
      if (code === 'CALL_STATE' || code === 'NOT_FOUND')
        throw new RestError(400, NUMBERS.wrongState, message);
      throw error;
    }
  }

  async #end(id: string): Promise<void> {
    const { calls, time } = this.#parts;
    let cancel = (): void => undefined;
    const limit = new Promise<void>((resolve) => (cancel = time.after(MOST_ENDING_MS, resolve)));
    await Promise.race([calls().hangUp(id), limit]).finally(cancel);
  }

  #viewOf(id: string): PhoneCallView | undefined {
    try {
      return this.#parts.calls().get(id);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** The SIDs of the calls that are known now are kept, up to a bound. */
  #idOf(sid: string): string | undefined {
    const known = new Set(this.#sids.values());
    for (const { id } of this.#parts.calls().list()) if (!known.has(id)) this.#sids.set(callSid(id), id);
    for (const [oldest] of this.#sids) {
      if (this.#sids.size <= MOST_SIDS) break;
      if (oldest !== sid) this.#sids.delete(oldest);
    }
    return this.#sids.get(sid);
  }
}

export function recordingOff(): ParleyError {
  return new ParleyError(
    'RECORDING_OFF',
    'this server records no calls; RECORDINGS_DIR=/path/of/a/folder changes it',
  );
}
