// An address with its name and parameters: From, To, Contact, Route, Refer-To
// and their kin.
import { headerParameters, type Parameters } from './parameters.js';
import { Scanner, unquoted } from './scanner.js';
import { parseUri, type Uri } from './uri.js';

export interface NameAddr {
  /** Without quotes; undefined where there is none. */
  readonly displayName: string | undefined;
  readonly uri: Uri;
  /** Those of the header, not of the URI. */
  readonly params: Parameters;
  readonly tag: string | undefined;
}

// Not quite the grammar's tokens: names in plain UTF-8 without quotes are common and harmless.
const LOOSE_NAME = /^[^",;<>\\]*$/;

/** Undefined where the value is not well-formed. */
export function parseNameAddr(value: string): NameAddr | undefined {
  const scanner = new Scanner(value);
  scanner.space();
  const quotedName = scanner.quoted();
  if (quotedName !== undefined) return inBrackets(scanner.space(), unquoted(quotedName));
  const bracket = value.indexOf('<', scanner.at);
  if (bracket < 0) return bare(scanner);
  const name = value.slice(scanner.at, bracket).trim();
  if (!LOOSE_NAME.test(name)) return undefined;
  scanner.at = bracket;
  return inBrackets(scanner, name === '' ? undefined : name);
}

function inBrackets(scanner: Scanner, displayName: string | undefined): NameAddr | undefined {
  if (!scanner.take('<')) return undefined;
  const end = scanner.text.indexOf('>', scanner.at);
  const uri = end < 0 ? undefined : parseUri(scanner.text.slice(scanner.at, end));
  if (uri === undefined) return undefined;
  scanner.at = end + 1;
  return withParameters(scanner, displayName, uri);
}

/** Without brackets the parameters are the header's, and the URI has none of its own (RFC 3261, section 20). */
function bare(scanner: Scanner): NameAddr | undefined {
  const { text, at } = scanner;
  let end = at;
  while (end < text.length && !' \t;?,'.includes(text.charAt(end))) end++;
  const uri = text.charAt(end) === '?' ? undefined : parseUri(text.slice(at, end));
  if (uri === undefined) return undefined;
  scanner.at = end;
  return withParameters(scanner, undefined, uri);
}

function withParameters(scanner: Scanner, displayName: string | undefined, uri: Uri): NameAddr | undefined {
  const params = headerParameters(scanner);
  return params === undefined ? undefined : { displayName, uri, params, tag: params.get('tag') };
}
