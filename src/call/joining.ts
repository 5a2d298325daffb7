// Everything that joins calls: bridges, rooms and queues. A call is in one of them at most.
import { type Country, keySound, progressSound } from '../audio/country-tones.js';
import { chime } from '../audio/music.js';
import { asParleyError, tellDefect } from '../errors.js';
import type { CallRecording } from '../recording/call-recording.js';
import type { SoundLibrary } from '../voices/sound-library.js';
import {
  type BridgeRequest,
  Bridges,
  type JoiningParts,
  type JoinSounds,
  type RingingCaller,
} from './bridges.js';
import type { JoinEvent } from './call-events.js';
import type { HandledCall } from './call-handler.js';
import { JoinBook } from './join-book.js';
import type { MemberSettings, Room } from './room.js';
import type { RoomAgents } from './room-agents.js';
import { type RoomRequest, Rooms } from './rooms.js';
import type { OpenCalls } from './open-calls.js';
import type { ServerEvents } from './server-events.js';
import { Supervisions } from './supervisions.js';
import type { Switchboard } from './switchboard.js';
import { WarmTransfers } from './warm-transfers.js';
import { type QueueRequest, WaitingQueues } from './waiting-queues.js';

export interface JoinSoundParts {
  readonly library: Pick<SoundLibrary, 'sound'>;
  /** Its ring-back is heard. */
  readonly country: Country;
}

interface JoiningOptions extends Omit<JoiningParts, 'book' | 'tell'> {
  readonly openCalls: OpenCalls;
  readonly switchboard: Pick<Switchboard, 'onceOpen' | 'check'>;
  readonly events: Pick<ServerEvents, 'add'>;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Agents that can be members of rooms; absent: none can. */
  readonly agents?: Pick<RoomAgents, 'open' | 'close'> | undefined;
  /** Records the mix of a room; absent: this server records nothing. */
  readonly recorderOf?: ((room: Room) => CallRecording) | undefined;
}

/** Settings of a rule that joins the call that it has answered. */
export type JoinRule =
  | {
      readonly kind: 'room';
      readonly name: string;
      readonly settings: Partial<MemberSettings>;
      readonly request: RoomRequest;
    }
  | { readonly kind: 'queue'; readonly name: string; readonly request: QueueRequest };

const KEY = { durationMs: 120, pauseMs: 60 };
const [LOW_NOTE, HIGH_NOTE] = [69, 76]; // MIDI: A4, E5
const ELSEWHERE_MS = 1000;
const ENDS: ReadonlySet<string> = new Set<JoinEvent['type']>(['bridge.ended', 'room.left', 'queue.left']);
/** Reasons of requests. */
const BY_APPLICATION: ReadonlySet<string> = new Set(['parted', 'left']);

export class Joining {
  readonly bridges: Bridges;
  readonly rooms: Rooms;
  readonly queues: WaitingQueues;
  readonly warmTransfers: WarmTransfers;
  readonly supervisions: Supervisions;
  readonly #book: JoinBook;
  readonly #options: JoiningOptions;

  constructor(options: JoiningOptions) {
    this.#options = options;
    this.#book = new JoinBook({ otherEndOf: (call) => options.openCalls.otherEndOf(call) });
    const tell = (handled: HandledCall, event: JoinEvent) => this.#tell(handled, event);
    const parts = { ...options, book: this.#book, tell };
    this.bridges = new Bridges(parts);
    this.rooms = new Rooms(parts);
    const { bridges, rooms } = this;
    this.queues = new WaitingQueues({ ...parts, bridges });
    this.warmTransfers = new WarmTransfers({ ...parts, bridges });
    const tellApplications = (handled: HandledCall, event: JoinEvent) =>
      this.#tellApplications(handled, event);
    this.supervisions = new Supervisions({ ...parts, bridges, rooms, tellApplications });
  }

  /** Number of calls that are joined to others, or wait. */
  get size(): number {
    return this.#book.size;
  }

  /**
   * A rule joins the call. With `hangup` the call ends if that fails, and when it is joined to nothing any
   * more: unless an application has parted it, or joins it to something else within a second.
   */
  begin(handled: HandledCall, rule: JoinRule, after: 'stay' | 'hangup'): void {
    const { log } = this.#options;
    const hangUp = this.#watch(handled, after);
    this.#begin(handled, rule).catch((error: unknown) => {
      const { code, message: detail } = asParleyError(error, 'WRONG_STATE');
      log.warn({ call: handled.call.id, by: rule.kind, code, detail }, 'call not joined');
      hangUp();
    });
  }

  /** A rule bridges a caller that is answered when the far end answers. `after`: as in `begin`. */
  ring(caller: RingingCaller, request: BridgeRequest, after: 'stay' | 'hangup'): void {
    void this.bridges.ring(caller, request, (handled) => this.#watch(handled, after));
  }

  /** Hangs the call up when it is joined to nothing any more. The returned function does so now. */
  #watch(handled: HandledCall, after: 'stay' | 'hangup'): () => void {
    const { time } = this.#options;
    const { call } = handled;
    const hangUp = () => {
      if (after === 'stay' || call.isClosing() || this.#book.has(call.id)) return;
      stopObserving();
      handled.hangUp().catch((error: unknown) => tellDefect(error, { work: 'call', call: call.id }));
    };
    const stopObserving = call.observe((event) => {
      if (!ENDS.has(event.type) || !('reason' in event)) return;
      if (BY_APPLICATION.has(event.reason)) return stopObserving();
      const cancel = time.after(ELSEWHERE_MS, hangUp);
      void call.closed.then(cancel);
    });
    return hangUp;
  }

  /** Parts all calls, which go on. Idempotent. */
  close(): void {
    this.supervisions.close();
    this.warmTransfers.close();
    this.queues.close();
    this.rooms.close();
    this.bridges.close();
    this.#options.agents?.close();
  }

  async #begin(handled: HandledCall, rule: JoinRule): Promise<void> {
    const { id } = handled.call;
    // The call is its own key's: what the rule names belongs to the same.
    const key = this.#options.ownerOf(id);
    switch (rule.kind) {
      case 'room':
        return void (await this.rooms.join(rule.name, key, id, rule.settings, rule.request));
      case 'queue':
        return void (await this.queues.join(rule.name, key, id, rule.request));
    }
  }

  #tell(handled: HandledCall, event: JoinEvent): void {
    if (!handled.call.isClosing()) handled.call.tell(event);
    this.#tellApplications(handled, event);
  }

  /** The client of a browser's call is not told. */
  #tellApplications({ call }: HandledCall, event: JoinEvent): void {
    const { events, ownerOf } = this.#options;
    events.add({ type: event.type, call: call.id, event }, ownerOf(call.id));
  }
}

/**
 * The sounds of calls that are joined or wait: music of the sound library, the ring-back of this server's
 * country, keys, and the two chimes of a room. Each but the music is made once.
 */
export function joinSounds({ library, country }: JoinSoundParts): JoinSounds {
  const [entry, exit] = [chime([LOW_NOTE, HIGH_NOTE]), chime([HIGH_NOTE, LOW_NOTE])];
  const ringBack = progressSound(country, 'ring_back');
  return {
    music: (name) => library.sound(name, 'music'),
    ringBack: () => ringBack,
    keyTone: (digit) => keySound(digit, KEY),
    entry: () => entry,
    exit: () => exit,
  };
}
