// Places calls through the trunks, one after the other until one accepts the call, or directly to a SIP URI.
//
// It checks the request, makes the plan of the INVITE for each attempt (RFC 3261 section 8.1.1, RFC 3323, RFC
// 3325), and changes trunk, target or media after a failure.
import type { CallPath, PhoneCallRequest } from '../../src/call/phone-calls.js';
import type { SdpCodecName } from '../../src/codecs/codec.js';
import { ParleyError } from '../../src/errors.js';
import { retryAfterMs } from '../client/attempts.js';
import type { SendOutcome } from '../client/request-sender.js';
import { writeNameAddr } from '../message/caller-identity.js';
import { pathFields } from '../message/history-info.js';
import { type Replaces, writeReplaces } from '../message/replaces.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseUri, type Uri } from '../message/uri.js';
import { type Keying, usualKeyings } from '../sdp/media-policy.js';
import type { CallPlan } from '../session/outgoing-invite.js';
import { OutboundSession } from '../session/outbound-session.js';
import type { SessionContext } from '../session/session-context.js';
import type { SessionMedia, SessionUser } from '../session/session.js';
import { addressAt, callerHeaders, invalid, readAddress, type WrittenAddress } from './call-fields.js';
import type { DestinationRules } from './destinations.js';
import type { TrunkSettings, TrunkTransport } from './trunk-settings.js';
import { type ContactMaker, type Trunk, type Trunks, TrunkTurn } from './trunk.js';

export interface OutboundCallsOptions {
  readonly trunks: Trunks;
  readonly context: SessionContext;
  readonly contact: ContactMaker;
  /** True if SIP URIs of foreign domains are called without a trunk. */
  readonly direct: boolean;
  readonly rules: DestinationRules;
  /**
   * SRTP for calls whose trunk does not configure it. Absent: a refused offer is not repeated with other
   * keys.
   */
  readonly srtp?: TrunkSettings['srtp'];
  /** Key agreements for calls whose trunk does not configure them; by the transport, if absent. */
  readonly keying?: readonly Keying[] | undefined;
  /** True if 3xx responses are followed, five at most. */
  readonly followsRedirections: boolean;
}

/** Requirements for the media of one attempt; all undefined for a direct call. */
export interface MediaRequest {
  /** Codecs by preference, of the request or of the trunk. */
  readonly codecs: readonly SdpCodecName[] | undefined;
  readonly srtp: TrunkSettings['srtp'];
  /** Key agreements; all of them, if absent. */
  readonly keyings?: readonly Keying[];
  /** True if our offer has ICE. */
  readonly offerIce?: boolean;
  /** Addresses and networks of the trunk: media may come from there, whatever its description announces. */
  readonly networks?: readonly string[];
}

interface CallToPlace {
  readonly request: PhoneCallRequest;
  /**
   * Called for the first trunk, and for each later one that needs other media, which replaces the earlier.
   */
  readonly media: (request: MediaRequest) => SessionMedia;
  readonly user: SessionUser;
  /** The call replaces this dialog at the peer (RFC 3891). */
  readonly replaces?: Replaces | undefined;
  /** Value of Referred-By: the peer that asked for the call (RFC 3892). */
  readonly referredBy?: string | undefined;
}

interface PlacedCall {
  readonly session: OutboundSession;
  /** Name of the current trunk; undefined for a direct call. */
  readonly trunk: () => string | undefined;
  /** The plan of the current INVITE. */
  readonly plan: () => CallPlan;
}

/** The checked fields of a call request. */
interface CheckedRequest {
  readonly to: WrittenAddress;
  /** Undefined: the trunk's own. `anonymous` withholds the caller. */
  readonly from: WrittenAddress | 'anonymous' | undefined;
  readonly displayName: string | undefined;
  readonly headers: readonly HeaderLine[];
  readonly path: CallPath | undefined;
}

const MOST_RING_MS = 600_000;
const MOST_NAME = 100;
const ANONYMOUS = '"Anonymous" <sip:anonymous@anonymous.invalid>';
const OUR_USER = 'parley'; // the caller's user name if nothing else is configured

export class OutboundCalls {
  readonly #options: OutboundCallsOptions;

  constructor(options: OutboundCallsOptions) {
    this.#options = options;
  }

  /**
   * The call is on its way when this returns. Throws INVALID_FIELD for a malformed request, FORBIDDEN for a
   * destination that is not allowed, CALL_LOOP for one on its path, NOT_FOUND for an unknown trunk, and
   * RATE_LIMITED, CALL_LIMIT or ENGINE_UNAVAILABLE if no trunk takes the call now.
   */
  place(call: CallToPlace): PlacedCall {
    const checked = checkedRequest(call);
    const candidates = this.#candidates(call.request, checked);
    const count = this.#options.rules.check(checked.to, call.request.owner);
    const way = new CallWay(call, checked, candidates, this.#options);
    count();
    const { ringTimeoutMs } = call.request;
    const session = new OutboundSession({
      plan: way.plan,
      context: this.#options.context,
      user: call.user,
      ways: {
        next: (outcome, rang) => way.next(outcome, rang),
        redirected: this.#options.followsRedirections ? (target) => way.redirected(target) : undefined,
      },
      ringTimeoutMs,
    });
    void session.over.then(() => way.done());
    session.start();
    return { session, trunk: () => way.trunk?.name, plan: () => way.plan };
  }

  /** The trunks to try; 'direct' if the address needs none. */
  #candidates({ trunk }: PhoneCallRequest, { to }: CheckedRequest): readonly Trunk[] | 'direct' {
    const { trunks, direct } = this.#options;
    const named = trunks.named(trunk);
    if (trunk !== undefined) return named;
    if (to.kind === 'user') {
      if (named.length > 0) return named;
      throw invalid('to', 'must be a SIP URI, because no trunk is configured that could complete it');
    }
    const atHome = named.filter(({ settings }) => isAt(to.uri, settings));
    if (atHome.length > 0) return atHome;
    if (direct) return 'direct';
    throw new ParleyError(
      'FORBIDDEN',
      'to is at the domain of no trunk, and no other calls are allowed; SIP_DIRECT_CALLS=1 changes it',
      { field: 'to' },
    );
  }
}

/** The attempts of one call: its current trunk and plan. */
class CallWay {
  plan: CallPlan;
  trunk: Trunk | undefined;
  readonly #call: CallToPlace;
  readonly #checked: CheckedRequest;
  readonly #turn: TrunkTurn;
  readonly #options: OutboundCallsOptions;
  #mediaKey: string | undefined;
  #otherOffers: Keying[] = [];

  constructor(
    call: CallToPlace,
    checked: CheckedRequest,
    candidates: readonly Trunk[] | 'direct',
    options: OutboundCallsOptions,
  ) {
    this.#call = call;
    this.#checked = checked;
    this.#options = options;
    this.#turn = new TrunkTurn(candidates === 'direct' ? [] : candidates);
    this.plan = candidates === 'direct' ? this.#direct() : this.#first();
  }

  /** Tries the next trunk if this one was unreachable or failed, and no phone rang. */
  next(outcome: SendOutcome, rang: boolean): CallPlan | undefined {
    if (rang) return undefined;
    if (isOfferRefused(outcome)) return this.#otherOffer();
    if (this.trunk === undefined || !isTrunksOwn(outcome)) return undefined;
    const pauseMs = 'response' in outcome ? pausedFor(outcome.response) : undefined;
    if (pauseMs !== undefined) this.trunk.pause(pauseMs);
    const trunk = this.#turn.next();
    if (trunk === undefined) return undefined;
    try {
      return this.#by(trunk);
    } catch {
      return undefined; // no media for this trunk: the call ends with the outcome of the one before
    }
  }

  /** Follows a 3xx: through the same trunk within its domain, else directly and without its account. */
  redirected(target: Uri): CallPlan | undefined {
    const { trunk } = this;
    const { media } = this.plan;
    const checked: CheckedRequest = { ...this.#checked, to: { kind: 'uri', uri: target } };
    if (!this.#allows(checked)) return undefined;
    try {
      if (trunk !== undefined && isAt(target, trunk.settings)) this.plan = planByTrunk(checked, trunk, media);
      else if (!this.#options.direct) return undefined;
      else this.plan = planDirectly(checked, target, this.#options.contact, media);
      return this.plan;
    } catch {
      return undefined; // a loop: the call ends with the redirection
    }
  }

  /** The far end chooses the target of a redirection, so the limits of destinations apply to it, too. */
  #allows({ to }: CheckedRequest): boolean {
    try {
      this.#options.rules.check(to, this.#call.request.owner)();
      return true;
    } catch {
      return false; // the call ends with the redirection
    }
  }

  /** Repeats the INVITE with the next key agreement. */
  #otherOffer(): CallPlan | undefined {
    const keying = this.#otherOffers.shift();
    if (keying === undefined) return undefined;
    const codecs = this.#call.request.codecs ?? this.trunk?.settings.codecs;
    try {
      const media = this.#media({ codecs, srtp: 'require', keyings: [keying] });
      this.plan = { ...this.plan, media };
      return this.plan;
    } catch {
      return undefined; // no media: the call ends with the refusal
    }
  }

  /**
   * Key agreements of the first offer. An m= line has one profile, which allows one key agreement or none: if
   * a peer refuses it (488, 606), the next one is offered. RFC 5939 allows both in one offer, but few peers
   * support it.
   */
  #keyings(
    transport: TrunkTransport | undefined,
    { srtp, keying }: Partial<TrunkSettings>,
  ): readonly Keying[] {
    const offers = srtp ?? this.#options.srtp;
    const keyings = keying ?? this.#options.keying ?? usualKeyings(transport === 'tls');
    // After RTP/AVP, which offers keys optionally, each way is tried as a requirement.
    this.#otherOffers = offers === 'require' ? keyings.slice(1) : offers === 'prefer' ? [...keyings] : [];
    return keyings;
  }

  /** The call is over. */
  done(): void {
    this.#turn.done();
  }

  #first(): CallPlan {
    const trunk = this.#turn.next();
    if (trunk === undefined) throw this.#turn.refusal();
    try {
      return this.#by(trunk);
    } catch (error) {
      this.#turn.done(); // the media could not be opened
      throw error;
    }
  }

  #by(trunk: Trunk): CallPlan {
    const { codecs, srtp, addresses } = trunk.settings;
    const { to } = this.#checked;
    const transport = trunk.settings.transport ?? (to.kind === 'uri' ? transportOf(to.uri) : undefined);
    const keyings = this.#keyings(transport, trunk.settings);
    const networks = addresses.length === 0 ? {} : { networks: addresses };
    const media = this.#media({ codecs: this.#call.request.codecs ?? codecs, srtp, keyings, ...networks });
    this.trunk = trunk;
    this.plan = planByTrunk(this.#checked, trunk, media);
    return this.plan;
  }

  #direct(): CallPlan {
    const { to } = this.#checked;
    if (to.kind !== 'uri') throw invalid('to', 'must be a SIP URI'); // checked by #candidates
    const keyings = this.#keyings(transportOf(to.uri), {});
    const media = this.#media({ codecs: this.#call.request.codecs, srtp: undefined, keyings });
    return planDirectly(this.#checked, to.uri, this.#options.contact, media);
  }

  #media(request: MediaRequest): SessionMedia {
    const key = JSON.stringify(request);
    if (key === this.#mediaKey) return this.plan.media;
    const media = this.#call.media(request);
    this.#mediaKey = key;
    return media;
  }
}

function checkedRequest({ request, replaces, referredBy }: CallToPlace): CheckedRequest {
  const to = readAddress(request.to);
  if (to === undefined) throw invalid('to', 'must be a number, a name, or a tel or SIP URI');
  const { displayName, ringTimeoutMs } = request;
  if (displayName !== undefined && displayName.length > MOST_NAME) {
    throw invalid('displayName', `must have at most ${MOST_NAME} characters`);
  }
  const isDuration = ringTimeoutMs === undefined || (ringTimeoutMs >= 1 && ringTimeoutMs <= MOST_RING_MS);
  if (!isDuration) throw invalid('ringTimeoutMs', `must be a number from 1 to ${MOST_RING_MS}`);
  const transfer: HeaderLine[] = [
    ...(replaces === undefined ? [] : REPLACING(replaces)),
    ...(referredBy === undefined ? [] : [['Referred-By', referredBy] as const]),
  ];
  const headers = [...transfer, ...callerHeaders(request.headers)];
  return { to, from: callerOf(request.from), displayName, headers, path: request.path };
}

const REPLACING = (replaces: Replaces): HeaderLine[] => [
  ['Replaces', writeReplaces(replaces)],
  ['Require', 'replaces'],
];

function isAt({ host }: Uri, { domain }: TrunkSettings): boolean {
  return parseUri(`sip:${domain}`)?.host === host;
}

/** The peer cannot use the offer, or does not want to. */
function isOfferRefused(outcome: SendOutcome): boolean {
  return 'response' in outcome && (outcome.response.status === 488 || outcome.response.status === 606);
}

/** The failure is the trunk's, not the callee's: it was unreachable, or failed (5xx, 408). */
function isTrunksOwn(outcome: SendOutcome): boolean {
  if ('failure' in outcome) return outcome.failure.reason !== 'cancelled';
  const { status } = outcome.response;
  return status === 408 || (status >= 500 && status < 600);
}

function pausedFor(response: Parameters<typeof retryAfterMs>[0]): number | undefined {
  return response.status === 503 ? retryAfterMs(response) : undefined;
}

/** Throws CALL_LOOP. */
function pathTo(uri: string, { path }: CheckedRequest): HeaderLine[] {
  return path === undefined ? [] : pathFields(path, uri);
}

/** Plans a call through a trunk. Throws CALL_LOOP. */
function planByTrunk(checked: CheckedRequest, trunk: Trunk, media: SessionMedia): CallPlan {
  const { settings } = trunk;
  const { domain, username, register, displayName } = settings;
  const uri = checked.to.kind === 'uri' ? checked.to.uri.text : addressAt(checked.to.user, domain);
  const own = readAddress(settings.from ?? username ?? OUR_USER) ?? { kind: 'user', user: OUR_USER };
  const caller = addressOf(
    checked.from === undefined || checked.from === 'anonymous' ? own : checked.from,
    domain,
  );
  const name = checked.displayName ?? (checked.from === undefined ? displayName : undefined);
  const { routes } = trunk;
  const us = register?.contactUser ?? username ?? OUR_USER;
  const identity = identityFields(
    writeNameAddr(name, caller),
    checked.from === 'anonymous',
    settings.assertedIdentity,
  );
  return {
    uri,
    to: `<${uri}>`,
    from: checked.from === 'anonymous' ? ANONYMOUS : writeNameAddr(name, caller),
    contact: (flow) => `<${secured(trunk.contact(us, flow), uri, routes[0])}>`,
    routes,
    headers: [...pathTo(uri, checked), ...identity, ...checked.headers],
    journey: trunk.journeyOf(uri),
    media,
    lateOffer: settings.lateOffer,
  };
}

/** Plans a call directly to a URI. Throws CALL_LOOP. */
function planDirectly(
  checked: CheckedRequest,
  uri: Uri,
  contact: ContactMaker,
  media: SessionMedia,
): CallPlan {
  const transport = transportOf(uri);
  const ours = contact(OUR_USER, undefined, undefined);
  const host = /@([^;?]+)/.exec(ours)?.[1] ?? 'localhost';
  const caller =
    checked.from === undefined || checked.from === 'anonymous'
      ? ours.replace(/;.*$/, '')
      : addressOf(checked.from, host);
  return {
    uri: uri.text,
    to: `<${uri.text}>`,
    from: checked.from === 'anonymous' ? ANONYMOUS : writeNameAddr(checked.displayName, caller),
    contact: (flow) => `<${secured(contact(OUR_USER, transport, flow), uri.text)}>`,
    routes: [],
    headers: [
      ...pathTo(uri.text, checked),
      ...(checked.from === 'anonymous' ? [['Privacy', 'id'] as const] : []),
      ...checked.headers,
    ],
    journey: { nextHop: uri },
    media,
    lateOffer: false,
  };
}

/** Throws INVALID_FIELD if the text is no address; `anonymous` withholds the caller. */
function callerOf(text: string | undefined): CheckedRequest['from'] {
  if (text === undefined) return undefined;
  if (/^anonymous$/i.test(text.trim())) return 'anonymous';
  const from = readAddress(text);
  if (from === undefined) throw invalid('from', 'must be a number, a name, a SIP URI or "anonymous"');
  return from;
}

/**
 * P-Asserted-Identity for a trunk that trusts us. Any other trunk gets P-Preferred-Identity if From withholds
 * the caller.
 */
function identityFields(caller: string, isAnonymous: boolean, isTrusted: boolean): HeaderLine[] {
  const privacy: HeaderLine[] = isAnonymous ? [['Privacy', 'id']] : [];
  if (isTrusted) return [['P-Asserted-Identity', caller], ...privacy];
  return isAnonymous ? [['P-Preferred-Identity', caller], ...privacy] : [];
}

function addressOf(address: WrittenAddress | { kind: 'user'; user: string }, domain: string): string {
  return address.kind === 'uri' ? address.uri.text : addressAt(address.user, domain);
}

/** A sips URI as target or first hop requires a sips Contact (RFC 3261, section 8.1.1.8). */
function secured(contact: string, uri: string, route = ''): string {
  return /^sips:/i.test(uri) || /^<sips:/i.test(route) ? contact.replace(/^sip:/, 'sips:') : contact;
}

/** The transport that the URI states. */
function transportOf({ scheme, params }: Uri): TrunkTransport | undefined {
  const stated = params.get('transport')?.toLowerCase();
  if (scheme === 'sips' || stated === 'tls') return 'tls';
  return stated === 'tcp' || stated === 'udp' ? stated : undefined;
}
