// Warm transfers: a person is called while the caller hears music, is told a summary by our voice, and gets
// the caller. Otherwise the caller comes back to whoever talked with it.
//
//   ringing ──answer──▶ detecting ──a person──▶ told the summary ──(the key)──▶ connected: a bridge
//      └──────────────────┴───────────────────────┴───────────────────▶ failed: the caller is back
import { asParleyError, attempt, ParleyError, tellDefect } from '../errors.js';
import { stated } from '../stated.js';
import type { AnsweredBy } from './answer-detector.js';
import type { BridgeSettings } from './bridge.js';
import { type Bridges, type JoiningParts, type JoinTarget, reasonOf, USUAL_RING_MS } from './bridges.js';
import type { HandledCall } from './call-handler.js';
import { CallMusic } from './call-music.js';
import { telephoneOff } from './listed-calls.js';
import { checkJoinable } from './joined-media.js';
import type { OpenCalls } from './open-calls.js';
import type { CallText, PhoneCallEvent, PhoneCalls } from './phone-calls.js';
import type { Switchboard } from './switchboard.js';

export interface WarmTransferRequest extends Omit<JoinTarget, 'call' | 'to'> {
  readonly to: string;
  /** Told to the person who answers; absent: the caller is connected at once. */
  readonly summary?: CallText | undefined;
  /** Name of the sound that the caller hears, or `none`; absent: the default tune. */
  readonly music?: string | undefined;
  /** The person has to press it within 20 s; absent: the caller is connected after the summary. */
  readonly acceptKey?: string | undefined;
  /** Refuses the caller; `*` if absent. */
  readonly declineKey?: string | undefined;
  /** Fate of the caller when the person hangs up; `hangup` if absent. */
  readonly after?: 'stay' | 'hangup' | undefined;
}

export type WarmTransferReason =
  | 'busy'
  | 'rejected'
  /** The person pressed the key that declines, or hung up before the caller was connected. */
  | 'declined'
  /** Nobody answered, or the key that accepts was not pressed. */
  | 'no answer'
  | 'voicemail'
  /** The caller hung up. */
  | 'hung up'
  /** An application has taken the caller back. */
  | 'cancelled'
  | 'failed'
  | 'server closing';

export interface WarmTransferView {
  /** Id of the caller's call, and of the one that was placed. */
  readonly call: string;
  readonly other: string;
  readonly state: 'ringing';
}

interface WarmTransferParts extends JoiningParts {
  readonly openCalls: Pick<OpenCalls, 'find' | 'silencerOf'>;
  readonly switchboard: Pick<Switchboard, 'onceOpen' | 'check'>;
  readonly bridges: Pick<Bridges, 'handOver'>;
}

interface Transfer {
  readonly first: HandledCall;
  readonly request: WarmTransferRequest;
  readonly settings: BridgeSettings;
  /** Gives the caller back to the talk that was silenced; undefined: none was, so far. */
  giveBack: ((note: string | undefined) => void) | undefined;
  readonly isOwn: boolean;
  /** Name of the API key that asked; undefined: an agent did. */
  readonly key: string | undefined;
  readonly resolve: (outcome: 'connected' | WarmTransferReason) => void;
  /** Undone when the caller leaves the music, however that ends. */
  readonly stop: (() => void)[];
  placed: string | undefined;
  state: 'ringing' | 'detecting' | 'telling' | 'asking' | 'over';
  /** Why it has failed; undefined: it has not. */
  failedFor: WarmTransferReason | undefined;
  isScreened: boolean;
  /** Once the person has answered. */
  cancelRing: () => void;
}

const WORK = { work: 'warm transfer' };
const NO_MUSIC = 'none';
const DECLINE_KEY = '*';
/** The longest time from the answer until the caller is connected, or is back. */
const ANSWERED_MS = 180_000;
/** The longest time from the end of the summary until the key that accepts is pressed. */
const ACCEPT_MS = 20_000;
const PARTED = '[The colleague has left the call, and the caller is back with you]';

export class WarmTransfers {
  readonly #parts: WarmTransferParts;
  /** By the id of the caller's call. */
  readonly #open = new Map<string, Transfer>();
  #isClosed = false;

  constructor(parts: WarmTransferParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A call can be placed. */
  get isPossible(): boolean {
    return this.#parts.telephone()?.canPlace !== false && this.#parts.telephone() !== undefined;
  }

  /**
   * Resolves as soon as the person is being called. Rejects with NOT_FOUND, CALL_STATE, INVALID_FIELD, what
   * `Call.speak` throws for the summary, and as `PhoneCalls.place` and `JoinSounds.music` do: the call is
   * then as it was.
   */
  async start(id: string, key: string | undefined, request: WarmTransferRequest): Promise<WarmTransferView> {
    this.#parts.openCalls.find(id, key); // before a file is read
    const { view } = await this.#start(() => this.#parts.openCalls.find(id, key), request, {
      isOwn: false,
      key,
    });
    return view;
  }

  /** An agent's own function: resolves with the outcome. Rejects as `start`. */
  async byAgent(
    handled: HandledCall,
    request: WarmTransferRequest,
  ): Promise<'connected' | WarmTransferReason> {
    const { outcome } = await this.#start(() => handled, request, { isOwn: true, key: undefined });
    return outcome;
  }

  /** The caller comes back at once. Throws NOT_FOUND. */
  cancel(id: string, key: string | undefined): void {
    this.#parts.openCalls.find(id, key);
    const transfer = this.#open.get(id);
    if (transfer === undefined) throw new ParleyError('NOT_FOUND', 'this call is in no warm transfer');
    this.#fail(transfer, 'cancelled');
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const transfer of this.#open.values()) this.#fail(transfer, 'server closing');
  }

  async #start(find: () => HandledCall, request: WarmTransferRequest, by: Pick<Transfer, 'isOwn' | 'key'>) {
    const { sounds } = this.#parts;
    this.#checkRequest(request);
    this.#check(find());
    const music = request.music === NO_MUSIC ? undefined : await sounds.music(request.music);
    const first = find();
    const telephone = this.#check(first);
    const settings = { keys: 'forward', voice: 'paused', music, ringBack: undefined } as const;
    let resolve: Transfer['resolve'] = () => undefined;
    const outcome = new Promise<'connected' | WarmTransferReason>((settle) => (resolve = settle));
    const transfer = this.#begin(first, { request, settings, ...by, resolve });
    try {
      const view = await this.#place(transfer, telephone);
      return { view, outcome };
    } catch (error) {
      // The request is refused, and the call is as it was. A transfer that is over has given the caller back.
      const isOver = transfer.state === 'over';
      this.#leave(transfer);
      if (!isOver) transfer.giveBack?.(undefined);
      throw asParleyError(error, 'TRANSPORT_UNSUPPORTED');
    }
  }

  #checkRequest({ acceptKey, declineKey = DECLINE_KEY, summary }: WarmTransferRequest): void {
    if (acceptKey === declineKey)
      throw new ParleyError('INVALID_FIELD', '"accept_key" and "decline_key" must differ', {
        field: 'accept_key',
      });
    if (summary === undefined) return;
    try {
      this.#parts.switchboard.check(summary.text, summary);
    } catch (error) {
      const { code, message, field } = asParleyError(error, 'ENGINE_FAILED');
      throw new ParleyError(code, message, { field: field === 'text' ? 'summary' : (field ?? 'summary') });
    }
  }

  #check({ call }: HandledCall): PhoneCalls {
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    checkJoinable(call);
    this.#parts.book.check(call.id);
    const telephone = this.#parts.telephone();
    if (telephone === undefined) throw telephoneOff();
    return telephone;
  }

  #begin(
    first: HandledCall,
    given: Pick<Transfer, 'request' | 'settings' | 'isOwn' | 'key' | 'resolve'>,
  ): Transfer {
    const { book, joiner } = this.#parts;
    const { id } = first.call;
    const stop = [book.enter(id, 'a warm transfer')];
    try {
      const { music } = given.settings;
      if (music !== undefined) {
        const heard = new CallMusic(joiner, music);
        stop.push(() => heard.close());
        heard.add(first.call);
      }
    } catch (error) {
      for (const one of stop) attempt(WORK, one);
      throw error;
    }
    const transfer: Transfer = {
      first,
      stop,
      ...given,
      giveBack: undefined,
      placed: undefined,
      state: 'ringing',
      failedFor: undefined,
      isScreened: false,
      cancelRing: () => undefined,
    };
    this.#open.set(id, transfer);
    const resumeSilence = first.leg?.suspendSilence();
    if (resumeSilence !== undefined) stop.push(resumeSilence);
    void first.call.closed.then((reason) =>
      this.#fail(transfer, reason === 'server closing' ? reason : 'hung up'),
    );
    return transfer;
  }

  async #place(transfer: Transfer, telephone: PhoneCalls): Promise<WarmTransferView> {
    const { first, request } = transfer;
    const { to, from, trunk, ringTimeoutMs, summary } = request;
    const owner = this.#parts.ownerOf(first.call.id) ?? transfer.key;
    const { path } = first;
    const detect = { ...stated({ language: summary?.language, screening: summary }) };
    const { id: other } = await telephone.place({
      to,
      detect,
      ...stated({ from, trunk, ringTimeoutMs, owner, path }),
    });
    if (transfer.state === 'over') {
      this.#hangUp(other);
      throw new ParleyError('CALL_STATE', endedWhilePlacing(transfer));
    }
    transfer.placed = other;
    const { openCalls } = this.#parts;
    transfer.giveBack = openCalls.silencerOf(first.call.id)?.(transfer.isOwn ? 'own' : 'others');
    this.#parts.tell(first, { type: 'warm_transfer.started', other });
    // The placed call ends only when the far end has confirmed its CANCEL, which may be gone.
    transfer.cancelRing = this.#parts.time.after(ringTimeoutMs ?? USUAL_RING_MS, () =>
      this.#fail(transfer, 'no answer'),
    );
    transfer.stop.push(transfer.cancelRing);
    const unfollow = telephone.follow(other, 0, (event) => this.#placedCall(transfer, event));
    // The events so far are replayed, and may have ended the transfer.
    if (this.#isOver(transfer)) unfollow();
    else transfer.stop.push(unfollow);
    return { call: first.call.id, other, state: 'ringing' };
  }

  #placedCall(transfer: Transfer, event: PhoneCallEvent): void {
    if (transfer.state === 'over') return;
    if (event.type === 'digit') return this.#pressed(transfer, event.digit);
    if (event.type === 'speech' && event.event.type === 'answer.detected')
      return event.event.early === true ? undefined : this.#detected(transfer, event.event.by);
    if (event.type !== 'state') return;
    if (event.state === 'connected' && transfer.state === 'ringing') {
      transfer.state = 'detecting';
      transfer.cancelRing();
      transfer.stop.push(this.#parts.time.after(ANSWERED_MS, () => this.#fail(transfer, 'no answer')));
    }
    if (event.state === 'ended') this.#fail(transfer, endOf(transfer, event));
  }

  #detected(transfer: Transfer, by: AnsweredBy): void {
    switch (by) {
      case 'human':
        return this.#tell(transfer, by);
      case 'screening':
        transfer.isScreened = true;
        return;
      case 'silence':
      case 'unknown':
        // A person may wait in silence. A service that screens calls has told that there was none yet.
        return transfer.isScreened ? this.#fail(transfer, 'voicemail') : this.#tell(transfer, by);
      case 'machine':
      case 'machine_beep':
      case 'machine_silence':
        return this.#fail(transfer, 'voicemail');
      default:
        return this.#fail(transfer, 'failed');
    }
  }

  #tell(transfer: Transfer, by: AnsweredBy): void {
    if (transfer.state !== 'detecting') return;
    const { placed: other = '', first, request } = transfer;
    transfer.state = 'telling';
    this.#parts.tell(first, { type: 'warm_transfer.answered', other, by });
    if (request.summary === undefined) return this.#told(transfer);
    const { text, ...options } = request.summary;
    try {
      const { call } = this.#parts.openCalls.find(other, undefined);
      void call.speak(text, options).ended.then(({ end }) => {
        if (transfer.state !== 'telling') return;
        if (end === 'spoken') this.#told(transfer);
        else this.#fail(transfer, 'failed');
      });
    } catch (error) {
      this.#warn(transfer, error);
      this.#fail(transfer, 'failed');
    }
  }

  #told(transfer: Transfer): void {
    if (transfer.request.acceptKey === undefined) return this.#connect(transfer);
    transfer.state = 'asking';
    transfer.stop.push(this.#parts.time.after(ACCEPT_MS, () => this.#fail(transfer, 'no answer')));
  }

  #pressed(transfer: Transfer, digit: string): void {
    const { acceptKey, declineKey = DECLINE_KEY } = transfer.request;
    if (transfer.state === 'ringing') return;
    if (digit === declineKey) return this.#fail(transfer, 'declined');
    if (digit === acceptKey) this.#connect(transfer);
  }

  /** The summary ends where the key that accepts interrupts it. */
  #connect(transfer: Transfer): void {
    const { first, placed: other = '', request, settings, giveBack } = transfer;
    const { bridges, openCalls, tell } = this.#parts;
    const after = request.after ?? 'hangup';
    let ended: ReturnType<Bridges['handOver']>;
    try {
      const second = openCalls.find(other, undefined);
      second.call.interrupt('warm transfer');
      this.#leave(transfer);
      ended = bridges.handOver(first, second, after, settings);
    } catch (error) {
      this.#warn(transfer, error);
      this.#over(transfer, 'failed');
      return;
    }
    tell(first, { type: 'warm_transfer.connected', other });
    transfer.resolve('connected');
    void ended.then((reason) => {
      const isBack = after === 'stay' || reason === 'parted' || reason === 'failed';
      if (isBack && !first.call.isClosing()) giveBack?.(reason === 'failed' ? failedNote(reason) : PARTED);
    });
  }

  #isOver({ state }: Transfer): boolean {
    return state === 'over';
  }

  /** The caller hears no music, and may be joined to something else. Idempotent. */
  #leave(transfer: Transfer): void {
    const { first, stop } = transfer;
    transfer.state = 'over';
    if (this.#open.get(first.call.id) === transfer) this.#open.delete(first.call.id);
    for (const one of stop.splice(0).toReversed()) attempt(WORK, one);
  }

  #fail(transfer: Transfer, reason: WarmTransferReason): void {
    if (transfer.state === 'over') return;
    this.#leave(transfer);
    this.#over(transfer, reason);
  }

  #over(transfer: Transfer, reason: WarmTransferReason): void {
    const { first, placed: other, giveBack, isOwn, resolve } = transfer;
    const { tell, log } = this.#parts;
    transfer.failedFor = reason;
    if (other !== undefined) this.#hangUp(other);
    const by = reason === 'cancelled' ? 'application' : undefined;
    tell(first, { type: 'warm_transfer.failed', ...stated({ other, by }), reason });
    log.info({ call: first.call.id, other, reason }, 'warm transfer failed');
    if (!first.call.isClosing()) giveBack?.(isOwn ? undefined : failedNote(reason));
    resolve(reason);
  }

  #hangUp(id: string): void {
    const work = { work: 'warm transfer', call: id };
    this.#parts
      .telephone()
      ?.hangUp(id)
      .catch((error: unknown) => tellDefect(error, work));
  }

  #warn({ first, placed }: Transfer, error: unknown): void {
    const { code, message: detail } = asParleyError(error, 'WRONG_STATE');
    this.#parts.log.warn({ call: first.call.id, other: placed, code, detail }, 'warm transfer not done');
  }
}

function failedNote(reason: WarmTransferReason): string {
  const why = reason === 'cancelled' ? 'an application cancelled it' : reason;
  return `[The transfer to a colleague failed (${why}): the caller is back]`;
}

function endedWhilePlacing({ first, failedFor }: Transfer): string {
  const meanwhile = "while the person's call was being placed";
  switch (failedFor) {
    case 'cancelled':
      return `an application cancelled the warm transfer of call ${first.call.id} ${meanwhile}`;
    case 'server closing':
      return `the server began to close ${meanwhile}`;
    default:
      return `the caller of call ${first.call.id} hung up ${meanwhile}`;
  }
}

function endOf({ state }: Transfer, { end }: Extract<PhoneCallEvent, { type: 'state' }>): WarmTransferReason {
  if (state !== 'ringing') return end?.reason === 'peer hung up' ? 'declined' : 'failed';
  const reason = reasonOf(end);
  switch (reason) {
    case 'busy':
    case 'rejected':
    case 'no answer':
    case 'server closing':
      return reason;
    default:
      return 'failed';
  }
}
