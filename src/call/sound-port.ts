// The port of a call whose sound does not cross a network as RTP: its owner carries frames of 20 ms between
// the call and a socket of its own, on this thread.
//
//   far end ─▶ receive ─▶ waits for its time ─▶ RTP ─▶ socket of the plane ─▶ listeners
//   playout ─▶ captured packet, each 20 ms ─▶ onFrame ─▶ far end
//
// Far ends may send sound faster than it is spoken, and in pieces of any length. So much of it as jitter
// explains goes on at once, and the rest in its time. A pause of the far end is a pause of its sound.
//
// Sound that was held back by a stall comes at once and delays all sound behind it. Until that delay is gone,
// silence is left out, and the rest goes on faster: the jitter buffer of the listeners shortens it by single
// periods of the voice, so that no word is lost.
import { isSilence } from '../audio/shortened-sound.js';
import { type Codec, CODECS, type CodecName, ticksPerFrame } from '../codecs/codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from '../codecs/g711.js';
import { ParleyError } from '../errors.js';
import type { MediaPlane } from '../media/media-plane.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { MediaPort } from './call-route.js';
import { StallDelay } from './stall-delay.js';

export interface SoundPortOptions {
  readonly plane: Pick<MediaPlane, 'openStream' | 'openSocket' | 'nowMs'>;
  /** Codecs of the frames that leave, and of the sound that comes. */
  readonly sends: FrameCodec;
  readonly receives: FrameCodec;
  /** One word for the log. */
  readonly path: string;
  /** See MediaPort. */
  readonly joinRefusal?: string | undefined;
  /** Strong randomness: a whole number from 0 to 2^bits - 1. */
  readonly random: (bits: 16 | 32) => number;
  /** The next 20 ms of the call, also of its silence; valid during the call. Must not throw. */
  readonly onFrame: (payload: Uint8Array) => void;
}

/** Codecs whose payloads may be cut at any millisecond. */
export type FrameCodec = Extract<CodecName, 'L16' | 'PCMU' | 'PCMA'>;

const FRAME_MS = 20;
const MOST_UNREAD_MS = 160; // of sound that the far end has not read: silence behind it is not sent
const LOW_MS = 400; // encoded sound ahead of its time
const HIGH_MS = 1500;
const RTP_HEADER_BYTES = 12;
const PAYLOAD_TYPE = 96;
const AHEAD_MS = 200; // of its time: the most that the jitter buffer takes without a loss
const PAUSE_MS = 200; // behind its time: the far end has made a pause
const DRIFT = 0.01; // sound that waits is sent on faster by this: the far end's clock may be ahead of ours
const RECOVERY = 0.1; // the same after a stall: the jitter buffer shortens sound by at least so much
const TAIL_FRAMES = 5; // of silence, which go on before silence is left out
const LEAD_IN_FRAMES = 2; // of silence, which go on before sound
const MOST_WAITING_MS = 60_000;
// An address that nothing is sent to (RFC 5737): the plane tells senders apart by it.
const FAR_END = { address: '192.0.2.1', port: 5004 } as const;

export class SoundPort {
  readonly port: MediaPort;
  readonly #options: SoundPortOptions;
  readonly #socket: MediaSocket;
  readonly #received: Codec;
  readonly #bytesPerMs: number;
  readonly #frameBytes: number;
  readonly #packet: Buffer;
  /** Sound that came; `#waitingBytes` of it in all. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #sequence: number;
  #timestamp: number;
  /** Moment at which the sound that was sent on would be due to its end. */
  #dueMs = -Infinity;
  #lastMs = 0;
  #isAfterPause = false;
  #isClosed = false;
  readonly #delay = new StallDelay();
  /** Milliseconds of the sound that waits because of a stall. */
  #lateMs = 0;
  /** Frames of silence in a row that have come to their turn since the last stall. */
  #silentFrames = 0;

  /** Throws CALL_LIMIT. */
  constructor(options: SoundPortOptions) {
    const { plane, sends, receives, path, joinRefusal, random, onFrame } = options;
    this.#options = options;
    const codec = CODECS[sends];
    this.#received = CODECS[receives];
    this.#frameBytes = this.#received.silence(FRAME_MS).length;
    this.#bytesPerMs = this.#frameBytes / FRAME_MS;
    this.#packet = Buffer.alloc(RTP_HEADER_BYTES + this.#frameBytes);
    this.#packet[0] = 0x80; // version 2
    this.#packet.writeUInt32BE(random(32), 8);
    this.#sequence = random(16);
    this.#timestamp = random(32);
    this.#socket = plane.openSocket({ mux: true });
    try {
      const playout = openPlayout(plane, codec, random);
      playout.onPacket = ({ kind, data }) => {
        if (kind === 'rtp') onFrame(data.subarray(RTP_HEADER_BYTES));
        this.#sendOn();
      };
      playout.target({ capture: true });
      this.#socket.formats([
        {
          payloadType: PAYLOAD_TYPE,
          kind: 'sound',
          clockRate: this.#received.clockRate,
          codec: receives,
        },
      ]);
      this.#socket.learn(FAR_END);
      this.#socket.bind(playout);
      const close = () => this.#close();
      this.port = { codec, frameMs: FRAME_MS, playout, socket: this.#socket, path, joinRefusal, close };
    } catch (error) {
      this.#socket.close();
      throw error;
    }
  }

  /** Milliseconds of sound that came and are not due yet. */
  get waitingMs(): number {
    return this.#waitingBytes / this.#bytesPerMs;
  }

  /** Milliseconds until all the sound that came is due to its end. */
  get leftMs(): number {
    return Math.max(0, this.#dueMs - this.#options.plane.nowMs) + this.waitingMs;
  }

  /** Takes the bytes over. Throws QUEUE_FULL if a minute of sound waits. */
  receive(sound: Uint8Array): void {
    if (this.#isClosed || sound.length === 0) return;
    if ((this.#waitingBytes + sound.length) / this.#bytesPerMs > MOST_WAITING_MS) {
      const message = `more than ${MOST_WAITING_MS / 1000} s of sound wait: send it no faster than it is spoken`;
      throw new ParleyError('QUEUE_FULL', message);
    }
    if (this.#waitingBytes < this.#frameBytes) this.#notePause();
    if (sound.length < this.#frameBytes) this.#append(sound);
    else this.#waiting.push(sound);
    this.#waitingBytes += sound.length;
    this.#sendOn();
    const ms = sound.length / this.#bytesPerMs;
    this.#lateMs = this.#delay.came(this.#options.plane.nowMs, ms, () => this.waitingMs);
    if (this.#lateMs < FRAME_MS) this.#silentFrames = 0;
  }

  /** Forgets the last `ms` of the sound that waits; all of it without that. */
  drop(ms = MOST_WAITING_MS): void {
    const bytes = Math.min(this.#waitingBytes, 2 * Math.floor((ms * this.#bytesPerMs) / 2)); // whole samples
    this.#waitingBytes -= bytes;
    if (bytes > 0) {
      this.#delay.restart();
      this.#lateMs = 0;
    }
    for (let left = bytes; left > 0;) {
      const sound = this.#waiting.pop() ?? new Uint8Array(left);
      if (sound.length > left) this.#waiting.push(sound.subarray(0, sound.length - left));
      left -= Math.min(left, sound.length);
    }
  }

  /** Small pieces are joined: they must not be many. */
  #append(sound: Uint8Array): void {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.length >= this.#frameBytes) this.#waiting.push(sound);
    else this.#waiting[this.#waiting.length - 1] = Buffer.concat([last, sound]);
  }

  /** Nothing waited until now. */
  #notePause(): void {
    const nowMs = this.#options.plane.nowMs;
    const pauseMs = nowMs - this.#dueMs;
    if (pauseMs <= PAUSE_MS) return;
    this.#dueMs = nowMs;
    if (pauseMs === Infinity) return;
    this.#timestamp += Math.round((pauseMs * this.#received.clockRate) / 1000);
    this.#isAfterPause = true;
  }

  #sendOn(): void {
    if (this.#isClosed || this.#waitingBytes < this.#frameBytes) return;
    const nowMs = this.#options.plane.nowMs;
    const share = this.#lateMs >= FRAME_MS ? RECOVERY : DRIFT;
    if (this.#dueMs > nowMs) this.#dueMs -= share * Math.min(FRAME_MS, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    while (this.#waitingBytes >= this.#frameBytes && this.#dueMs < nowMs + AHEAD_MS) {
      this.#take(this.#packet.subarray(RTP_HEADER_BYTES));
      if (!this.#isLeftOut()) this.#sendFrame();
    }
  }

  /** The frame whose turn it is need not go on: it is silence, and so is what is around it. */
  #isLeftOut(): boolean {
    if (this.#lateMs < FRAME_MS) return false;
    if (!this.#isSilent(this.#packet.subarray(RTP_HEADER_BYTES))) this.#silentFrames = 0;
    else if (++this.#silentFrames > TAIL_FRAMES && this.#isNextSilent()) {
      this.#lateMs -= FRAME_MS;
      return true;
    }
    return false;
  }

  #isNextSilent(): boolean {
    let bytes = LEAD_IN_FRAMES * this.#frameBytes;
    if (this.#waitingBytes < bytes) return false;
    for (const sound of this.#waiting) {
      if (bytes <= 0) break;
      if (!this.#isSilent(sound.subarray(0, bytes))) return false;
      bytes -= sound.length;
    }
    return true;
  }

  #isSilent(sound: Uint8Array): boolean {
    return isSilence(samplesOf(sound, this.#options.receives));
  }

  #sendFrame(): void {
    this.#packet[1] = PAYLOAD_TYPE | (this.#isAfterPause ? 0x80 : 0);
    this.#isAfterPause = false;
    this.#packet.writeUInt16BE(this.#sequence, 2);
    this.#packet.writeUInt32BE(this.#timestamp >>> 0, 4);
    this.#socket.feed(this.#packet, FAR_END.address, FAR_END.port);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + ticksPerFrame(this.#received, FRAME_MS)) >>> 0;
    this.#dueMs += FRAME_MS;
  }

  /** Moves the oldest bytes that wait to `to`, as many as fit. */
  #take(to: Uint8Array): void {
    for (let at = 0; at < to.length;) {
      const [sound = new Uint8Array(0)] = this.#waiting;
      const part = sound.subarray(0, to.length - at);
      to.set(part, at);
      at += part.length;
      if (part.length === sound.length) this.#waiting.shift();
      else this.#waiting[0] = sound.subarray(part.length);
    }
    this.#waitingBytes -= to.length;
  }

  #close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.port.playout.close();
    this.#socket.close();
    return Promise.resolve();
  }
}

/**
 * True if a frame that leaves need not be sent: nobody can hear it, and the far end has `unreadMs` of sound
 * to read before. What follows it is heard sooner then.
 */
export function isNeedless(frame: () => Uint8Array, codec: FrameCodec, unreadMs: number): boolean {
  return unreadMs > MOST_UNREAD_MS && isSilence(samplesOf(frame(), codec));
}

function samplesOf(sound: Uint8Array, codec: FrameCodec): Int16Array {
  if (codec !== 'L16') {
    const values = codec === 'PCMU' ? MU_LAW_VALUES : A_LAW_VALUES;
    return Int16Array.from(sound, (code) => values[code] as number);
  }
  const view = new DataView(sound.buffer, sound.byteOffset, sound.byteLength);
  return Int16Array.from({ length: sound.length >> 1 }, (_, n) => view.getInt16(2 * n)); // RTP: big endian
}

function openPlayout(
  plane: SoundPortOptions['plane'],
  codec: Codec,
  random: SoundPortOptions['random'],
): MediaPort['playout'] {
  return plane.openStream({
    ssrc: random(32),
    payloadType: PAYLOAD_TYPE,
    clockRate: codec.clockRate,
    ticksPerFrame: ticksPerFrame(codec, FRAME_MS),
    frameMs: FRAME_MS,
    codec: codec.name,
    sequence: random(16),
    timestamp: random(32),
    silence: codec.silence(FRAME_MS),
    lowMs: LOW_MS,
    highMs: HIGH_MS,
    cname: '',
    rtcpIntervalMs: 0,
  });
}
