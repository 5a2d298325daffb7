// Reads the bytes of a sound file that a request contains or names by URL.
//
// A client that names a URL makes this server send a request from inside its network. The server therefore
// resolves the name itself, requires that all its addresses are public, and connects to a checked address. A
// redirect is checked again.
import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ParleyError } from '../errors.js';

export interface AudioSourceOptions {
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Files may be fetched from http(s) URLs. */
  readonly urls: boolean;
  readonly network?: Network | undefined;
}

const DATA_URL = /^data:[^,]{0,200}?(;base64)?,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Reads the file itself, or fetches it from its URL. Rejects with INVALID_FIELD, AUDIO_INVALID (not
 * available), TOO_LARGE or ABORTED.
 * @param field request field that errors name
 */
export async function audioBytes(
  source: string | Uint8Array,
  { maxBytes, urls, network = SYSTEM_NETWORK }: AudioSourceOptions,
  field: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (typeof source !== 'string') return withinLimit(source, maxBytes, field);
  if (/^data:/i.test(source)) return withinLimit(ofDataUrl(source, maxBytes, field), maxBytes, field);
  const taken = `a data: URL in base64${urls ? ', or an http(s) URL' : ''}`;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(source)?.[0].toLowerCase();
  const isWeb = scheme === 'http:' || scheme === 'https:';
  if (!isWeb)
    throw invalid(field, `"${field}" must be ${taken}${scheme === undefined ? '' : `, not ${scheme}`}`);
  if (!urls) throw invalid(field, `"${field}" must be ${taken}; this server fetches no URLs`);
  if (!URL.canParse(source)) throw invalid(field, `"${field}" is no valid URL`);
  return fetchFile(new URL(source), { network, maxBytes, field }, signal);
}

function ofDataUrl(url: string, maxBytes: number, field: string): Uint8Array {
  const head = DATA_URL.exec(url);
  if (head === null || head[1] === undefined)
    throw invalid(field, `the data: URL in "${field}" must hold base64`);
  const text = url.slice(head[0].length);
  if (text.length * 3 > (maxBytes + 3) * 4) throw tooLarge(maxBytes, field);
  if (!BASE64.test(text)) throw invalid(field, `the data: URL in "${field}" is not valid base64`);
  return Buffer.from(text, 'base64');
}

export function withinLimit(bytes: Uint8Array, maxBytes: number, field: string): Uint8Array {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, field);
  return bytes;
}

function tooLarge(maxBytes: number, field: string): ParleyError {
  return new ParleyError('TOO_LARGE', `the audio in "${field}" may have ${maxBytes} bytes at most`, {
    field,
  });
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

export interface RemoteAnswer {
  readonly status: number;
  /** The Location header. */
  readonly location?: string | undefined;
  /** Leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  close(): void;
}

/** Name resolution and HTTP, replaced in tests. */
export interface Network {
  /** Every address of a name. */
  addresses(name: string): Promise<readonly string[]>;
  /** Requests the file from this address, whatever the host name resolves to. */
  get(url: URL, address: string, signal: AbortSignal): Promise<RemoteAnswer>;
}

interface RemoteFileOptions {
  readonly network: Network;
  readonly maxBytes: number;
  /** Milliseconds for the whole transfer, redirects included. */
  readonly timeoutMs?: number;
  /** Request field that errors name. */
  readonly field: string;
}

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const SERVICE_PORTS = 1023; // services there could misread the request as one of their protocol
const WEB_PORTS = new Set([80, 443]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Rejects with INVALID_FIELD, AUDIO_INVALID (not available), TOO_LARGE, TIMEOUT or ABORTED. */
export async function fetchFile(url: URL, options: RemoteFileOptions, signal: AbortSignal): Promise<Buffer> {
  const { field, timeoutMs = TIMEOUT_MS } = options;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const given = AbortSignal.any([signal, late.signal]);
  try {
    return await unless(given, follow(url, options, given));
  } catch (error) {
    if (signal.aborted) throw new ParleyError('ABORTED', 'the file is not wanted any more');
    if (late.signal.aborted) {
      throw new ParleyError('AUDIO_INVALID', `the URL did not answer in full within ${timeoutMs / 1000} s`, {
        field,
      });
    }
    if (error instanceof ParleyError) throw error;
    throw new ParleyError('AUDIO_INVALID', 'the URL cannot be reached', { field, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function follow(first: URL, options: RemoteFileOptions, signal: AbortSignal): Promise<Buffer> {
  const { network, field } = options;
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await network.get(url, await checkedAddress(url, options), signal);
    try {
      if (answer.status === 200) return await bounded(answer, options);
      if (!REDIRECTS.has(answer.status) || answer.location === undefined) {
        throw new ParleyError('AUDIO_INVALID', `the URL answered ${answer.status}`, { field });
      }
      if (!URL.canParse(answer.location, url.href)) throw refused(field, 'it redirects to what is no URL');
      url = new URL(answer.location, url);
    } finally {
      answer.close();
    }
  }
  throw refused(field, `it redirects more than ${MAX_REDIRECTS} times`);
}

/** The address to connect to. Errors never contain resolved addresses, which would reveal this network. */
async function checkedAddress(url: URL, { network, field }: RemoteFileOptions): Promise<string> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(field, `it leads to ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw refused(field, 'it holds a user name or password');
  const port = url.port === '' ? 80 : Number(url.port); // empty: the scheme's own
  if (port <= SERVICE_PORTS && !WEB_PORTS.has(port))
    throw refused(field, `its port is ${port}; 80, 443 and those above ${SERVICE_PORTS} are taken`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await network.addresses(host) : [host];
  const [address] = addresses;
  if (address === undefined) throw refused(field, 'its name has no address');
  if (!addresses.every(isPublicAddress)) throw refused(field, 'its address is not public');
  return address;
}

async function bounded({ body }: RemoteAnswer, { maxBytes, field }: RemoteFileOptions): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes) {
      throw new ParleyError('TOO_LARGE', `the file under the URL has more than ${maxBytes} bytes`, { field });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Rejects at the abort, because not every step (name resolution) can be cancelled. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new ParleyError('ABORTED', 'the file is not wanted any more'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function refused(field: string, why: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `the URL in "${field}" is not fetched: ${why}`, { field });
}

/** The network of this machine. */
export const SYSTEM_NETWORK: Network = {
  addresses: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  get: (url, address, signal) =>
    new Promise((resolve, reject) => {
      const isSecure = url.protocol === 'https:';
      const isNamed = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0;
      const asked = (isSecure ? requestHttps : requestHttp)({
        host: address,
        port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
        path: url.pathname + url.search,
        // The certificate must be valid for the name, although the connection goes to an address.
        ...(isSecure && isNamed ? { servername: url.hostname } : {}),
        headers: { host: url.host, accept: 'audio/*', 'accept-encoding': 'identity', 'user-agent': 'parley' },
        agent: false, // a connection of its own, closed afterwards
        signal,
      });
      asked.once('error', reject);
      asked.once('response', (response) => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, location: headers.location, body: response, close: () => void response.destroy() });
      });
      asked.end();
    }),
};

// A public address that the host of every machine in Azure answers.
const HOST_SERVICES = new Set(['168.63.129.16']);
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]; // RFC 4291 section 2.4

/**
 * True for an address of the public internet; false for this network, machine or cloud, and for other text.
 */
export function isPublicAddress(text: string): boolean {
  // Short and octal forms are refused: parsers disagree about them.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.process(text); // unwraps an IPv4 address inside an IPv6 one
  if (address.range() !== 'unicast' || HOST_SERVICES.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(...GLOBAL_UNICAST);
}
