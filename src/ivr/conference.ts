// Makes the caller a member of a room. Until the room opens it hears music or a program; it stays until it
// leaves, or the room ends.
//
//   waits ──the room opens──▶ talks ──key, time limit, request, end of the room──▶ action, or the next verb
import type { Call } from '../call/call.js';
import type { Room } from '../call/room.js';
import { attempt, ParleyError } from '../errors.js';
import { warningOf } from './door.js';
import type { Outcome, Scene } from './scene.js';
import type { Conference, Verb } from './verbs.js';
import { WaitSound } from './wait-sound.js';

const WORK = { work: 'program' };
const ALLOWED: readonly Verb['verb'][] = ['say', 'play', 'pause', 'redirect'];

export async function conference(verb: Conference, scene: Scene): Promise<Outcome> {
  const { call } = await scene.answered();
  const stay = new ConferenceStay(verb, call, scene);
  if (!(await stay.hasJoined())) return 'next';
  await stay.over;
  if (scene.signal.aborted || verb.action === undefined) return 'next';
  return { follow: verb.action, result: { of: 'conference' } };
}

class ConferenceStay {
  /** Resolves when the call is no member any more. */
  readonly over: Promise<void>;
  readonly #verb: Conference;
  readonly #call: Call;
  readonly #scene: Scene;
  readonly #stop: (() => void)[] = [];
  #resolve: () => void = () => undefined;
  #isOver = false;

  constructor(verb: Conference, call: Call, scene: Scene) {
    this.#verb = verb;
    this.#call = call;
    this.#scene = scene;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** False: it could not join, of which a warning tells. Never rejects. */
  async hasJoined(): Promise<boolean> {
    const { signal } = this.#scene;
    const { room: name } = this.#verb;
    this.#stop.push(
      this.#call.observe((event) => {
        if (event.type === 'room.left' && event.room === name) this.#done();
      }),
    );
    let room: Room;
    try {
      room = await this.#join();
    } catch (error) {
      this.#done();
      if (!signal.aborted) this.#scene.warn(this.#warningOf(error));
      return false;
    }
    if (signal.aborted) this.#leave();
    else if (!this.#isOver) this.#joined(room);
    return true;
  }

  async #join(): Promise<Room> {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    const { verb: _verb, room: name, isMuted: muted, chimes, opens, ends, label, wait } = this.#verb;
    const { mostMembers } = this.#verb;
    const there = this.#roomThere();
    if (there !== undefined && there.members.length >= mostMembers)
      throw new ParleyError('ROOM_FULL', `the room has ${there.members.length} members already`);
    const settings = { muted, chimes, opens, ends, label, coach: this.#coach(there) };
    const request = { mostMembers, ...(wait === 'music' ? {} : { music: 'none' }) };
    await joining.rooms.join(name, owner, this.#call.id, settings, request);
    return joining.rooms.room(name, owner);
  }

  #roomThere(): Room | undefined {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    try {
      return joining.rooms.room(this.#verb.room, owner);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** Id of the member that alone hears this one. Whoever is to be coached must not be left out in silence. */
  #coach(room: Room | undefined): string | undefined {
    const { coach } = this.#verb;
    if (coach === undefined) return undefined;
    const { door } = this.#scene;
    const member = room?.members.find(({ call, label }) => label === coach || door.nameOf(call) === coach);
    if (member !== undefined) return member.call;
    const message = '"coach" must be a member of the conference: its call, or its label';
    throw new ParleyError('INVALID_FIELD', message, { field: 'coach' });
  }

  #warningOf(error: unknown) {
    const { door } = this.#scene;
    const warning = warningOf(error);
    const field = error instanceof ParleyError ? error.field : undefined;
    if (field !== 'coach' && field !== 'label') return warning;
    return { ...warning, code: door.codeOf(field) };
  }

  #joined(room: Room): void {
    const { joining, door, signal, time, keys } = this.#scene;
    const { mostMs, endKey } = this.#verb;
    const isFirst = joining.conferences.entered(room, this.#call.id, this.#verb, door);
    const leave = () => this.#leave();
    signal.addEventListener('abort', leave, { once: true });
    this.#stop.push(() => signal.removeEventListener('abort', leave));
    if (mostMs !== undefined) this.#stop.push(time.after(mostMs, leave));
    let isIn = false; // keys that were pressed before are meant for nobody
    this.#stop.push(keys.take((key) => void (isIn && key === endKey && this.#leave())));
    isIn = true;
    if (isFirst && this.#verb.isRecorded) this.#stop.push(room.onceOpen(() => this.#record()));
    this.#wait(room);
  }

  /** The room is recorded to its end, even if this call leaves before. */
  #record(): void {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    const failed = (error: unknown) => this.#scene.warn(warningOf(error));
    try {
      joining.rooms.recorder(this.#verb.room, owner).start({}).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Plays until the room opens. The first member decides whether the room itself has music. */
  #wait(room: Room): void {
    const { wait } = this.#verb;
    if (room.isOpen || wait === 'silence' || (wait === 'music' && room.hasMusic)) return;
    const sound = new WaitSound({ call: this.#call, scene: this.#scene, allowed: ALLOWED });
    const stop = () => sound.stop();
    this.#stop.push(stop, room.onceOpen(stop));
    if (wait === 'music') return void sound.music();
    return void sound.perform(wait, { of: 'wait', place: undefined }).then((end) => {
      return end === 'failed' && !sound.isStopped ? sound.music() : undefined;
    });
  }

  #leave(): void {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    const { id } = this.#call;
    attempt(WORK, () => {
      const room = this.#roomThere();
      if (room?.has(id) === true) joining.rooms.leave(this.#verb.room, owner, id);
    });
    this.#done();
  }

  #done(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const stop of this.#stop.splice(0)) attempt(WORK, stop);
    this.#resolve();
  }
}
