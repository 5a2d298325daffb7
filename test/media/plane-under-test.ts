// A media plane whose clock the test holds, and readers for what it sends.
import type { CapturedPacket, PushAnswer, SrtpKeys, StreamOptions } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
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
