// Who sent a call here (RFC 3892).
import { parseNameAddr } from '../message/name-addr.js';
import { quoted } from '../message/scanner.js';
import type { Uri } from '../message/uri.js';
import { writeNameAddr } from './caller-identity.js';

export interface ReferredBy {
  readonly displayName: string | undefined;
  readonly uri: Uri;
  /** Points to a signed token in the body; not checked here. */
  readonly cid: string | undefined;
}

/** Undefined where it is not well-formed. */
export function readReferredBy(value: string): ReferredBy | undefined {
  const parsed = parseNameAddr(value);
  if (parsed === undefined) return undefined;
  const displayName = parsed.displayName?.trim(); // a name of blanks is none
  return {
    displayName: displayName === '' ? undefined : displayName,
    uri: parsed.uri,
    cid: parsed.params.get('cid'),
  };
}

export function writeReferredBy({ displayName, uri, cid }: ReferredBy): string {
  return `${writeNameAddr(displayName, uri.text)}${cid === undefined ? '' : `;cid=${quoted(cid)}`}`;
}
