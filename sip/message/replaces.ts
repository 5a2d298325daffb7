// Reads and writes the header fields of transfers: Replaces (RFC 3891), also escaped in the Refer-To
// of an attended transfer, and Referred-By (RFC 3892).
import { writeNameAddr } from './caller-identity.js';
import { headerParameters, isToken, quoted, Scanner } from './scanner.js';
import { parseNameAddr, type Uri } from './uri.js';

export interface Replaces {
  readonly callId: string;
  readonly toTag: string;
  readonly fromTag: string;
  /** Only an early dialog may be replaced. */
  readonly earlyOnly: boolean;
}

/** Undefined if it is malformed or a tag is missing. */
export function readReplaces(value: string): Replaces | undefined {
  const end = value.indexOf(';');
  const callId = (end < 0 ? value : value.slice(0, end)).trim();
  const params =
    end < 0 || !/^[^\s,;]+$/.test(callId) ? undefined : headerParameters(new Scanner(value, end));
  const [toTag = '', fromTag = ''] = [params?.get('to-tag'), params?.get('from-tag')];
  // A quoted tag could inject a parameter when it is written again.
  if (params === undefined || !isToken(toTag) || !isToken(fromTag)) return undefined;
  return { callId, toTag, fromTag, earlyOnly: params.has('early-only') };
}

/** The tag of a peer of RFC 2543 is written as 0 (RFC 3891, section 3). */
export function writeReplaces({ callId, toTag, fromTag, earlyOnly }: Replaces): string {
  return `${callId};to-tag=${toTag || '0'};from-tag=${fromTag || '0'}${earlyOnly ? ';early-only' : ''}`;
}

interface ReferredBy {
  readonly displayName: string | undefined;
  readonly uri: Uri;
  /** Content-ID of a signed token in the body; the token is not checked. */
  readonly cid: string | undefined;
}

/** Undefined if it is malformed. */
export function readReferredBy(value: string): ReferredBy | undefined {
  const parsed = parseNameAddr(value);
  if (parsed === undefined) return undefined;
  const displayName = parsed.displayName?.trim(); // a blank name counts as absent
  return {
    displayName: displayName === '' ? undefined : displayName,
    uri: parsed.uri,
    cid: parsed.params.get('cid'),
  };
}

export function writeReferredBy({ displayName, uri, cid }: ReferredBy): string {
  return `${writeNameAddr(displayName, uri.text)}${cid === undefined ? '' : `;cid=${quoted(cid)}`}`;
}
