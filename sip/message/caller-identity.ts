// Finds the identity of a caller and whether it may be disclosed (RFC 3323, RFC 3325), and the header
// fields that an application may see.
import type { HeaderFields } from './head.js';
import { type NameAddr, parseNameAddr, type Uri } from './uri.js';
import { quoted } from './scanner.js';
import type { Pattern } from '../routing-table.js';

interface CallerIdentity {
  readonly displayName: string | undefined;
  /** User part, or the number of a tel URI. Undefined if withheld. */
  readonly caller: string | undefined;
  /** The whole URI. Undefined if withheld. */
  readonly uri: string | undefined;
  /** The caller asks for privacy. */
  readonly isPrivate: boolean;
  /** True if the identity comes from P-Asserted-Identity, not only from From. */
  readonly asserted: boolean;
}

/**
 * Derives the identity from the fields of an INVITE. Asserted identities count only if the peer is trusted.
 */
export function callerIdentity(
  from: NameAddr,
  fields: {
    readonly asserted: readonly string[];
    readonly privacy: readonly string[];
    /** Values of Remote-Party-ID. */
    readonly remoteParty: readonly string[];
  },
  trusted: boolean,
): CallerIdentity {
  const privacy = fields.privacy.flatMap(readPrivacy);
  const isPrivate =
    (['id', 'user', 'header', 'session'].some((kind) => privacy.includes(kind)) &&
      !privacy.includes('none')) ||
    fields.remoteParty.some(isHiddenParty);
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

/** Reads `privacy` of Remote-Party-ID, which older gateways send in place of Privacy. */
function isHiddenParty(value: string): boolean {
  const params = parseNameAddr(value)?.params;
  if (params === undefined) return true;
  const party = params.get('party')?.toLowerCase() ?? 'calling';
  const kinds = (params.get('privacy') ?? 'off').toLowerCase().split('-');
  return party === 'calling' && ['full', 'name', 'uri'].some((kind) => kinds.includes(kind));
}

const NEVER_SHOWN: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization']);
/**
 * Fields with an identity. An application sees them if the peer is trusted and the caller asks for no
 * privacy (RFC 3325, section 9.1).
 */
const IDENTITIES: ReadonlySet<string> = new Set([
  'p-asserted-identity',
  'p-preferred-identity',
  'remote-party-id',
]);
const MOST_SHOWN = 64;
const MOST_SHOWN_CHARACTERS = 8192; // names and values together

/**
 * Returns the fields whose names match one of the patterns, under the name received first. Several values
 * are joined with commas. Fields beyond 64 names or 8192 characters are omitted.
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

/** Kinds of privacy in one value, lower case; semicolons separate them. */
export function readPrivacy(value: string): string[] {
  return value
    .split(';')
    .map((kind) => kind.trim().toLowerCase())
    .filter((kind) => kind !== '');
}

/** Writes a name-addr for P-Asserted-Identity, From and similar fields. The URI is not escaped. */
export function writeNameAddr(displayName: string | undefined, uri: string): string {
  return displayName === undefined || displayName === ''
    ? `<${uri}>`
    : `${quoted(oneLine(displayName))} <${uri}>`;
}

/** Replaces control characters: a line end would begin a new field. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is being taken out
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim();
}

function userOf(uri: Uri): string | undefined {
  if (uri.isSip) return uri.user?.split(';', 1)[0];
  return uri.scheme === 'tel' ? uri.text.slice('tel:'.length).split(';', 1)[0] : undefined;
}
