// Reads and checks the files that the telephone's variables name, before anything is opened. It reports every
// mistake with its file.
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { apiKeyIn } from '../../src/config/access-config.js';
import { isAgent } from '../../src/config/agent-config.js';
import type { CertificateFiles } from '../../src/config/certificate.js';
import type { Config } from '../../src/config/config.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import { ParleyError } from '../../src/errors.js';
import type { SipConfig } from '../../src/config/telephone-config.js';
import type { Secret } from '../auth/digest.js';
import { readRoutingFile, type RoutingContext } from '../routing-file.js';
import { RoutingTable } from '../routing-table.js';
import type { TlsIdentity } from '../transport/listener-options.js';
import { readTrunkFile, type SecretSource, type TrunkSettings } from '../trunk/trunk-settings.js';

export type SettingSources = Pick<
  Config,
  'sip' | 'captures' | 'access' | 'hearing' | 'recording' | 'agents' | 'namedRelays'
>;

export interface TelephoneSettings {
  readonly routes: RoutingTable;
  /** Rules may refer to the keys, agents and settings in it. */
  readonly context: RoutingContext;
  readonly trunks: readonly TrunkSettings[];
  readonly users: ReadonlyMap<string, Secret>;
  readonly tls: TlsIdentity;
}

/** Certificate files for SIP over TLS; undefined without TLS. */
export function certificateFiles({ tlsPort, tlsCert, tlsKey }: SipConfig): CertificateFiles | undefined {
  if (tlsPort === undefined || tlsCert === undefined || tlsKey === undefined) return undefined;
  return { certPath: tlsCert, keyPath: tlsKey, variables: { cert: 'SIP_TLS_CERT', key: 'SIP_TLS_KEY' } };
}

/**
 * Throws CONFIG_INVALID with every mistake in every file.
 * @param env holds the passwords that trunks name
 * @param programs undefined: rules name no programs
 */
export function readTelephoneSettings(
  sources: SettingSources,
  env: Readonly<Record<string, string | undefined>>,
  programs?: Pick<CallPrograms, 'problemOf'>,
): TelephoneSettings {
  const { sip: config, captures } = sources;
  const files = new SettingFiles();
  const context = routingContextOf(sources, programs);
  const routes = files.read('SIP_ROUTES', config.routesFile, (text) => {
    const { table, problems = [] } = readRoutingFile(text, context);
    return { value: table, problems };
  });
  const trunks = files.read('SIP_TRUNKS', config.trunksFile, (text) => {
    const { trunks: found, problems = [] } = readTrunkFile(text, secretsIn(env));
    return { value: found, problems };
  });
  const users = files.read('SIP_USERS_FILE', config.usersFile, (text) => {
    const { users: found, problems = [] } = readUserFile(text);
    return { value: found, problems };
  });
  const pem = (name: string, path: string | undefined) =>
    files.read(name, path, (text) => ({ value: text, problems: [] }));
  const tls: TlsIdentity = {
    cert: pem('SIP_TLS_CERT', config.tlsCert),
    key: pem('SIP_TLS_KEY', config.tlsKey),
    ca: pem('SIP_TLS_CA', config.tlsCa),
    clientCertificates: config.clientCertificates ? 'required' : 'ignored',
  };
  files.folder('PCAP_DIR', captures.files?.folder);
  files.check();
  const found = { trunks: trunks ?? [], users: users ?? new Map(), tls };
  return { routes: routes ?? new RoutingTable([]), context, ...found };
}

function routingContextOf(
  sources: SettingSources,
  programs: Pick<CallPrograms, 'problemOf'> | undefined,
): RoutingContext {
  const { access, agents: names, hearing, recording, namedRelays } = sources;
  const { apiKeys, apiKeysFile } = access;
  return {
    // The names in API_KEYS_FILE may change while the server runs.
    isKey: (name: string) =>
      apiKeysFile !== undefined || apiKeys.some((entry) => apiKeyIn(entry).name === name),
    isAgent: (name: string) => isAgent(names, name),
    hearing: hearing.settings,
    records: recording !== undefined,
    namedRelays,
    programProblem: (source) =>
      programs === undefined ? 'this server has no call programs' : programs.problemOf(source),
  };
}

function secretsIn(env: Readonly<Record<string, string | undefined>>): SecretSource {
  return {
    environment: (name) => env[name],
    file: (path) => {
      try {
        return readFileSync(path, 'utf8').trim();
      } catch {
        return undefined;
      }
    },
  };
}

interface Found<T> {
  readonly value: T | undefined;
  readonly problems: readonly string[];
}

class SettingFiles {
  readonly #problems: string[] = [];

  /** Undefined if no file is named, or it cannot be read, which is a problem. */
  read<T>(variable: string, path: string | undefined, parse: (text: string) => Found<T>): T | undefined {
    if (path === undefined) return undefined;
    try {
      const { value, problems } = parse(readFileSync(path, 'utf8'));
      this.#problems.push(...problems.map((problem) => `${variable} (${path}): ${problem}`));
      return value;
    } catch (error) {
      this.#problems.push(
        `${variable} (${path}) cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`,
      );
      return undefined;
    }
  }

  /** Checks that files can be created in the folder. */
  folder(variable: string, path: string | undefined): void {
    if (path === undefined) return;
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      if (!statSync(path).isDirectory()) this.#problems.push(`${variable} (${path}) is no folder`);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'failed';
      this.#problems.push(`${variable} (${path}) must be a folder that can be written to: ${code}`);
    }
  }

  check(): void {
    if (this.#problems.length === 0) return;
    throw new ParleyError(
      'CONFIG_INVALID',
      `the telephone settings are not usable:\n- ${this.#problems.join('\n- ')}`,
    );
  }
}

const MOST_USERS = 10_000;

type UserFile =
  | { readonly users: ReadonlyMap<string, Secret>; readonly problems?: undefined }
  | { readonly problems: readonly string[]; readonly users?: undefined };

/** Reads the users: one `name:password` a line; `#` begins a comment. No problem quotes the file. */
export function readUserFile(text: string): UserFile {
  const users = new Map<string, Secret>();
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const colon = content.indexOf(':');
    const [name, password] = [content.slice(0, colon), content.slice(colon + 1)];
    if (colon < 1 || password === '') problems.push(`line ${index + 1} is not name:password`);
    else if (users.has(name)) problems.push(`line ${index + 1} repeats the user name of an earlier line`);
    else users.set(name, { password });
  }
  if (users.size > MOST_USERS) problems.push(`more than ${MOST_USERS} callers`);
  return problems.length > 0 ? { problems } : { users };
}
