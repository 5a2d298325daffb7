// Decides which hosts and addresses requests of call programs may reach. A document could otherwise make this
// server ask any machine inside its network. The host is checked before each request and each redirect. The
// address is checked after name resolution, in the connection itself: no second answer of the name service
// can come in between.
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { allowsHost } from '../../config/allowed-hosts.js';
import { type IvrConfig, mayConnect } from '../../config/ivr-config.js';
import { ProgramError } from '../../ivr/door.js';
import { isPublicAddress } from '../../voices/audio-source.js';
import { shownUrl } from './document-url.js';
import { BAD_HOST, INVALID_URL } from './twiml-errors.js';

/** Finds every address of a name. */
export type Resolve = (
  name: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Networks of a site (RFC 1918, RFC 6598, RFC 4193). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4');
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4');
PRIVATE.addSubnet('100.64.0.0', 10, 'ipv4');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

const LIST = 'IVR_ALLOWED_HOSTS';

export class AllowedTargets {
  readonly #config: Pick<IvrConfig, 'hosts' | 'twimlUrl'>;
  readonly #resolve: Resolve;

  constructor(config: Pick<IvrConfig, 'hosts' | 'twimlUrl'>, resolve: Resolve = systemLookup) {
    this.#config = config;
    this.#resolve = resolve;
  }

  /** Throws a ProgramError for a URL that no request may go to. */
  check(url: URL): void {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw refusal(INVALID_URL, url, `it must be an http or https URL, not ${url.protocol.slice(0, 20)}`);
    if (url.username !== '' || url.password !== '')
      throw refusal(INVALID_URL, url, 'it must have no user name and no password');
    if (!mayConnect(this.#config, url))
      throw refusal(
        BAD_HOST,
        url,
        `${url.host.slice(0, 100)} is no allowed host; ${LIST} lists those that are`,
      );
  }

  /** Resolves the name of the URL's host. It fails with a ProgramError if an address of it is not allowed. */
  lookupFor(url: URL): LookupFunction {
    return (name, options, callback) => {
      this.#resolve(name, { all: true }, (error, addresses) => {
        const [first] = addresses ?? [];
        if (error !== null) return callback(error, '', 0);
        if (first === undefined) return callback(refusal(BAD_HOST, url, 'its host has no address'), '', 0);
        // Which of the addresses the system would take cannot be told: all of them must be allowed.
        const isRefused = addresses.some(({ address }) => !this.#allowsAddress(address, url));
        // The message does not show the address: it would reveal the network to the author of a document.
        const why = `the name ${name.slice(0, 100)} leads into this network; ${LIST} must have the address too`;
        if (isRefused) return callback(refusal(BAD_HOST, url, why), '', 0);
        if (options.all === true) return callback(null, addresses);
        return callback(null, first.address, first.family);
      });
    };
  }

  #allowsAddress(address: string, url: URL): boolean {
    if (isPublicAddress(address)) return true;
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const isLoopback = LOOPBACK.check(address, family);
    if (isLoopback && url.hostname === 'localhost') return true;
    if ((isLoopback || PRIVATE.check(address, family)) && this.#isOfOperator(url)) return true;
    const host = family === 'ipv6' ? `[${address}]` : address;
    const port = url.port === '' ? '' : `:${url.port}`;
    const literal = `${url.protocol}//${host}${port}`;
    return URL.canParse(literal) && allowsHost(this.#config.hosts, new URL(literal));
  }

  /** The operator chose the host of TWIML_URL, which may well be a machine of the site. */
  #isOfOperator({ protocol, host }: URL): boolean {
    const { twimlUrl } = this.#config;
    if (twimlUrl === undefined || !URL.canParse(twimlUrl)) return false;
    const own = new URL(twimlUrl);
    return own.protocol === protocol && own.host === host;
  }
}

function refusal(code: string, url: URL, why: string): ProgramError {
  const document = shownUrl(url.href);
  return new ProgramError({ code, message: `the URL is not fetched: ${why}`, document });
}
