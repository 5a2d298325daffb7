// RTP packets (RFC 3550, 5.1) and telephone events (RFC 4733, 2.3) as bytes, for
// peers of the tests: written and read without anything of the server's.

export interface RtpPacket {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

interface TelephoneEvent {
  /** 0-9, *, #, A-D. */
  readonly digit: string;
  readonly end: boolean;
  /** Minus this many dBm0. */
  readonly volume: number;
  /** Timestamp units. */
  readonly duration: number;
}

const DIGITS = '0123456789*#ABCD';
const HEADER_BYTES = 12;

export function writeRtp(packet: RtpPacket): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head[0] = 0x80; // version 2
  head[1] = (packet.marker ? 0x80 : 0) | packet.payloadType;
  head.writeUInt16BE(packet.sequence & 0xffff, 2);
  head.writeUInt32BE(packet.timestamp >>> 0, 4);
  head.writeUInt32BE(packet.ssrc >>> 0, 8);
  return Buffer.concat([head, packet.payload]);
}

/** Undefined for what is no RTP of version 2. Contributors, extension and padding are left out of the payload. */
export function readRtp(bytes: Buffer): RtpPacket | undefined {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < HEADER_BYTES || first >> 6 !== 2) return undefined;
  let start = HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0) {
    if (bytes.length < start + 4) return undefined;
    start += 4 + 4 * bytes.readUInt16BE(start + 2);
  }
  const end = bytes.length - ((first & 0x20) !== 0 ? (bytes.at(-1) ?? 0) : 0);
  if (end < start) return undefined;
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  };
}

export function writeEvent({ digit, end, volume, duration }: TelephoneEvent): Buffer {
  const event = DIGITS.indexOf(digit);
  if (event < 0 || digit.length !== 1) throw new Error(`"${digit}" is no digit of a telephone`);
  return Buffer.from([event, (end ? 0x80 : 0) | volume, duration >> 8, duration & 0xff]);
}

/** Undefined for another event than a digit. */
export function readEvent(payload: Buffer): TelephoneEvent | undefined {
  const [event = 0xff, flags = 0] = payload;
  const digit = DIGITS[event];
  if (digit === undefined || payload.length < 4) return undefined;
  return { digit, end: (flags & 0x80) !== 0, volume: flags & 0x3f, duration: payload.readUInt16BE(2) };
}
