// Wraps bytes of any transport in an IP and a UDP header, so that every capture reader shows them (RFC
// 768, RFC 791, RFC 8200).
import ipaddr from 'ipaddr.js';
import type { Place } from '../transport/flow.js';

const UDP = 17;
const HOPS = 64;
const UDP_HEADER = 8;
const IP4_HEADER = 20;
const IP6_HEADER = 40;

/** Longest payload of either address family; longer ones are cut. */
const MOST_PAYLOAD = 65_535 - IP6_HEADER - UDP_HEADER;

export function ipDatagram(source: Place, target: Place, payload: Buffer): Buffer {
  const { family, source: from, target: to } = addressBytes(source, target);
  const content = payload.subarray(0, MOST_PAYLOAD);
  const length = UDP_HEADER + content.length;
  const udp = Buffer.alloc(UDP_HEADER);
  udp.writeUInt16BE(source.port, 0);
  udp.writeUInt16BE(target.port, 2);
  udp.writeUInt16BE(length, 4);
  // The checksum is the same for both families.
  const pseudo = Buffer.from([0, UDP, length >> 8, length & 0xff]);
  udp.writeUInt16BE(checksum([from, to, pseudo, udp, content]) || 0xffff, 6); // zero would mean none
  return Buffer.concat([family === 4 ? header4(from, to, length) : header6(from, to, length), udp, content]);
}

function header4(from: Buffer, to: Buffer, length: number): Buffer {
  const header = Buffer.alloc(IP4_HEADER);
  header[0] = 0x45;
  header.writeUInt16BE(IP4_HEADER + length, 2);
  header[6] = 0x40; // don't fragment
  header[8] = HOPS;
  header[9] = UDP;
  from.copy(header, 12);
  to.copy(header, 16);
  header.writeUInt16BE(checksum([header]), 10);
  return header;
}

function header6(from: Buffer, to: Buffer, length: number): Buffer {
  const header = Buffer.alloc(IP6_HEADER);
  header[0] = 0x60;
  header.writeUInt16BE(length, 4);
  header[6] = UDP;
  header[7] = HOPS;
  from.copy(header, 8);
  to.copy(header, 24);
  return header;
}

/** RFC 1071. All parts but the last have an even length. */
function checksum(parts: readonly Buffer[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let at = 0; at + 1 < part.length; at += 2) sum += part.readUInt16BE(at);
    if (part.length % 2 === 1) sum += (part[part.length - 1] ?? 0) << 8;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

interface AddressPair {
  readonly family: 4 | 6;
  readonly source: Buffer;
  readonly target: Buffer;
}

/**
 * Returns both addresses in one family. An unknown address (a socket that listens on every address) is all
 * zeros.
 */
export function addressBytes(source: Place, target: Place): AddressPair {
  const [from, to] = [bytesOf(source.address), bytesOf(target.address)];
  const family = from.length === 16 || to.length === 16 ? 6 : 4;
  return { family, source: widened(from, family), target: widened(to, family) };
}

function bytesOf(address: string): Buffer {
  const [plain = ''] = address.split('%', 1);
  return ipaddr.isValid(plain) ? Buffer.from(ipaddr.process(plain).toByteArray()) : Buffer.alloc(4);
}

function widened(bytes: Buffer, family: 4 | 6): Buffer {
  if (family === 4 || bytes.length === 16) return bytes;
  if (bytes.every((byte) => byte === 0)) return Buffer.alloc(16);
  return Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), bytes]);
}
