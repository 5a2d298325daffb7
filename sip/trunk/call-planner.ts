// Makes the plan of a call by one trunk, or by none: who is called, who calls,
// and what is told of either (RFC 3261 section 8.1.1, RFC 3323, RFC 3325).
import type { HeaderLine } from '../message/serialiser.js';
import type { Uri } from '../message/uri.js';
import { writeNameAddr } from '../headers/caller-identity.js';
import type { CallPlan } from '../session/call-plan.js';
import type { SessionMedia } from '../session/session-media.js';
import type { Flow } from '../transport/flow.js';
import { addressAt, readAddress, type WrittenAddress } from './caller-address.js';
import { invalid } from './caller-headers.js';
import type { Trunk } from './trunk.js';
import type { TrunkTransport } from './trunk-settings.js';

/** Of a call, whichever way it goes. */
export interface CallWish {
  readonly to: WrittenAddress;
  /** Undefined: that of the trunk. `anonymous` withholds it. */
  readonly from: WrittenAddress | 'anonymous' | undefined;
  readonly displayName: string | undefined;
  readonly headers: readonly HeaderLine[];
}

/**
 * The URI of a user of this server, as peers over that transport reach it. `flow`: what the request goes out on, where
 * that is known already; over TLS it may be the only way back.
 */
export type ContactMaker = (
  user: string,
  transport: TrunkTransport | undefined,
  flow: Flow | undefined,
) => string;

const OUR_USER = 'parley'; // where nobody says who calls
const ANONYMOUS = '"Anonymous" <sip:anonymous@anonymous.invalid>';

/** INVALID_FIELD `to` for an address that cannot be sent to. */
export function planByTrunk(wish: CallWish, trunk: Trunk, media: SessionMedia): CallPlan {
  const { settings } = trunk;
  const { domain, username, register, displayName } = settings;
  const uri = wish.to.kind === 'uri' ? wish.to.uri.text : addressAt(wish.to.user, domain);
  const own = readAddress(settings.from ?? username ?? OUR_USER) ?? { kind: 'user', user: OUR_USER };
  const caller = addressOf(wish.from === undefined || wish.from === 'anonymous' ? own : wish.from, domain);
  const name = wish.displayName ?? (wish.from === undefined ? displayName : undefined);
  const { routes } = trunk;
  const us = register?.contactUser ?? username ?? OUR_USER;
  const identity = identityFields(writeNameAddr(name, caller), wish.from === 'anonymous', settings.assertedIdentity);
  return {
    uri,
    to: `<${uri}>`,
    from: wish.from === 'anonymous' ? ANONYMOUS : writeNameAddr(name, caller),
    contact: (flow) => `<${secured(trunk.contact(us, flow), uri, routes[0])}>`,
    routes,
    headers: [...identity, ...wish.headers],
    journey: trunk.journeyOf(uri),
    media,
    lateOffer: settings.lateOffer,
  };
} // prettier-ignore

/** Straight to where the URI leads. */
export function planDirectly(wish: CallWish, uri: Uri, contact: ContactMaker, media: SessionMedia): CallPlan {
  const transport = transportOf(uri);
  const ours = contact(OUR_USER, undefined, undefined);
  const host = /@([^;?]+)/.exec(ours)?.[1] ?? 'localhost';
  const caller = wish.from === undefined || wish.from === 'anonymous' ? ours.replace(/;.*$/, '') : addressOf(wish.from, host);
  return {
    uri: uri.text,
    to: `<${uri.text}>`,
    from: wish.from === 'anonymous' ? ANONYMOUS : writeNameAddr(wish.displayName, caller),
    contact: (flow) => `<${secured(contact(OUR_USER, transport, flow), uri.text)}>`,
    routes: [],
    headers: [...(wish.from === 'anonymous' ? [['Privacy', 'id'] as const] : []), ...wish.headers],
    journey: { nextHop: uri },
    media,
    lateOffer: false,
  };
} // prettier-ignore

/** INVALID_FIELD where the text is no address; `anonymous` is one that is none. */
export function wishedCaller(text: string | undefined): CallWish['from'] {
  if (text === undefined) return undefined;
  if (/^anonymous$/i.test(text.trim())) return 'anonymous';
  const from = readAddress(text);
  if (from === undefined) throw invalid('from', 'must be a number, a name, a SIP URI or "anonymous"');
  return from;
}

/** P-Asserted-Identity for a trunk that trusts us; one that does not is told whom to assert, where From does not say. */
function identityFields(caller: string, isAnonymous: boolean, isTrusted: boolean): HeaderLine[] {
  const privacy: HeaderLine[] = isAnonymous ? [['Privacy', 'id']] : [];
  if (isTrusted) return [['P-Asserted-Identity', caller], ...privacy];
  return isAnonymous ? [['P-Preferred-Identity', caller], ...privacy] : [];
}

function addressOf(address: WrittenAddress | { kind: 'user'; user: string }, domain: string): string {
  return address.kind === 'uri' ? address.uri.text : addressAt(address.user, domain);
}

/** A sips URI, to call or as the first hop, wants a Contact that is one too (RFC 3261, section 8.1.1.8). */
function secured(contact: string, uri: string, route = ''): string {
  return /^sips:/i.test(uri) || /^<sips:/i.test(route) ? contact.replace(/^sip:/, 'sips:') : contact;
}

/** As the URI states it. */
export function transportOf({ scheme, params }: Uri): TrunkTransport | undefined {
  const stated = params.get('transport')?.toLowerCase();
  if (scheme === 'sips' || stated === 'tls') return 'tls';
  return stated === 'tcp' || stated === 'udp' ? stated : undefined;
}
