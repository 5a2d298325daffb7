// Calls that hear each other: a conference. One mixer serves the room, and each member hears all but itself.
//
//   waiting ──two members, or a moderator──▶ open ──last member, or the last moderator, leaves──▶ over
//
// A member may also leave the opening to others, or end the room by leaving.
//
// A member that coaches another one is heard by that one only. A member on hold is out of the mixer, and
// hears music.
import { attempt, ParleyError, tellDefect } from '../errors.js';
import type { RecordingEvent } from '../recording/call-recording.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { JoinEvent } from './call-events.js';
import type { HandledCall } from './call-handler.js';
import { CallMusic, MixedSound, type MixerSamples, samplesOf } from './call-music.js';
import { type JoinedLeg, legOf, type MediaJoiner, type Mixer, type MixerMember } from './joined-media.js';

export interface MemberSettings {
  /** Nobody hears it. */
  readonly muted: boolean;
  /** It hears nobody. */
  readonly deaf: boolean;
  /** It is out of the room, and hears music. */
  readonly hold: boolean;
  /** Id of the only member that hears it, and nobody once that has left; undefined: all do. */
  readonly coach?: string | undefined;
  /** The room ends when the last moderator leaves. */
  readonly moderator: boolean;
  /** No other member has the same one; absent: it has none. */
  readonly label?: string | undefined;
  /** A room of `two` opens when such a member is there; true if absent. */
  readonly opens?: boolean | undefined;
  /** The room ends when this member leaves; false if absent. */
  readonly ends?: boolean | undefined;
  /** The sounds that tell the others of this member; `both`, if absent. */
  readonly chimes?: 'both' | 'entry' | 'exit' | 'none' | undefined;
}

export interface RoomSettings {
  /** Heard until the room opens, and on hold; undefined: silence. */
  readonly music?: PlayedSound | undefined;
  /** The event that opens the room. */
  readonly start: 'two' | 'moderator';
  /** Heard by all when a member comes or leaves; undefined: nothing. */
  readonly entry?: PlayedSound | undefined;
  readonly exit?: PlayedSound | undefined;
  readonly mostMembers: number;
}

export type RoomReason = 'left' | 'hung up' | 'moderator left' | 'room ended' | 'failed' | 'server closing';

/** Told to observers of a room. Supervisors are not told of. */
export type RoomEvent =
  /** The members hear each other. */
  | { readonly type: 'opened' }
  | { readonly type: 'joined' | 'left' | 'speaking'; readonly member: MemberView }
  | { readonly type: 'changed'; readonly member: MemberView; readonly before: MemberSettings }
  /** A sound that was given to `play` was heard, or has failed. */
  | { readonly type: 'played'; readonly isWhole: boolean }
  | { readonly type: 'recording'; readonly event: RecordingEvent }
  /** `by`: the call that has ended the room by leaving; absent: none has. */
  | { readonly type: 'ended'; readonly reason: RoomReason; readonly by?: string | undefined };

interface RoomParts {
  readonly joiner: Pick<MediaJoiner, 'openMixer'>;
  readonly tell: (handled: HandledCall, event: JoinEvent) => void;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

/** An agent that is a member. `leg`: the far side of its call. */
export interface RoomAgent {
  readonly name: string;
  readonly leg: JoinedLeg;
}

export interface MemberView extends MemberSettings {
  readonly call: string;
  /** Name of the agent of this server that is the member; undefined: a caller is. */
  readonly agent?: string | undefined;
  readonly speaking: boolean;
  /** Milliseconds since 1970. */
  readonly joinedAt: number;
}

interface Member {
  readonly handled: HandledCall;
  readonly joinedAt: number;
  readonly stop: (() => void)[];
  readonly agent: RoomAgent | undefined;
  /** The others hear it come and go. False for a supervisor. */
  readonly isAnnounced: boolean;
  settings: MemberSettings;
  /** Undefined while its far end sends or hears nothing. */
  leg: JoinedLeg | undefined;
  /** Its own far end holds the call. */
  isAway: boolean;
  /** A supervisor speaks in its place: nobody hears it, whatever its settings are. */
  isTakenOver: boolean;
  isSpeaking: boolean;
  inMixer: MixerMember | undefined;
  leaveMusic: (() => void) | undefined;
}

const WORK = { work: 'room' };
const MOST_SOUNDS = 16; // that wait to be played into a room
const MOST_AT_ONCE = 8; // beyond that, members come and leave without a sound

export class Room {
  readonly name: string;
  /** Name of the API key that it belongs to; undefined: to every key. */
  readonly owner: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #settings: RoomSettings;
  readonly #parts: RoomParts;
  readonly #mixer: Mixer;
  readonly #members = new Map<string, Member>();
  readonly #sounds = new Set<MixedSound>();
  #waitingSounds = 0;
  #lastSound: Promise<void> = Promise.resolve();
  #music: MixedSound | undefined;
  #holdMusic: CallMusic | undefined;
  readonly #onOpen = new Set<() => void>();
  readonly #observers = new Set<(event: RoomEvent) => void>();
  #isOpen = false;
  #isOver = false;
  #resolveEnded!: () => void;

  /** Throws what `openMixer` throws. */
  constructor(name: string, owner: string | undefined, settings: RoomSettings, parts: RoomParts) {
    this.name = name;
    this.owner = owner;
    this.createdAt = parts.unixMs();
    this.#settings = settings;
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#mixer = parts.joiner.openMixer();
    this.#mixer.onSpeaking = (member, isSpeaking) => this.#speaking(member, isSpeaking);
    const { music } = settings;
    if (music !== undefined) this.#music = new MixedSound(this.#mixer, samplesOf(music, Infinity));
  }

  /** The members hear each other. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** False: who waits hears what its own application plays. */
  get hasMusic(): boolean {
    return this.#settings.music !== undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get members(): readonly MemberView[] {
    return [...this.#members.values()].map(viewOf);
  }

  /** Calls `observer` with each event, in order, until the returned function is called. */
  observe(observer: (event: RoomEvent) => void): () => void {
    const observed = (event: RoomEvent) => observer(event);
    this.#observers.add(observed);
    return () => void this.#observers.delete(observed);
  }

  /** Tells the observers of the recording of the mix, which may end after the room. */
  recorded(event: RecordingEvent): void {
    this.#notify({ type: 'recording', event });
  }

  /**
   * Calls `action` once the members hear each other, unless the returned function is called before; never if
   * the room ends before.
   */
  onceOpen(action: () => void): () => void {
    if (this.#isOpen) {
      action();
      return () => undefined;
    }
    const once = () => action();
    this.#onOpen.add(once);
    return () => void this.#onOpen.delete(once);
  }

  has(call: string): boolean {
    return this.#members.has(call);
  }

  /** The mixer, for sinks. */
  get mixer(): Pick<Mixer, 'addSink'> {
    return this.#mixer;
  }

  /**
   * `left` is called once, when the call is no member any more. `agent`: the call is that of an agent.
   * `isAnnounced`: the others hear it come and go. Throws ROOM_FULL and INVALID_FIELD.
   */
  add(
    handled: HandledCall,
    settings: MemberSettings,
    left: () => void,
    { agent, isAnnounced = true }: { readonly agent?: RoomAgent; readonly isAnnounced?: boolean } = {},
  ): void {
    const { id } = handled.call;
    if (this.#isOver) throw new ParleyError('CALL_STATE', 'the room has ended');
    if (this.#members.size >= this.#settings.mostMembers)
      throw new ParleyError(
        'ROOM_FULL',
        `the room has ${this.#settings.mostMembers} members, which is the most`,
      );
    this.#checkCoach(id, settings);
    this.#checkLabel(settings);
    const member: Member = {
      handled,
      joinedAt: this.#parts.unixMs(),
      stop: [],
      agent,
      settings,
      leg: undefined,
      isAnnounced,
      isAway: handled.call.isHeld(),
      isTakenOver: false,
      isSpeaking: false,
      inMixer: undefined,
      leaveMusic: undefined,
    };
    this.#members.set(id, member);
    try {
      this.#follow(member, left);
    } catch (error) {
      this.#drop(member);
      if (this.#members.size === 0) this.end('failed');
      throw error;
    }
    this.#parts.tell(handled, { type: 'room.joined', room: this.name, members: this.#members.size });
    this.#notifyOf(member, 'joined');
    if (this.#isOpen) this.#chimeFor(member, 'entry');
    else this.#openIfDue(member);
  }

  /** Throws NOT_FOUND for a call that is no member, and INVALID_FIELD. */
  change(id: string, changes: Partial<MemberSettings>): MemberView {
    const member = this.#member(id);
    const settings = { ...member.settings, ...changes };
    this.#checkCoach(id, changes);
    const before = member.settings;
    member.settings = settings;
    this.#apply(member);
    const view = viewOf(member);
    if (member.isAnnounced) this.#notify({ type: 'changed', member: view, before });
    if (before.moderator && !settings.moderator && !this.#hasModerator) this.end('moderator left');
    else this.#openIfDue(member);
    return view;
  }

  /**
   * Nobody hears the member until the returned function is called. Its settings stay as they are, and may be
   * changed meanwhile. Throws NOT_FOUND for a call that is no member, and what the mixer throws.
   */
  takeOver(id: string): () => void {
    const member = this.#member(id);
    const silence = (isTakenOver: boolean) => {
      member.isTakenOver = isTakenOver;
      if (this.#members.get(id) === member) this.#apply(member);
    };
    try {
      silence(true);
    } catch (error) {
      attempt(WORK, () => silence(false));
      throw error;
    }
    return () => attempt(WORK, () => silence(false));
  }

  /** The call leaves, and goes on. Throws NOT_FOUND for a call that is no member. */
  remove(id: string, reason: RoomReason): void {
    this.#leave(this.#member(id), reason);
  }

  /**
   * Plays the sound to all, after those that were given before. Throws QUEUE_FULL. The returned promise
   * resolves when it was mixed, or the room has ended, and rejects if the sound fails.
   */
  play(sound: MixerSamples): Promise<void> {
    if (this.#waitingSounds >= MOST_SOUNDS)
      throw new ParleyError('QUEUE_FULL', `${MOST_SOUNDS} sounds wait in this room already`);
    this.#waitingSounds++;
    const played = this.#lastSound.then(() => this.#playNow(sound)).finally(() => this.#waitingSounds--);
    this.#lastSound = played.then(
      () => this.#notify({ type: 'played', isWhole: !this.#isOver }),
      () => this.#notify({ type: 'played', isWhole: false }),
    );
    return played;
  }

  /**
   * All members leave, and go on without each other. Idempotent.
   * @param by the call that has ended it by leaving; undefined: none has
   */
  end(reason: RoomReason, by?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const member of this.#members.values()) this.#leave(member, reason);
    for (const sound of this.#sounds) sound.close();
    this.#music?.close();
    this.#holdMusic?.close();
    this.#mixer.close();
    this.#notify({ type: 'ended', reason, by });
    this.#resolveEnded();
  }

  /** Members that are no supervisors: a supervisor opens no room, and keeps none open. */
  get #participants(): readonly Member[] {
    return [...this.#members.values()].filter(({ isAnnounced }) => isAnnounced);
  }

  /** Agents alone keep no room open. */
  get #hasCallers(): boolean {
    return this.#participants.some(({ agent }) => agent === undefined);
  }

  get #hasModerator(): boolean {
    return [...this.#members.values()].some(({ settings }) => settings.moderator);
  }

  #member(id: string): Member {
    const member = this.#members.get(id);
    if (member === undefined) throw new ParleyError('NOT_FOUND', 'this call is no member of the room');
    return member;
  }

  #checkCoach(id: string, { coach }: Partial<MemberSettings>): void {
    if (coach === undefined || (coach !== id && this.#members.has(coach))) return;
    throw new ParleyError('INVALID_FIELD', '"coach" must be the id of another member', { field: 'coach' });
  }

  #checkLabel({ label }: MemberSettings): void {
    if (label === undefined || !this.members.some((one) => one.label === label)) return;
    throw new ParleyError('EXISTS', 'another member of the room has this label', { field: 'label' });
  }

  #follow(member: Member, left: () => void): void {
    const { call, leg } = member.handled;
    const stopFollowing = call.follow((port) => {
      member.leg = member.agent === undefined ? legOf(port) : member.agent.leg;
      this.#apply(member, true);
    });
    const stopObserving = call.observe(({ type }) => {
      if (type !== 'call.held' && type !== 'call.resumed') return;
      member.isAway = type === 'call.held';
      this.#apply(member);
    });
    member.stop.push(stopFollowing, stopObserving);
    if (leg !== undefined) member.stop.push(leg.suspendSilence());
    member.stop.push(left);
    void call.closed.then((reason) => {
      const isMember = this.#members.get(call.id) === member;
      if (isMember) this.#leave(member, reason === 'server closing' ? reason : 'hung up');
    });
  }

  #leave(member: Member, reason: RoomReason): void {
    const { settings, handled } = member;
    this.#drop(member);
    this.#parts.tell(handled, { type: 'room.left', room: this.name, reason });
    this.#notifyOf(member, 'left');
    if (this.#isOver) return;
    if (!this.#hasCallers) return this.end('room ended', handled.call.id);
    if (settings.ends === true || (settings.moderator && !this.#hasModerator))
      return this.end('moderator left', handled.call.id);
    if (this.#isOpen) this.#chimeFor(member, 'exit');
  }

  #drop(member: Member): void {
    this.#members.delete(member.handled.call.id);
    for (const stop of member.stop.splice(0)) attempt(WORK, stop);
    this.#out(member);
    member.leaveMusic?.();
    this.#closeHoldMusic();
  }

  #out(member: Member): void {
    const { inMixer } = member;
    member.inMixer = undefined;
    attempt(WORK, () => inMixer?.leave());
  }

  /** Brings the mixer in line with the settings of a member. `isMoved`: it has another port. */
  #apply(member: Member, isMoved = false): void {
    const { settings, leg, isAway, isTakenOver } = member;
    if (isMoved || settings.hold) this.#out(member);
    this.#hold(member);
    if (leg === undefined || settings.hold) return;
    const hearing = {
      muted: settings.muted || isTakenOver || isAway || !this.#isOpen,
      deaf: settings.deaf || isAway,
    };
    if (member.inMixer === undefined) member.inMixer = this.#mixer.add(leg, hearing);
    else member.inMixer.set(hearing);
    for (const other of this.#members.values()) {
      if (other === member) continue;
      this.#match(other, member);
      this.#match(member, other);
    }
  }

  #match(listener: Member, speaker: Member): void {
    if (listener.inMixer === undefined || speaker.inMixer === undefined) return;
    const { coach } = speaker.settings;
    listener.inMixer.hears(speaker.inMixer, coach === undefined || coach === listener.handled.call.id);
  }

  #hold(member: Member): void {
    const { music } = this.#settings;
    if (!member.settings.hold) {
      member.leaveMusic?.();
      member.leaveMusic = undefined;
      return this.#closeHoldMusic();
    }
    if (member.leaveMusic !== undefined || music === undefined || member.agent !== undefined) return;
    this.#holdMusic ??= new CallMusic(this.#parts.joiner, music);
    member.leaveMusic = this.#holdMusic.add(member.handled.call);
  }

  #closeHoldMusic(): void {
    if (this.#holdMusic === undefined || this.#holdMusic.size > 0) return;
    this.#holdMusic.close();
    this.#holdMusic = undefined;
  }

  /** @param last the member that came, or was changed */
  #openIfDue(last: Member): void {
    if (this.#isOpen || this.#isOver || !this.#isDue) return;
    this.#isOpen = true;
    this.#music?.close();
    for (const member of this.#members.values()) this.#apply(member);
    this.#chimeFor(last, 'entry');
    for (const action of this.#onOpen) attempt(WORK, action);
    this.#onOpen.clear();
    this.#notify({ type: 'opened' });
  }

  get #isDue(): boolean {
    if (this.#settings.start === 'moderator') return this.#hasModerator;
    const participants = this.#participants;
    return participants.length > 1 && participants.some(({ settings }) => settings.opens !== false);
  }

  #chimeFor({ isAnnounced, settings }: Member, which: 'entry' | 'exit'): void {
    const { chimes = 'both' } = settings;
    if (isAnnounced && (chimes === 'both' || chimes === which)) this.#chime(this.#settings[which]);
  }

  #chime(sound: PlayedSound | undefined): void {
    if (sound === undefined || this.#sounds.size >= MOST_AT_ONCE) return;
    this.#playNow(samplesOf(sound)).catch((error: unknown) => tellDefect(error, WORK));
  }

  async #playNow(sound: MixerSamples): Promise<void> {
    if (this.#isOver) return;
    const mixed = new MixedSound(this.#mixer, sound);
    this.#sounds.add(mixed);
    await mixed.over.finally(() => this.#sounds.delete(mixed));
  }

  #speaking(inMixer: MixerMember, isSpeaking: boolean): void {
    const member = [...this.#members.values()].find((one) => one.inMixer === inMixer);
    if (member === undefined || member.isSpeaking === isSpeaking) return;
    member.isSpeaking = isSpeaking;
    this.#parts.tell(member.handled, { type: 'room.speaking', room: this.name, speaking: isSpeaking });
    this.#notifyOf(member, 'speaking');
  }

  #notifyOf(member: Member, type: 'joined' | 'left' | 'speaking'): void {
    if (member.isAnnounced) this.#notify({ type, member: viewOf(member) });
  }

  #notify(event: RoomEvent): void {
    for (const observer of this.#observers) attempt(WORK, () => observer(event));
  }
}

function viewOf({ handled, agent, settings, isTakenOver, isSpeaking, joinedAt }: Member): MemberView {
  return {
    call: handled.call.id,
    ...(agent === undefined ? {} : { agent: agent.name }),
    ...settings,
    muted: settings.muted || isTakenOver,
    speaking: isSpeaking,
    joinedAt,
  };
}
