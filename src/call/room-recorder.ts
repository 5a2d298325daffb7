// Records the mix of a room, as the recordings of calls are made. Both channels of the file have the mix.
//
//   mixer ──▶ sink: mono ring ──▶ ring of two channels ──▶ worker ──▶ file
import { randomUUID } from 'node:crypto';
import { PcmRing } from '../audio/pcm-ring.js';
import { ParleyError } from '../errors.js';
import { beep } from '../recording/beep.js';
import { CallRecording, type RecordingEvent } from '../recording/call-recording.js';
import type { Recordings } from '../recording/recordings.js';
import type { Time } from '../time.js';
import { samplesOf } from './call-music.js';
import type { MixerSink } from './joined-media.js';
import type { Room } from './room.js';
import type { ServerEvents } from './server-events.js';

interface RecorderParts {
  readonly recordings: Recordings;
  readonly events: Pick<ServerEvents, 'add'>;
  readonly time: Time;
}

const CHANNELS = 2;
const CHUNK = 1600; // samples of the mix
const BEEP_HZ = 16_000;

export function roomRecorder({ recordings, events, time }: RecorderParts): (room: Room) => CallRecording {
  return (room) => {
    const rings = new Map<number, RecordedMix>();
    const recorded = {
      id: `room_${randomUUID()}`,
      owner: room.owner,
      openRing: (capacityMs: number) => {
        const mix = new RecordedMix(room.mixer.addSink({ capacityMs }), capacityMs);
        rings.set(mix.handle, mix);
        return mix.handle;
      },
      hasSourceOf: (handle: number) => rings.has(handle),
      closeRing: (handle: number) => {
        rings.get(handle)?.close();
        rings.delete(handle);
      },
      announce: async (announcement: string) => {
        if (announcement !== 'beep') {
          const message = '"announce" must be "none" or "beep" in a room: POST …/say speaks to it';
          throw new ParleyError('INVALID_FIELD', message, { field: 'announce' });
        }
        await room.play(samplesOf({ samples: beep(BEEP_HZ), sampleRate: BEEP_HZ }));
      },
      onEvent: (event: RecordingEvent) => {
        events.add({ type: event.type, room: room.name, recording: event }, room.owner);
        room.recorded(event);
      },
    };
    return new CallRecording(recordings, recorded, time);
  };
}

/** Has each sample of a mix twice, for the two channels of a file. */
class RecordedMix {
  readonly #sink: MixerSink;
  readonly #out: PcmRing;
  readonly #mono = new Float32Array(CHUNK);
  readonly #stereo = new Float32Array(CHANNELS * CHUNK);
  readonly #look = () => this.#move();
  #isClosed = false;

  constructor(sink: MixerSink, capacityMs: number) {
    this.#sink = sink;
    this.#out = PcmRing.open(sink.ring.rate, (CHANNELS * sink.ring.rate * capacityMs) / 1000);
    sink.ring.onReadable(this.#look);
  }

  get handle(): number {
    return this.#out.handle;
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sink.ring.forget(this.#look);
    this.#sink.close();
    this.#sink.ring.close();
    this.#out.close();
  }

  #move(): void {
    if (this.#isClosed) return;
    const { ring } = this.#sink;
    for (let room = this.#room; room > 0; room = this.#room) {
      const taken = ring.read(this.#mono.subarray(0, Math.min(CHUNK, room)));
      if (taken <= 0) break;
      for (let at = 0; at < CHANNELS * taken; at++) this.#stereo[at] = this.#mono[at >> 1] as number;
      this.#out.write(this.#stereo.subarray(0, CHANNELS * taken));
    }
    const status = ring.status();
    if (status === null || (status.ended && status.readable === 0)) this.#out.end(endOf(status?.error));
    else if (this.#room > 0) ring.onReadable(this.#look);
    else this.#out.end('LISTENER_SLOW');
  }

  /** Samples of the mix that there is room for. */
  get #room(): number {
    return Math.floor((this.#out.status()?.writable ?? 0) / CHANNELS);
  }
}

function endOf(error: string | undefined): 'LISTENER_SLOW' | '' {
  return error === 'LISTENER_SLOW' ? error : '';
}
