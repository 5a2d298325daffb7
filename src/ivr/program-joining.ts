// Gives programs the rooms, queues and bridges of this server, and what the programs of several calls
// have in common there.
import type { Bridges, JoinSounds } from '../call/bridges.js';
import type { Rooms } from '../call/rooms.js';
import type { WaitingQueues } from '../call/waiting-queues.js';
import { ConferenceBook } from './conference-book.js';
import type { Target } from './verbs.js';

export interface ProgramJoiningParts {
  readonly rooms: Pick<Rooms, 'join' | 'leave' | 'room' | 'recorder'>;
  readonly queues: Pick<WaitingQueues, 'join' | 'leave' | 'get' | 'next' | 'onceWaiting'>;
  readonly bridges: Pick<Bridges, 'part'>;
  readonly sounds: Pick<JoinSounds, 'music'>;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

/** A call that waits in a queue, for the verb that takes it. */
export interface QueuedCall {
  /**
   * The call hears a program in place of its wait. Resolves when it has ended. Never rejects.
   * @param by id of the call that takes it
   */
  whisper(target: Target, by: string, signal: AbortSignal): Promise<void>;
  /** The call was not joined: its wait goes on. */
  resume(): void;
}

export interface ProgramJoining extends ProgramJoiningParts {
  readonly conferences: ConferenceBook;
  /** Calls that wait in queues by a verb, by their ids. */
  readonly queued: Map<string, QueuedCall>;
}

export function programJoining({
  rooms,
  queues,
  bridges,
  sounds,
  unixMs,
}: ProgramJoiningParts): ProgramJoining {
  const conferences = new ConferenceBook(unixMs);
  return { rooms, queues, bridges, sounds, unixMs, conferences, queued: new Map() };
}
