// Reads and writes the STUN messages of ICE (RFC 8489 section 5 and 14), for peers under test.
//
// Any input is accepted: the result is a well-formed message or undefined, and every offset is checked.
// Nothing in a message may be trusted before its integrity is verified.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { crc32 } from 'node:zlib';

type StunClass = 'request' | 'indication' | 'success' | 'error';

export const BINDING = 0x001;

export const ATTRIBUTE = {
  username: 0x0006,
  integrity: 0x0008,
  errorCode: 0x0009,
  unknownAttributes: 0x000a,
  realm: 0x0014,
  nonce: 0x0015,
  integritySha256: 0x001c,
  xorMappedAddress: 0x0020,
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
  iceControlling: 0x802a,
} as const;

export interface StunAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

export interface StunMessage {
  readonly class: StunClass;
  /** 12 bits; BINDING is the only one of ICE. */
  readonly method: number;
  /** 12 bytes. */
  readonly transaction: Uint8Array;
  /**
   * In order; the first of a type counts. Attributes after MESSAGE-INTEGRITY are omitted, because it does not
   * protect them.
   */
  readonly attributes: readonly StunAttribute[];
  /** The bytes that the integrity covers; undefined if the message has none. */
  readonly sealed: Sealed | undefined;
}

interface Sealed {
  readonly bytes: Uint8Array;
  readonly tag: Uint8Array;
}

const COOKIE = 0x2112_a442;
const HEADER_BYTES = 20;
const TAG_BYTES = 20; // HMAC-SHA1
const MOST_ATTRIBUTES = 32;
const FINGERPRINT_XOR = 0x5354_554e;
const CLASSES: readonly StunClass[] = ['request', 'indication', 'success', 'error'];

/** Undefined if the bytes are no STUN message, are truncated, or have a wrong FINGERPRINT. */
export function readStun(data: Uint8Array): StunMessage | undefined {
  if (data.length < HEADER_BYTES) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const type = view.getUint16(0);
  const length = view.getUint16(2);
  if (type > 0x3fff || view.getUint32(4) !== COOKIE) return undefined;
  if (length % 4 !== 0 || HEADER_BYTES + length !== data.length) return undefined;
  const found = readAttributes(data, view);
  if (found === undefined) return undefined;
  const transaction = data.subarray(8, HEADER_BYTES);
  return { class: classOf(type), method: methodOf(type), transaction, ...found };
}

/** The value of the first attribute of a type. */
export function valueOf(message: StunMessage, type: number): Uint8Array | undefined {
  return message.attributes.find((attribute) => attribute.type === type)?.value;
}

/** True if the message's integrity was computed with this key. */
export function isSealedWith({ sealed }: StunMessage, key: Uint8Array): boolean {
  return sealed !== undefined && timingSafeEqual(hmac(key, sealed.bytes), sealed.tag);
}

interface StunReply {
  readonly class: StunClass;
  readonly method: number;
  readonly transaction: Uint8Array;
  readonly attributes: readonly StunAttribute[];
  /** With integrity; undefined leaves it out. */
  readonly key: Uint8Array | undefined;
}

/** The message with a fingerprint at its end (RFC 8489 section 14.7). */
export function writeStun({ class: kind, method, transaction, attributes, key }: StunReply): Uint8Array {
  const body = attributes.flatMap(({ type, value }) => [attributeBytes(type, value)]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(typeOf(kind, method), 0);
  header.writeUInt32BE(COOKIE, 4);
  header.set(transaction.subarray(0, 12), 8);
  let message: Buffer = Buffer.concat([header, ...body]);
  if (key !== undefined) {
    const tag = hmac(key, withLength(message, 4 + TAG_BYTES));
    message = Buffer.concat([message, attributeBytes(ATTRIBUTE.integrity, tag)]);
  }
  message = withLength(message, 8);
  return Buffer.concat([message, attributeBytes(ATTRIBUTE.fingerprint, fingerprintOf(message))]);
}

function readAttributes(
  data: Uint8Array,
  view: DataView,
): Pick<StunMessage, 'attributes' | 'sealed'> | undefined {
  const attributes: StunAttribute[] = [];
  let sealed: Sealed | undefined;
  let count = 0;
  for (let at = HEADER_BYTES; at < data.length;) {
    if (++count > MOST_ATTRIBUTES) return undefined;
    // The message is a multiple of four bytes long, so there is always a whole head.
    const type = view.getUint16(at);
    const bytes = view.getUint16(at + 2);
    const next = at + 4 + bytes + (-bytes & 3);
    if (next > data.length) return undefined;
    const value = data.subarray(at + 4, at + 4 + bytes);
    if (type === ATTRIBUTE.fingerprint) {
      // It is the last one, or none.
      const fits = next === data.length && sameBytes(value, fingerprintOf(data.subarray(0, at)));
      return fits ? { attributes, sealed } : undefined;
    }
    if (type === ATTRIBUTE.integrity && sealed === undefined) {
      if (bytes !== TAG_BYTES) return undefined;
      sealed = { bytes: withLength(data.subarray(0, at), 4 + TAG_BYTES), tag: value };
    } else if (sealed === undefined) {
      attributes.push({ type, value });
    }
    at = next;
  }
  return { attributes, sealed };
}

/** A copy whose header says that so many bytes more will follow. */
function withLength(message: Uint8Array, more: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt16BE(message.length - HEADER_BYTES + more, 2);
  return copy;
}

function attributeBytes(type: number, value: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4 + value.length + (-value.length & 3));
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(value.length, 2);
  bytes.set(value, 4);
  return bytes;
}

function hmac(key: Uint8Array, bytes: Uint8Array): Buffer {
  return createHmac('sha1', key).update(bytes).digest();
}

function fingerprintOf(bytes: Uint8Array): Buffer {
  const value = Buffer.alloc(4);
  value.writeUInt32BE((crc32(bytes) ^ FINGERPRINT_XOR) >>> 0, 0);
  return value;
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

// The two bits of the class lie between those of the method (RFC 8489 section 5).
function classOf(type: number): StunClass {
  return CLASSES[((type >> 7) & 2) | ((type >> 4) & 1)] ?? 'request';
}

function methodOf(type: number): number {
  return (type & 0xf) | ((type >> 1) & 0x70) | ((type >> 2) & 0xf80);
}

function typeOf(kind: StunClass, method: number): number {
  const bits = CLASSES.indexOf(kind);
  const spread = (method & 0xf) | ((method & 0x70) << 1) | ((method & 0xf80) << 2);
  return spread | ((bits & 1) << 4) | ((bits & 2) << 7);
}

const FAMILY = { 4: 1, 6: 2 } as const;

/**
 * The value of XOR-MAPPED-ADDRESS (RFC 8489 section 14.2): the sender's address as we see it, masked from
 * NATs that rewrite anything that looks like an address. Undefined if `address` is no IP address.
 */
export function xorMappedAddress(
  address: string,
  port: number,
  transaction: Uint8Array,
): Uint8Array | undefined {
  const plain = addressBytes(address);
  if (plain === undefined) return undefined;
  const mask = Buffer.alloc(16);
  mask.writeUInt32BE(COOKIE, 0);
  mask.set(transaction.subarray(0, 12), 4);
  const value = Buffer.alloc(4 + plain.length);
  value.writeUInt8(plain.length === 4 ? FAMILY[4] : FAMILY[6], 1);
  value.writeUInt16BE(port ^ (COOKIE >>> 16), 2);
  value.set(
    plain.map((byte, at) => byte ^ (mask[at] ?? 0)),
    4,
  );
  return value;
}

/** 4 or 16 bytes; undefined if it is no IP address. The zone is omitted. */
export function addressBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  const [address = ''] = text.split('%');
  if (!isIPv6(address)) return undefined;
  const [head = '', tail] = address.split('::');
  const left = groupBytes(head);
  const right = groupBytes(tail ?? '');
  const gap = Array.from({ length: Math.max(16 - left.length - right.length, 0) }, () => 0);
  return Uint8Array.from([...left, ...gap, ...right]);
}

/** Groups between colons; the last of them may be an IPv4 address. */
function groupBytes(text: string): number[] {
  return text.split(':').flatMap((group) => {
    if (group === '') return [];
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
