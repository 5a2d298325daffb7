// The addresses under which browsers reach this server. An ICE-lite server names them in its answers, and
// browsers find the way by their checks.
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

type Interfaces = ReturnType<typeof networkInterfaces>;

// A page on this machine has nothing else when there is no network.
const LOOPBACK = '127.0.0.1';

/**
 * The addresses of this machine that another host can reach, and loopback at the end. IPv6 addresses with a
 * zone are left out: no candidate can name it.
 */
export function machineAddresses(interfaces: Interfaces = networkInterfaces()): readonly string[] {
  const found = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = found.filter(({ internal, address }) => !internal && !isLinkLocal(address));
  return [...new Set([...usable.map(({ address }) => address), LOOPBACK])];
}

/** True if hosts outside of this machine's network can reach one of the addresses directly. */
export function isReachable(addresses: readonly string[]): boolean {
  return addresses.some((address) => !isPrivate(address));
}

function isLinkLocal(address: string): boolean {
  return /^(?:169\.254\.|fe[89ab][0-9a-f]:)/i.test(address);
}

/** Addresses of RFC 1918, RFC 6598, RFC 4193, loopback and link-local ones. */
function isPrivate(address: string): boolean {
  if (isIPv6(address)) return /^(?:::1$|f[cd])/i.test(address) || isLinkLocal(address);
  const [first = 0, second = 0] = address.split('.').map(Number);
  return (
    first === 10 ||
    first === 127 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127) ||
    isLinkLocal(address)
  );
}
