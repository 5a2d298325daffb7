// Places outbound calls, for applications and for transfers.
import type { MediaPort } from '../../src/call/call-route.js';
import type { PhoneCallRequest, PhoneCallView } from '../../src/call/phone-calls.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { SipConfig } from '../../src/config/telephone-config.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { Replaces } from '../message/replaces.js';
import type { CallMedia } from '../media/call-media.js';
import type { SessionUser } from '../session/session.js';
import { addressAt, readAddress, type WrittenAddress } from '../trunk/call-fields.js';
import { DestinationRules } from '../trunk/destinations.js';
import { type MediaRequest, OutboundCalls } from '../trunk/outbound-calls.js';
import type { TrunkSettings } from '../trunk/trunk-settings.js';
import { Trunk, Trunks } from '../trunk/trunk.js';
import type { Leg } from './leg.js';
import type { PhoneCallInfo } from './call-view.js';
import { PhoneCall, type PhoneCallParts } from './phone-call.js';
import type { PhoneBook } from './phone-book.js';
import type { SipNetwork } from './sip-network.js';
import type { Log } from '../../src/log.js';

interface OutboundPlacingParts extends PhoneCallParts {
  readonly config: SipConfig;
  readonly trunks: readonly TrunkSettings[];
  /** SRTP and key agreement of calls whose trunk does not configure them. */
  readonly srtp: NonNullable<TrunkSettings['srtp']>;
  readonly keying?: TrunkSettings['keying'] | undefined;
  readonly switchboard: Pick<Switchboard, 'open' | 'check'>;
  /**
   * Opens the media of a call whose signalling uses this local address. Throws CALL_LIMIT if no port is free.
   */
  readonly openMedia: (localAddress: string, request?: Partial<MediaRequest>) => CallMedia;
  readonly log: Log;
  readonly network: SipNetwork;
  readonly book: PhoneBook;
  readonly opened: (call: PhoneCall) => void;
}

interface DialledTarget {
  readonly uri: string;
  readonly replaces: Replaces | undefined;
  readonly referredBy: string | undefined;
  /** Name of the API key that owns the call. */
  readonly owner?: string | undefined;
}

const QUIET: SessionUser = { established: () => undefined, ended: () => undefined };

export class OutboundPlacing {
  readonly trunks: Trunks;
  readonly #parts: OutboundPlacingParts;
  readonly #calls: OutboundCalls;
  readonly #rules: DestinationRules;
  #closing = false;

  constructor(parts: OutboundPlacingParts) {
    const { network, trunks, time, log } = parts;
    this.#parts = parts;
    const contact = network.contactOf;
    const { sender, token } = network;
    const changed = (trunk: string, change: object): void => log.info({ trunk, ...change }, 'trunk changed');
    const options = {
      sender,
      contact,
      time,
      token,
      random: Math.random,
      randomBytes: network.randomBytes,
      changed,
    };
    this.trunks = new Trunks(trunks.map((settings) => new Trunk({ ...options, settings })));
    const { context } = network.agent;
    const { directCalls: direct, redirections: followsRedirections } = parts.config;
    this.#rules = new DestinationRules(parts.config, time);
    const { srtp, keying } = parts;
    const ways = { srtp, keying, direct, followsRedirections, rules: this.#rules };
    this.#calls = new OutboundCalls({ trunks: this.trunks, context, contact, ...ways });
  }

  open(): void {
    this.trunks.start();
  }

  place(request: PhoneCallRequest): Promise<PhoneCallView> {
    const { switchboard } = this.#parts;
    if (this.#closing) return Promise.reject(new ParleyError('CALL_CLOSED', 'the server is closing'));
    if (request.agent !== undefined && this.#parts.handler?.has(request.agent) !== true) {
      const message = `there is no agent ${JSON.stringify(request.agent.slice(0, 100))}`;
      return Promise.reject(new ParleyError('CAPABILITY_MISSING', message, { field: 'agent' }));
    }
    if (request.relay !== undefined && this.#parts.handler === undefined) {
      const message = 'this server connects calls with no applications';
      return Promise.reject(new ParleyError('CAPABILITY_MISSING', message, { field: 'relay' }));
    }
    const problem = request.program && this.#parts.programs?.problemOf(request.program);
    if (request.program !== undefined && (this.#parts.programs === undefined || problem !== undefined)) {
      const message = problem ?? 'this server has no call programs';
      return Promise.reject(new ParleyError('CAPABILITY_MISSING', message, { field: request.program.kind }));
    }
    return new Promise((resolve, reject) => {
      let phone: PhoneCall | undefined;
      const makePort = async (id: string): Promise<MediaPort> => {
        if (request.say !== undefined) switchboard.check(request.say.text, request.say);
        this.#checkScreening(request);
        phone = this.#dialled(id, request);
        resolve(phone.view);
        return phone.port;
      };
      const clients = request.owner === undefined ? [] : [`key ${request.owner}`];
      switchboard.open(makePort, { protocol: 'sip', clients, dialled: true }).then(
        (call) => phone?.talks(call),
        (error: unknown) => reject(asParleyError(error, 'TRANSPORT_UNSUPPORTED')),
      );
    });
  }

  /** Throws what `Call.speak` would throw for the text to a screening service, and names its fields. */
  #checkScreening({ detect: { screening } = {} }: PhoneCallRequest): void {
    if (screening === undefined) return;
    try {
      this.#parts.switchboard.check(screening.text, screening);
    } catch (error) {
      const { code, message, field } = asParleyError(error, 'ENGINE_FAILED');
      if (field === undefined) throw error;
      throw new ParleyError(code, message, { field: `detect.screening.${field}`, cause: error });
    }
  }

  /**
   * Calls a target. The caller sets the session's user. `exchanged` is called if another trunk needs other
   * media; the media before is closed. Throws the errors with which `place` rejects.
   */
  dial({ uri, replaces, referredBy, owner }: DialledTarget, exchanged: (media: CallMedia) => void): Leg {
    if (this.#closing) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    const leg = this.#leg({ request: { to: uri, owner }, replaces, referredBy }, exchanged);
    if (leg.session.state !== 'ended') return leg;
    leg.media.close();
    throw new ParleyError('ENGINE_UNAVAILABLE', 'the call could not be sent');
  }

  /** The URI of a transfer target: the domain completes a number or name. */
  uriOf(to: string, domain: string): string {
    const address = writtenAddress(to);
    return address.kind === 'uri' ? address.uri.text : addressAt(address.user, domain);
  }

  /**
   * Counts a call that the far end of another call is to place. Throws FORBIDDEN and RATE_LIMITED as for a
   * call of this server.
   */
  checkDestination(to: string, owner: string | undefined): void {
    this.#rules.check(writtenAddress(to), owner)();
  }

  /** Refuses new calls and removes the registrations of the trunks. */
  close(): void {
    this.#closing = true;
    void this.trunks.close();
  }

  closed(): Promise<void> {
    return this.trunks.close();
  }

  #dialled(id: string, request: PhoneCallRequest): PhoneCall {
    const { book, opened } = this.#parts;
    const { owner, parent, to, from = '', displayName, say, agent, relay, program, detect } = request;
    const conductor = agent ?? relay;
    const info: PhoneCallInfo = { id, direction: 'outbound', to, from, displayName, owner, parent };
    const phone = new PhoneCall(info, this.#parts);
    if (detect !== undefined) phone.detect(detect);
    try {
      const leg = this.#leg({ request }, (media) => phone.carriedBy({ ...(phone.leg as Leg), media }));
      phone.carriedBy(leg);
      if (leg.session.state === 'ended')
        throw new ParleyError('ENGINE_UNAVAILABLE', 'the call could not be sent');
    } catch (error) {
      void phone.end({ reason: 'failed' });
      throw error;
    }
    book.add(phone);
    opened(phone);
    if (say !== undefined) {
      phone.onceTalking((call) => {
        phone.speak(say.text, say);
        if (say.after === 'hangup') void call.spoken().then(() => phone.end({ reason: 'we hung up' }));
      });
    }
    if (conductor !== undefined) phone.onceTalking(() => phone.conductedBy(conductor));
    if (program !== undefined) phone.onceTalking(() => phone.conductedByProgram(program));
    return phone;
  }

  /** `exchanged` is called if another trunk needs other media; the media before is closed here. */
  #leg(
    call: { request: PhoneCallRequest; replaces?: Replaces | undefined; referredBy?: string | undefined },
    exchanged: (media: CallMedia) => void,
  ): Leg {
    const { openMedia, config } = this.#parts;
    let media: CallMedia | undefined;
    try {
      const { session, trunk } = this.#calls.place({
        ...call,
        user: QUIET,
        media: (wanted) => {
          const before = media;
          media = openMedia(localFor(call.request.to, config.hosts), wanted);
          if (before !== undefined) exchanged(media);
          before?.close();
          return media;
        },
      });
      if (media === undefined) throw new ParleyError('WRONG_STATE', 'a call was placed without media');
      return { session, media, trunk };
    } catch (error) {
      media?.close();
      throw error;
    }
  }
}

/** Throws INVALID_FIELD. */
function writtenAddress(to: string): WrittenAddress {
  const address = readAddress(to);
  if (address !== undefined) return address;
  const message = 'to must be a number, a name, or a tel or SIP URI';
  throw new ParleyError('INVALID_FIELD', message, { field: 'to' });
}

/** Our address for calls to this target: one of the same family, if the target states it. */
function localFor(to: string, hosts: readonly string[]): string {
  const wantsSix = /@\[|sips?:\[/i.test(to);
  return hosts.find((host) => host.includes(':') === wantsSix) ?? hosts[0] ?? '127.0.0.1';
}
