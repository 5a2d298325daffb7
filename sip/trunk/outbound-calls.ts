// Places calls: through the trunks, one after the other until one takes the
// call, or straight to a SIP URI.
import type { PhoneCallRequest } from '../../src/call/phone-calls.js';
import type { CodecName } from '../../src/codecs/codec.js';
import { ParleyError } from '../../src/errors.js';
import { retryAfterMs } from '../client/attempts.js';
import type { SendOutcome } from '../client/request-sender.js';
import { writeNameAddr } from '../message/caller-identity.js';
import { type Replaces, writeReplaces } from '../message/replaces.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseUri, type Uri } from '../message/uri.js';
import { type Keying, usualKeyings } from '../sdp/media-policy.js';
import type { CallPlan } from '../session/call-plan.js';
import { OutboundSession } from '../session/outbound-session.js';
import type { SessionContext } from '../session/session-context.js';
import type { SessionMedia } from '../session/session-media.js';
import type { SessionUser } from '../session/session.js';
import { addressAt, callerHeaders, invalid, readAddress, type WrittenAddress } from './call-fields.js';
import type { DestinationRules } from './destinations.js';
import type { TrunkSettings, TrunkTransport } from './trunk-settings.js';
import { type ContactMaker, type Trunk, type Trunks, TrunkTurn } from './trunk.js';

export interface OutboundCallsOptions {
  readonly trunks: Trunks;
  readonly context: SessionContext;
  readonly contact: ContactMaker;
  /** Whether SIP URIs of foreign domains are called without a trunk. */
  readonly direct: boolean;
  readonly rules: DestinationRules;
  /** What calls keep to whose trunk says nothing of SRTP; absent: an offer that was refused is not made in another way. */
  readonly srtp?: TrunkSettings['srtp'];
  /** Ways to agree on keys of calls whose trunk says nothing of them; by the transport, if absent. */
  readonly keying?: readonly Keying[] | undefined;
  /** Whether 3xx responses are followed, five at most. */
  readonly followsRedirections: boolean;
}

/** What the media of a call by one way has to keep to; all of it undefined for a direct call. */
export interface MediaWish {
  /** Preferred first: of the request, or of the trunk. */
  readonly codecs: readonly CodecName[] | undefined;
  readonly srtp: TrunkSettings['srtp'];
  /** How keys are agreed on; every way that there is, if absent. */
  readonly keyings?: readonly Keying[];
  /** An offer of ours has ICE. */
  readonly offerIce?: boolean;
  /** Addresses and networks of the trunk: media may come from there, whatever its description announces. */
  readonly networks?: readonly string[];
}

export interface CallToPlace {
  readonly request: PhoneCallRequest;
  /** Called for the first trunk, and for each later one that wants another media; the one before is then used no more. */
  readonly media: (wish: MediaWish) => SessionMedia;
  readonly user: SessionUser;
  /** The call takes the place of this dialog at the peer (RFC 3891). */
  readonly replaces?: Replaces;
  /** Value of Referred-By: who asked for the call (RFC 3892). */
  readonly referredBy?: string;
}

export interface PlacedCall {
  readonly session: OutboundSession;
  /** Name of the trunk that the call is with now; undefined for a direct call. */
  readonly trunk: () => string | undefined;
  /** As INVITE states them now. */
  readonly plan: () => CallPlan;
}

const MOST_RING_MS = 600_000;
const MOST_NAME = 100;

export class OutboundCalls {
  readonly #options: OutboundCallsOptions;

  constructor(options: OutboundCallsOptions) {
    this.#options = options;
  }

  /**
   * The call is on its way when it returns. INVALID_FIELD for what cannot be sent, FORBIDDEN for a destination that is
   * not allowed, NOT_FOUND for a trunk that nobody knows, RATE_LIMITED, CALL_LIMIT or ENGINE_UNAVAILABLE where no trunk
   * takes it now.
   */
  place(call: CallToPlace): PlacedCall {
    const wish = wishOf(call);
    const candidates = this.#candidates(call.request, wish);
    const count = this.#options.rules.check(wish.to, call.request.owner);
    const way = new CallWay(call, wish, candidates, this.#options);
    count();
    const { ringTimeoutMs } = call.request;
    const session = new OutboundSession({
      plan: way.plan,
      context: this.#options.context,
      user: call.user,
      ways: {
        next: (outcome, rang) => way.next(outcome, rang),
        ...(this.#options.followsRedirections ? { redirected: (target: Uri) => way.redirected(target) } : {}),
      },
      ...(ringTimeoutMs === undefined ? {} : { ringTimeoutMs }),
    });
    void session.over.then(() => way.done());
    session.start();
    return { session, trunk: () => way.trunk?.name, plan: () => way.plan };
  }

  /** The trunks to try; 'direct' where the address says enough by itself. */
  #candidates({ trunk }: PhoneCallRequest, { to }: CallWish): readonly Trunk[] | 'direct' {
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
      'to is at the domain of no trunk, and SIP_DIRECT_CALLS=0 allows no other calls',
      { field: 'to' },
    );
  }
}

/** One call on its way: the trunk that it is with, and the plan by which. */
class CallWay {
  plan: CallPlan;
  trunk: Trunk | undefined;
  readonly #call: CallToPlace;
  readonly #wish: CallWish;
  readonly #turn: TrunkTurn;
  readonly #options: OutboundCallsOptions;
  #mediaKey: string | undefined;
  #otherOffers: Keying[] = [];

  constructor(
    call: CallToPlace,
    wish: CallWish,
    candidates: readonly Trunk[] | 'direct',
    options: OutboundCallsOptions,
  ) {
    this.#call = call;
    this.#wish = wish;
    this.#options = options;
    this.#turn = new TrunkTurn(candidates === 'direct' ? [] : candidates);
    this.plan = candidates === 'direct' ? this.#direct() : this.#first();
  }

  /** By the next trunk: where this one could not be reached or failed by itself, and nobody was rung. */
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
      return undefined; // no media for this trunk: the call ends with what the one before said
    }
  }

  /** A 3xx leads elsewhere: by the same trunk within its domain, else directly and without its account. */
  redirected(target: Uri): CallPlan | undefined {
    const { trunk } = this;
    const { media } = this.plan;
    const wish: CallWish = { ...this.#wish, to: { kind: 'uri', uri: target } };
    if (!this.#allows(wish)) return undefined;
    if (trunk !== undefined && isAt(target, trunk.settings)) this.plan = planByTrunk(wish, trunk, media);
    else if (!this.#options.direct) return undefined;
    else this.plan = planDirectly(wish, target, this.#options.contact, media);
    return this.plan;
  }

  /** The far end chooses where a redirection leads, so the rules for destinations hold there, too. */
  #allows({ to }: CallWish): boolean {
    try {
      this.#options.rules.check(to, this.#call.request.owner)();
      return true;
    } catch {
      return false; // the call ends with the redirection
    }
  }

  /** The same way, with media that is encrypted in the next manner. */
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
   * For the first offer. An m= line has one profile, which allows one way to encrypt or none: a peer that refuses it
   * (488, 606) is offered the next one. RFC 5939 has both in one offer, but few peers read that.
   */
  #keyings(
    transport: TrunkTransport | undefined,
    { srtp, keying }: Partial<TrunkSettings>,
  ): readonly Keying[] {
    const offers = srtp ?? this.#options.srtp;
    const keyings = keying ?? this.#options.keying ?? usualKeyings(transport === 'tls');
    // After RTP/AVP, which has keys as a wish, each way is tried as a demand.
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
      this.#turn.done(); // the media could not be had
      throw error;
    }
  }

  #by(trunk: Trunk): CallPlan {
    const { codecs, srtp, addresses } = trunk.settings;
    const { to } = this.#wish;
    const transport = trunk.settings.transport ?? (to.kind === 'uri' ? transportOf(to.uri) : undefined);
    const keyings = this.#keyings(transport, trunk.settings);
    const networks = addresses.length === 0 ? {} : { networks: addresses };
    const media = this.#media({ codecs: this.#call.request.codecs ?? codecs, srtp, keyings, ...networks });
    this.trunk = trunk;
    this.plan = planByTrunk(this.#wish, trunk, media);
    return this.plan;
  }

  #direct(): CallPlan {
    const { to } = this.#wish;
    if (to.kind !== 'uri') throw invalid('to', 'must be a SIP URI'); // candidates were asked for
    const keyings = this.#keyings(transportOf(to.uri), {});
    const media = this.#media({ codecs: this.#call.request.codecs, srtp: undefined, keyings });
    return planDirectly(this.#wish, to.uri, this.#options.contact, media);
  }

  #media(wish: MediaWish): SessionMedia {
    const key = JSON.stringify(wish);
    if (key === this.#mediaKey) return this.plan.media;
    const media = this.#call.media(wish);
    this.#mediaKey = key;
    return media;
  }
}

function wishOf({ request, replaces, referredBy }: CallToPlace): CallWish {
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
  return { to, from: wishedCaller(request.from), displayName, headers };
}

const REPLACING = (replaces: Replaces): HeaderLine[] => [
  ['Replaces', writeReplaces(replaces)],
  ['Require', 'replaces'],
];

function isAt({ host }: Uri, { domain }: TrunkSettings): boolean {
  return parseUri(`sip:${domain}`)?.host === host;
}

/** Whoever is called cannot use what is offered, or does not want to. */
function isOfferRefused(outcome: SendOutcome): boolean {
  return 'response' in outcome && (outcome.response.status === 488 || outcome.response.status === 606);
}

/** Says something of the trunk, not of whom the call is for: it was not reached, or failed (5xx, 408). */
function isTrunksOwn(outcome: SendOutcome): boolean {
  if ('failure' in outcome) return outcome.failure.reason !== 'cancelled';
  const { status } = outcome.response;
  return status === 408 || (status >= 500 && status < 600);
}

function pausedFor(response: Parameters<typeof retryAfterMs>[0]): number | undefined {
  return response.status === 503 ? retryAfterMs(response) : undefined;
}

// Makes the plan of a call by one trunk, or by none: who is called, who calls,
// and what is told of either (RFC 3261 section 8.1.1, RFC 3323, RFC 3325).

/** Of a call, whichever way it goes. */
interface CallWish {
  readonly to: WrittenAddress;
  /** Undefined: that of the trunk. `anonymous` withholds it. */
  readonly from: WrittenAddress | 'anonymous' | undefined;
  readonly displayName: string | undefined;
  readonly headers: readonly HeaderLine[];
}

const OUR_USER = 'parley'; // where nobody says who calls
const ANONYMOUS = '"Anonymous" <sip:anonymous@anonymous.invalid>';

/** INVALID_FIELD `to` for an address that cannot be sent to. */
function planByTrunk(wish: CallWish, trunk: Trunk, media: SessionMedia): CallPlan {
  const { settings } = trunk;
  const { domain, username, register, displayName } = settings;
  const uri = wish.to.kind === 'uri' ? wish.to.uri.text : addressAt(wish.to.user, domain);
  const own = readAddress(settings.from ?? username ?? OUR_USER) ?? { kind: 'user', user: OUR_USER };
  const caller = addressOf(wish.from === undefined || wish.from === 'anonymous' ? own : wish.from, domain);
  const name = wish.displayName ?? (wish.from === undefined ? displayName : undefined);
  const { routes } = trunk;
  const us = register?.contactUser ?? username ?? OUR_USER;
  const identity = identityFields(
    writeNameAddr(name, caller),
    wish.from === 'anonymous',
    settings.assertedIdentity,
  );
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
}

/** Straight to where the URI leads. */
function planDirectly(wish: CallWish, uri: Uri, contact: ContactMaker, media: SessionMedia): CallPlan {
  const transport = transportOf(uri);
  const ours = contact(OUR_USER, undefined, undefined);
  const host = /@([^;?]+)/.exec(ours)?.[1] ?? 'localhost';
  const caller =
    wish.from === undefined || wish.from === 'anonymous'
      ? ours.replace(/;.*$/, '')
      : addressOf(wish.from, host);
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
}

/** INVALID_FIELD where the text is no address; `anonymous` is one that is none. */
function wishedCaller(text: string | undefined): CallWish['from'] {
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
function transportOf({ scheme, params }: Uri): TrunkTransport | undefined {
  const stated = params.get('transport')?.toLowerCase();
  if (scheme === 'sips' || stated === 'tls') return 'tls';
  return stated === 'tcp' || stated === 'udp' ? stated : undefined;
}
