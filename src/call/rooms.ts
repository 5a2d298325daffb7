// The rooms of this server, by the API key that they belong to and by name. A room is made by its first
// member, and is gone with its last one.
import { ParleyError } from '../errors.js';
import type { CallRecording, CallRecorder } from '../recording/call-recording.js';
import type { JoiningParts } from './bridges.js';
import type { HandledCall } from './call-handler.js';
import { checkJoinable } from './joined-media.js';
import { type MemberSettings, type MemberView, Room, type RoomReason } from './room.js';
import type { RoomAgents } from './room-agents.js';
import { NamedOfKeys } from './named-of-keys.js';
import type { JoinedSupervisor, SpeakingMode } from './supervised-media.js';
import type { PlayedSound } from '../speaking/speech-piece.js';

/** The first member decides them for the room. */
export interface RoomRequest {
  /** Name of a sound, or `none`; absent: the default tune. */
  readonly music?: string | undefined;
  /** `two`, if absent. */
  readonly start?: 'two' | 'moderator' | undefined;
  /** A sound tells that a member comes or leaves; true if absent. */
  readonly sounds?: boolean | undefined;
  readonly mostMembers?: number | undefined;
}

export interface RoomView {
  readonly name: string;
  readonly state: 'waiting' | 'open';
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly members: readonly MemberView[];
}

interface RoomsParts extends JoiningParts {
  /** Absent: no agent can be a member. */
  readonly agents?: Pick<RoomAgents, 'open'> | undefined;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Records the mix of a room; absent: this server records nothing. */
  readonly recorderOf?: ((room: Room) => CallRecording) | undefined;
}

export const MOST_MEMBERS = 250; // a mixer has 256 members
const NO_MUSIC = 'none';
const USUAL: MemberSettings = { muted: false, deaf: false, hold: false, moderator: false };

export class Rooms {
  readonly #parts: RoomsParts;
  readonly #rooms = new NamedOfKeys<Room>();
  readonly #recorders = new Map<Room, CallRecording>();
  #isClosed = false;

  constructor(parts: RoomsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#rooms.size;
  }

  /**
   * A call becomes a member, of a room that is made if there is none of this name. Rejects with NOT_FOUND,
   * CALL_STATE, CALL_LOOP, INVALID_FIELD and ROOM_FULL, and as `JoinSounds.music` does.
   */
  async join(
    name: string,
    key: string | undefined,
    call: string,
    settings: Partial<MemberSettings>,
    request: RoomRequest = {},
  ): Promise<RoomView> {
    const { openCalls, sounds } = this.#parts;
    this.#check(openCalls.find(call, key));
    const known = this.#rooms.find(key, name);
    const music =
      known !== undefined || request.music === NO_MUSIC ? undefined : await sounds.music(request.music);
    return this.enter(openCalls.find(call, key), key, name, settings, request, music);
  }

  /** As `join`, with a call and a sound that are known. */
  enter(
    handled: HandledCall,
    key: string | undefined,
    name: string,
    settings: Partial<MemberSettings>,
    request: RoomRequest,
    music: PlayedSound | undefined,
  ): RoomView {
    this.#check(handled);
    const room = this.#rooms.find(key, name) ?? this.#make(name, key, request, music);
    let leave: () => void = () => undefined;
    try {
      leave = this.#parts.book.enter(handled.call.id, 'a room', 'call', room);
      room.add(handled, { ...USUAL, ...settings }, leave);
    } catch (error) {
      leave();
      if (room.members.length === 0) room.end('failed');
      throw error;
    }
    return viewOf(room);
  }

  /**
   * An agent becomes a member of a room that is there, with a call of its own. It talks once the room is
   * open, and leaves with the last caller. Throws NOT_FOUND, INVALID_FIELD, ROOM_FULL, CALL_CLOSED,
   * CALL_LIMIT and CLIENT_LIMIT.
   */
  joinAgent(
    name: string,
    key: string | undefined,
    agent: string,
    settings: Partial<MemberSettings>,
  ): RoomView {
    const { agents, book } = this.#parts;
    const room = this.room(name, key);
    if (agents === undefined) throw new ParleyError('NOT_FOUND', 'the server has no agents');
    const opened = agents.open(agent, name, room.owner);
    const leaveBook = book.enter(opened.handled.call.id, 'a room', undefined, room);
    let forgetOpening: () => void = () => undefined;
    const left = () => {
      forgetOpening();
      leaveBook();
      opened.end();
    };
    try {
      room.add(opened.handled, { ...USUAL, ...settings }, left, { agent: opened });
    } catch (error) {
      left();
      throw error;
    }
    forgetOpening = room.onceOpen(() => opened.begin());
    return viewOf(room);
  }

  /** The call is a member of a room. */
  has(call: string): boolean {
    return this.#rooms.all().some((room) => room.has(call));
  }

  /** The key that the room of a call belongs to. Undefined: it belongs to every key, or there is none. */
  ownerOf(call: string): string | undefined {
    return this.#rooms.all().find((room) => room.has(call))?.owner;
  }

  /** The rooms of this key. */
  list(key: string | undefined): readonly RoomView[] {
    return this.#rooms.list(key).map(viewOf);
  }

  /** Throws NOT_FOUND. */
  get(name: string, key: string | undefined): RoomView {
    return viewOf(this.room(name, key));
  }

  /** Throws NOT_FOUND. */
  room(name: string, key: string | undefined): Room {
    const room = this.#rooms.find(key, name);
    if (room === undefined) throw new ParleyError('NOT_FOUND', 'there is no room of this name');
    return room;
  }

  /** Throws NOT_FOUND and INVALID_FIELD. */
  change(name: string, key: string | undefined, call: string, changes: Partial<MemberSettings>): MemberView {
    return this.room(name, key).change(call, changes);
  }

  /** The call leaves, and goes on. Throws NOT_FOUND. */
  leave(name: string, key: string | undefined, call: string, reason: RoomReason = 'left'): void {
    this.room(name, key).remove(call, reason);
  }

  /**
   * The supervisor is a member of the room of a call, as the mode says. Undefined: the call is in no room.
   * Throws ROOM_FULL, and what the joiner throws.
   */
  supervise(
    target: HandledCall,
    supervisor: HandledCall,
    mode: SpeakingMode,
    onOver: (reason: 'parted') => void,
  ): JoinedSupervisor | undefined {
    const [id, own] = [target.call.id, supervisor.call.id];
    const room = this.#rooms.all().find((one) => one.has(id));
    return room && superviseIn(room, { id, own, target, supervisor }, mode, () => onOver('parted'));
  }

  /** The recorder of the mix. Throws NOT_FOUND, and RECORDING_OFF if this server records nothing. */
  recorder(name: string, key: string | undefined): CallRecorder {
    const room = this.room(name, key);
    const known = this.#recorders.get(room);
    if (known !== undefined) return known;
    const recorder = this.#parts.recorderOf?.(room);
    if (recorder === undefined) throw new ParleyError('RECORDING_OFF', 'this server records no calls');
    this.#recorders.set(room, recorder);
    return recorder;
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const room of this.#rooms.all()) room.end('server closing');
  }

  #check({ call }: HandledCall): void {
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    checkJoinable(call, 'call');
    this.#parts.book.check(call.id, 'call');
  }

  #make(
    name: string,
    key: string | undefined,
    { start = 'two', sounds: hasSounds = true, mostMembers = MOST_MEMBERS }: RoomRequest,
    music: PlayedSound | undefined,
  ): Room {
    const { sounds } = this.#parts;
    const chimes = hasSounds ? { entry: sounds.entry(), exit: sounds.exit() } : {};
    const room = new Room(name, key, { music, start, mostMembers, ...chimes }, this.#parts);
    const forget = this.#rooms.add(key, name, room);
    void room.ended.then(() => {
      forget();
      void this.#recorders.get(room)?.close();
      this.#recorders.delete(room);
    });
    return room;
  }
}

/** Nobody hears the side that is taken over. Afterwards it is heard as its settings say. */
function superviseIn(
  room: Room,
  {
    id,
    own,
    target,
    supervisor,
  }: Record<'id' | 'own', string> & Record<'target' | 'supervisor', HandledCall>,
  mode: SpeakingMode,
  onOver: () => void,
): JoinedSupervisor {
  // Supervisions itself waits for the end of both calls, and tells it as such.
  const over = () => void (target.call.isClosing() || supervisor.call.isClosing() || onOver());
  const stopObserving = target.call.observe(({ type }) => {
    if (type === 'room.left') over();
  });
  let isIn = true;
  let giveBack: () => void = () => undefined;
  const left = () => {
    if (!isIn) return;
    isIn = false;
    stopObserving();
    giveBack();
    over();
  };
  const close = () => {
    stopObserving();
    if (!isIn) return;
    isIn = false;
    giveBack();
    if (room.has(own)) room.remove(own, 'left');
  };
  try {
    const coach = mode === 'whisper' ? id : undefined;
    room.add(supervisor, { ...USUAL, coach }, left, { isAnnounced: false });
    if (mode === 'take_over') giveBack = room.takeOver(id);
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function viewOf(room: Room): RoomView {
  const { name, isOpen, createdAt, members } = room;
  return { name, state: isOpen ? 'open' : 'waiting', createdAt, members };
}
