// Defines the settings of a trunk (an account at a carrier or PBX for outbound calls) and reads them from
// their JSON file:
//
//   {"trunks": [
//     {"name": "carrier", "domain": "sip.example.com", "transport": "tls", "proxy":
//     "sip:edge.example.com;lr",
//      "username": "4930123", "passwordEnv": "CARRIER_PASSWORD", "authRealms": ["example.com"],
//      "from": "+4930123", "displayName": "Example Ltd",
//      "register": {"expires": 600, "contactUser": "4930123"}, "options": {"intervalSeconds": 30},
//      "callsPerSecond": 5, "mostCalls": 100, "codecs": ["PCMA"], "srtp": "require", "keying": ["sdes"],
//      "assertedIdentity": true, "addresses": ["192.0.2.0/24"]}
//   ]}
//
// A password may be in the file itself, in an environment variable or in a file of its own.
import type { SdpCodecName } from '../../src/codecs/codec.js';
import { FieldReader, type Fields, isFields } from '../../src/config/fields.js';
import { stated } from '../../src/stated.js';
import { isNetwork } from '../guard/address-list.js';
import { parseUri, type Uri } from '../message/uri.js';
import type { Keying, Security } from '../sdp/media-policy.js';

export type TrunkTransport = 'udp' | 'tcp' | 'tls';

export interface TrunkSettings {
  readonly name: string;
  /** Domain of caller and callee addresses, and Request-URI of REGISTER. */
  readonly domain: string;
  /** Next hop of every request, if set; with the parameter `lr` it is also in Route. */
  readonly proxy?: Uri;
  /** Transport to the proxy or domain; chosen by DNS, if absent. */
  readonly transport?: TrunkTransport;
  readonly username?: string;
  readonly password?: string;
  /** Realms whose challenges are answered; the domain without its port, if absent. */
  readonly authRealms: readonly string[];
  /** Default caller: a number, a user name or a SIP URI. */
  readonly from?: string;
  readonly displayName?: string;
  readonly register?: { readonly expires: number; readonly contactUser?: string };
  readonly options?: { readonly intervalSeconds: number };
  readonly callsPerSecond?: number;
  readonly mostCalls?: number;
  /** The server's codecs, if absent. */
  readonly codecs?: readonly SdpCodecName[];
  readonly srtp?: Security;
  /** Key agreements by preference. */
  readonly keying?: readonly Keying[];
  /** INVITEs have no offer: the trunk makes it (RFC 3264, section 4). */
  readonly lateOffer: boolean;
  /** The trunk trusts us: P-Asserted-Identity states the caller (RFC 3325). */
  readonly assertedIdentity: boolean;
  /**
   * Addresses of the trunk, or networks such as 192.0.2.0/24: its calls come from there, and the account's
   * password is used only there.
   */
  readonly addresses: readonly string[];
}

const MOST_TRUNKS = 100;
const TRANSPORTS: readonly TrunkTransport[] = ['udp', 'tcp', 'tls'];
/** Transports that a sips URI may state: its TLS runs over TCP (RFC 3261, section 26.2.2). */
const SECURE: Readonly<Record<string, TrunkTransport>> = { tcp: 'tls', tls: 'tls' };
const CODECS: readonly SdpCodecName[] = ['opus', 'G722', 'PCMU', 'PCMA'];
const KEYINGS: readonly Keying[] = ['sdes', 'dtls'];
const USUAL_EXPIRES = 600;
const USUAL_INTERVAL = 30;
const SECRETS = ['password', 'passwordEnv', 'passwordFile'] as const;
const FIELDS = {
  trunk: [
    'name',
    'domain',
    'proxy',
    'transport',
    'username',
    ...SECRETS,
    'authRealms',
    'from',
    'displayName',
    'register',
    'options',
    'callsPerSecond',
    'mostCalls',
    'codecs',
    'srtp',
    'keying',
    'lateOffer',
    'assertedIdentity',
    'addresses',
  ],
  register: ['expires', 'contactUser'],
  options: ['intervalSeconds'],
};

/** Reads passwords from outside of the file; undefined if there is none of that name. */
export interface SecretSource {
  environment(name: string): string | undefined;
  file(path: string): string | undefined;
}

type TrunkFile =
  | { readonly trunks: readonly TrunkSettings[]; readonly problems?: undefined }
  /** Every mistake with its place; none of them quotes a password. */
  | { readonly problems: readonly string[]; readonly trunks?: undefined };

export function readTrunkFile(json: string, secrets: SecretSource): TrunkFile {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch {
    return { problems: ['the file is not JSON'] }; // the parser's message would quote the file
  }
  const trunks = isFields(content) ? content['trunks'] : undefined;
  if (!Array.isArray(trunks)) return { problems: ['the file must be an object with a list "trunks"'] };
  if (trunks.length > MOST_TRUNKS) return { problems: [`trunks must have at most ${MOST_TRUNKS} items`] };
  const reader = new TrunkReader(secrets);
  const read = trunks.flatMap((trunk: unknown, index) => reader.trunk(trunk, `trunks[${index}]`) ?? []);
  return reader.problems.length > 0 ? { problems: reader.problems } : { trunks: read };
}

class TrunkReader {
  readonly #read = new FieldReader();
  readonly #secrets: SecretSource;
  readonly #names = new Set<string>();

  constructor(secrets: SecretSource) {
    this.#secrets = secrets;
  }

  get problems(): readonly string[] {
    return this.#read.problems;
  }

  trunk(value: unknown, at: string): TrunkSettings | undefined {
    if (!this.#read.fields(value, at, FIELDS.trunk)) return undefined;
    const name = this.#name(value, at);
    const domain = this.#domain(value, at);
    const username = this.#read.text(value, 'username', at);
    const account = { username, password: this.#password(value, at) };
    if (username === undefined && account.password !== undefined)
      this.#read.problem(`${at}.username`, 'is missing');
    const calls = {
      callsPerSecond: this.#read.number(value, 'callsPerSecond', at, 0.01, 10_000),
      mostCalls: this.#read.integer(value, 'mostCalls', at, 1, 100_000),
    };
    return stated({
      name,
      domain,
      ...account,
      ...calls,
      ...this.#way(value, at),
      ...this.#caller(value, at),
      ...this.#upkeep(value, at),
      ...this.#media(value, at),
      authRealms: this.#read.list(value, 'authRealms', at, 'realms', (realm) => realm !== '') ?? [
        domain.replace(/:\d+$/, ''),
      ],
      lateOffer: this.#read.flag(value, 'lateOffer', at) ?? false,
      assertedIdentity: this.#read.flag(value, 'assertedIdentity', at) ?? false,
      addresses:
        this.#read.list(value, 'addresses', at, 'addresses and networks such as 192.0.2.0/24', isNetwork) ??
        [],
    }) as TrunkSettings;
  }

  #name(trunk: Fields, at: string): string {
    const name = this.#read.text(trunk, 'name', at, 100);
    if (trunk['name'] === undefined) this.#read.problem(`${at}.name`, 'is missing');
    if (name !== undefined && this.#names.has(name))
      this.#read.problem(`${at}.name`, 'is that of another trunk');
    this.#names.add(name ?? '');
    return name ?? '';
  }

  #domain(trunk: Fields, at: string): string {
    const domain = this.#read.text(trunk, 'domain', at);
    if (trunk['domain'] === undefined) this.#read.problem(`${at}.domain`, 'is missing');
    const uri = domain === undefined ? undefined : parseUri(`sip:${domain}`);
    const isHost =
      uri !== undefined &&
      uri.user === undefined &&
      uri.params.names().length === 0 &&
      uri.headers.length === 0;
    if (domain !== undefined && !isHost)
      this.#read.problem(`${at}.domain`, 'must be a name or an address, with a port or without');
    return domain ?? '';
  }

  /**
   * Transport of the trunk and its proxy. They must agree, so that encrypted calls are never sent in the
   * clear by accident.
   */
  #way(trunk: Fields, at: string): Fields {
    const stated = this.#read.word(trunk, 'transport', at, TRANSPORTS);
    const proxy = this.#proxy(trunk, at);
    const word = proxy?.params.get('transport')?.toLowerCase();
    if (proxy === undefined || (word === undefined && proxy.scheme !== 'sips'))
      return { transport: stated, proxy };
    const found = proxy.scheme === 'sips' ? SECURE[word ?? 'tls'] : TRANSPORTS.find((name) => name === word);
    if (found === undefined) {
      this.#read.problem(
        `${at}.proxy`,
        `must be reached over ${TRANSPORTS.join(', ')}, and with sips over tls`,
      );
    } else if (stated !== undefined && stated !== found) {
      this.#read.problem(`${at}.proxy`, `is reached over ${found}, but ${at}.transport is ${stated}`);
    }
    return { transport: found, proxy };
  }

  #proxy(trunk: Fields, at: string): Uri | undefined {
    const text = this.#read.text(trunk, 'proxy', at);
    const uri = text === undefined ? undefined : parseUri(text);
    if (text === undefined || uri?.isSip === true) return uri;
    return this.#read.problem(`${at}.proxy`, 'must be a SIP URI such as sip:proxy.example.com;lr');
  }

  #password(trunk: Fields, at: string): string | undefined {
    const [first, second] = SECRETS.filter((name) => trunk[name] !== undefined);
    if (second !== undefined) return this.#read.problem(at, `must have at most one of ${SECRETS.join(', ')}`);
    const text = first === undefined ? undefined : this.#read.text(trunk, first, at, 1000);
    if (text === undefined || first === 'password') return text;
    const found =
      first === 'passwordEnv'
        ? this.#secrets.environment(text)
        : this.#secrets.file(text)?.replace(/\r?\n$/, '');
    const place = first === 'passwordEnv' ? 'the variable' : 'the file';
    if (found !== undefined && found !== '') return found;
    return this.#read.problem(`${at}.${first ?? ''}`, `names ${place} ${text}, which is missing or empty`);
  }

  #caller(trunk: Fields, at: string): Fields {
    const from = this.#read.text(trunk, 'from', at);
    if (from?.startsWith('sip') === true && parseUri(from) === undefined && from.includes(':')) {
      this.#read.problem(`${at}.from`, 'must be a number, a user name or a SIP URI');
    }
    return { from, displayName: this.#read.text(trunk, 'displayName', at, 100) };
  }

  #upkeep(trunk: Fields, at: string): Fields {
    const [register, options] = [trunk['register'], trunk['options']];
    return {
      register: register === undefined ? undefined : this.#register(trunk, register, `${at}.register`),
      options: options === undefined ? undefined : this.#options(options, `${at}.options`),
    };
  }

  #register(trunk: Fields, value: unknown, at: string): TrunkSettings['register'] {
    if (!this.#read.fields(value, at, FIELDS.register)) return undefined;
    const expires = this.#read.integer(value, 'expires', at, 30, 86_400) ?? USUAL_EXPIRES;
    const contactUser = this.#read.text(value, 'contactUser', at, 100);
    if (trunk['username'] === undefined && contactUser === undefined) {
      this.#read.problem(at, 'needs a username, or a contactUser, to register');
    }
    return stated({ expires, contactUser });
  }

  #options(value: unknown, at: string): TrunkSettings['options'] {
    if (!this.#read.fields(value, at, FIELDS.options)) return undefined;
    return { intervalSeconds: this.#read.integer(value, 'intervalSeconds', at, 5, 3600) ?? USUAL_INTERVAL };
  }

  #media(trunk: Fields, at: string): Fields {
    const isCodec = (name: string): boolean => CODECS.some((codec) => codec === name);
    const codecs = this.#read.list(trunk, 'codecs', at, CODECS.join(', '), isCodec);
    if (codecs?.length === 0) this.#read.problem(`${at}.codecs`, 'must name at least one codec');
    const isKeying = (name: string): boolean => KEYINGS.some((keying) => keying === name);
    const keying = this.#read.list(trunk, 'keying', at, KEYINGS.join(', '), isKeying);
    if (keying?.length === 0)
      this.#read.problem(`${at}.keying`, 'must name at least one way to agree on keys');
    return { codecs, keying, srtp: this.#read.word(trunk, 'srtp', at, ['require', 'prefer', 'off']) };
  }
}
