// A media plane whose clock the test holds, readers for the packets that it sends, and a telephone that sends
// to it.
import type { CapturedPacket, PushAnswer, SrtpKeys, StreamOptions } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { Playout } from '../../src/media/playout.js';

export const START_MS = 5000;
/** Unix time of START_MS: the 20th of November 2026, 12:00:00 UTC. */
export const WALL_MS = 1_795_176_000_000;
const SILENCE = new Uint8Array(160).fill(0xff);

export const TELEPHONE: StreamOptions = {
  ssrc: 0xdecafbad,
  payloadType: 0,
  clockRate: 8000,
  ticksPerFrame: 160,
  frameMs: 20,
  sequence: 1000,
  timestamp: 50_000,
  silence: SILENCE,
  lowMs: 400,
  highMs: 1500,
  cname: 'parley-test',
  rtcpIntervalMs: 0,
};

export interface RtpPacket {
  readonly atMs: number;
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

export function parseRtp({ atMs, data }: Pick<CapturedPacket, 'atMs' | 'data'>): RtpPacket {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (view.getUint8(0) !== 0x80) throw new Error('not a plain RTP header of version 2');
  return {
    atMs,
    marker: view.getUint8(1) >= 0x80,
    payloadType: view.getUint8(1) & 0x7f,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: data.subarray(12),
  };
}

interface SenderReport {
  readonly ssrc: number;
  /** Milliseconds since 1970. */
  readonly unixMs: number;
  readonly timestamp: number;
  readonly packets: number;
  readonly octets: number;
}

interface RtcpPart {
  readonly type: number;
  readonly body: DataView;
}

/** The packets of a compound, each with everything behind its four-byte header. */
export function splitRtcp(data: Uint8Array): RtcpPart[] {
  const parts: RtcpPart[] = [];
  for (let at = 0; at < data.length;) {
    const view = new DataView(data.buffer, data.byteOffset + at, data.byteLength - at);
    const bytes = 4 * (view.getUint16(2) + 1);
    parts.push({ type: view.getUint8(1), body: new DataView(view.buffer, view.byteOffset + 4, bytes - 4) });
    at += bytes;
  }
  return parts;
}

const NTP_TO_UNIX_S = 2_208_988_800;

export function parseReport(data: Uint8Array): SenderReport {
  const part = splitRtcp(data)[0];
  if (part?.type !== 200) throw new Error('the compound does not begin with a sender report');
  const { body } = part;
  return {
    ssrc: body.getUint32(0),
    unixMs: (body.getUint32(4) - NTP_TO_UNIX_S) * 1000 + (body.getUint32(8) * 1000) / 2 ** 32,
    timestamp: body.getUint32(12),
    packets: body.getUint32(16),
    octets: body.getUint32(20),
  };
}

interface HeldPlane {
  readonly plane: MediaPlane;
  readonly playout: Playout;
  /** Pushes frames of `size` bytes that hold the numbers from `first` on; the answer to the last. */
  push(track: number, first: number, count?: number, size?: number): PushAnswer;
  /** Runs the clock on by that much; the RTP packets that left meanwhile. */
  pass(ms: number): RtpPacket[];
  /** Like `pass`, everything that left. */
  passRaw(ms: number): CapturedPacket[];
}

export function holdPlane(options: Partial<StreamOptions> = {}, seed = 1): HeldPlane {
  const plane = MediaPlane.open({ clock: 'manual', seed, startMs: START_MS, wallMs: WALL_MS });
  const playout = plane.openStream({ ...TELEPHONE, ...options });
  playout.target({ capture: true });
  // The first tick is due at START_MS: before it, nothing has left.
  let nowMs = START_MS - 1;
  const passRaw = (ms: number): CapturedPacket[] => {
    nowMs += ms;
    plane.advance(nowMs);
    return plane.takePackets();
  };
  return {
    plane,
    playout,
    push(track, first, count = 1, size = 160) {
      let answer: PushAnswer = 0;
      for (let number = first; number < first + count; number++) {
        answer = playout.push(playout.generation, track, new Uint8Array(size).fill(number));
      }
      return answer;
    },
    passRaw,
    pass: (ms) =>
      passRaw(ms)
        .filter(({ kind }) => kind === 'rtp')
        .map(parseRtp),
  };
}

/** The number that each frame holds, or 'silence'. */
export function contents(packets: readonly RtpPacket[]): (number | 'silence')[] {
  return packets.map(({ payload }) => (payload[0] === 0xff ? 'silence' : (payload[0] ?? -1)));
}

export const CM_KEYS: SrtpKeys = {
  profile: 'AES_CM_128_HMAC_SHA1_80',
  key: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
  salt: Uint8Array.from({ length: 14 }, (_, i) => 100 + i),
};

export const GCM_KEYS: SrtpKeys = {
  profile: 'AEAD_AES_128_GCM',
  key: Uint8Array.from({ length: 16 }, (_, i) => 0xf0 - i),
  salt: Uint8Array.from({ length: 12 }, (_, i) => 50 + i),
};

const PATIENCE_MS = 10_000;

/** The promise's value. Waiting for a native notice keeps no process alive, so the limit's timer does. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const FAR = { address: '192.0.2.7', port: 4000 } as const;
export const STRANGER = { address: '198.51.100.9', port: 4000 } as const;

interface Outgoing {
  readonly payloadType?: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc?: number;
  readonly marker?: boolean;
  readonly payload?: Uint8Array;
}

export function rtp(packet: Outgoing): Uint8Array {
  const { payloadType = 0, sequence, timestamp, ssrc = 0x0a0b0c0d, marker = false } = packet;
  const payload = packet.payload ?? new Uint8Array(160).fill(sequence & 0xff);
  const bytes = new Uint8Array(12 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 0x80);
  view.setUint8(1, (marker ? 0x80 : 0) | payloadType);
  view.setUint16(2, sequence & 0xffff);
  view.setUint32(4, timestamp >>> 0);
  view.setUint32(8, ssrc);
  bytes.set(payload, 12);
  return bytes;
}

/** A payload of telephone-event (RFC 4733, 2.3). */
export function event(code: number, duration: number, end = false): Uint8Array {
  return Uint8Array.of(code, (end ? 0x80 : 0) | 10, duration >> 8, duration & 0xff);
}

/** A telephone that counts its packets and feeds them to a socket. */
export class Telephone {
  sequence = 100;
  timestamp = 8000;
  readonly #socket: MediaSocket;
  readonly #from: { readonly address: string; readonly port: number };

  constructor(socket: MediaSocket, from: { readonly address: string; readonly port: number } = FAR) {
    this.#socket = socket;
    this.#from = from;
  }

  send(packet: Uint8Array, rtcpPort = false): void {
    this.#socket.feed(packet, this.#from.address, this.#from.port, rtcpPort);
  }

  /** Frames of 20 ms at 8 kHz. */
  speak(frames = 1): void {
    for (let n = 0; n < frames; n++) {
      this.send(rtp({ sequence: this.sequence++, timestamp: this.timestamp }));
      this.timestamp += 160;
    }
  }

  /** The packets of one key, held for so many frames of 20 ms; the event begins at the present timestamp. */
  keyPackets(code: number, frames: number, payloadType = 101, ticks = 160): Uint8Array[] {
    const packets: Uint8Array[] = [];
    for (let n = 1; n <= frames + 2; n++) {
      const payload = event(code, Math.min(n, frames) * ticks, n >= frames);
      packets.push(rtp({ payloadType, sequence: this.sequence++, timestamp: this.timestamp, payload }));
    }
    this.timestamp += (frames + 2) * ticks;
    return packets;
  }
}

/** A receiver report with one block (RFC 3550, 6.4.2). */
export function receiverReport(
  from: number,
  about: number,
  { fraction = 0, lost = 0, jitter = 0, lastSr = 0, delay = 0 },
): Uint8Array {
  const view = new DataView(new ArrayBuffer(32));
  view.setUint32(0, 0x81c9_0007);
  view.setUint32(4, from);
  view.setUint32(8, about);
  view.setUint32(12, (fraction << 24) | lost);
  view.setUint32(20, jitter);
  view.setUint32(24, lastSr);
  view.setUint32(28, delay);
  return new Uint8Array(view.buffer);
}
