// Sends a call's audio as one RTP stream, although codec, packet time, payload types or keys may change.
//
// Each change needs a new playout, which continues the sequence numbers and timestamps of the one before, so
// that the far end sees the same source.
import { CODECS, OPUS, ticksPerFrame, type Codec, type CodecName } from '../../src/codecs/codec.js';
import { DTX_INTERVAL_MS, MOST_PACKET_MS } from '../../src/codecs/opus-format.js';
import type { SrtpKeys, StreamOptions } from '../../src/media/media-addon.js';
import type { MediaPlane } from '../../src/media/media-plane.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { Playout } from '../../src/media/playout.js';
import type { RandomBytes } from '../sdp/local-side.js';

export interface VoiceFormat {
  readonly codec: CodecName;
  readonly packetTimeMs: number;
  readonly payloadType: number;
  /** Payload type of comfort noise, if agreed on. */
  readonly comfortNoise: number | undefined;
  /** Pauses send an occasional frame only; of Opus. A change of this alone waits for the next playout. */
  readonly dtx: boolean;
  readonly srtp: SrtpKeys | undefined;
}

export interface SentCounts {
  readonly packets: number;
  readonly silencePackets: number;
  readonly underruns: number;
}

/** The stream that the far end receives; `octets` counts payload, as sender reports do. */
export interface SentSource {
  readonly ssrc: number;
  readonly octets: number;
}

const LOW_MS = 400; // encoded audio ahead of the wire
const HIGH_MS = 1500;
const REPORT_INTERVAL_MS = 5000; // the minimum mean interval of RFC 3550 section 6.2
const NOISE_LEVEL = 60; // -dBov: a quiet room
const NOISE_INTERVAL_MS = 200;

type Source = Pick<StreamOptions, 'ssrc' | 'sequence' | 'timestamp'>;

export class OutgoingVoice {
  readonly #plane: Pick<MediaPlane, 'openStream'>;
  readonly #socket: MediaSocket;
  readonly #random: RandomBytes;
  readonly #cname: string;
  #source: Source;
  #playout: Playout | undefined;
  #format: VoiceFormat | undefined;
  #formatText = '';
  #framesPerPacket = 1;
  /** The playout before: its queue can still be taken over. */
  #left: Playout | undefined;
  #ending = false;
  /** Keys that a playout has sent with: a playout that used them again would restart their packet counter. */
  readonly #spent = new Set<string>();
  /** Counts of closed playouts. What they handed over is not counted. */
  #silenceBefore = 0;
  #underrunsBefore = 0;
  #packetsBefore = 0;

  constructor(plane: Pick<MediaPlane, 'openStream'>, socket: MediaSocket, random: RandomBytes) {
    this.#plane = plane;
    this.#socket = socket;
    this.#random = random;
    this.#cname = Buffer.from(random(12)).toString('base64'); // RFC 7022 section 4.2
    this.#source = newSource(random);
  }

  get playout(): Playout | undefined {
    return this.#playout;
  }

  get codec(): Codec | undefined {
    return this.#format === undefined ? undefined : CODECS[this.#format.codec];
  }

  get frameMs(): number {
    return this.#format?.packetTimeMs ?? 0;
  }

  /**
   * Returns true if there is a new playout, which sends nothing yet. Throws CALL_LIMIT; the playout before
   * goes on then.
   */
  follow(format: VoiceFormat): boolean {
    const { srtp, dtx: _dtx, ...rest } = format;
    const keys = identityOf(srtp);
    const text = JSON.stringify([rest, keys]);
    if (text === this.#formatText) return false;
    const before = this.#playout;
    const fresh = keys !== identityOf(this.#format?.srtp) && this.#spent.has(keys);
    const source = fresh ? newSource(this.#random) : this.#source;
    const counted = before?.stats();
    const options = this.#optionsOf(format, source);
    const playout = fresh ? this.#plane.openStream(options) : this.#plane.openStream(options, before);
    this.#left?.close();
    this.#left = before;
    this.#ending = fresh;
    this.#silenceBefore += counted?.silencePackets ?? 0;
    this.#underrunsBefore += counted?.underruns ?? 0;
    if (fresh) this.#packetsBefore += counted?.packets ?? 0;
    if (srtp !== undefined) this.#spent.add(keys);
    [this.#source, this.#playout, this.#format, this.#formatText] = [source, playout, format, text];
    this.#framesPerPacket = 1;
    return true;
  }

  /** Joins frames of Opus in packets of at most so many milliseconds, until there is a new playout. */
  joinFrames(packetMs: number): void {
    if (this.codec !== OPUS) return;
    const frames = Math.max(1, Math.floor(Math.min(packetMs, MOST_PACKET_MS) / this.frameMs));
    if (frames === this.#framesPerPacket) return;
    this.#framesPerPacket = frames;
    this.#playout?.framesPerPacket(frames);
  }

  /**
   * Sends to the address that the socket has found. The application decides whether audio or a pause is sent.
   */
  flow(): void {
    if (this.#playout !== undefined) this.#socket.bind(this.#playout);
  }

  /** Nothing is sent after this returns. The queue is kept, and counters stand still. */
  stop(): void {
    this.#socket.bind(null);
  }

  counts(): SentCounts {
    const stats = this.#playout?.stats();
    return {
      packets: this.#packetsBefore + (stats?.packets ?? 0),
      silencePackets: this.#silenceBefore + (stats?.silencePackets ?? 0),
      underruns: this.#underrunsBefore + (stats?.underruns ?? 0),
    };
  }

  get source(): SentSource {
    return { ssrc: this.#source.ssrc, octets: this.#playout?.stats().octets ?? 0 };
  }

  /** The owner has taken over the queue of the playout before: if that was another source, it ends now. */
  leave(): void {
    if (this.#ending) this.#left?.close();
    this.#ending = false;
  }

  /** Sends RTCP BYE if it was flowing. Idempotent. */
  close(): void {
    this.#left?.close();
    this.#playout?.close();
  }

  #optionsOf(
    { codec: name, packetTimeMs, payloadType, comfortNoise, dtx, srtp }: VoiceFormat,
    source: Source,
  ): StreamOptions {
    const codec = CODECS[name];
    return {
      ...source,
      cname: this.#cname,
      payloadType,
      codec: name,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, packetTimeMs),
      frameMs: packetTimeMs,
      silence: codec.silence(packetTimeMs),
      silenceIntervalMs: dtx ? DTX_INTERVAL_MS : 0,
      lowMs: LOW_MS,
      highMs: HIGH_MS,
      rtcpIntervalMs: REPORT_INTERVAL_MS,
      ...(comfortNoise === undefined
        ? {}
        : { comfortNoise: { payloadType: comfortNoise, level: NOISE_LEVEL, intervalMs: NOISE_INTERVAL_MS } }),
      ...(srtp === undefined ? {} : { srtp }),
    };
  }
}

function newSource(random: RandomBytes): Source {
  const view = Buffer.from(random(10));
  return {
    ssrc: view.readUInt32BE(0),
    timestamp: view.readUInt32BE(4),
    // Below 2^15: the receiver cannot mistake the first wrap (RFC 3711 section 3.3.1).
    sequence: view.readUInt16BE(8) >> 1,
  };
}

/** Text that identifies the keys. Never log it. */
function identityOf(keys: SrtpKeys | undefined): string {
  if (keys === undefined) return 'plain';
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return `${keys.profile} ${hex(keys.key)} ${hex(keys.salt)}`;
}
