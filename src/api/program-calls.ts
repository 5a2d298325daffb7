// Places calls for call programs by the telephone, and joins them by bridges.
import type { Bridges, JoinSounds } from '../call/bridges.js';
import { CallMusic } from '../call/call-music.js';
import type { MediaJoiner } from '../call/joined-media.js';
import { telephoneOff } from '../call/listed-calls.js';
import type { OpenCalls } from '../call/open-calls.js';
import type { PhoneCalls } from '../call/phone-calls.js';
import { attempt, ParleyError, tellDefect } from '../errors.js';
import type { ProgramCalls } from '../ivr/scene.js';

export interface ProgramCallsParts {
  /** Undefined: the server has no telephone. */
  readonly telephone: () => PhoneCalls | undefined;
  readonly openCalls: Pick<OpenCalls, 'find'>;
  readonly bridges: Pick<Bridges, 'handOver' | 'part' | 'of'>;
  readonly joiner: Pick<MediaJoiner, 'openMixer'>;
  readonly sounds: Pick<JoinSounds, 'ringBack'>;
  /** SIP_DESTINATIONS lists the destinations of calls. */
  readonly limitsDestinations: boolean;
  readonly unixMs: () => number;
}

const WORK = 'program';

export function programCalls(parts: ProgramCallsParts): ProgramCalls {
  const { telephone, openCalls, bridges, joiner, sounds, limitsDestinations, unixMs } = parts;
  const placing = (): PhoneCalls => {
    const given = telephone();
    if (given === undefined) throw telephoneOff();
    return given;
  };
  return {
    problem: () => {
      const given = telephone();
      if (given === undefined || given.canPlace === false) return 'this server places no telephone calls';
      return limitsDestinations ? undefined : 'SIP_DESTINATIONS must list the destinations that it may call';
    },
    place: async (request) => placing().place(request),
    follow: (id, onEvent) => placing().follow(id, 0, onEvent),
    find: (id) => openCalls.find(id, undefined),
    hangUp: (id) => {
      const failed = (error: unknown) => {
        const isGone = error instanceof ParleyError && error.code === 'NOT_FOUND';
        if (!isGone) tellDefect(error, { work: WORK, call: id });
      };
      telephone()?.hangUp(id).catch(failed);
    },
    ring: ({ call }) => {
      let music: CallMusic | undefined;
      // A caller that hears no ringing is still connected.
      attempt({ work: WORK, call: call.id }, () => {
        music = new CallMusic(joiner, sounds.ringBack());
        music.add(call);
      });
      return () => music?.close();
    },
    join: (caller, other, { endKey }) => {
      const settings = { keys: 'forward', endKey, voice: 'paused' } as const;
      return bridges.handOver(caller, other, 'stay', settings);
    },
    part: ({ call }) => {
      if (bridges.of(call.id) !== undefined)
        attempt({ work: WORK, call: call.id }, () => bridges.part(call.id, undefined));
    },
    unixMs,
  };
}
