// Places calls: through the trunks, one after the other until one takes the
// call, or straight to a SIP URI.
import type { CodecName } from '../../src/codecs/codec.js';
import { ParleyError } from '../../src/errors.js';
import type { PhoneCallRequest } from '../../src/call/phone-calls.js';
import { retryAfterMs } from '../client/attempts.js';
import type { SendOutcome } from '../client/request-sender.js';
import { writeReplaces, type Replaces } from '../headers/replaces.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseUri, type Uri } from '../message/uri.js';
import { type Keying, usualKeyings } from '../sdp/media-policy.js';
import type { CallPlan } from '../session/call-plan.js';
import { OutboundSession } from '../session/outbound-session.js';
import type { SessionContext } from '../session/session-context.js';
import type { SessionMedia } from '../session/session-media.js';
import type { SessionUser } from '../session/session.js';
import { readAddress } from './caller-address.js';
import { callerHeaders, invalid } from './caller-headers.js';
import {
  planByTrunk,
  planDirectly,
  transportOf,
  wishedCaller,
  type CallWish,
  type ContactMaker,
} from './call-planner.js';
import type { DestinationRules } from './destinations.js';
import type { Trunk } from './trunk.js';
import type { TrunkSettings, TrunkTransport } from './trunk-settings.js';
import { type Trunks, TrunkTurn } from './trunks.js';

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
