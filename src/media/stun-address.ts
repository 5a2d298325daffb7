// XOR-MAPPED-ADDRESS (RFC 8489 section 14.2): the sender's address as we see it,
// disguised from translators that rewrite whatever looks like an address.
import { isIPv4, isIPv6 } from 'node:net';
import { COOKIE } from './stun-message.js';

const FAMILY = { 4: 1, 6: 2 } as const;

/** Undefined for what is no IP address. */
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

/** 4 or 16 bytes; undefined for what is no IP address. A zone is left out. */
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
