// The sound of one call and its announcements, for its recording.
import { ParleyError } from '../errors.js';
import type { PcmRing } from '../audio/pcm-ring.js';
import type { MediaSocket } from '../media/media-socket.js';
import { beep } from '../recording/beep.js';
import { CallRecording, type RecordedCall } from '../recording/call-recording.js';
import type { Recordings } from '../recording/recordings.js';
import type { Time } from '../time.js';
import type { MediaPort } from './call-route.js';
import type { CallEvent } from './call-events.js';
import type { Utterance } from './utterance.js';

/** Keeps the recordings of the calls of this server. */
export interface CallRecordings {
  readonly service: Recordings;
  /** Name of the API key that owns the call; undefined: every key may use it. */
  readonly ownerOf: (call: string) => string | undefined;
}

interface RecordingParts {
  readonly call: string;
  readonly port: () => MediaPort;
  readonly speak: (text: string) => Utterance;
  readonly play: (sound: { readonly samples: Float32Array; readonly sampleRate: number }) => Utterance;
  readonly emit: (event: CallEvent) => void;
  readonly time: Time;
}

const BEEP = 'beep';
const BEEP_HZ = 16_000;

export function openRecording({ service, ownerOf }: CallRecordings, parts: RecordingParts): CallRecording {
  const { call: id, port, emit: onEvent, time } = parts;
  const rings = new Map<number, { readonly socket: MediaSocket; readonly ring: PcmRing }>();
  const recorded: RecordedCall = {
    id,
    owner: ownerOf(id),
    openRing: (capacityMs, channels) => {
      const { socket } = port();
      if (socket === undefined)
        throw new ParleyError('CALL_STATE', `the far end of call ${id} sends no sound`);
      const ring = socket.openEar({ channels, capacityMs });
      rings.set(ring.handle, { socket, ring });
      return ring.handle;
    },
    hasSourceOf: (handle) => rings.get(handle)?.socket === port().socket,
    closeRing: (handle) => {
      const open = rings.get(handle);
      rings.delete(handle);
      open?.socket.closeEar(open.ring);
      open?.ring.close();
    },
    announce: (announcement) => announced(announcement, parts),
    onEvent,
  };
  return new CallRecording(service, recorded, time);
}

/** Resolves when the caller has heard it. */
async function announced(
  announcement: string,
  { speak, play }: Pick<RecordingParts, 'speak' | 'play'>,
): Promise<void> {
  const isBeep = announcement === BEEP;
  const utterance = isBeep ? play({ samples: beep(BEEP_HZ), sampleRate: BEEP_HZ }) : speak(announcement);
  const { end, error } = await utterance.ended;
  if (end === 'spoken') return;
  throw error ?? new ParleyError('CALL_STATE', 'the announcement of the recording was interrupted');
}
