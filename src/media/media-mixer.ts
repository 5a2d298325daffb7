// A mixer joins calls: each member hears the others, never itself. Two members are a bridge between codecs,
// more are a room. Its sound never comes to JavaScript: native threads decode, mix, encode and send it.
//
//   const mixer = MediaMixer.open(plane)
//   const member = mixer.add({ socket, playout })      the call hears the others, and they hear it
//   member.hears(other, false); member.set({ muted: true }); member.leave()
//
// A voice of ours in a member's playout goes before the mix, unless `voice` is `ducked`. A playout that
// replaces the one of a member goes on in its place.
import { loadAddon } from '../addon.js';
import { PcmRing } from '../audio/pcm-ring.js';
import { unwatchReady, watchReady } from '../audio/ready.js';
import { attempt, ParleyError } from '../errors.js';
import type { HearingFigures } from './media-addon.js';
import type { MediaSocket } from './media-socket.js';
import type { Playout } from './playout.js';

/** Changes of a member; absent fields stay as they are. */
export interface MixerMemberOptions {
  /** Nobody hears it. */
  readonly muted?: boolean;
  /** It hears nobody. */
  readonly deaf?: boolean;
  /** Gain of what the others hear: 0 to 4. */
  readonly gain?: number;
  /** A voice of ours in the member's playout: see MixerMember. */
  readonly voice?: 'paused' | 'ducked';
}

export interface MixerMemberStats {
  /** Frames that were encoded for the member. */
  readonly frames: number;
  /** Frames that were ready only after their time, and frames that were not sent because of it. */
  readonly late: number;
  readonly missed: number;
  /** Frames that another member's encoder made. */
  readonly shared: number;
  /** Mean power of what the member says, in dBFS. */
  readonly levelDb: number;
  readonly isSpeaking: boolean;
  readonly hearing: HearingFigures;
}

/** Kinds of the events of mixerTakeEvents. */
const MIXER_EVENT = { speaks: 0, silent: 1, sourceEnded: 2 } as const;

/** native/binding/mixer_binding.cc */
interface MixerAddon {
  mixerOpen(plane: number, options: { loudest: number }): number;
  /** Handle and id of the member. `taken`: the socket is closed, or the call is a member of a mixer. */
  mixerAdd(
    mixer: number,
    socket: number,
    options: MixerMemberOptions,
  ): readonly [number, number] | 'closed' | 'full' | 'taken';
  memberChange(member: number, options: MixerMemberOptions): void;
  /** `other` is an id. */
  memberHears(member: number, other: number, isHeard: boolean): void;
  memberLeave(member: number): void;
  memberStats(member: number): MixerMemberStats | null;
  /** The id of the source; 0: closed, or there are 16. `only`: ids of those that hear it; empty: all. */
  mixerAddSource(mixer: number, ring: number, gain: number, only: readonly number[]): number;
  mixerRemoveSource(mixer: number, source: number): void;
  /** The handle of a ring of 16 kHz samples, which its opener closes; 0: closed, or there are 4. */
  mixerAddSink(mixer: number, capacityMs: number): number;
  mixerRemoveSink(mixer: number, ring: number): void;
  /** Groups of two: id of a member or a source, kind. */
  mixerTakeEvents(mixer: number): Float64Array;
  /** Returns true if events wait. After false, the thread is notified of `mixer` once. */
  mixerWatch(mixer: number): boolean;
  mixerClose(mixer: number): void;
}

let loaded: MixerAddon | undefined;
function addon(): MixerAddon {
  return (loaded ??= loadAddon<MixerAddon>());
}

/** One side of joined calls. The playout is the one that is bound to the socket. */
export interface JoinedLeg {
  readonly socket: Pick<MediaSocket, 'handle'>;
  readonly playout: Pick<Playout, 'handle'>;
}

/** Hz of the mix, of its sources and its sinks. */
export const MIX_HZ = 16_000;

const LOUDEST = 6;
const EVENT_FIELDS = 2;
const MIXER = { work: 'mixer' };

export class MediaMixer {
  readonly handle: number;
  /** Called after 100 ms of a member's speech, and after 500 ms without. Muted members speak, too. */
  onSpeaking: ((member: MixerMember, isSpeaking: boolean) => void) | undefined;
  readonly #members = new Map<number, MixerMember>();
  readonly #sources = new Map<number, MixerSource>();
  readonly #onClose: () => void;
  #closed = false;
  readonly #look = () => {
    while (!this.#closed && addon().mixerWatch(this.handle)) this.#tellEvents();
  };

  /** Made by MediaPlane.openMixer. */
  constructor(plane: number, loudest: number, onClose: () => void) {
    this.handle = addon().mixerOpen(plane, { loudest });
    this.#onClose = onClose;
    watchReady(this.handle, this.#look);
    this.#look();
  }

  /** On a MediaPlane. `loudest`: members that are heard at once, 1 to 16; 6 by default. */
  static open(plane: { openMixer(loudest: number): MediaMixer }, { loudest = LOUDEST } = {}): MediaMixer {
    return plane.openMixer(loudest);
  }

  /**
   * Adds a call from now on. Throws WRONG_STATE if its socket or the mixer is closed, or the call is a member
   * of a mixer already, and CALL_LIMIT if there are 256 members.
   */
  add(leg: JoinedLeg, options: MixerMemberOptions = {}): MixerMember {
    const added = addon().mixerAdd(this.#open(), leg.socket.handle, options);
    if (added === 'full') throw new ParleyError('CALL_LIMIT', 'the mixer has the 256 members it can have');
    if (added === 'closed') throw new ParleyError('WRONG_STATE', 'the media socket or its plane is closed');
    if (added === 'taken') {
      throw new ParleyError('WRONG_STATE', 'the media socket is closed, or a member of a mixer');
    }
    const member = new MixerMember(added, options.voice ?? 'paused', () => this.#members.delete(member.id));
    this.#members.set(member.id, member);
    return member;
  }

  /**
   * Plays a ring of MIX_HZ into the mix until it ends, or `close`. Where it has nothing in time, it is
   * silent. `only`: the members that hear it. Throws WRONG_STATE for another rate or if the mixer is closed,
   * and QUEUE_FULL if there are 16 sources.
   */
  addSource(
    ring: Pick<PcmRing, 'handle' | 'rate'>,
    { gain = 1, only = [] }: { readonly gain?: number; readonly only?: readonly MixerMember[] } = {},
  ): MixerSource {
    if (ring.rate !== MIX_HZ) throw new ParleyError('WRONG_STATE', `a mixer plays ${MIX_HZ} Hz`);
    const members = only.map((member) => member.id);
    const id = addon().mixerAddSource(this.#open(), ring.handle, gain, members);
    if (id === 0) throw new ParleyError('QUEUE_FULL', 'the mixer has the 16 sources it can have');
    const source = new MixerSource(this.handle, id);
    this.#sources.set(id, source);
    return source;
  }

  /**
   * Opens a ring of the mix of all members and sources from now on, at MIX_HZ. A ring that is full ends with
   * LISTENER_SLOW. The caller closes it. Throws QUEUE_FULL if there are 4.
   */
  addSink({ capacityMs }: { readonly capacityMs: number }): MixerSink {
    const handle = addon().mixerAddSink(this.#open(), capacityMs);
    if (handle === 0) throw new ParleyError('QUEUE_FULL', 'the mixer has the 4 recordings it can have');
    return new MixerSink(this.handle, PcmRing.adopt(handle, MIX_HZ));
  }

  get members(): readonly MixerMember[] {
    return [...this.#members.values()];
  }

  stats(): ReadonlyMap<MixerMember, MixerMemberStats> {
    const all = new Map<MixerMember, MixerMemberStats>();
    for (const member of this.#members.values()) {
      const stats = member.stats();
      if (stats !== undefined) all.set(member, stats);
    }
    return all;
  }

  /** Members leave and sinks end; playouts go on as before. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const member of this.#members.values()) member.leave();
    unwatchReady(this.handle, this.#look);
    addon().mixerClose(this.handle);
    this.#sources.clear();
    this.#onClose();
  }

  #open(): number {
    if (this.#closed) throw new ParleyError('WRONG_STATE', 'the mixer is closed');
    return this.handle;
  }

  #tellEvents(): void {
    const events = addon().mixerTakeEvents(this.handle);
    for (let at = 0; at < events.length; at += EVENT_FIELDS) {
      const [id = 0, kind = 0] = events.subarray(at, at + EVENT_FIELDS);
      const member = this.#members.get(id);
      if (kind === MIXER_EVENT.sourceEnded) attempt(MIXER, () => this.#endSource(id));
      else if (member !== undefined) {
        attempt(MIXER, () => this.onSpeaking?.(member, kind === MIXER_EVENT.speaks));
      }
    }
  }

  #endSource(id: number): void {
    const source = this.#sources.get(id);
    this.#sources.delete(id);
    source?.onEnd?.();
  }
}

export class MixerMember {
  readonly id: number;
  readonly #handle: number;
  readonly #onLeave: () => void;
  #voice: 'paused' | 'ducked';
  #left = false;

  /** Made by MediaMixer.add. */
  constructor([handle, id]: readonly [number, number], voice: 'paused' | 'ducked', onLeave: () => void) {
    this.#handle = handle;
    this.id = id;
    this.#voice = voice;
    this.#onLeave = onLeave;
  }

  /**
   * `muted`: nobody hears it. `deaf`: it hears nobody. `gain` of what the others hear: 0 to 4, 1 by default.
   * Each changes within 10 ms.
   */
  set(options: Omit<MixerMemberOptions, 'voice'>): void {
    addon().memberChange(this.#handle, options);
  }

  /** This member hears that one, or does not; changes within 10 ms. Each hears all others at first. */
  hears(other: MixerMember, isHeard: boolean): void {
    addon().memberHears(this.#handle, other.id, isHeard);
  }

  /**
   * While the member's playout has a voice of ours: `paused` sends the voice alone, `ducked` mixes it with
   * the others, who are 12 dB softer.
   */
  get voice(): 'paused' | 'ducked' {
    return this.#voice;
  }
  set voice(voice: 'paused' | 'ducked') {
    this.#voice = voice;
    addon().memberChange(this.#handle, { voice });
  }

  /** Undefined once it has left. */
  stats(): MixerMemberStats | undefined {
    return addon().memberStats(this.#handle) ?? undefined;
  }

  /** Nothing is heard or mixed for it any more. Its playout goes on as before. Idempotent. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    addon().memberLeave(this.#handle);
    this.#onLeave();
  }
}

export class MixerSource {
  /** Called once, when the ring has ended and was played, or `close` has faded it out. */
  onEnd: (() => void) | undefined;
  readonly #mixer: number;
  readonly #id: number;

  /** Made by MediaMixer.addSource. */
  constructor(mixer: number, id: number) {
    this.#mixer = mixer;
    this.#id = id;
  }

  /** Fades it out within 10 ms. The ring stays its owner's. Idempotent. */
  close(): void {
    addon().mixerRemoveSource(this.#mixer, this.#id);
  }
}

export class MixerSink {
  readonly ring: PcmRing;
  readonly #mixer: number;

  /** Made by MediaMixer.addSink. */
  constructor(mixer: number, ring: PcmRing) {
    this.#mixer = mixer;
    this.ring = ring;
  }

  /** Ends the ring. What it holds can still be read. Idempotent. */
  close(): void {
    addon().mixerRemoveSink(this.#mixer, this.ring.handle);
  }
}
