// A file under an address that somebody else named.
//
// Whoever names an address makes this server ask for it, from inside its
// network. So the name is resolved here, every address that it has must be
// public, and the connection goes to the address that was checked, not to the
// name again. A redirect begins anew.
import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { ParleyError } from '../errors.js';
import { isPublicAddress } from './public-address.js';

export interface RemoteAnswer {
  readonly status: number;
  /** Where it says that the file is. */
  readonly location?: string | undefined;
  /** Leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  close(): void;
}

/** What goes out of this machine. */
export interface Network {
  /** Every address of a name. */
  addresses(name: string): Promise<readonly string[]>;
  /** Asks for the file at this address, whatever the name resolves to. */
  get(url: URL, address: string, signal: AbortSignal): Promise<RemoteAnswer>;
}

export interface RemoteFileOptions {
  readonly network: Network;
  readonly maxBytes: number;
  /** Milliseconds for all of it, redirects included. */
  readonly timeoutMs?: number;
  /** Of the request, for what is wrong with it. */
  readonly field: string;
}

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const SERVICE_PORTS = 1023; // mail, databases and the like take a request for one of their own
const WEB_PORTS = new Set([80, 443]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Rejects with INVALID_FIELD, AUDIO_INVALID (it cannot be had), TOO_LARGE, TIMEOUT or ABORTED. */
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

/** The address to connect to. Names what is refused, never what a name resolved to: that is this network's business. */
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

/** Not every wait within can be ended from outside: a name server takes its time. */
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

/** The real one. */
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
        // The certificate must be one of the name, though the name is not what is connected to.
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
