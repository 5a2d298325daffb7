// The sound of a supervisor's call, where the supervised call is in no bridge and no room.
import type { PcmRing } from '../audio/pcm-ring.js';
import { attempt } from '../errors.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { SuperviseMode } from './call-events.js';
import type { Call } from './call.js';
import {
  type Hearing,
  legOf,
  type MediaJoiner,
  type Mixer,
  type MixerMember,
  type MixerSource,
} from './joined-media.js';

/** Modes in which somebody hears the supervisor. */
export type SpeakingMode = Exclude<SuperviseMode, 'listen'>;

/** A supervisor in the sound of a call. */
export interface JoinedSupervisor {
  /** Idempotent. */
  close(): void;
}

const WORK = { work: 'supervision' };
const RING_MS = 2000; // the mixer reads each 5 ms

/** Keeps one call in a mixer, on each port that it has. While it holds, it hears nobody and is not heard. */
class FollowedMember {
  member: MixerMember | undefined;
  readonly #stop: (() => void)[];

  /** Throws what `Mixer.add` throws. `onFailed`: it could not be added on a later port. */
  constructor(call: Call, mixer: Mixer, hearing: Hearing, onFailed: () => void) {
    let isBegun = false;
    let isHeld = call.isHeld();
    const { muted = false, deaf = false } = hearing;
    const present = () => ({ ...hearing, ...(isHeld ? { muted: true, deaf: true } : {}) });
    const stopFollowing = call.follow((port) => {
      attempt(WORK, () => this.member?.leave());
      this.member = undefined;
      const leg = legOf(port);
      try {
        if (leg !== undefined) this.member = mixer.add(leg, present());
      } catch (error) {
        if (!isBegun) throw error;
        onFailed();
      }
    });
    isBegun = true;
    const stopObserving = call.observe(({ type }) => {
      if (type !== 'call.held' && type !== 'call.resumed') return;
      isHeld = type === 'call.held';
      this.member?.set({ muted, deaf, ...present() });
    });
    this.#stop = [stopFollowing, stopObserving];
  }

  close(): void {
    for (const stop of this.#stop) stop();
    attempt(WORK, () => this.member?.leave());
  }
}

/** A ring of both sides of a call, in a mixer. */
class FollowedSound {
  readonly #call: Call;
  readonly #mixer: Mixer;
  readonly #onFailed: () => void;
  readonly #stop: () => void;
  #open: { readonly socket: MediaSocket; readonly ring: PcmRing; readonly source: MixerSource } | undefined;

  /**
   * Throws what `MediaSocket.openEar` and `Mixer.addSource` throw. `onFailed`: it could not be opened on a
   * later port, or again.
   */
  constructor(call: Call, mixer: Mixer, onFailed: () => void) {
    this.#call = call;
    this.#mixer = mixer;
    this.#onFailed = onFailed;
    let isBegun = false;
    this.#stop = call.follow(({ socket }) => {
      this.#close();
      try {
        if (socket !== undefined) this.#listen(socket);
      } catch (error) {
        if (!isBegun) throw error;
        onFailed();
      }
    });
    isBegun = true;
  }

  #listen(socket: MediaSocket): void {
    const ring = socket.openEar({ channels: 1, sum: true, capacityMs: RING_MS });
    try {
      const source = this.#mixer.addSource(ring);
      source.onEnd = () => this.#ended(source);
      this.#open = { socket, ring, source };
    } catch (error) {
      socket.closeEar(ring);
      ring.close();
      throw error;
    }
  }

  /** A mixer that was late let the ring overflow, which ended it: the sound goes on in another one. */
  #ended(source: MixerSource): void {
    if (this.#open?.source !== source || this.#call.isClosing()) return;
    const { socket } = this.#open;
    this.#close();
    try {
      this.#listen(socket);
    } catch {
      this.#onFailed();
    }
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const { socket, ring, source } = open;
    for (const end of [() => source.close(), () => socket.closeEar(ring), () => ring.close()])
      attempt(WORK, end);
  }

  close(): void {
    this.#stop();
    this.#close();
  }
}

/** A call that is heard by another one. Its own media stay as they are, whatever it is joined to. */
export class ListenedCall implements JoinedSupervisor {
  readonly #mixer: Mixer;
  readonly #supervisor: FollowedMember;
  readonly #sound: FollowedSound;

  /** Throws what its parts throw. `onOver`: a change of a port has ended it. */
  constructor(
    target: Call,
    supervisor: Call,
    joiner: Pick<MediaJoiner, 'openMixer'>,
    onOver: (reason: 'failed') => void,
  ) {
    const onFailed = () => onOver('failed');
    this.#mixer = joiner.openMixer();
    let member: FollowedMember | undefined;
    try {
      member = new FollowedMember(supervisor, this.#mixer, { muted: true }, onFailed);
      this.#supervisor = member;
      this.#sound = new FollowedSound(target, this.#mixer, onFailed);
    } catch (error) {
      member?.close();
      this.#mixer.close();
      throw error;
    }
  }

  close(): void {
    this.#sound.close();
    this.#supervisor.close();
    this.#mixer.close();
  }
}

/** Two calls that hear each other, beside our voice in the supervised one. */
export class SharedCall implements JoinedSupervisor {
  readonly #mixer: Mixer;
  readonly #members: readonly FollowedMember[];

  /** As ListenedCall. `onSpeaking`: the supervisor begins to speak. */
  constructor(
    target: Call,
    supervisor: Call,
    joiner: Pick<MediaJoiner, 'openMixer'>,
    { onOver, onSpeaking }: { onOver: (reason: 'failed') => void; onSpeaking: () => void },
  ) {
    const onFailed = () => onOver('failed');
    this.#mixer = joiner.openMixer();
    const members: FollowedMember[] = [];
    this.#members = members;
    try {
      for (const call of [target, supervisor])
        members.push(new FollowedMember(call, this.#mixer, {}, onFailed));
    } catch (error) {
      this.close();
      throw error;
    }
    this.#mixer.onSpeaking = (member, isSpeaking) => {
      if (isSpeaking && member === members[1]?.member) onSpeaking();
    };
  }

  close(): void {
    for (const member of this.#members) member.close();
    this.#mixer.close();
  }
}
