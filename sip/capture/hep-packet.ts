// A packet of HEP version 3, which Homer and its kin collect: a sequence of
// chunks, each with a vendor (0: generic), a type and its length.
import type { Place } from '../transport/flow.js';
import { addressBytes } from './address-bytes.js';

export type HepContent = 'sip' | 'rtcp-json';

export interface HepEvent {
  readonly content: HepContent;
  readonly source: Place;
  readonly target: Place;
  /** Milliseconds since 1970. */
  readonly unixMs: number;
  readonly payload: Buffer;
  /** What belongs together, over protocols too: the Call-ID. */
  readonly correlation?: string | undefined;
}

export interface HepAgent {
  /** The number of this server among those that send to the collector. */
  readonly captureId: number;
  readonly authKey?: string | undefined;
}

const MAGIC = Buffer.from('HEP3');
const HEAD_BYTES = 6;
const CHUNK_HEAD_BYTES = 6;
const AF_INET = 2;
const AF_INET6 = 10;
const UDP = 17;
const CONTENT: Readonly<Record<HepContent, number>> = { sip: 1, 'rtcp-json': 5 };

/** Types of generic chunks. */
const CHUNK = {
  family: 1, protocol: 2, source4: 3, target4: 4, source6: 5, target6: 6, sourcePort: 7, targetPort: 8, seconds: 9,
  microseconds: 10, content: 11, captureId: 12, authKey: 14, payload: 15, correlation: 17,
} as const; // prettier-ignore

/** Undefined if it is too long for one packet. */
export function hepPacket(event: HepEvent, { captureId, authKey }: HepAgent): Buffer | undefined {
  const { family, source, target } = addressBytes(event.source, event.target);
  const seconds = Math.floor(event.unixMs / 1000);
  const isFour = family === 4;
  const chunks = [
    chunk(CHUNK.family, uint(isFour ? AF_INET : AF_INET6, 1)),
    chunk(CHUNK.protocol, uint(UDP, 1)),
    chunk(isFour ? CHUNK.source4 : CHUNK.source6, source),
    chunk(isFour ? CHUNK.target4 : CHUNK.target6, target),
    chunk(CHUNK.sourcePort, uint(event.source.port, 2)),
    chunk(CHUNK.targetPort, uint(event.target.port, 2)),
    chunk(CHUNK.seconds, uint(seconds, 4)),
    chunk(CHUNK.microseconds, uint(Math.floor((event.unixMs - seconds * 1000) * 1000), 4)),
    chunk(CHUNK.content, uint(CONTENT[event.content], 1)),
    chunk(CHUNK.captureId, uint(captureId, 4)),
    ...(authKey === undefined ? [] : [chunk(CHUNK.authKey, Buffer.from(authKey))]),
    ...(event.correlation === undefined ? [] : [chunk(CHUNK.correlation, Buffer.from(event.correlation))]),
    chunk(CHUNK.payload, event.payload),
  ];
  const length = chunks.reduce((sum, part) => sum + part.length, HEAD_BYTES);
  return length > 0xffff ? undefined : Buffer.concat([MAGIC, uint(length, 2), ...chunks]);
}

function chunk(type: number, content: Buffer): Buffer {
  const length = Math.min(CHUNK_HEAD_BYTES + content.length, 0xffff);
  return Buffer.concat([uint(0, 2), uint(type, 2), uint(length, 2), content]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
