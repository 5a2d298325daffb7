// Finds where to send a request (RFC 3263): it resolves SIP URIs to transports, addresses and ports in
// the order to try them. Nothing is looked up before it is needed, so a first target that works costs
// only its own queries.
import { isIP } from 'node:net';
import type { Uri } from '../message/uri.js';
import { defaultPort, type TransportName } from '../transport/flow.js';
import type { NaptrRecord, Resolver, SrvRecord } from './resolver.js';

export interface LocatedTarget {
  readonly transport: TransportName;
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
  /**
   * Name in the URI, which a certificate must contain (RFC 5922, section 4); not the name of an SRV record.
   */
  readonly domain: string;
}

export interface LocatorOptions {
  readonly resolver: Resolver;
  /** Random numbers in [0, 1). */
  readonly random: () => number;
  /** Transports of this server, the preferred one first. */
  readonly transports: readonly TransportName[];
  /** Address families of this server, the preferred one first. */
  readonly families: readonly (4 | 6)[];
}

/** The parts of a URI that the locator uses. */
export type LocatedUri = Pick<Uri, 'scheme' | 'host' | 'port' | 'params'>;

interface Place {
  readonly transport: TransportName;
  readonly host: string;
  readonly port: number;
}

const MOST_TARGETS = 32;
const PREFIXES: Readonly<Record<TransportName, string>> = {
  udp: '_sip._udp',
  tcp: '_sip._tcp',
  tls: '_sips._tcp',
  ws: '_sip._ws',
  wss: '_sips._ws',
};
const SERVICES: Readonly<Record<string, TransportName>> = {
  'SIP+D2U': 'udp',
  'SIP+D2T': 'tcp',
  'SIPS+D2T': 'tls',
  'SIP+D2W': 'ws',
  'SIPS+D2W': 'wss',
};
const SECURE: Readonly<Record<string, TransportName>> = { tcp: 'tls', tls: 'tls', ws: 'wss', wss: 'wss' };

export class Locator {
  readonly #options: LocatorOptions;

  constructor(options: LocatorOptions) {
    this.#options = options;
  }

  /** Yields the targets on demand; none if the name resolves to nothing or to no usable transport. */
  async *locate(uri: LocatedUri): AsyncGenerator<LocatedTarget, void, void> {
    const seen = new Set<string>();
    const domain = uri.host;
    for await (const place of this.#places(uri)) {
      for await (const { address, family } of this.#addresses(place.host)) {
        const { transport, port } = place;
        const key = `${transport} ${address} ${port}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield { transport, family, address, port, domain };
        if (seen.size >= MOST_TARGETS) return;
      }
    }
  }

  /** Yields transport, host and port (RFC 3263, sections 4.1 and 4.2). */
  async *#places(uri: LocatedUri): AsyncGenerator<Place, void, void> {
    const host = uri.params.get('maddr') ?? uri.host;
    const stated = statedTransport(uri);
    if (stated === undefined || (stated !== 'any' && !this.#options.transports.includes(stated))) return;
    const transport = stated === 'any' ? (uri.scheme === 'sips' ? 'tls' : 'udp') : stated;
    if (isIP(host) !== 0 || uri.port !== undefined) {
      if (this.#options.transports.includes(transport)) {
        yield { transport, host, port: uri.port ?? defaultPort(transport) };
      }
      return;
    }
    let found = false;
    for await (const place of stated === 'any'
      ? this.#services(uri, host)
      : this.#srv(PREFIXES[stated], host, stated)) {
      found = true;
      yield place;
    }
    if (!found && this.#options.transports.includes(transport))
      yield { transport, host, port: defaultPort(transport) };
  }

  /** Uses NAPTR records or, without them, the SRV records of every transport of this server. */
  async *#services(uri: LocatedUri, host: string): AsyncGenerator<Place, void, void> {
    const usable = this.#options.transports.filter((name) => uri.scheme !== 'sips' || SECURE[name] === name);
    const records = naptrOrder(await this.#ask(this.#options.resolver.naptr(host)));
    let found = false;
    for (const { flags, service, replacement } of records) {
      const transport = SERVICES[service.toUpperCase()];
      if (flags.toLowerCase() !== 's' || transport === undefined || !usable.includes(transport)) continue;
      for await (const place of this.#srv('', replacement, transport)) {
        found = true;
        yield place;
      }
    }
    if (found) return;
    for (const transport of usable) yield* this.#srv(PREFIXES[transport], host, transport);
  }

  async *#srv(prefix: string, host: string, transport: TransportName): AsyncGenerator<Place, void, void> {
    const name = prefix === '' ? host : `${prefix}.${host}`;
    const records: readonly SrvRecord[] = await this.#ask(this.#options.resolver.srv(name));
    for (const { target, port } of srvOrder(records, this.#options.random))
      yield { transport, host: target, port };
  }

  async *#addresses(host: string): AsyncGenerator<{ address: string; family: 4 | 6 }, void, void> {
    const numeric = isIP(host);
    if (numeric === 4 || numeric === 6) {
      if (this.#options.families.includes(numeric)) yield { address: host, family: numeric };
      return;
    }
    for (const family of this.#options.families) {
      const found = await this.#ask(this.#options.resolver.addresses(host, family));
      for (const address of found) if (isIP(address) === family) yield { address, family };
    }
  }

  /** A failed query counts as an empty answer: another way may still work. */
  async #ask<T>(question: Promise<{ readonly records: readonly T[] }>): Promise<readonly T[]> {
    try {
      return (await question).records;
    } catch {
      return [];
    }
  }
}

/** Undefined for an unknown transport or one that a sips URI forbids. */
function statedTransport({ scheme, params }: LocatedUri): TransportName | 'any' | undefined {
  const text = params.get('transport')?.toLowerCase();
  if (text === undefined) return 'any';
  if (scheme === 'sips') return SECURE[text];
  return Object.hasOwn(PREFIXES, text) ? (text as TransportName) : undefined;
}

/** Orders records by priority and, within one priority, by a weighted random draw (RFC 2782). */
export function srvOrder(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  const usable = records.filter(({ target }) => target !== '' && target !== '.');
  const priorities = [...new Set(usable.map(({ priority }) => priority))].toSorted((a, b) => a - b);
  return priorities.flatMap((priority) =>
    drawn(
      usable.filter((record) => record.priority === priority),
      random,
    ),
  );
}

function drawn(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  // Records without weight come first in each draw and keep their very small chance.
  const left = records.toSorted((a, b) => a.weight - b.weight);
  const order: SrvRecord[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0);
    const lot = Math.floor(random() * (total + 1));
    let sum = 0;
    const index = left.findIndex(({ weight }) => (sum += weight) >= lot);
    order.push(...left.splice(Math.max(index, 0), 1));
  }
  return order;
}

function naptrOrder(records: readonly NaptrRecord[]): NaptrRecord[] {
  return records.toSorted((a, b) => a.order - b.order || a.preference - b.preference);
}

// Returns the URI that a request is sent to (RFC 3261, section 8.1.2).

interface Hop {
  readonly requestUri: Uri;
  /** Route set of the request, the first hop first. */
  readonly routes: readonly Uri[];
  /** Used for every request outside a dialog, whatever the URIs say. */
  readonly outboundProxy?: Uri | undefined;
}

export function nextHop({ requestUri, routes, outboundProxy }: Hop): Uri {
  const [first] = routes;
  // A strict router expects its own URI in the Request-URI, which the peer has already put there
  // (section 12.2.1.1).
  if (first !== undefined) return first.params.has('lr') ? first : requestUri;
  return outboundProxy ?? requestUri;
}
