// The input buffer of a Realtime conversation: what the caller has sent since the client emptied it last. It is
// a measure only, because the sound goes to the listeners of the call at once. Over a WebSocket it is the sound
// that was appended. In a WebRTC call it is the time in which packets came.
import type { Call } from '../../call/call.js';
import type { SoundCall } from '../../call/sound-calls.js';
import type { MediaSocket } from '../../media/media-socket.js';
import type { Time } from '../../time.js';

interface InputParts {
  readonly call: Pick<Call, 'follow' | 'closed'>;
  /** Undefined: the sound goes over RTP. */
  readonly sound: Pick<SoundCall, 'leftMs'> | undefined;
  readonly time: Time;
}

/** From the moment at which sound is due until the listeners of the call have it. */
const SOUND_DELAY_MS = 100;
/** The network and the jitter buffer delay sound by more than the messages of the client. */
const RTP_DELAY_MS = 200;

export class RealtimeInput {
  readonly #parts: InputParts;
  #appendedMs = 0;
  #sinceMs: number;
  #socket: Pick<MediaSocket, 'stats'> | undefined;
  /** Packets of the socket when the buffer was empty. */
  #packets = 0;

  constructor(parts: InputParts) {
    this.#parts = parts;
    this.#sinceMs = parts.time.now();
    if (parts.sound !== undefined) return;
    const stopFollowing = parts.call.follow(({ socket }) => {
      this.#socket = socket;
      this.#packets = 0;
    });
    void parts.call.closed.then(stopFollowing);
  }

  /** Milliseconds of sound since the buffer was empty. */
  get lengthMs(): number {
    if (this.#parts.sound !== undefined) return this.#appendedMs;
    const hasSound = (this.#socket?.stats().packets ?? 0) > this.#packets;
    return hasSound ? this.#parts.time.now() - this.#sinceMs : 0;
  }

  /** Milliseconds until the listeners of the call have all of it. */
  get delayMs(): number {
    const { sound } = this.#parts;
    return sound === undefined ? RTP_DELAY_MS : Math.ceil(sound.leftMs) + SOUND_DELAY_MS;
  }

  appended(ms: number): void {
    this.#appendedMs += ms;
  }

  /** The buffer is empty now. */
  clear(): void {
    this.#appendedMs = 0;
    this.#sinceMs = this.#parts.time.now();
    this.#packets = this.#socket?.stats().packets ?? 0;
  }
}
