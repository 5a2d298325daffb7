// Reads the ConversationRelay applications that requests name for one call. A request could otherwise make
// this server dial any machine that it reaches, so it may name the hosts of RELAY_ALLOWED_HOSTS only:
//
//   RELAY_ALLOWED_HOSTS=bot.example.com,bot.example.com:8443,*.bots.example.org,127.0.0.1:8080
//
// A request names no variables of the environment: one token of the server, RELAY_AUTH_TOKEN, signs the
// handshakes with all of these applications.
import { type AllowedHost, allowsHost, readAllowedHosts } from './allowed-hosts.js';
import type { ConfigReader } from './environment.js';
import { type FieldReader, isFields } from './fields.js';
import { isLocalHost, RELAY_ATTRIBUTES, readRelay, type RelayConfig } from './relay-config.js';
import type { Variable } from './variables.js';

/** The applications that requests may name. */
export interface NamedRelays {
  /** Empty: requests may name none. */
  readonly hosts: readonly AllowedHost[];
  /** Signs handshakes and action callbacks; undefined: they are not signed. */
  readonly authToken: string | undefined;
}

export const NO_NAMED_RELAYS: NamedRelays = { hosts: [], authToken: undefined };

const LEAST_TOKEN = 16; // characters, as of other secrets
const MOST_PARAMETERS = 8192; // characters of their names and texts together
const FIELDS: readonly string[] = ['url', 'action', ...RELAY_ATTRIBUTES];

export function readNamedRelays(read: ConfigReader<Variable>): NamedRelays {
  const hosts = readAllowedHosts(read, 'RELAY_ALLOWED_HOSTS');
  const authToken = read.raw('RELAY_AUTH_TOKEN');
  if (authToken !== undefined && authToken.length < LEAST_TOKEN)
    read.problem('RELAY_AUTH_TOKEN', `must have at least ${LEAST_TOKEN} characters`);
  if (authToken !== undefined && hosts.length === 0)
    read.problem('RELAY_AUTH_TOKEN', 'has no effect without RELAY_ALLOWED_HOSTS');
  return { hosts, authToken };
}

/**
 * The application that a request names at `at`, with the fields of the `relay` of an agent. Undefined for one
 * that cannot be used; mistakes are problems of the reader.
 */
export function readNamedRelay(
  read: FieldReader,
  value: unknown,
  at: string,
  { hosts, authToken }: NamedRelays,
): RelayConfig | undefined {
  if (hosts.length === 0)
    return read.problem(
      at,
      'must be absent: a request may name no application here; RELAY_ALLOWED_HOSTS is not set',
    );
  const before = read.problems.length;
  const known = knownFields(read, value, at);
  if (known === undefined) return undefined;
  const relay = readRelay(read, known, { name: 'an application', at, secret: () => undefined });
  if (relay === undefined || read.problems.length > before) return undefined;
  checkHost(read, `${at}.url`, relay.url, hosts);
  if (relay.action !== undefined) checkAction(read, `${at}.action`, relay.action, hosts);
  if (JSON.stringify(relay.parameters).length > MOST_PARAMETERS)
    read.problem(`${at}.parameters`, `must have at most ${MOST_PARAMETERS} characters together`);
  return read.problems.length > before ? undefined : { ...relay, name: new URL(relay.url).host, authToken };
}

/** The fields that a request may have. The others are problems, each by its name. */
function knownFields(read: FieldReader, value: unknown, at: string): Record<string, unknown> | undefined {
  if (!isFields(value)) return read.problem(at, 'must be an object');
  const { authTokenEnv, ...rest } = value;
  if (authTokenEnv !== undefined) {
    const instead = 'a token of the server signs the handshake';
    read.problem(`${at}.authTokenEnv`, `must be absent: a request names no variables, and ${instead}`);
  }
  read.fields(rest, at, FIELDS);
  return Object.fromEntries(Object.entries(rest).filter(([name]) => FIELDS.includes(name)));
}

function checkHost(read: FieldReader, at: string, url: string, hosts: readonly AllowedHost[]): void {
  const parsed = new URL(url);
  if (allowsHost(hosts, parsed)) return;
  const host = parsed.host.slice(0, 100);
  read.problem(
    at,
    `must be at an allowed host, and ${JSON.stringify(host)} is none; RELAY_ALLOWED_HOSTS lists those that are`,
  );
}

/** The end of a session says who called whom: it crosses a network in TLS only. */
function checkAction(read: FieldReader, at: string, action: string, hosts: readonly AllowedHost[]): void {
  const { protocol, hostname } = new URL(action);
  if (protocol !== 'https:' && !isLocalHost(hostname))
    read.problem(at, 'must be an https URL, or an http URL of this machine');
  checkHost(read, at, action, hosts);
}
