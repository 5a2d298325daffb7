// Reads the lists of hosts that this server may connect to when a request or a document names a URL:
//
//   bot.example.com,bot.example.com:8443,*.bots.example.org,127.0.0.1:8080
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

export interface AllowedHost {
  /** Lower case, as in URLs: a name, an address, or the part of names that follows `*`: `.example.com`. */
  readonly host: string;
  readonly isWildcard: boolean;
  /** Undefined: the default port of the scheme. */
  readonly port: number | undefined;
}

const MOST_HOSTS = 1000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'ws:': 80,
  'wss:': 443,
  'http:': 80,
  'https:': 443,
};
/** `*.` and a name of at least two labels: `*.com` would allow half of the Internet. */
const WILDCARD = /^\*(?:\.[\w-]{1,63}){2,}$/;
const KIND = 'host names or addresses, each with a port or without one, such as bot.example.com:8443';

/** Empty for a variable that is not set. */
export function readAllowedHosts(read: ConfigReader<Variable>, name: Variable): readonly AllowedHost[] {
  const items = read.listOf(name, KIND, (item) => hostIn(item) !== undefined);
  if (items.length > MOST_HOSTS) read.problem(name, `must have at most ${MOST_HOSTS} hosts`);
  return items.flatMap((item) => hostIn(item) ?? []);
}

/** True if the URL is at one of the hosts. An item without a port allows the default port of the scheme. */
export function allowsHost(hosts: readonly AllowedHost[], { hostname, port, protocol }: URL): boolean {
  const dialled = port === '' ? DEFAULT_PORTS[protocol] : Number(port);
  return hosts.some(
    (allowed) =>
      (allowed.isWildcard ? hostname.endsWith(allowed.host) : hostname === allowed.host) &&
      (allowed.port ?? DEFAULT_PORTS[protocol]) === dialled,
  );
}

/** Undefined for an item that is no host. */
function hostIn(item: string): AllowedHost | undefined {
  const [, name = '', digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(item) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (WILDCARD.test(name)) {
    const host = name.slice(1).toLowerCase();
    // The last label of an address is a number, and addresses have no subdomains.
    return /\.\d+$/.test(host) ? undefined : { host, isWildcard: true, port };
  }
  if (!/^(?:\[[\da-f:.]+\]|[\w.-]{1,253})$/i.test(name) || !URL.canParse(`wss://${name}`)) return undefined;
  // The parser writes an address in the one form in which it also writes those of requests.
  return { host: new URL(`wss://${name}`).hostname, isWildcard: false, port };
}
