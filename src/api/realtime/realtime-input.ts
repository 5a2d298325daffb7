// The input buffer of a Realtime conversation: what the caller has sent since the client emptied it last. It
// is a measure only, because the sound goes to the listeners of the call at once. Over a WebSocket it is the
// sound that was appended. In a WebRTC call it is the time in which packets came, and no more than they hold.
//
// The buffer has a bound if the client ends the turns. A WebSocket has more sound refused. A WebRTC call
// cannot refuse it and loses what the buffer has.
import type { Call } from '../../call/call.js';
import type { SoundCall } from '../../call/sound-calls.js';
import { ParleyError } from '../../errors.js';
import type { MediaSocket } from '../../media/media-socket.js';
import type { Time } from '../../time.js';
import { FULL, MOST_INPUT_MS } from './input-bound.js';
import type { AppendedSound } from './realtime-sound.js';

interface InputParts {
  readonly call: Pick<Call, 'follow' | 'closed'>;
  /** Undefined: the sound goes over RTP. */
  readonly sound: Pick<SoundCall, 'leftMs'> | undefined;
  readonly time: Time;
  /** The buffer of a WebRTC call was full, and is empty now. */
  readonly overflowed: () => void;
}

/** The buffer need not know more of sound that voice activity divides into turns. */
const MOST_DETECTED_MS = 60_000;

/** Length of the silence at the end of a turn. */
const KEPT_SILENCE_MS = 200;
/** From the moment at which sound is due until the listeners of the call have it. */
const SOUND_DELAY_MS = 100;
/** Length of the sound of one packet, as browsers send it. */
const PACKET_MS = 20;
/** The network and the jitter buffer delay sound by more than the messages of the client. */
const RTP_DELAY_MS = 200;

export class RealtimeInput {
  readonly #parts: InputParts;
  #appendedMs = 0;
  #isAudible = false;
  /** Silence at its end. */
  #silentMs = 0;
  #sinceMs: number;
  #socket: Pick<MediaSocket, 'stats'> | undefined;
  /** Packets of the socket when the buffer was empty. */
  #packets = 0;
  #isByHand = false;
  #isClosed = false;
  #cancelBound: () => void = () => undefined;

  constructor(parts: InputParts) {
    this.#parts = parts;
    this.#sinceMs = parts.time.now();
    void parts.call.closed.then(() => {
      this.#isClosed = true;
      this.#cancelBound();
    });
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
    const packets = (this.#socket?.stats().packets ?? 0) - this.#packets;
    if (packets <= 0) return 0;
    // The socket counts the first packet of a source with none, because the second one confirms it.
    const heldMs = (this.#packets === 0 ? packets + 1 : packets) * PACKET_MS;
    return Math.min(this.#parts.time.now() - this.#sinceMs, heldMs);
  }

  /** Some of it has reached the listeners of the call. */
  get isHeard(): boolean {
    const { sound } = this.#parts;
    return this.lengthMs > 0 && (sound === undefined || sound.leftMs < this.#appendedMs);
  }

  /** Milliseconds until the listeners of the call have all of it, but for a long silence at its end. */
  get delayMs(): number {
    const { sound } = this.#parts;
    if (sound === undefined) return RTP_DELAY_MS;
    const needlessMs = this.#isAudible ? Math.max(0, this.#silentMs - KEPT_SILENCE_MS) : 0;
    return Math.max(0, Math.ceil(sound.leftMs) + SOUND_DELAY_MS - Math.floor(needlessMs));
  }

  /** Some of what was appended is no silence. */
  get isAudible(): boolean {
    return this.#isAudible;
  }

  /**
   * Silence before all audible sound, where the client ends the turns. A recogniser may find words in a long
   * silence around speech.
   */
  get needlessMs(): number {
    return this.#isByHand && !this.#isAudible ? this.#silentMs : 0;
  }

  /** The client ends the turns, or voice activity does, from now on. */
  set isByHand(isByHand: boolean) {
    if (isByHand === this.#isByHand) return;
    this.#isByHand = isByHand;
    this.#bound();
  }

  /** Throws QUEUE_FULL if no more sound may be appended. */
  checkRoom(): void {
    if (!this.#isByHand || this.#appendedMs < MOST_INPUT_MS) return;
    throw new ParleyError('QUEUE_FULL', `${FULL}: commit it, or clear it`);
  }

  appended({ ms, silentEndMs }: AppendedSound): void {
    this.#silentMs = silentEndMs < ms ? silentEndMs : this.#silentMs + ms;
    this.#isAudible ||= silentEndMs < ms;
    const most = this.#isByHand ? Infinity : MOST_DETECTED_MS;
    this.#appendedMs = Math.min(this.#appendedMs + ms, most);
  }

  /** A turn has ended: the buffer keeps the sound that the listeners of the call do not have yet. */
  committed(): void {
    const { sound } = this.#parts;
    if (sound === undefined) this.clear();
    else this.#appendedMs = Math.min(this.#appendedMs, sound.leftMs);
  }

  /** The buffer is empty now. */
  clear(): void {
    this.#appendedMs = this.#silentMs = 0;
    this.#isAudible = false;
    this.#sinceMs = this.#parts.time.now();
    this.#packets = this.#socket?.stats().packets ?? 0;
    this.#bound();
  }

  #bound(): void {
    const { sound, time, overflowed } = this.#parts;
    this.#cancelBound();
    if (sound !== undefined || !this.#isByHand || this.#isClosed) return;
    this.#cancelBound = time.after(MOST_INPUT_MS, () => {
      const isHeard = this.isHeard;
      this.clear();
      if (isHeard) overflowed();
    });
  }
}
