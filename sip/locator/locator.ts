// Where to send a request (RFC 3263): names of SIP URIs into addresses, ports
// and transports, one after the other in the order to try them. Nothing is
// looked up before it is asked for, so a first target that works costs no more
// than its own questions.
import { isIP } from 'node:net';
import type { Uri } from '../message/uri.js';
import type { Resolver, SrvRecord } from './resolver.js';
import { naptrOrder, srvOrder } from './service-order.js';

export type TransportName = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

export interface Target {
  readonly transport: TransportName;
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
  /** The name in the URI: the one that a certificate must bear (RFC 5922 section 4), not that of an SRV record. */
  readonly domain: string;
}

export interface LocatorOptions {
  readonly resolver: Resolver;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** What this server can send over, the preferred one first. */
  readonly transports: readonly TransportName[];
  /** Families that it has addresses of, the preferred one first. */
  readonly families: readonly (4 | 6)[];
}

/** As much of a URI as it takes. */
export type LocatedUri = Pick<Uri, 'scheme' | 'host' | 'port' | 'params'>;

interface Place {
  readonly transport: TransportName;
  readonly host: string;
  readonly port: number;
}

const MOST_TARGETS = 32;
const PORTS: Readonly<Record<TransportName, number>> = { udp: 5060, tcp: 5060, tls: 5061, ws: 80, wss: 443 };
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

  /** The targets, as they are asked for; none where the name leads nowhere, or over no transport of ours. */
  async *locate(uri: LocatedUri): AsyncGenerator<Target, void, void> {
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

  /** RFC 3263 sections 4.1 and 4.2. */
  async *#places(uri: LocatedUri): AsyncGenerator<Place, void, void> {
    const host = uri.params.get('maddr') ?? uri.host;
    const stated = statedTransport(uri);
    if (stated === undefined || (stated !== 'any' && !this.#options.transports.includes(stated))) return;
    const transport = stated === 'any' ? (uri.scheme === 'sips' ? 'tls' : 'udp') : stated;
    if (isIP(host) !== 0 || uri.port !== undefined) {
      if (this.#options.transports.includes(transport)) {
        yield { transport, host, port: uri.port ?? PORTS[transport] };
      }
      return;
    }
    let found = false;
    for await (const place of stated === 'any' ? this.#services(uri, host) : this.#srv(PREFIXES[stated], host, stated)) {
      found = true;
      yield place;
    }
    if (!found && this.#options.transports.includes(transport)) yield { transport, host, port: PORTS[transport] };
  } // prettier-ignore

  /** By NAPTR; without such records, by the SRV records of every transport of ours. */
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

  /** A question that failed is one without an answer: the next way may still lead somewhere. */
  async #ask<T>(question: Promise<{ readonly records: readonly T[] }>): Promise<readonly T[]> {
    try {
      return (await question).records;
    } catch {
      return [];
    }
  }
}

/** Undefined for one that nobody knows, or that a sips URI forbids. */
function statedTransport({ scheme, params }: LocatedUri): TransportName | 'any' | undefined {
  const text = params.get('transport')?.toLowerCase();
  if (text === undefined) return 'any';
  if (scheme === 'sips') return SECURE[text];
  return Object.keys(PORTS).includes(text) ? (text as TransportName) : undefined;
}
