// The streams of the pacing bench: the same numbers, keys and payloads for
// every sender.
import { createHash } from 'node:crypto';

export interface StreamPlan {
  readonly ssrc: number;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ticksPerFrame: number;
  readonly frameMs: number;
  readonly payload: Buffer;
  readonly key: Buffer; // master key, 16 bytes
  readonly salt: Buffer; // master salt, 14 bytes
}

export const TICKS_PER_MS = 48; // Opus
const PAYLOAD_BYTES = 80; // 20 ms of Opus at 32 kb/s

export function streamPlans(count: number): StreamPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const bytes = createHash('sha512').update(`stream ${index}`).digest();
    return {
      ssrc: 0x1000_0000 + index,
      payloadType: 111,
      sequence: bytes.readUInt16BE(30) & 0x7fff,
      timestamp: bytes.readUInt32BE(32),
      ticksPerFrame: 20 * TICKS_PER_MS,
      frameMs: 20,
      payload: Buffer.alloc(PAYLOAD_BYTES, bytes.subarray(36, 56)),
      key: bytes.subarray(0, 16),
      salt: bytes.subarray(16, 30),
    };
  });
}
