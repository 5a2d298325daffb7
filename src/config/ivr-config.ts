// Reads the variables of call programs: the file of the programs, and the TwiML documents that this server
// may fetch.
//
// A document, a rule or a request could otherwise make this server connect to any machine that it reaches. It
// connects to the hosts of IVR_ALLOWED_HOSTS, to the host of TWIML_URL, and, if IVR_ALLOWED_HOSTS is not set,
// to this machine.
import { type AllowedHost, allowsHost, readAllowedHosts } from './allowed-hosts.js';
import type { ConfigReader } from './environment.js';
import { isLocalHost } from './relay-config.js';
import type { Variable } from './variables.js';

export interface IvrConfig {
  /** File of the programs; undefined: there is the example only. */
  readonly file: string | undefined;
  /** Hosts of documents, sounds and callbacks; empty: this machine. */
  readonly hosts: readonly AllowedHost[];
  /** Document of the telephone calls that nothing else decides; it may have a fragment. */
  readonly twimlUrl: string | undefined;
  /** Signs the requests of calls without an API key; undefined: they are not signed. */
  readonly authToken: string | undefined;
  /** Address of this server for applications, without `/` at its end; undefined: that of its listener. */
  readonly publicUrl: string | undefined;
}

/** The source of the program of a call. */
export type ProgramSource =
  /** A program of IVR_FILE. */
  | { readonly kind: 'program'; readonly name: string }
  /** A TwiML document. */
  | ({ readonly kind: 'twiml'; readonly url: string; readonly method: 'GET' | 'POST' } & DocumentOptions)
  /** The text of a TwiML document. It has no URL, so its own URLs must be absolute. */
  | ({ readonly kind: 'document'; readonly text: string } & Pick<DocumentOptions, 'fallback'>);

interface DocumentOptions {
  /** Asked in place of a document that cannot be had; absent: none is. */
  readonly fallback?: { readonly at: string; readonly method: 'GET' | 'POST' } | undefined;
  /** Further parameters of the first request; absent: there are none. */
  readonly parameters?: readonly (readonly [name: string, value: string])[] | undefined;
}

/** A menu that every server has. */
export const EXAMPLE_PROGRAM = { kind: 'program', name: 'example' } as const satisfies ProgramSource;
export const MOST_DOCUMENT_URL = 2048; // characters
const LEAST_TOKEN = 16; // characters, as of other secrets

export function readIvrConfig(read: ConfigReader<Variable>): IvrConfig {
  const twimlUrl = read.raw('TWIML_URL');
  if (twimlUrl !== undefined && !isDocumentUrl(twimlUrl))
    // The message does not repeat the value: its path may be a secret.
    read.problem('TWIML_URL', `must be ${DOCUMENT_URL_RULE}`);
  const authToken = read.raw('TWIML_AUTH_TOKEN');
  if (authToken !== undefined && authToken.length < LEAST_TOKEN)
    read.problem('TWIML_AUTH_TOKEN', `must have at least ${LEAST_TOKEN} characters`);
  const hosts = readAllowedHosts(read, 'IVR_ALLOWED_HOSTS');
  const publicUrl = read.raw('PUBLIC_URL');
  if (publicUrl !== undefined && (!isDocumentUrl(publicUrl) || /[?#]/.test(publicUrl)))
    read.problem('PUBLIC_URL', `must be ${DOCUMENT_URL_RULE}, and without ? and #`);
  return {
    file: read.raw('IVR_FILE'),
    hosts,
    twimlUrl,
    authToken,
    publicUrl: publicUrl?.replace(/\/+$/, ''),
  };
}

/** Completes "must be". */
export const DOCUMENT_URL_RULE = `an http or https URL of at most ${MOST_DOCUMENT_URL} characters, without a user name or password`;

export function isDocumentUrl(text: string): boolean {
  if (text.length > MOST_DOCUMENT_URL || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** True if call programs may connect to the URL. The address of the host is not checked here. */
export function mayConnect({ hosts, twimlUrl }: Pick<IvrConfig, 'hosts' | 'twimlUrl'>, url: URL): boolean {
  if (twimlUrl !== undefined && URL.canParse(twimlUrl)) {
    const { protocol, host } = new URL(twimlUrl);
    if (url.protocol === protocol && url.host === host) return true;
  }
  return hosts.length === 0 ? isLocalHost(url.hostname) : allowsHost(hosts, url);
}
