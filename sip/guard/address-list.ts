// Parses and matches lists of addresses and networks as the configuration writes them, and knows this
// machine's own addresses.
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Time } from '../../src/time.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Address ranges, named as in ipaddr.js, that are valid only within one network. */
const INSIDE: ReadonlySet<string> = new Set([
  'unspecified',
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);
const LONGEST_SHARED_PREFIX = 64; // an IPv6 network of one customer has at least as many addresses

/** Undefined if the text is not an address. An IPv4-mapped IPv6 address becomes IPv4. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  return ipaddr.IPv6.isValid(bare) || ipaddr.IPv4.isValidFourPartDecimal(bare)
    ? ipaddr.process(bare)
    : undefined;
}

/**
 * True if media cannot be sent to `announced` although `peer`, whose signalling comes from outside, names it:
 * an address of the peer's own network, behind a translator.
 */
export function isUnroutable(announced: string, peer: string): boolean {
  const [theirs, seen] = [parseAddress(announced)?.range(), parseAddress(peer)?.range()];
  if (theirs === undefined || seen === undefined || !INSIDE.has(theirs) || seen === theirs) return false;
  return theirs === 'loopback' || !INSIDE.has(seen);
}

/** Key of a source: its IPv4 address, or its IPv6 network. */
export function sourceKey(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return text;
  if (address.kind() === 'ipv4') return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString()}/${LONGEST_SHARED_PREFIX}`,
  );
  return `${network.toString()}/${LONGEST_SHARED_PREFIX}`;
}

export class AddressList {
  readonly #networks: readonly [Address, number][];

  /** Items must be valid according to `isNetwork`. */
  constructor(items: readonly string[]) {
    this.#networks = items.flatMap((item) => {
      const network = parseNetwork(item);
      return network === undefined ? [] : [network];
    });
  }

  has(address: string | ReturnType<typeof parseAddress>): boolean {
    const parsed = typeof address === 'string' ? parseAddress(address) : address;
    if (parsed === undefined) return false;
    return this.#networks.some(
      ([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits),
    );
  }
}

/** True for an address or a network such as `10.0.0.0/8` or `2001:db8::/32`. */
export function isNetwork(item: string): boolean {
  return parseNetwork(item) !== undefined;
}

function parseNetwork(item: string): [Address, number] | undefined {
  const [text = '', bits, more] = item.trim().split('/');
  const address = parseAddress(text);
  if (address === undefined || more !== undefined) return undefined;
  const most = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, most];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [address, Number(bits)] : undefined;
}

/** Same shape as networkInterfaces() of node:os. */
export type Interfaces = () => Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;

const FRESH_MS = 5000; // addresses change with networks, and reading them costs system calls

/**
 * The addresses of this machine. A phone on it may send from any of them to a server on 127.0.0.1, because
 * softphones bind to the network's interface. Outsiders cannot forge them: the kernel drops such packets as
 * martians.
 */
export class OwnAddresses {
  readonly #time: Time;
  readonly #interfaces: Interfaces;
  #names: ReadonlySet<string> = new Set();
  #readAtMs = -Infinity;

  constructor(time: Time, interfaces: Interfaces = networkInterfaces) {
    this.#time = time;
    this.#interfaces = interfaces;
  }

  /** `name` is an address in the notation of parseAddress. */
  has(name: string): boolean {
    const now = this.#time.now();
    if (now - this.#readAtMs >= FRESH_MS) {
      this.#readAtMs = now;
      this.#names = this.#read();
    }
    return this.#names.has(name);
  }

  #read(): ReadonlySet<string> {
    const all = Object.values(this.#interfaces()).flatMap((some) => some ?? []);
    return new Set(all.flatMap(({ address }) => parseAddress(address)?.toString() ?? []));
  }
}
