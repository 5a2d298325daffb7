// How long a registrar has granted a Contact (RFC 3261, section 10.2.4).
import { wholeNumber } from '../message/cseq.js';
import { parseNameAddr } from '../message/name-addr.js';
import type { SipResponse } from '../message/response.js';
import { parseUri, type Uri } from '../message/uri.js';

const MOST_SECONDS = 86_400; // longer is as if nobody had to refresh

/**
 * Seconds: of the parameter of our Contact, of Expires, or what was asked for. A registrar that writes Contacts of its
 * own is understood where there is one alone. 0 where other Contacts are listed and ours is not.
 */
export function grantedSeconds(response: SipResponse, contact: string, asked: number): number {
  const listed = response.all('contact').flatMap((value) => parseNameAddr(value) ?? []);
  const ours = parseUri(contact);
  const found =
    listed.find(({ uri }) => ours !== undefined && isSame(uri, ours)) ??
    (listed.length === 1 ? listed[0] : undefined);
  if (found === undefined && listed.length > 0) return 0;
  const granted = seconds(found?.params.get('expires')) ?? seconds(response.first('expires'));
  return Math.min(granted ?? asked, MOST_SECONDS);
}

function seconds(text: string | undefined): number | undefined {
  return wholeNumber(text?.trim() ?? '', 2 ** 32 - 1);
}

/** Of one user at one place; parameters are what registrars change most. */
function isSame(one: Uri, other: Uri): boolean {
  return one.user === other.user && one.host === other.host && one.port === other.port;
}
