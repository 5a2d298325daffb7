// The rooms that programs are told of. The first member that a program brings decides who is told of what:
// its callbacks hold until the room ends, even if it leaves before.
import type { MemberView, Room, RoomEvent } from '../call/room.js';
import type { RecordingEvent } from '../recording/call-recording.js';
import { stated } from '../stated.js';
import type { Door } from './door.js';
import type { Conference, ConferenceEvents, ConferenceHappening, ConferenceNotice } from './verbs.js';

type Details = Partial<Pick<ConferenceNotice, 'member' | 'reason' | 'by'>>;

/** The events of a verb that cover each happening. */
const COVERED_BY: Readonly<Record<ConferenceHappening, ConferenceEvents>> = {
  start: 'start',
  end: 'end',
  join: 'join',
  leave: 'leave',
  mute: 'mute',
  unmute: 'mute',
  hold: 'hold',
  unhold: 'hold',
  modify: 'modify',
  'speech-start': 'speaker',
  'speech-stop': 'speaker',
  'announcement-end': 'announcement',
  'announcement-fail': 'announcement',
};

export class ConferenceBook {
  readonly #unixMs: () => number;
  readonly #known = new WeakSet<Room>();

  /** @param unixMs milliseconds since 1970 */
  constructor(unixMs: () => number) {
    this.#unixMs = unixMs;
  }

  /** A program has brought a member. False: another one came before, whose callbacks hold. */
  entered(room: Room, call: string, verb: Conference, door: Pick<Door, 'tell'>): boolean {
    if (this.#known.has(room)) return false;
    this.#known.add(room);
    const teller = new ConferenceTeller(room.name, verb, door, this.#unixMs);
    const member = room.members.find((one) => one.call === call);
    if (member !== undefined) teller.observe({ type: 'joined', member });
    if (room.isOpen) teller.observe({ type: 'opened' });
    room.observe((event) => teller.observe(event));
    return true;
  }
}

class ConferenceTeller {
  readonly #room: string;
  readonly #verb: Conference;
  readonly #door: Pick<Door, 'tell'>;
  readonly #unixMs: () => number;
  #count = 0;
  #recordedAt = 0;

  constructor(room: string, verb: Conference, door: Pick<Door, 'tell'>, unixMs: () => number) {
    this.#room = room;
    this.#verb = verb;
    this.#door = door;
    this.#unixMs = unixMs;
  }

  observe(event: RoomEvent): void {
    switch (event.type) {
      case 'opened':
        return this.#tell('start');
      case 'joined':
        return this.#tell('join', { member: event.member });
      case 'left':
        return this.#tell('leave', { member: event.member });
      case 'changed':
        return this.#changed(event.member, event.before);
      case 'speaking':
        return this.#tell(event.member.speaking ? 'speech-start' : 'speech-stop', { member: event.member });
      case 'played':
        return this.#tell(event.isWhole ? 'announcement-end' : 'announcement-fail');
      case 'recording':
        return this.#recorded(event.event);
      case 'ended':
        return this.#tell('end', { reason: event.reason, by: event.by });
    }
  }

  #changed(member: MemberView, before: Pick<MemberView, 'muted' | 'hold'>): void {
    if (member.muted !== before.muted) this.#tell(member.muted ? 'mute' : 'unmute', { member });
    if (member.hold !== before.hold) this.#tell(member.hold ? 'hold' : 'unhold', { member });
    if (member.muted === before.muted && member.hold === before.hold) this.#tell('modify', { member });
  }

  #tell(happening: ConferenceHappening, details: Details = {}): void {
    const { callback, events } = this.#verb;
    if (callback === undefined || !events.includes(COVERED_BY[happening])) return;
    const head = { of: 'conference', happening, room: this.#room } as const;
    const counted = { number: ++this.#count, at: this.#unixMs() };
    this.#door.tell(callback, { ...head, ...counted, ...stated(details) });
  }

  #recorded(event: RecordingEvent): void {
    const { recordingCallback } = this.#verb;
    if (event.type === 'recording.started') this.#recordedAt = this.#unixMs();
    if (recordingCallback === undefined || event.name === undefined) return;
    const startedMs = this.#recordedAt;
    const mix = { channels: 2, source: 'conference', track: 'both', room: this.#room, startedMs } as const;
    const head = { of: 'recording', recording: event.name, ...mix } as const;
    if (event.type === 'recording.started')
      this.#door.tell(recordingCallback, { ...head, status: 'in-progress', durationMs: 0 });
    if (event.type !== 'recording.stopped' && event.type !== 'recording.failed') return;
    const status = event.type === 'recording.stopped' ? 'completed' : 'absent';
    this.#door.tell(recordingCallback, { ...head, status, durationMs: event.durationMs });
  }
}
