// The bridges of this server: an application, a rule or an agent joins two calls, or a call with one that is
// placed for it.
//
//   open ──call──▶ answered bridge          open ──to──▶ dialling ──connected──▶ answered bridge
//
//   ring ──to──▶ caller rings ──answer──▶ caller is answered ──▶ answered bridge
//
// The call that was placed belongs to its bridge: it is hung up with it, unless a request parts the two.
import { asParleyError, ParleyError, tellDefect } from '../errors.js';
import type { Log } from '../log.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { Time } from '../time.js';
import { Bridge, type BridgeReason, type BridgeSettings } from './bridge.js';
import type { Call } from './call.js';
import type { JoinEvent } from './call-events.js';
import type { HandledCall } from './call-handler.js';
import type { JoinBook, JoinPlace } from './join-book.js';
import { checkJoinable, type MediaJoiner } from './joined-media.js';
import type { OpenCalls } from './open-calls.js';
import type { CallPath, PhoneCallEnd, PhoneCallEvent, PhoneCallRequest, PhoneCalls } from './phone-calls.js';
import type { JoinedSupervisor, SpeakingMode } from './supervised-media.js';
import { telephoneOff } from './listed-calls.js';
import type { Switchboard } from './switchboard.js';
import { stated } from '../stated.js';

/** The sounds of calls that are joined or wait. */
export interface JoinSounds {
  /** A sound of the library by its name, or the default tune. Rejects as `SoundLibrary.sound` does. */
  music(name: string | undefined): Promise<PlayedSound>;
  /** The ring-back of the country of this server. */
  ringBack(): PlayedSound;
  keyTone(digit: string): PlayedSound;
  /** Heard in a room by those who are there. */
  entry(): PlayedSound;
  exit(): PlayedSound;
}

export interface JoiningParts {
  readonly openCalls: Pick<OpenCalls, 'find'>;
  readonly switchboard: Pick<Switchboard, 'onceOpen'>;
  /** Undefined: the server has no telephone. */
  readonly telephone: () => PhoneCalls | undefined;
  readonly book: JoinBook;
  readonly joiner: MediaJoiner;
  readonly sounds: JoinSounds;
  readonly tell: (handled: HandledCall, event: JoinEvent) => void;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
  readonly time: Time;
  readonly log: Log;
}

/** The call that another one is joined to. */
export interface JoinTarget {
  /** Id of an open call. */
  readonly call?: string | undefined;
  /** Destination of a call that is placed; see PhoneCallRequest. */
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly trunk?: string | undefined;
  readonly ringTimeoutMs?: number | undefined;
}

export interface BridgeRequest extends JoinTarget {
  /** The first call hears the second one before the answer, as far as that sends sound; true if absent. */
  readonly earlyMedia?: boolean | undefined;
  /** Name of the sound on hold, or `none`; absent: the default tune. */
  readonly music?: string | undefined;
  /** `forward`, if absent. */
  readonly keys?: BridgeSettings['keys'] | undefined;
  readonly endKey?: string | undefined;
  /** `paused`, if absent. */
  readonly voice?: BridgeSettings['voice'] | undefined;
  /** Fate of the first call after the bridge; `stay` if absent. */
  readonly after?: 'stay' | 'hangup' | undefined;
  /** Once both talk, a far end is asked to call the other one in our place (REFER); false if absent. */
  readonly leavePath?: boolean | undefined;
}

/** A caller that is answered when the far end of its bridge answers. */
export interface RingingCaller {
  /** Id of its call. */
  readonly id: string;
  /** The way by which it came. */
  readonly path: CallPath | undefined;
  /** Resolves when its call has ended. */
  readonly over: Promise<unknown>;
  /** The far end rings. */
  ring(): void;
  /** Opens its media before the answer, so that it hears the far end. Idempotent. */
  openEarly(): void;
  answer(): void;
  /** Runs `action` once the caller can hear; never if its call ends before. */
  onceAudible(action: (handled: HandledCall) => void): void;
  /** Runs `action` once its call is answered and acknowledged; never if it ends before. */
  onceTalking(action: (handled: HandledCall) => void): void;
  /** Ends its call, for the reason why the far end did not answer or could not be called. */
  refuse(why: PhoneCallEnd | ParleyError): void;
}

export interface BridgeView {
  readonly call: string;
  readonly other: string;
  readonly state: 'ringing' | 'connected';
  readonly mode: Bridge['mode'];
}

interface OpenBridge {
  readonly bridge: Bridge;
  readonly first: HandledCall;
  after: 'stay' | 'hangup';
  /** The first call is not hung up where the two cannot hear each other. */
  staysIfFailed?: boolean;
  /** The two were never joined, and the request was refused: no event tells of the bridge. */
  isRefused?: boolean;
  readonly leavesPath: boolean;
  /** Resolves with true once the far ends talk without this server, with false if they refuse that. */
  leaving?: Promise<boolean>;
  /** Id of the call that was placed for it. */
  placed?: string;
  second?: HandledCall;
  /** Resolves with true when both hear each other, with false when it ends before. */
  readonly connected: Promise<boolean>;
  readonly resolveConnected: (isConnected: boolean) => void;
  /** The book has both calls in this place. */
  readonly place: JoinPlace;
  /** Lets the calls be joined to others. */
  readonly leave: (() => void)[];
}

/** The far end that a caller is being bridged with. */
interface Ringing {
  readonly request: BridgeRequest;
  readonly settings: BridgeSettings;
  readonly talking: (handled: HandledCall) => void;
}

const NO_MUSIC = 'none';
/** As of PhoneCallRequest. */
export const USUAL_RING_MS = 60_000;
const MOST_LEAVING_MS = 2000; // from the BYE of one far end to the report of the other one

export class Bridges {
  readonly #parts: JoiningParts;
  /** By the ids of both calls. */
  readonly #open = new Map<string, OpenBridge>();
  #isClosed = false;

  constructor(parts: JoiningParts) {
    this.#parts = parts;
  }

  get size(): number {
    return new Set(this.#open.values()).size;
  }

  /**
   * Joins a call with another one. Resolves as soon as the call that is placed is on its way. Rejects with
   * NOT_FOUND, CALL_STATE, CALL_LOOP, INVALID_FIELD, with what the joiner throws, and as `PhoneCalls.place`
   * and `JoinSounds.music` do.
   */
  async open(id: string, key: string | undefined, request: BridgeRequest): Promise<BridgeView> {
    this.#parts.openCalls.find(id, key); // before a file is read
    const settings = await this.#settings(request);
    return this.join(this.#first(id, key), key, request, settings);
  }

  /**
   * Calls `to` for a caller that is not answered yet. The answer of the far end answers the caller, and its
   * refusal refuses the caller. Never rejects. `talking`: the caller is answered.
   */
  async ring(
    caller: RingingCaller,
    request: BridgeRequest,
    talking: (handled: HandledCall) => void,
  ): Promise<void> {
    try {
      const telephone = this.#parts.telephone();
      if (telephone === undefined) throw telephoneOff();
      const settings = await this.#settings(request);
      if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
      const { id } = await telephone.place(this.#placing(caller, undefined, request));
      this.#ringing(caller, id, telephone, { request, settings, talking });
    } catch (error) {
      caller.refuse(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
    }
  }

  /** As `open`, with a call that is known. */
  async join(
    first: HandledCall,
    key: string | undefined,
    request: BridgeRequest,
    settings: BridgeSettings,
  ): Promise<BridgeView> {
    checkTarget(request);
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    if (request.call === undefined) return this.#dial(first, key, request, settings);
    const second = this.#second(first, request.call, key);
    const open = this.#begin(first, request, settings, 'a bridge with another call');
    this.#stand(open, second);
    return this.#view(open);
  }

  /**
   * Joins a call with one that was placed for it and has answered, which is hung up with the bridge. Resolves
   * when the bridge has ended; for the reason `failed` the first call stays, whatever `after` says. Throws
   * CALL_STATE, CALL_LOOP, and what the joiner throws if the two cannot hear each other: no event tells of
   * the bridge.
   */
  handOver(
    first: HandledCall,
    second: HandledCall,
    after: 'stay' | 'hangup',
    settings: BridgeSettings,
  ): Promise<BridgeReason> {
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    for (const { call } of [first, second]) checkJoinable(call);
    const { id } = second.call;
    this.#parts.book.check(id);
    this.#parts.book.checkCircle(id, [first.call.id]);
    const open = this.#begin(first, { after }, settings, 'a bridge with another call');
    open.placed = id;
    open.staysIfFailed = true;
    this.#stand(open, second);
    void open.bridge.ended.then((reason) => {
      const telephone = this.#parts.telephone();
      return reason === 'parted' || telephone === undefined ? undefined : this.#hangUp(id, telephone);
    });
    return open.bridge.ended;
  }

  /**
   * The supervisor is heard in the bridge of a call, as the mode says. Undefined: the call is in no bridge
   * that is answered. Throws what the joiner throws.
   */
  supervise(
    target: HandledCall,
    supervisor: HandledCall,
    mode: SpeakingMode,
    onOver: (reason: 'parted' | 'failed') => void,
  ): JoinedSupervisor | undefined {
    const { bridge } = this.#open.get(target.call.id) ?? {};
    if (bridge?.isAnswered !== true) return undefined;
    const close = bridge.supervise(target.call, supervisor.call, mode, () => onOver('failed'));
    void bridge.ended.then((reason) => onOver(reason === 'failed' ? reason : 'parted'));
    return { close };
  }

  /** Ends the bridge of a call: both calls stay. Throws NOT_FOUND. */
  part(id: string, key: string | undefined): void {
    this.#parts.openCalls.find(id, key);
    const open = this.#open.get(id);
    if (open === undefined) throw new ParleyError('NOT_FOUND', 'this call is in no bridge');
    open.bridge.end('parted');
  }

  /**
   * Resolves once the bridge of a call is connected or over, with true if it was connected. True at once for
   * a call that is in none.
   */
  outcomeOf(id: string): Promise<boolean> {
    const open = this.#open.get(id);
    return open === undefined ? Promise.resolve(true) : open.connected;
  }

  /** The bridge that a call is in. */
  of(id: string): BridgeView | undefined {
    const open = this.#open.get(id);
    return open && this.#view(open);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const { bridge } of new Set(this.#open.values())) bridge.end('server closing');
  }

  async #settings(request: BridgeRequest): Promise<BridgeSettings> {
    const { sounds } = this.#parts;
    const { music, endKey, keys = 'forward', voice = 'paused' } = request;
    const onHold = music === NO_MUSIC ? undefined : await sounds.music(music);
    return { keys, endKey, voice, music: onHold, ringBack: sounds.ringBack() };
  }

  #first(id: string, key: string | undefined): HandledCall {
    const handled = this.#parts.openCalls.find(id, key);
    checkJoinable(handled.call);
    this.#parts.book.check(id);
    return handled;
  }

  #second(first: HandledCall, id: string, key: string | undefined): HandledCall {
    if (id === first.call.id)
      throw new ParleyError('INVALID_FIELD', 'a call cannot be joined to itself', { field: 'call' });
    const second = this.#parts.openCalls.find(id, key);
    checkJoinable(second.call, 'call');
    this.#parts.book.check(id, 'call');
    this.#parts.book.checkCircle(id, [first.call.id], 'call');
    return second;
  }

  #begin(
    first: HandledCall,
    { after = 'stay', leavePath: leavesPath = false }: BridgeRequest,
    settings: BridgeSettings,
    what: string,
  ): OpenBridge {
    const { book } = this.#parts;
    const place = {};
    const leave = [book.enter(first.call.id, what, undefined, place)];
    try {
      const bridge = new Bridge(first, settings, {
        ...this.#parts,
        keyTone: (digit) => this.#parts.sounds.keyTone(digit),
      });
      let resolveConnected: (isConnected: boolean) => void = () => undefined;
      const connected = new Promise<boolean>((resolve) => (resolveConnected = resolve));
      const open: OpenBridge = {
        bridge,
        first,
        after,
        leavesPath,
        place,
        leave,
        connected,
        resolveConnected,
      };
      this.#open.set(first.call.id, open);
      void bridge.ended.then((reason) => this.#ended(open, reason));
      return open;
    } catch (error) {
      for (const one of leave) one();
      throw error;
    }
  }

  /** As `#reached`. What it throws ends the bridge, of which no event tells. */
  #stand(open: OpenBridge, second: HandledCall): void {
    try {
      this.#reached(open, second);
    } catch (error) {
      open.isRefused = true;
      open.bridge.end('failed');
      throw error;
    }
  }

  /** Throws CALL_STATE, and why the two cannot hear each other, which has ended the bridge. */
  #reached(open: OpenBridge, second: HandledCall): void {
    const { book, tell } = this.#parts;
    const [a, b] = [open.first.call.id, second.call.id];
    open.leave.push(book.enter(b, 'a bridge with another call', 'call', open.place));
    open.second = second;
    this.#open.set(b, open);
    open.bridge.answered(second);
    if (open.bridge.failure !== undefined) throw open.bridge.failure;
    open.resolveConnected(true);
    tell(open.first, { type: 'bridge.started', other: b });
    tell(second, { type: 'bridge.started', other: a });
    if (open.leavesPath) open.leaving = this.#leavePath(open.first, second);
  }

  /**
   * Asks one far end, and if it refuses the other one, to call the far end of the other call in our place
   * (an attended transfer, RFC 5589). The bridge goes on until then.
   */
  async #leavePath(first: HandledCall, second: HandledCall): Promise<boolean> {
    const { log } = this.#parts;
    for (const [asked, other] of [
      [first, second],
      [second, first],
    ] as const) {
      if (asked.leg === undefined || other.leg === undefined) return false;
      try {
        const { accepted, status } = await asked.leg.transfer({ call: other.call.id });
        log.info({ call: asked.call.id, other: other.call.id, accepted, status }, 'asked to leave the path');
        if (accepted) return true;
      } catch (error) {
        const { code } = asParleyError(error, 'WRONG_STATE');
        log.warn({ call: asked.call.id, other: other.call.id, code }, 'not asked to leave the path');
        return false; // one of the calls has ended
      }
    }
    return false;
  }

  /** The far end that was replaced hangs up before the other one reports: resolves with true if it does. */
  async #hasLeft(leaving: Promise<boolean>): Promise<boolean> {
    let cancelTimer: () => void = () => undefined;
    const limit = new Promise<boolean>((resolve) => {
      cancelTimer = this.#parts.time.after(MOST_LEAVING_MS, () => resolve(false));
    });
    return Promise.race([leaving, limit]).finally(cancelTimer);
  }

  async #dial(
    first: HandledCall,
    key: string | undefined,
    request: BridgeRequest,
    settings: BridgeSettings,
  ): Promise<BridgeView> {
    const telephone = this.#parts.telephone();
    if (telephone === undefined) throw telephoneOff();
    const open = this.#begin(first, request, settings, 'a bridge');
    try {
      const view = await telephone.place(
        this.#placing({ id: first.call.id, path: first.path }, key, request),
      );
      this.#follow(open, view.id, telephone, request);
      return this.#view(open);
    } catch (error) {
      open.after = 'stay'; // the request is refused, and the call is as it was
      open.bridge.end('failed');
      throw asParleyError(error, 'TRANSPORT_UNSUPPORTED');
    }
  }

  /** The call that is placed for another one. */
  #placing(
    { id, path }: Pick<RingingCaller, 'id' | 'path'>,
    key: string | undefined,
    { to = '', from, trunk, ringTimeoutMs }: BridgeRequest,
  ): PhoneCallRequest {
    const owner = this.#parts.ownerOf(id) ?? key;
    return { to, ...stated({ from, trunk, ringTimeoutMs, owner, path }) };
  }

  /** Follows the call that was placed for a caller who is not answered yet. */
  #ringing(caller: RingingCaller, id: string, telephone: PhoneCalls, ringing: Ringing): void {
    const { request, settings, talking } = ringing;
    const { earlyMedia: isEarly = true } = request;
    let open: OpenBridge | undefined;
    let second: Call | undefined;
    let [isAnswered, isTalking] = [false, false];
    const forget = this.#parts.switchboard.onceOpen(id, (call) => {
      second = call;
      // An answer is no early media.
      if (!isEarly || telephone.get(id).answeredAt !== undefined) return;
      caller.openEarly();
      open?.bridge.reach(call);
    });
    // The placed call ends only when the far end has confirmed its CANCEL, which may be gone.
    const { ringTimeoutMs = USUAL_RING_MS } = request;
    const cancelTimer = this.#parts.time.after(ringTimeoutMs, () => caller.refuse({ reason: 'no answer' }));
    const stop = telephone.follow(id, 0, (event) => {
      if (event.type !== 'state') return;
      if (event.state === 'ringing') caller.ring();
      if (event.state === 'connected' && !isAnswered) {
        isAnswered = true;
        cancelTimer();
        caller.answer();
      }
      if (event.state !== 'ended') return;
      open?.bridge.end(reasonOf(event.end));
      if (!isTalking) caller.refuse(event.end ?? { reason: 'failed' });
    });
    const left = (isParted: boolean) => {
      cancelTimer();
      forget();
      stop();
      return isParted ? undefined : this.#hangUp(id, telephone);
    };
    caller.onceAudible((first) => {
      try {
        checkJoinable(first.call);
        open = this.#begin(first, request, settings, 'a bridge');
      } catch (error) {
        return caller.refuse(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
      }
      open.placed = id;
      if (second !== undefined && (isEarly || isAnswered)) open.bridge.reach(second);
      void open.bridge.ended.then((reason) => left(reason === 'parted' && isTalking));
    });
    caller.onceTalking((first) => {
      isTalking = true;
      talking(first);
      if (open !== undefined) this.#reachPlaced(open, id);
    });
    void caller.over.then(() => (isTalking ? undefined : left(false)));
  }

  #hangUp(id: string, telephone: PhoneCalls): Promise<unknown> {
    return telephone.hangUp(id).catch((error: unknown) => tellDefect(error, { work: 'bridge', call: id }));
  }

  #follow(open: OpenBridge, id: string, telephone: PhoneCalls, request: BridgeRequest): void {
    const { bridge } = open;
    const { earlyMedia: isEarly = true, ringTimeoutMs = USUAL_RING_MS } = request;
    open.placed = id;
    const { switchboard } = this.#parts;
    const forget = isEarly ? switchboard.onceOpen(id, (call) => bridge.reach(call)) : () => undefined;
    // The placed call ends only when the far end has confirmed its CANCEL, which may be gone.
    const cancelRing = this.#parts.time.after(ringTimeoutMs, () => bridge.end('no answer'));
    const stop = telephone.follow(id, 0, (event) => {
      if (event.type === 'state' && event.state === 'connected') cancelRing();
      this.#placedCall(open, id, event);
    });
    void bridge.ended.then((reason) => {
      cancelRing();
      forget();
      stop();
      return reason === 'parted' && open.second !== undefined ? undefined : this.#hangUp(id, telephone);
    });
  }

  #placedCall(open: OpenBridge, id: string, event: PhoneCallEvent): void {
    if (event.type !== 'state') return;
    if (event.state === 'ended') return open.bridge.end(reasonOf(event.end));
    if (event.state !== 'connected' || open.second !== undefined) return;
    // The call is open for applications once its state was told.
    queueMicrotask(() => open.second === undefined && this.#reachPlaced(open, id));
  }

  #reachPlaced(open: OpenBridge, id: string): void {
    try {
      this.#reached(open, this.#parts.openCalls.find(id, undefined));
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      this.#parts.log.warn({ call: open.first.call.id, other: id, code }, 'calls not joined');
      open.bridge.end('failed');
    }
  }

  #ended(open: OpenBridge, reason: BridgeReason): void {
    const { first, second, leaving } = open;
    for (const leave of open.leave) leave();
    open.resolveConnected(false);
    for (const one of [first.call.id, second?.call.id]) if (one !== undefined) this.#open.delete(one);
    if (leaving === undefined || reason !== 'hung up') return this.#tellEnd(open, reason);
    void this.#hasLeft(leaving).then((hasLeft) => this.#tellEnd(open, hasLeft ? 'transferred' : reason));
  }

  #tellEnd(open: OpenBridge, reason: BridgeReason): void {
    const { first, second, placed, after, staysIfFailed, isRefused } = open;
    if (isRefused === true) return;
    const { tell, log } = this.#parts;
    const other = second?.call.id ?? placed;
    tell(first, { type: 'bridge.ended', ...stated({ other }), reason });
    if (second !== undefined) tell(second, { type: 'bridge.ended', other: first.call.id, reason });
    log.info({ call: first.call.id, other, reason }, 'bridge ended');
    const stays = after === 'stay' || reason === 'parted' || (reason === 'failed' && staysIfFailed === true);
    if (!stays && !first.call.isClosing())
      first.hangUp().catch((error: unknown) => tellDefect(error, { work: 'bridge', call: first.call.id }));
  }

  #view({ bridge, first, second, placed = '' }: OpenBridge): BridgeView {
    const state = bridge.isAnswered ? 'connected' : 'ringing';
    return { call: first.call.id, other: second?.call.id ?? placed, state, mode: bridge.mode };
  }
}

/** Throws INVALID_FIELD. */
export function checkTarget({ call, to }: JoinTarget): void {
  if ((call === undefined) !== (to === undefined)) return;
  const message = 'either "call" or "to" must be there: the call that is joined';
  throw new ParleyError('INVALID_FIELD', message, { field: 'call' });
}

const BUSY = new Set([486, 600]);

/** The reason of a call that was placed and never joined. */
export function reasonOf(end: PhoneCallEnd | undefined): BridgeReason {
  if (end?.status !== undefined && BUSY.has(end.status)) return 'busy';
  switch (end?.reason) {
    case 'no answer':
    case 'rejected':
    case 'server closing':
      return end.reason;
    case 'peer hung up':
    case 'we hung up':
    case 'transferred':
      return 'hung up';
    default:
      return 'failed';
  }
}
