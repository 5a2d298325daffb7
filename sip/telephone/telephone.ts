// The telephone: it answers incoming SIP calls, places outbound calls for applications, and lets applications
// speak into all of them.
//
//   network ─▶ admission ─▶ sessions ─▶ inbound calls ─┐
//   applications ─▶ outbound calls ────────────────────┴─▶ phone calls ─▶ switchboard
import type { Country } from '../../src/audio/country-tones.js';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CallHandler } from '../../src/call/call-handler.js';
import type { Interruption } from '../../src/call/utterance-queue.js';
import type {
  CallRecord,
  CallText,
  DigitsRequest,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCalls,
  PhoneCallView,
  TransferOutcome,
  TransferRequest,
} from '../../src/call/phone-calls.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import type { Joining } from '../../src/call/joining.js';
import type { TurnRecogniser } from '../../src/call/turn-texts.js';
import type { Interruptible } from '../../src/call/utterance.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import { AuthorityRenewal, CertificateRenewal } from '../../src/config/certificate.js';
import type { SipConfig } from '../../src/config/telephone-config.js';
import type { PlayedSound } from '../../src/speaking/speech-piece.js';
import type { Time } from '../../src/time.js';
import type { DigestServer } from '../auth/digest-server.js';
import type { CallTaps, TapCounts } from '../capture/call-taps.js';
import type { Guard } from '../guard/guard.js';
import type { CallMedia } from '../media/call-media.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import type { InboundSession } from '../session/inbound-session.js';
import type { TlsIdentity } from '../transport/listener-options.js';
import type { TransportCount } from '../transport/transport-limits.js';
import type { MediaRequest } from '../trunk/outbound-calls.js';
import type { TrunkSettings } from '../trunk/trunk-settings.js';
import { SipAdmission, type RecentPeers } from './sip-admission.js';
import type { Answering } from './answering.js';
import type { IncomingDecision } from './incoming-decision.js';
import { InboundCalls } from './inbound-calls.js';
import { incomingMediaRequest, type MediaSupply } from './media-supply.js';
import { OutboundPlacing } from './outbound-placing.js';
import { PhoneBook } from './phone-book.js';
import type { PhoneCall } from './phone-call.js';
import { SipNetwork } from './sip-network.js';
import { certificateFiles } from './telephone-settings.js';
import { Transfers } from './transfers.js';
import { stated } from '../../src/stated.js';
import type { Log } from '../../src/log.js';

export interface TelephoneParts {
  readonly config: SipConfig;
  readonly tls: TlsIdentity;
  readonly trunks: readonly TrunkSettings[];
  /** SRTP and key agreement of calls whose trunk does not configure them. */
  readonly srtp: NonNullable<TrunkSettings['srtp']>;
  readonly keying?: TrunkSettings['keying'] | undefined;
  /** Makes the guard; `allowedNow` is true for addresses that are allowed at run time. */
  readonly guardOf: (allowedNow: (address: string) => boolean) => Guard;
  readonly digest: DigestServer | undefined;
  /**
   * Opens the captures; `isTrusted` says whether callers from an address may ask for one. Undefined: no
   * captures.
   */
  readonly captures?: ((isTrusted: (address: string) => boolean) => CallTaps) | undefined;
  readonly recentPeers: RecentPeers;
  /** Absent: no agent takes calls. */
  readonly handler?: CallHandler | undefined;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser | undefined;
  /** Country of the network's tones; `US`, if absent. */
  readonly toneCountry?: Country | undefined;
  /** Absent: rules join no calls. */
  readonly joining?: Pick<Joining, 'begin' | 'ring'> | undefined;
  /** Absent: there are no call programs. */
  readonly programs?: CallPrograms | undefined;
  readonly answering: Answering;
  /** Asks the application about each incoming call; absent: the rules decide alone. */
  readonly decision?: IncomingDecision | undefined;
  readonly switchboard: Pick<Switchboard, 'open' | 'check' | 'newId'>;
  /**
   * Opens the media of a call whose signalling uses this local address. Throws CALL_LIMIT if no port is free.
   */
  readonly openMedia: (localAddress: string, request?: Partial<MediaRequest>) => CallMedia;
  readonly ports: () => MediaSupply['counts'];
  /** Number of times that media came from another address than the announced one. */
  readonly departures?: () => number;
  /** RTP packets of all callers since the start. */
  readonly packets?: () => MediaSupply['packets'];
  /** Closes what belongs to the telephone besides. */
  readonly ended: () => Promise<void>;
  readonly silenceLimitMs: number;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly recorded: (record: CallRecord) => void;
  readonly onResponse: (direction: 'in' | 'out', method: string, status: number) => void;
  readonly log: Log;
}

/** Causes for which connections were cut or refused. */
const CUT: readonly TransportCount[] = [
  'connections-refused',
  'handshakes-failed',
  'handshakes-slow',
  'datagram-too-large',
  'head-too-large',
  'body-too-large',
  'unframed',
  'message-slow',
  'first-message-missing',
  'reader-slow',
];

interface PhoneSockets {
  readonly path: string;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, isSecure: boolean) => void;
}

export class Telephone implements PhoneCalls {
  readonly #parts: TelephoneParts;
  readonly #book: PhoneBook;
  readonly #guard: Guard;
  readonly #taps: CallTaps | undefined;
  readonly #admission: SipAdmission;
  readonly #network: SipNetwork;
  readonly #placing: OutboundPlacing;
  readonly #transfers: Transfers;
  readonly #renewals: readonly (CertificateRenewal | AuthorityRenewal)[];
  #closing: Promise<void> | undefined;

  /** Throws CONFIG_INVALID for an unusable listener. */
  constructor(parts: TelephoneParts) {
    this.#parts = parts;
    this.#book = new PhoneBook(parts.time);
    const opened = (phone: PhoneCall): void => this.#transfers.watch(phone);
    const transfer = (phone: PhoneCall, request: TransferRequest): Promise<TransferOutcome> =>
      this.#transfers.transfer(phone, request);
    const calls = { ...parts, book: this.#book, opened, transfer };
    const isTrunk = (address: string): boolean =>
      this.#placing.trunks.all.some((trunk) => trunk.isAt(address));
    this.#guard = parts.guardOf(isTrunk);
    this.#taps = parts.captures?.((address) => this.#guard.allows(address));
    const { digest, recentPeers } = parts;
    this.#admission = new SipAdmission({ guard: this.#guard, digest, recentPeers });
    const mediaRequest = (session: InboundSession): Partial<MediaRequest> => this.#mediaRequest(session);
    const { callHeaders } = parts.config;
    const inbound = new InboundCalls({ ...calls, admission: this.#admission, mediaRequest, callHeaders });
    this.#network = new SipNetwork({
      ...parts,
      admission: this.#admission,
      taps: this.#taps,
      invited: (session) => inbound.invited(session),
      journeyFor: ({ uri }, { remote }) => this.#placing.trunks.of(remote.address, uri.user)?.within,
      failed: (error, message) => this.#failed(error, message),
    });
    this.#placing = new OutboundPlacing({ ...calls, network: this.#network });
    this.#transfers = new Transfers({ ...calls, placing: this.#placing });
    this.#renewals = this.#renewalsOf(parts);
  }

  /** Rejects with CONFIG_INVALID if an address is not available; nothing is left open then. */
  async open(): Promise<void> {
    await this.#network.open();
    for (const renewal of this.#renewals) await renewal.open();
    this.#placing.open();
    this.#parts.log.info({ listening: this.#network.listening }, 'telephone open');
  }

  get network(): SipNetwork {
    return this.#network;
  }

  /** SIP over WebSockets for browser phones, upgraded by the HTTP server. */
  get sockets(): PhoneSockets {
    const admission = this.#admission;
    return {
      path: '/sip',
      upgrade: (request, socket, head, isSecure) => {
        if (admission.knows(request.socket.remoteAddress ?? '')) {
          this.#network.transports.upgrade(request, socket, head, isSecure);
        } else {
          this.#network.transports.counts.add('strangers');
          socket.destroy();
        }
      },
    };
  }

  /** Rejected requests and connections, by cause. */
  get dropped(): Readonly<Record<string, number>> {
    const { scanner, stranger, banned, flood, refused } = this.#guard.counts;
    const { transports, transactions } = this.#network;
    return {
      scanner,
      // Most of them are not read at all.
      stranger: stranger + transports.counts.of('strangers'),
      banned,
      flood: flood + refused,
      overload: transactions.countOf('overload'),
      malformed: transactions.countOf('malformed') + transactions.countOf('not-sip'),
      failed: transactions.countOf('failed'),
      ...Object.fromEntries(CUT.map((cause) => [cause, transports.counts.of(cause)])),
    };
  }

  get registrations(): readonly { readonly trunk: string; readonly state: ReturnType<typeof stateOf> }[] {
    return this.#placing.trunks.views.flatMap(({ name: trunk, registration }) =>
      registration === undefined ? [] : [{ trunk, state: stateOf(registration) }],
    );
  }

  /** RTP port pairs by state. */
  get ports(): Readonly<Record<string, number>> {
    const { inUse: used, draining: resting, free } = this.#parts.ports();
    return { used, resting, free };
  }

  /** Number of times that media came from another address than the announced one. */
  get departures(): number {
    return this.#parts.departures?.() ?? 0;
  }

  /** RTP packets of all callers since the start: received, and missing by their numbers. */
  get packets(): MediaSupply['packets'] {
    return this.#parts.packets?.() ?? { received: 0, lost: 0 };
  }

  /** Undefined without captures. */
  get captured(): TapCounts | undefined {
    return this.#taps?.counts;
  }

  /** Figures for /health. */
  get health(): Readonly<Record<string, unknown>> {
    const trunks = this.#placing.trunks.views.map(({ name, registration, reachable, calls }) =>
      stated({
        name,
        calls,
        registered: registration?.registered,
        failure: registration?.failure,
        reachable,
      }),
    );
    return { listening: this.#network.listening, calls: this.size, trunks };
  }

  /** Number of calls that have not ended. */
  get size(): number {
    return this.#book.open.length;
  }

  place(request: PhoneCallRequest): Promise<PhoneCallView> {
    return this.#placing.place(request);
  }

  list(): readonly PhoneCallView[] {
    return this.#book.list();
  }

  get(id: string): PhoneCallView {
    return this.#book.get(id).view;
  }

  /** Name of the API key that a call belongs to; undefined: to every key, or there is no such call. */
  ownerOf(id: string): string | undefined {
    return this.list().find((call) => call.id === id)?.owner;
  }

  say(id: string, { text, ...options }: CallText): { readonly utterance: number } {
    return { utterance: this.#book.get(id).speak(text, options).number };
  }

  play(id: string, sound: PlayedSound, interruptible?: Interruptible): { readonly utterance: number } {
    return { utterance: this.#book.get(id).play(sound, interruptible).number };
  }

  listen(id: string, settings: Partial<HearingSettings> | undefined): void {
    this.#book.get(id).listen(settings);
  }

  interrupt(id: string): Interruption {
    return this.#book.get(id).interrupt();
  }

  async press(id: string, request: DigitsRequest): Promise<void> {
    await this.#book.get(id).press(request);
  }

  async hold(id: string, held: boolean): Promise<PhoneCallView> {
    const phone = this.#book.get(id);
    await phone.hold(held);
    return phone.view;
  }

  async transfer(id: string, request: TransferRequest): Promise<TransferOutcome> {
    return this.#transfers.transfer(this.#book.get(id), request);
  }

  async hangUp(id: string): Promise<PhoneCallView> {
    const phone = this.#book.get(id);
    await phone.end({ reason: phone.isUnanswered ? 'cancelled' : 'we hung up' });
    return phone.view;
  }

  follow(id: string, after: number, onEvent: (event: PhoneCallEvent) => void): () => void {
    return this.#book.get(id).follow(after, onEvent);
  }

  /** Refuses new calls in both directions with 503; current ones go on. */
  drain(): void {
    this.#network.agent.drain();
    this.#placing.close();
  }

  /** Ends every call and frees everything. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #mediaRequest({ flow, request, offers }: InboundSession): Partial<MediaRequest> {
    const trunk = this.#placing.trunks.of(flow.remote.address, request.uri.user)?.settings;
    return incomingMediaRequest({ transport: flow.transport, offers, trunk, server: this.#parts });
  }

  /** Renews certificate and authorities from their files: new connections use them, and calls go on. */
  #renewalsOf({ config, tls, log }: TelephoneParts): readonly (CertificateRenewal | AuthorityRenewal)[] {
    const { transports } = this.#network;
    let identity = tls;
    const use = (change: Partial<TlsIdentity>): void => {
      identity = { ...identity, ...change };
      transports.renew(identity);
    };
    const files = certificateFiles(config);
    const { tlsCa: path } = config;
    const authorities = path === undefined ? undefined : { path, variable: 'SIP_TLS_CA' };
    return [
      ...(files === undefined
        ? []
        : [new CertificateRenewal(files, ({ cert, key }) => use({ cert, key }), log)]),
      ...(authorities === undefined ? [] : [new AuthorityRenewal(authorities, (ca) => use({ ca }), log)]),
    ];
  }

  /** An unexpected error ends only the call of its message. */
  #failed(error: unknown, message: SipRequest | SipResponse | undefined): void {
    const phone = message && this.#book.concernedBy(message);
    this.#parts.log.warn({ call: phone?.info.id, err: error }, 'a SIP message met a defect');
    void phone?.end({ reason: 'failed', detail: 'a message of the far end could not be handled' });
  }

  async #close(): Promise<void> {
    for (const renewal of this.#renewals) renewal.close();
    this.drain();
    await Promise.all(this.#book.open.map((phone) => phone.end({ reason: 'server closing' })));
    await this.#placing.closed();
    await this.#network.close();
    await this.#taps?.close();
    await this.#parts.ended();
  }
}

function stateOf({ registered, failure }: { registered: boolean; failure: unknown }) {
  if (registered) return 'registered';
  return failure === undefined ? 'registering' : 'failed';
}

/**
 * Figures of the telephone for metrics. `telephone` is called at each scrape: undefined while it is closed.
 */
export function sipFigures(telephone: () => Telephone | undefined) {
  return {
    dropped: () => telephone()?.dropped ?? {},
    retransmissions: () => telephone()?.network.transactions.countOf('retransmissions') ?? 0,
    registrations: () => telephone()?.registrations ?? [],
    latchDepartures: () => telephone()?.departures ?? 0,
    rtpPorts: () => ({ ...telephone()?.ports }),
    packets: () => telephone()?.packets ?? { received: 0, lost: 0 },
  };
}
