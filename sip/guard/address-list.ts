// Lists of addresses and networks, as a configuration writes them.
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of addresses (as ipaddr.js names them) that mean something only within one network. */
const INSIDE: ReadonlySet<string> = new Set([
  'unspecified',
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);
const LONGEST_SHARED_PREFIX = 64; // an IPv6 network of one customer has at least as many addresses

/** Undefined if the text is not an address. One of IPv4 in the clothes of IPv6 comes out as itself. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  return ipaddr.IPv6.isValid(bare) || ipaddr.IPv4.isValidFourPartDecimal(bare)
    ? ipaddr.process(bare)
    : undefined;
}

/**
 * True if media cannot be sent to `announced` although `peer`, whose signalling comes from outside, names it: an address
 * of the peer's own network, behind a translator.
 */
export function isUnroutable(announced: string, peer: string): boolean {
  const [theirs, seen] = [parseAddress(announced)?.range(), parseAddress(peer)?.range()];
  if (theirs === undefined || seen === undefined || !INSIDE.has(theirs) || seen === theirs) return false;
  return theirs === 'loopback' || !INSIDE.has(seen);
}

/** Who shares an address with others, as far as it tells: itself, or its network of IPv6. */
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

  /** Items that `isNetwork` has found good. */
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

/** Whether it is an address, or a network such as `10.0.0.0/8` or `2001:db8::/32`. */
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
