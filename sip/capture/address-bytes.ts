// IP addresses as they stand in packets.
import ipaddr from 'ipaddr.js';
import type { Place } from '../transport/flow.js';

export interface AddressPair {
  readonly family: 4 | 6;
  readonly source: Buffer;
  readonly target: Buffer;
}

/** Both of one family; an end that is not known (a socket that listens on every address) is all zeros. */
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
