// Limits what one client may take of the server: the number of its calls, open and in set-up, and the rate of
// its messages.
//
// A call in set-up costs its client nothing and takes a place until a time limit. Without a limit of its own,
// one client could hold every place of the server. A client counts under several names, such as its API key
// and its address, and the limits hold for each of them.
import ipaddr from 'ipaddr.js';
import { ParleyError } from '../errors.js';

export interface ClientLimits {
  /** Calls of one client, those in set-up included. */
  readonly maxCallsPerClient: number;
  /** Calls of one client in set-up. */
  readonly maxHalfOpenPerClient: number;
}

const LEAST_HALF_OPEN = 4;

/** The limits that a configuration states; 0 stands for the default. */
export function clientLimits(stated: ClientLimits & { readonly maxCalls: number }): ClientLimits {
  const { maxCalls, maxCallsPerClient, maxHalfOpenPerClient } = stated;
  return {
    maxCallsPerClient: maxCallsPerClient || maxCalls,
    maxHalfOpenPerClient: maxHalfOpenPerClient || Math.max(LEAST_HALF_OPEN, Math.ceil(maxCalls / 4)),
  };
}

interface Count {
  all: number;
  halfOpen: number;
}

/** One call of a client, until it is released. */
interface ClientPlace {
  /** The call is set up. Idempotent. */
  opened(): void;
  /** The call is over, or was never set up. Idempotent. */
  release(): void;
}

const RETRY_SECONDS = 5;

export class ClientCalls {
  readonly #limits: ClientLimits;
  readonly #counts = new Map<string, Count>();

  constructor(limits: ClientLimits) {
    this.#limits = limits;
  }

  /** Clients that have calls. */
  get size(): number {
    return this.#counts.size;
  }

  /** A call in set-up counts as half-open only where `halfOpen` is true. Throws CLIENT_LIMIT. */
  take(names: readonly string[], halfOpen: boolean): ClientPlace {
    for (const name of names) this.#check(this.#counts.get(name), halfOpen);
    const counts = names.map((name) => this.#count(name));
    for (const count of counts) {
      count.all++;
      if (halfOpen) count.halfOpen++;
    }
    let [isHalfOpen, isTaken] = [halfOpen, true];
    const opened = () => {
      if (isHalfOpen) for (const count of counts) count.halfOpen--;
      isHalfOpen = false;
    };
    const release = () => {
      opened();
      if (isTaken) for (const count of counts) count.all--;
      isTaken = false;
      for (const name of names) if (this.#counts.get(name)?.all === 0) this.#counts.delete(name);
    };
    return { opened, release };
  }

  #check(count: Count | undefined, halfOpen: boolean): void {
    const { maxCallsPerClient, maxHalfOpenPerClient } = this.#limits;
    const { all, halfOpen: waiting } = count ?? { all: 0, halfOpen: 0 };
    if (all >= maxCallsPerClient) {
      throw limited(`${all} calls, which is what MAX_CALLS_PER_CLIENT allows`);
    }
    if (halfOpen && waiting >= maxHalfOpenPerClient) {
      throw limited(`${waiting} calls in set-up, which is what MAX_HALF_OPEN_PER_CLIENT allows`);
    }
  }

  #count(name: string): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const count = { all: 0, halfOpen: 0 };
    this.#counts.set(name, count);
    return count;
  }
}

function limited(what: string): ParleyError {
  return new ParleyError('CLIENT_LIMIT', `this client has ${what}`, { retryAfterSeconds: RETRY_SECONDS });
}

/**
 * The names under which a client's calls are counted: its API key, and the network of its address. With a
 * key, an address of this machine is left out: a proxy here lends it to all its clients.
 */
export function callClients(key: string | undefined, address: string | undefined): string[] {
  const network = `address ${neighbourhood(address)}`;
  if (key === undefined) return [network];
  return isOwnMachine(address) ? [`key ${key}`] : [`key ${key}`, network];
}

/** A Unix socket has no address. No library parses the address here: every request asks this. */
export function isOwnMachine(address = ''): boolean {
  return !/[.:]/.test(address) || address === '::1' || /^(?:::ffff:)?127\./i.test(address);
}

/**
 * The remote address of a socket. A peer with the server's own address is on this machine, and counts as
 * loopback.
 */
export function peerAddress(socket: {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
}): string | undefined {
  const { remoteAddress } = socket;
  return remoteAddress !== undefined && remoteAddress === socket.localAddress ? '127.0.0.1' : remoteAddress;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** True if a header states the client's address, valid or not. */
export function statesClient(headers: Headers): boolean {
  return ['x-forwarded-for', 'x-real-ip', 'forwarded'].some((name) => headers[name] !== undefined);
}

/**
 * The address of the client of an HTTP request. A proxy on this machine states it in a header, and its own
 * address would be that of all its clients. From other machines these headers prove nothing.
 */
export function clientAddress(address: string | undefined, headers: Headers): string | undefined {
  return isOwnMachine(address) ? (forwardedAddress(headers) ?? address) : address;
}

/**
 * The last entry of a list: the nearest proxy added it, and the client may have sent those before it. If
 * headers state different addresses, the client sent one that the proxy did not replace. Which one is not
 * known, so neither counts.
 */
function forwardedAddress(headers: Headers): string | undefined {
  const forwarded = /(?:^|[;\s])for="?([^;"]+)/i.exec(lastEntry(headers['forwarded']))?.[1];
  const [address, ...others] = [
    lastEntry(headers['x-forwarded-for']),
    lastEntry(headers['x-real-ip']),
    forwarded,
  ]
    .map((entry) => plainAddress(entry))
    .filter((stated) => stated !== undefined);
  return others.every((other) => neighbourhood(other) === neighbourhood(address)) ? address : undefined;
}

function lastEntry(header: Headers[string]): string {
  return (
    String(header ?? '')
      .split(',')
      .at(-1)
      ?.trim() ?? ''
  );
}

/** Without a port and brackets; undefined if it is no address, such as the `unknown` of RFC 7239. */
function plainAddress(entry = ''): string | undefined {
  const address = /^\[([^\]]+)\]/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
  return ipaddr.isValid(address) ? address : undefined;
}

/**
 * The address that a client is counted by. For IPv6 it is the /64 network, because one client has a whole
 * one.
 */
export function neighbourhood(address: string | undefined): string {
  if (address === undefined || !address.includes(':') || !ipaddr.isValid(address)) return address ?? '';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString()}/64`;
}

export interface MessageRateLimits {
  readonly perSecond: number;
  /** The most that may come at once after a quiet time. */
  readonly burst: number;
}

/** A token bucket for messages, or for their bytes: `cost` states how much one message takes. */
export class MessageRate {
  readonly #limits: MessageRateLimits;
  #left: number;
  #asOfMs: number;

  constructor(limits: MessageRateLimits, nowMs: number) {
    this.#limits = limits;
    this.#left = limits.burst;
    this.#asOfMs = nowMs;
  }

  /** True if one more message is within the limits; it then counts. */
  admits(nowMs: number, cost = 1): boolean {
    if (this.waitMs(nowMs, cost) > 0) return false;
    this.#left -= cost;
    return true;
  }

  /**
   * Whole milliseconds until one more message is within the limits; 0 if it is now. The message does not
   * count.
   */
  waitMs(nowMs: number, cost = 1): number {
    const { perSecond, burst } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#asOfMs) / 1000) * perSecond);
    this.#asOfMs = nowMs;
    // A message that is larger than the burst passes a full bucket and leaves a debt.
    const lacking = Math.min(cost, burst) - this.#left;
    return lacking <= 0 ? 0 : Math.ceil((lacking / perSecond) * 1000);
  }
}
