// Contract of sound that flows between calls. The native plane implements it: JavaScript joins and parts
// calls by handle, and no frame crosses it.
//
//   relay: packets of one call leave in the other, with the same codec on both sides
//   mixer: each member hears the others, a source, or both, in its own codec
import type { PcmRing } from '../audio/pcm-ring.js';
import { MediaMixer } from '../media/media-mixer.js';
import type { MediaPlane } from '../media/media-plane.js';
import { canRelay, MediaRelay } from '../media/media-relay.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { Playout } from '../media/playout.js';
import { ParleyError } from '../errors.js';
import type { Call } from './call.js';
import type { MediaPort } from './call-route.js';

/** Source and destination of the sound of one call. */
export interface JoinedLeg {
  readonly socket: MediaSocket;
  readonly playout: Playout;
}

/** Hz of the sources and sinks of a mixer. */
export const MIX_HZ = 16_000;

/** Our own voice is heard alone, or over the others who speak. */
export const VOICE_MODES = ['paused', 'ducked'] as const;
export type VoiceMode = (typeof VOICE_MODES)[number];

interface Relay {
  flow(direction: 'a-to-b' | 'b-to-a', isOpen: boolean): void;
  /** Idempotent. The streams go on as before. */
  close(): void;
}

export interface Hearing {
  /** Nobody hears this member. */
  readonly muted?: boolean;
  /** This member hears nobody. */
  readonly deaf?: boolean;
  /** Factor of its amplitude; 1 if absent. */
  readonly gain?: number;
}

export interface MixerMember {
  voice: VoiceMode;
  set(hearing: Hearing): void;
  /** True if this member hears the other one. */
  hears(other: MixerMember, isHeard: boolean): void;
  /** Idempotent. */
  leave(): void;
}

/** Sound that everybody hears. */
export interface MixerSource {
  /** Called once, when the ring has ended and was played, or `close` has faded it out. */
  onEnd: (() => void) | undefined;
  /** Idempotent. The ring stays its owner's. */
  close(): void;
}

/** The mix of everything, for a recorder. */
export interface MixerSink {
  readonly ring: PcmRing;
  /** Ends the ring, which its owner closes. Idempotent. */
  close(): void;
}

export interface Mixer {
  onSpeaking: ((member: MixerMember, isSpeaking: boolean) => void) | undefined;
  add(leg: JoinedLeg, hearing?: Hearing): MixerMember;
  /** The ring has MIX_HZ. */
  addSource(ring: PcmRing): MixerSource;
  addSink(options: { readonly capacityMs: number }): MixerSink;
  /** Idempotent. */
  close(): void;
}

/** Joins the media of calls. */
export interface MediaJoiner {
  canRelay(a: MediaPort, b: MediaPort): boolean;
  openRelay(a: JoinedLeg, b: JoinedLeg): Relay;
  openMixer(): Mixer;
}

/** Undefined if the far end sends no sound, or hears none. */
export function legOf({ socket, playout, isUnheard }: MediaPort): JoinedLeg | undefined {
  return socket === undefined || isUnheard === true ? undefined : { socket, playout };
}

/** Throws CALL_STATE for a call that is ending, or that sends no sound. */
export function checkAudible(call: Call): void {
  if (call.isClosing()) throw new ParleyError('CALL_STATE', `call ${call.id} is ending`);
  if (portOf(call)?.socket === undefined)
    throw new ParleyError('CALL_STATE', `call ${call.id} sends no sound`);
}

/** Throws CALL_STATE for a call that is ending, or that sends no sound or cannot hear other calls. */
export function checkJoinable(call: Call, field?: string): void {
  const refuse = (why: string) => {
    throw new ParleyError('CALL_STATE', `call ${call.id} ${why}`, field === undefined ? {} : { field });
  };
  if (call.isClosing()) refuse('is ending');
  const port = portOf(call);
  if (port?.joinRefusal !== undefined) refuse(port.joinRefusal);
  if (port === undefined || legOf(port) === undefined) refuse('does not both send and hear sound');
}

function portOf(call: Call): MediaPort | undefined {
  let present: MediaPort | undefined;
  call.follow((port) => (present = port))();
  return present;
}

/** Joins calls in the media plane. */
export function nativeJoiner(plane: MediaPlane): MediaJoiner {
  return {
    canRelay,
    openRelay: (a, b) => MediaRelay.open(plane, a, b),
    // A mixer gets the members back that it has made, and no others.
    openMixer: () => MediaMixer.open(plane) as Mixer,
  };
}
