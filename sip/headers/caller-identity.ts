// Who calls, and whether that may be told (RFC 3323, RFC 3325).
import type { HeaderFields } from '../message/header-fields.js';
import { parseNameAddr, type NameAddr } from '../message/name-addr.js';
import { quoted } from '../message/scanner.js';
import type { Uri } from '../message/uri.js';
import type { Pattern } from '../routing-table.js';

export interface CallerIdentity {
  readonly displayName: string | undefined;
  /** The number or name of the caller: the user part, or the number of a tel URI. Undefined where it is withheld. */
  readonly caller: string | undefined;
  /** The whole of it. Undefined where it is withheld. */
  readonly uri: string | undefined;
  /** The caller does not want it told any further. */
  readonly isPrivate: boolean;
  /** It was vouched for by the network, not only claimed in From. */
  readonly asserted: boolean;
}

/** What the fields of an INVITE say; those asserted count only where the peer that sent them is trusted. */
export function callerIdentity(
  from: NameAddr,
  fields: { readonly asserted: readonly string[]; readonly privacy: readonly string[] },
  trusted: boolean,
): CallerIdentity {
  const privacy = fields.privacy.flatMap(readPrivacy);
  const isPrivate =
    ['id', 'user', 'header', 'session'].some((kind) => privacy.includes(kind)) && !privacy.includes('none');
  const asserted = trusted ? fields.asserted.flatMap((value) => parseNameAddr(value) ?? []) : [];
  const chosen = asserted.find(({ uri }) => uri.isSip) ?? asserted[0] ?? from;
  const user = userOf(chosen.uri);
  const withheld = /^anonymous$/i.test(user ?? 'anonymous') || chosen.uri.host === 'anonymous.invalid';
  return {
    displayName: withheld ? undefined : chosen.displayName,
    caller: withheld ? undefined : user,
    uri: withheld ? undefined : chosen.uri.text,
    isPrivate: isPrivate || withheld,
    asserted: chosen !== from,
  };
}

const NEVER_SHOWN: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization']);
/** Fields that say who calls. They count where the peer is trusted and the caller hides nothing (RFC 3325, section 9.1). */
const IDENTITIES: ReadonlySet<string> = new Set([
  'p-asserted-identity',
  'p-preferred-identity',
  'remote-party-id',
]);
const MOST_SHOWN = 64;
const MOST_SHOWN_CHARACTERS = 8192; // names and values together

/**
 * The fields that one of the patterns names, as an application is shown them: under the name that came first, several
 * values joined by a comma. Fields beyond 64 names or 8192 characters are left out.
 */
export function shownHeaders(
  { list }: HeaderFields,
  patterns: readonly Pattern[],
  showsIdentity: boolean,
): Readonly<Record<string, string>> | undefined {
  const shown = new Map<string, { readonly name: string; readonly values: string[] }>();
  let characters = 0;
  for (const { name, key, value } of list) {
    if (NEVER_SHOWN.has(key) || (!showsIdentity && IDENTITIES.has(key))) continue;
    if (!patterns.some((pattern) => pattern.matches(key))) continue;
    const before = shown.get(key);
    const added = value.length + (before === undefined ? name.length : 2);
    if (characters + added > MOST_SHOWN_CHARACTERS || (before === undefined && shown.size >= MOST_SHOWN))
      continue;
    characters += added;
    if (before === undefined) shown.set(key, { name, values: [value] });
    else before.values.push(value);
  }
  if (shown.size === 0) return undefined;
  return Object.fromEntries([...shown.values()].map(({ name, values }) => [name, values.join(', ')]));
}

/** The kinds of privacy in one value: between semicolons, small letters. */
export function readPrivacy(value: string): string[] {
  return value.split(';').map((kind) => kind.trim().toLowerCase()).filter((kind) => kind !== ''); // prettier-ignore
}

/** A name-addr for P-Asserted-Identity, From and their kin. The URI is written as it is. */
export function writeNameAddr(displayName: string | undefined, uri: string): string {
  return displayName === undefined || displayName === ''
    ? `<${uri}>`
    : `${quoted(oneLine(displayName))} <${uri}>`;
}

/** Line ends in a name would begin a field of their own. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is being taken out
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim();
}

function userOf(uri: Uri): string | undefined {
  if (uri.isSip) return uri.user?.split(';', 1)[0];
  return uri.scheme === 'tel' ? uri.text.slice('tel:'.length).split(';', 1)[0] : undefined;
}
