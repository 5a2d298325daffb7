// Which addresses a server may be sent to by somebody else: those of the public
// internet, and nothing of its own network, machine or cloud.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

// Among public ones, but answered by the host of every machine in Azure.
const HOST_SERVICES = new Set(['168.63.129.16']);
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]; // RFC 4291 section 2.4

/** False for what is no address at all as well. */
export function isPublicAddress(text: string): boolean {
  // Written in full: short and octal forms mean different addresses to different readers.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.process(text); // an IPv4 address inside an IPv6 one counts as what it is
  if (address.range() !== 'unicast' || HOST_SERVICES.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(...GLOBAL_UNICAST);
}
