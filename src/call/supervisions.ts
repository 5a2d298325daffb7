// Supervisors: a call hears both sides of another one, speaks with one of them or with all, or takes the
// place of the side that it supervises.
//
//   listen ── a ring of both sides ──▶ the supervisor, whatever the call is joined to
//   whisper, barge, take_over ─┬─ in a bridge ─▶ a third member of its mixer
//                              ├─ in a room ───▶ a member of the room
//                              └─ elsewhere ───▶ a mixer of the two, beside our voice
//
// The far end of the supervised call is told nothing: its events are for applications only.
import { asParleyError, attempt, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { Bridges } from './bridges.js';
import type { JoinEvent, SuperviseMode } from './call-events.js';
import type { HandledCall } from './call-handler.js';
import type { JoinBook } from './join-book.js';
import { checkAudible, checkJoinable, type MediaJoiner } from './joined-media.js';
import type { OpenCalls } from './open-calls.js';
import type { Rooms } from './rooms.js';
import { mayUseCall } from './switchboard.js';
import { type JoinedSupervisor, ListenedCall, SharedCall, type SpeakingMode } from './supervised-media.js';

export interface SuperviseRequest {
  /** Id of the supervisor's call. */
  readonly call: string;
  readonly mode: SuperviseMode;
}

export interface SupervisionView {
  /** Id of the call that is supervised. */
  readonly call: string;
  readonly supervisor: string;
  readonly mode: SuperviseMode;
}

export type SupervisionReason =
  /** A request has ended it. */
  | 'ended'
  /** Either side hung up. */
  | 'hung up'
  /** The bridge or the room of the call has ended, or the call has left it. */
  | 'parted'
  | 'failed'
  | 'server closing';

interface SupervisionParts {
  readonly openCalls: Pick<OpenCalls, 'find' | 'silencerOf' | 'isTalking'>;
  readonly bridges: Pick<Bridges, 'of' | 'supervise'>;
  readonly rooms: Pick<Rooms, 'has' | 'ownerOf' | 'supervise'>;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
  readonly book: JoinBook;
  readonly joiner: MediaJoiner;
  readonly tell: (handled: HandledCall, event: JoinEvent) => void;
  /** Tells applications, and not the far end. */
  readonly tellApplications: (handled: HandledCall, event: JoinEvent) => void;
  readonly log: Log;
}

interface Supervision {
  readonly target: HandledCall;
  readonly supervisor: HandledCall;
  mode: SuperviseMode;
  joined: JoinedSupervisor | undefined;
  readonly stop: (() => void)[];
}

const WORK = { work: 'supervision' };
const NO_WHISPER =
  'our own voice talks in this call, and cannot hear a whisper: "whisper" needs a call in a bridge or a room';
const NO_TAKE_OVER =
  'an application talks in this call, and only an agent of this server can be silenced: "barge" joins it';
const HAND_BACK = '[A supervisor has talked with the caller, and hands the call back to you]';

export class Supervisions {
  readonly #parts: SupervisionParts;
  /** By the id of the supervised call. */
  readonly #open = new Map<string, Supervision>();
  #isClosed = false;

  constructor(parts: SupervisionParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Has `request.call` supervise the call `id` from now on; a call that does so already changes its mode.
   * Throws NOT_FOUND, CALL_STATE, CALL_LOOP, INVALID_FIELD and what the joiner throws. A mode that is
   * refused changes nothing.
   */
  supervise(id: string, key: string | undefined, { call, mode }: SuperviseRequest): SupervisionView {
    const { openCalls } = this.#parts;
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    const [target, supervisor] = [openCalls.find(id, key), openCalls.find(call, key)];
    this.#checkHeard(id, key);
    if (id === call)
      throw new ParleyError('INVALID_FIELD', 'a call cannot supervise itself', { field: 'call' });
    if (mode === 'listen') checkAudible(target.call);
    else checkJoinable(target.call);
    checkJoinable(supervisor.call, 'call');
    const known = this.#open.get(id);
    if (known === undefined) {
      this.#checkMode(id, mode);
      return viewOf(this.#begin(target, supervisor, mode));
    }
    if (known.supervisor.call.id !== call)
      throw new ParleyError('CALL_STATE', 'another call supervises this call already');
    if (known.mode === mode) return viewOf(known);
    this.#checkMode(id, mode);
    this.#change(known, mode);
    return viewOf(known);
  }

  /** Ends the supervision of a call, which goes on as before. Throws NOT_FOUND. */
  end(id: string, key: string | undefined): void {
    this.#parts.openCalls.find(id, key);
    const supervision = this.#open.get(id);
    if (supervision === undefined) throw new ParleyError('NOT_FOUND', 'nobody supervises this call');
    this.#end(supervision, 'ended');
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const supervision of this.#open.values()) this.#end(supervision, 'server closing');
  }

  #begin(target: HandledCall, supervisor: HandledCall, mode: SuperviseMode): Supervision {
    const { tell, tellApplications } = this.#parts;
    const [id, other] = [target.call.id, supervisor.call.id];
    for (const one of this.#open.values())
      if (one.supervisor.call.id === id)
        throw new ParleyError('CALL_STATE', `call ${id} supervises another one, and is heard by that only`);
    const leave = this.#enterBook(id, other);
    const supervision: Supervision = { target, supervisor, mode, joined: undefined, stop: [leave] };
    try {
      supervision.joined = this.#join(supervision, mode);
    } catch (error) {
      leave();
      throw error;
    }
    this.#open.set(id, supervision);
    const resumeSilence = supervisor.leg?.suspendSilence();
    if (resumeSilence !== undefined) supervision.stop.push(resumeSilence);
    for (const { call } of [target, supervisor])
      void call.closed.then((reason) =>
        this.#end(supervision, reason === 'server closing' ? reason : 'hung up'),
      );
    tellApplications(target, { type: 'supervise.started', other, mode });
    tell(supervisor, { type: 'supervise.started', other: id, mode });
    return supervision;
  }

  /** Each of the two hears the other one, or may do so in another mode. */
  #enterBook(id: string, supervisor: string): () => void {
    const { book } = this.#parts;
    const place = {};
    const leave = book.enter(supervisor, 'the supervision of another call', 'call', place);
    try {
      const leaveTarget = book.connect(id, place, 'call');
      return () => (leaveTarget(), leave());
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The mode before ends first: a call has one way into the mixers. */
  #change(supervision: Supervision, mode: SuperviseMode): void {
    const { target, supervisor, joined, mode: before } = supervision;
    supervision.joined = undefined;
    joined?.close();
    try {
      supervision.joined = this.#join(supervision, mode);
    } catch (error) {
      this.#rejoin(supervision);
      throw error;
    }
    supervision.mode = mode;
    const { tell, tellApplications, log } = this.#parts;
    log.info({ call: target.call.id, other: supervisor.call.id, before, mode }, 'supervision changed');
    tellApplications(target, { type: 'supervise.started', other: supervisor.call.id, mode });
    tell(supervisor, { type: 'supervise.started', other: target.call.id, mode });
  }

  /** In the mode before, as the next one was refused. */
  #rejoin(supervision: Supervision): void {
    const { target, supervisor, mode } = supervision;
    try {
      supervision.joined = this.#join(supervision, mode);
    } catch (error) {
      const { code, message: detail } = asParleyError(error, 'WRONG_STATE');
      const about = { call: target.call.id, other: supervisor.call.id, mode, code, detail };
      this.#parts.log.warn(about, 'supervisor not joined again');
      this.#end(supervision, 'failed');
    }
  }

  /** A call of no key may talk with those of a key. Throws NOT_FOUND if this key may not hear these. */
  #checkHeard(id: string, key: string | undefined): void {
    const { bridges, rooms, ownerOf } = this.#parts;
    const bridge = bridges.of(id);
    const other = bridge?.call === id ? bridge.other : bridge?.call;
    const owner = other === undefined ? rooms.ownerOf(id) : ownerOf(other);
    if (!mayUseCall(key, owner)) throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
  }

  /**
   * Throws CALL_STATE for a mode that has no meaning where our voice talks in the call, and for one that the
   * call cannot have where it is.
   */
  #checkMode(id: string, mode: SuperviseMode): void {
    const { bridges, rooms, openCalls, book } = this.#parts;
    if (bridges.of(id)?.state === 'connected' || rooms.has(id)) return;
    const isLoud = openCalls.isTalking(id) && openCalls.silencerOf(id) === undefined;
    const refusal =
      mode === 'whisper' ? NO_WHISPER : mode === 'take_over' && isLoud ? NO_TAKE_OVER : undefined;
    if (refusal !== undefined) throw new ParleyError('CALL_STATE', refusal, { field: 'mode' });
    if (mode !== 'listen' && this.#open.get(id)?.mode === 'listen') book.check(id);
  }

  #join(supervision: Supervision, mode: SuperviseMode): JoinedSupervisor {
    const { joiner } = this.#parts;
    const { target, supervisor } = supervision;
    let joined: JoinedSupervisor | undefined;
    const onOver = (reason: 'parted' | 'failed') => {
      if (joined !== undefined && supervision.joined === joined) this.#end(supervision, reason);
    };
    if (mode === 'listen') joined = new ListenedCall(target.call, supervisor.call, joiner, onOver);
    else joined = this.#joinSpeaking(target, supervisor, mode, onOver);
    return joined;
  }

  #joinSpeaking(
    target: HandledCall,
    supervisor: HandledCall,
    mode: SpeakingMode,
    onOver: (reason: 'parted' | 'failed') => void,
  ): JoinedSupervisor {
    const { bridges, rooms } = this.#parts;
    return (
      bridges.supervise(target, supervisor, mode, onOver) ??
      rooms.supervise(target, supervisor, mode, onOver) ??
      this.#shared(target, supervisor, mode, onOver)
    );
  }

  /** The call is joined to nothing: our voice talks in it. */
  #shared(
    target: HandledCall,
    supervisor: HandledCall,
    mode: SpeakingMode,
    onOver: (reason: 'failed') => void,
  ): JoinedSupervisor {
    const { book, joiner, openCalls } = this.#parts;
    const { id } = target.call;
    const leave = book.enter(id, 'the supervision by another call');
    let giveBack: ((note: string | undefined) => void) | undefined;
    try {
      // Our voice does not hear the supervisor: it ends where the supervisor begins.
      const onSpeaking = () => void (mode === 'barge' && target.call.interrupt('the supervisor speaks'));
      const shared = new SharedCall(target.call, supervisor.call, joiner, { onOver, onSpeaking });
      giveBack = mode === 'take_over' ? openCalls.silencerOf(id)?.('others') : undefined;
      return {
        close: () => {
          shared.close();
          leave();
          giveBack?.(HAND_BACK);
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #end(supervision: Supervision, reason: SupervisionReason): void {
    const { target, supervisor, joined, stop } = supervision;
    const id = target.call.id;
    if (this.#open.get(id) !== supervision) return;
    this.#open.delete(id);
    supervision.joined = undefined;
    attempt(WORK, () => joined?.close());
    for (const one of stop.splice(0)) attempt(WORK, one);
    const { tell, tellApplications, log } = this.#parts;
    tellApplications(target, { type: 'supervise.ended', other: supervisor.call.id, reason });
    tell(supervisor, { type: 'supervise.ended', other: id, reason });
    log.info({ call: id, other: supervisor.call.id, reason }, 'supervision ended');
  }
}

function viewOf({ target, supervisor, mode }: Supervision): SupervisionView {
  return { call: target.call.id, supervisor: supervisor.call.id, mode };
}
