// The handshake on a call's own socket before encrypted media flows: it answers ICE checks and runs DTLS with
// the far end that the description announces.
//
//   checks ─▶ MediaSocket.ice ─▶ checked and nominated addresses        DTLS ─▶ DtlsAssociation
//
// With ICE nothing is sent to an address, and no DTLS taken from it, before a check came from there. The
// socket and the association exchange datagrams without JavaScript.
//
// Without ICE the far end may be behind a NAT: other addresses than the announced one may try (see
// DtlsSourceFilter), and the certificate proves which one is the far end. JavaScript decides on each datagram
// once the one before has been processed. Descriptions and sources can name a third party, so an address gets
// three flights at most until the far end is proven, however often the handshake begins anew. A server that
// asks for a cookie gets three more, once.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { DtlsKeys, ForeignPacket, IceCredentials } from './media-addon.js';
import {
  type CertificateFingerprint,
  type DatagramSource,
  type DtlsAssociation,
  type DtlsCertificate,
  HANDSHAKE_LIMIT_MS,
} from './dtls-association.js';
import type { IceComponent, MediaSocket } from './media-socket.js';

interface MediaHandshakeOptions extends HandshakeTerms {
  /**
   * Its callbacks for ICE and DTLS are taken. It has learned where the far end is announced, unless there is
   * ICE.
   */
  readonly socket: MediaSocket;
  readonly certificate: DtlsCertificate;
  readonly time: Time;
  /** Once for each association. The keys before are of no use any more. */
  readonly onKeys: (keys: DtlsKeys) => void;
  /** FINGERPRINT_MISMATCH, DTLS_FAILED, or TIMEOUT: no handshake within 15 s, no ICE check within 30 s. */
  readonly onFailed: (error: ParleyError) => void;
  /**
   * The far end is reached there: a check asked for it, or, without ICE, DTLS proved it. The socket should
   * learn it, unless it follows ICE.
   */
  readonly onNominated: (address: string, port: number, component: IceComponent) => void;
  /** True unless stated: with ICE the socket sends media to the nominated address by itself. */
  readonly followIce?: boolean;
  /** The far end ended the association: it sends no media under its keys any more. */
  readonly onClosed?: () => void;
  /** Application data of the far end, message by message; if absent, it is dropped. */
  readonly onData?: (data: Uint8Array) => void;
}

const MOST_UNPROVEN_FLIGHTS = 3; // to one address
const MOST_WAITING = 64; // datagrams without ICE
// A browser gathers its addresses first, and the network may be slow to say them.
const CHECK_LIMIT_MS = 30_000;
const LAST_OF_STUN = 3; // RFC 7983

export class MediaHandshake {
  readonly #options: MediaHandshakeOptions;
  #terms: HandshakeTerms;
  #association: DtlsAssociation;
  #sources: DtlsSourceFilter;
  /** Deadline of the handshake, on the clock of `time`; set when it begins without ICE. */
  #untilMs: number | undefined;
  /** First error caused by an unannounced source; reported instead of a timeout. */
  #refusal: ParleyError | undefined;
  /** True once the current association has produced keys. */
  #proven = false;
  /**
   * The far end. Without ICE, the last source whose datagram was answered; with ICE, a checked or nominated
   * one. Undefined before that.
   */
  #far: DatagramSource | undefined;
  /** Flights to each address, without ICE, since the far end was last proven. */
  readonly #flights = new Map<string, UnprovenFlights>();
  /** Datagrams that are to be decided on, without ICE. */
  readonly #waiting: ForeignPacket[] = [];
  #nominated = false;
  #cancelLimit: (() => void) | undefined;
  #closed = false;

  /** Begins at once, so it is made when the far end has, or is about to get, our description. */
  constructor(options: MediaHandshakeOptions) {
    this.#options = options;
    this.#terms = options;
    this.#association = this.#associate();
    this.#sources = this.#filterSources();
    this.#useIce(options.ice);
    const { socket } = options;
    socket.onForeign = () => this.#takeForeign();
    socket.onNominated = (address, port, component) => this.#nominate({ address, port }, component);
    socket.onChecked = (address, port) => this.#checked({ address, port });
    socket.onPathLost = () => (this.#nominated = false);
    this.#begin();
    this.#takeForeign();
  }

  /** The far end is authenticated. */
  get secured(): boolean {
    return this.#association.open;
  }

  /** Time of the last ICE check, on the plane's clock; undefined without ICE and before the first. */
  get lastCheckMs(): number | undefined {
    return this.#options.socket.lastCheckMs;
  }

  /**
   * Applies a new description, after the socket has learned it. The association continues if fingerprints,
   * role and tls-id are the same, also through an ICE restart. Otherwise a new one starts (RFC 8842 section
   * 3.1).
   */
  renegotiate(terms: HandshakeTerms): void {
    if (this.#closed) return;
    const before = this.#terms;
    this.#terms = terms;
    if (sameAssociation(before, terms) && !this.#association.over) {
      this.#useIce(terms.ice);
      // No further check can start it.
      if (terms.ice === undefined) this.#begin();
      return;
    }
    this.#association.close();
    // The peer may be another one. Without ICE the socket knows its address; with new credentials a check
    // will show it.
    if (terms.ice === undefined || terms.ice.localUfrag !== before.ice?.localUfrag) {
      this.#far = undefined;
      this.#nominated = false;
    }
    this.#untilMs = this.#refusal = undefined;
    this.#proven = false;
    this.#association = this.#associate();
    this.#sources = this.#filterSources();
    this.#useIce(terms.ice);
    this.#begin();
    this.#takeWaiting();
  }

  /** Sends one message of application data, at most 2048 bytes; false unless the far end is authenticated. */
  sendData(data: Uint8Array): boolean {
    return this.#association.sendData(data);
  }

  /**
   * Closes the association with close_notify; call it before the socket is closed. No callback follows.
   * Idempotent.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { socket } = this.#options;
    socket.onForeign = socket.onNominated = socket.onChecked = socket.onPathLost = undefined;
    this.#cancelLimit?.();
    this.#association.close();
  }

  get #usesIce(): boolean {
    return this.#terms.ice !== undefined;
  }

  #associate(): DtlsAssociation {
    const { certificate, time, socket, onClosed, onData } = this.#options;
    const { setup, fingerprints } = this.#terms;
    const limitMs =
      this.#untilMs === undefined ? HANDSHAKE_LIMIT_MS : Math.max(1, this.#untilMs - time.now());
    return socket.openDtls({
      certificate,
      role: setup,
      fingerprints,
      time,
      send: (data, from) => this.#send(data, from),
      onKeys: (keys) => this.#secured(keys),
      onFailed: (error, from) => this.#failed(error, from),
      onClosed: () => onClosed?.(),
      onData,
      onIdle: () => this.#takeWaiting(),
      limitMs,
    });
  }

  #filterSources(): DtlsSourceFilter {
    const { time } = this.#options;
    return new DtlsSourceFilter({ role: this.#terms.setup, time, announced: () => this.#announced() });
  }

  /**
   * Reports a failed handshake. If an unannounced source without proof caused it, the handshake restarts
   * instead: the far end may still answer.
   */
  #failed(error: ParleyError, from: DatagramSource | undefined): void {
    const by = !this.#usesIce && !this.#proven ? from : undefined;
    if (by === undefined || this.#sources.isAnnounced(by)) {
      return this.#options.onFailed(error.code === 'TIMEOUT' ? (this.#refusal ?? error) : error);
    }
    this.#refusal ??= error;
    this.#again();
    this.#takeWaiting();
  }

  #again(): void {
    this.#sources.again();
    this.#association.close();
    this.#far = undefined;
    this.#association = this.#associate();
    this.#association.start();
  }

  #useIce(credentials: IceCredentials | undefined): void {
    if (credentials === undefined) this.#nominated = false;
    const { socket, followIce = true } = this.#options;
    socket.ice(credentials, { follow: followIce });
    socket.useDtls(credentials === undefined ? undefined : this.#association, this.#far);
  }

  /** The first check begins the handshake if ICE is used, because no address is known before. */
  #begin(): void {
    this.#cancelLimit?.();
    if (!this.#usesIce) this.#untilMs ??= this.#options.time.now() + HANDSHAKE_LIMIT_MS;
    if (!this.#usesIce || this.#far !== undefined) return this.#association.start();
    this.#cancelLimit = this.#options.time.after(CHECK_LIMIT_MS, () => {
      this.#association.close();
      const seconds = CHECK_LIMIT_MS / 1000;
      this.#options.onFailed(
        new ParleyError('TIMEOUT', `no ICE check of the far end came within ${seconds} s`),
      );
    });
  }

  #takeForeign(): void {
    for (const packet of this.#options.socket.takeForeign()) {
      // STUN comes here only without ICE, where it means nothing.
      const isStun = (packet.data[0] ?? 0) <= LAST_OF_STUN;
      const isDtls = !isStun && !packet.rtcpPort;
      if (isDtls && this.#waiting.length < MOST_WAITING) this.#waiting.push(packet);
    }
    this.#takeWaiting();
  }

  /** Before the far end is proven, the result of each datagram decides what the next one may do. */
  #takeWaiting(): void {
    while (!this.#closed && (!this.#association.busy || this.#association.open || this.#usesIce)) {
      const packet = this.#waiting.shift();
      if (packet === undefined) return;
      this.#takeDtls(packet);
    }
  }

  /** Before a nomination DTLS goes to the address of the last check. */
  #checked(source: DatagramSource): void {
    if (this.#closed || !this.#usesIce || this.#nominated) return;
    this.#far = source;
    this.#cancelLimit?.();
    this.#association.start();
  }

  #takeDtls(packet: ForeignPacket): void {
    const decision = this.#decide(packet);
    if (decision === 'drop') return;
    if (decision !== 'take') this.#again();
    if (decision === 'restart') return;
    this.#association.receive(packet.data, packet);
  }

  #decide(packet: ForeignPacket): ReturnType<DtlsSourceFilter['decide']> {
    // The socket has dropped what no checked address sent.
    if (this.#usesIce) return 'take';
    if (this.#association.over) return 'drop';
    // An association that stands proves every datagram of its own.
    return this.#association.open ? 'take' : this.#sources.decide(packet.data, packet, this.#far);
  }

  #nominate(source: DatagramSource, component: IceComponent): void {
    if (component === 1) {
      this.#nominated = true;
      this.#far = source;
      this.#cancelLimit?.();
      this.#association.start();
    }
    this.#options.onNominated(source.address, source.port, component);
  }

  #secured(keys: DtlsKeys): void {
    this.#proven = true;
    this.#flights.clear();
    this.#cancelLimit?.();
    this.#options.onKeys(keys);
    if (this.#closed || this.#usesIce || this.#far === undefined) return;
    const { address, port } = this.#far;
    const target = this.#announced();
    if (target?.address !== address || target.port !== port) this.#options.onNominated(address, port, 1);
  }

  /** Address that the socket sends media to: the announced one until it accepts packets from another. */
  #announced(): DatagramSource | undefined {
    const { address, port } = this.#options.socket.stats();
    return address === '' || port === 0 ? undefined : { address, port };
  }

  /** For an association that no socket uses. */
  #send(data: Uint8Array, from: DatagramSource | undefined): void {
    // The association never answers noise, so a datagram that it answers came from the far end.
    if (!this.#usesIce && !this.#association.open) this.#far = from ?? this.#far;
    const to = this.#far ?? (this.#usesIce ? undefined : this.#announced());
    // Only a server that asks for a cookie is answered with a ClientHello.
    const hasCookie = from !== undefined && isHello(data);
    if (to === undefined || !this.#maySend(data, to, hasCookie)) return;
    this.#options.socket.sendForeign(data, to.address, to.port);
  }

  /** Each association limits its own flights; this limits those of all associations together. */
  #maySend(data: Uint8Array, { address, port }: DatagramSource, hasCookie: boolean): boolean {
    if (this.#usesIce || this.#proven || !isUnprotected(data)) return true;
    const to = `${address} ${port}`;
    const flights = this.#flights.get(to) ?? { sent: 0, isRenewed: false };
    this.#flights.set(to, flights); // as many as there are strangers, and the announced addresses
    if (hasCookie && !flights.isRenewed) {
      flights.isRenewed = true;
      flights.sent = 0;
    }
    if (beginsFlight(data)) flights.sent++;
    return flights.sent <= MOST_UNPROVEN_FLIGHTS;
  }
}

/** Flights to an address until the far end is proven. */
interface UnprovenFlights {
  sent: number;
  /** A server there has asked for a cookie. */
  isRenewed: boolean;
}

/** The DTLS and ICE parameters of an offer and its answer. */
export interface HandshakeTerms {
  /** This side's role: `active` connects. */
  readonly setup: 'active' | 'passive';
  /** Fingerprints of the far end's certificate. */
  readonly fingerprints: readonly CertificateFingerprint[];
  /** The far end's name for the association (RFC 8842). */
  readonly tlsId?: string | undefined;
  /** Undefined: the far end does no ICE. */
  readonly ice?: IceCredentials | undefined;
}

/** True if the association of the first terms continues under the second ones (RFC 8842 section 3.1). */
export function sameAssociation(
  before: Omit<HandshakeTerms, 'ice'>,
  after: Omit<HandshakeTerms, 'ice'>,
): boolean {
  const descriptionOf = ({ setup, tlsId, fingerprints }: Omit<HandshakeTerms, 'ice'>) => [
    setup,
    tlsId ?? '',
    ...fingerprints.map(({ hash, digest }) => `${hash} ${digest}`).toSorted(),
  ];
  return descriptionOf(before).join() === descriptionOf(after).join();
}

/**
 * `anew`: the source begins another handshake in place of the present one. `restart`: we begin one and drop
 * the datagram.
 */
type SourceDecision = 'take' | 'anew' | 'restart' | 'drop';

interface DtlsSourceOptions {
  readonly role: 'active' | 'passive';
  readonly time: Time;
  readonly announced: () => DatagramSource | undefined;
}

const QUIET_MS = 1000; // five retransmissions of the first flight
const MOST_STRANGERS = 16; // restarts by other sources; after these only the announced address is accepted
const ALERT = 21; // content types of RFC 6347 section 4.3.1
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_HELLO = 2;
const RECORD_HEAD = 13;

/**
 * Decides which source may take part in the DTLS handshake without ICE, before the far end is authenticated.
 * The far end may be behind a NAT, and anybody can send a datagram.
 *
 * - The announced address always may; a handshake with another source makes way for it.
 * - Another source may begin a handshake where this side waits for one, once the source before it has been
 *   silent for a second.
 * - Another source may answer where this side connects, once the announced address has been silent for a
 *   second.
 *
 * A source can end only its own handshake.
 */
export class DtlsSourceFilter {
  readonly #options: DtlsSourceOptions;
  #heardMs: number;
  #strangers = 0;

  constructor(options: DtlsSourceOptions) {
    this.#options = options;
    this.#heardMs = options.time.now();
  }

  isAnnounced(source: DatagramSource): boolean {
    const announced = this.#options.announced();
    return announced !== undefined && sameSource(announced, source);
  }

  /** `far` is the source in the middle of the handshake, if any. */
  decide(data: Uint8Array, source: DatagramSource, far: DatagramSource | undefined): SourceDecision {
    if (far !== undefined && sameSource(far, source)) {
      this.#heardMs = this.#options.time.now();
      return 'take';
    }
    const isAnnounced = this.isAnnounced(source);
    if (isAnnounced && far === undefined) return 'take';
    if (data[0] === ALERT || (!isAnnounced && this.#strangers >= MOST_STRANGERS)) return 'drop';
    const isQuiet = this.#options.time.now() - this.#heardMs >= QUIET_MS;
    const isPassive = this.#options.role === 'passive';
    if (isPassive && !isHello(data)) return 'drop';
    if (far !== undefined && (isAnnounced || isQuiet)) return isPassive ? 'anew' : 'restart';
    return far === undefined && (isPassive || isQuiet) ? 'take' : 'drop';
  }

  /** The handshake restarts because of a source that is not the far end. */
  again(): void {
    this.#strangers++;
    this.#heardMs = this.#options.time.now();
  }
}

function sameSource(one: DatagramSource, other: DatagramSource): boolean {
  return one.address === other.address && one.port === other.port;
}

/** Epoch 0. */
function isUnprotected(data: Uint8Array): boolean {
  return data[3] === 0 && data[4] === 0;
}

function beginsFlight(data: Uint8Array): boolean {
  const message = data[RECORD_HEAD];
  return data[0] === HANDSHAKE && (message === CLIENT_HELLO || message === SERVER_HELLO);
}

function isHello(data: Uint8Array): boolean {
  return data[0] === HANDSHAKE && data[RECORD_HEAD] === CLIENT_HELLO;
}
