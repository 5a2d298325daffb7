// One call's sockets, and the range of ports that they are taken from. A socket receives the far end's
// packets. The playout that is bound to it sends from the same port to the address where the far end was
// found.
//
//   const socket = plane.openSocket({ ports, mux })     its port goes into the SDP
//   socket.formats([...]); socket.srtp(keys)            what the answer says
//   socket.bind(playout); socket.learn({ address, port })     or, with ICE, socket.ice(credentials)
//
// A native thread reads, checks and counts packets. JavaScript gets digits. Sound goes into rings (`openEar`)
// and ears (ears.ts), which a native thread fills.
import type { Country } from '../audio/country-tones.js';
import { PcmRing } from '../audio/pcm-ring.js';
import type { CodecName } from '../codecs/codec.js';
import { ParleyError } from '../errors.js';
import {
  type ForeignPacket,
  type IceCredentials,
  INBOUND,
  mediaAddon,
  type PortCounts,
  type SocketAddon,
  type SocketStats,
  type SrtpKeys,
  type Tapped,
} from './media-addon.js';
import type { AssociationOptions, DatagramSource, DtlsAssociation } from './dtls-association.js';
import type { Playout } from './playout.js';
import type { PlayoutListener } from './playout-listener.js';
import { cadenceFields, type HeardTone, toneOf } from './tone-events.js';
import type { UdpMux } from './udp-mux.js';

export interface SocketOptions {
  /**
   * Without this and without a shared port, the socket receives only what `feed` brings, and a bound playout
   * keeps its own target.
   */
  readonly ports?: RtpPorts;
  /** Instead of `ports`; `mux` must be true, and `ice` finds the call. A port belongs to one media plane. */
  readonly udpMux?: UdpMux;
  /** RTCP shares the port of RTP (RFC 5761), which needs no second one; `learn` may decide so later too. */
  readonly mux: boolean;
}

/** 1 is RTP, and RTCP where the two share a port; 2 is RTCP on its own. */
export type IceComponent = 1 | 2;

export type PayloadFormat = {
  readonly payloadType: number;
  /** Hz of its timestamp. */
  readonly clockRate: number;
} & (
  | { readonly kind: 'sound'; readonly codec: CodecName }
  /** `redundant`: RED (RFC 2198). Its primary payload counts, and the others replace lost packets. */
  | { readonly kind: 'digit' | 'comfort-noise' | 'redundant' }
);

/** Media address that the far end announced, and the other addresses that media may come from. */
export interface RemoteMedia {
  /** IP address and port of the description. */
  readonly address?: string;
  readonly port?: number;
  /**
   * True if the answer accepts rtcp-mux; if absent, as the socket was opened. Reports are accepted on either
   * port.
   */
  readonly mux?: boolean;
  /** Address of reports without mux; if absent, the port after `port`, or `port` itself if it is the last. */
  readonly rtcpAddress?: string;
  readonly rtcpPort?: number;
  /**
   * After its first packet a source has settled for so long; and a source that is silent for so long may be
   * replaced.
   */
  readonly windowMs?: number;
  /** Address of the peer's signalling: media may come from there, too. */
  readonly signalling?: string;
  /** Other networks, such as `10.0.0.0/8`, that media may come from. */
  readonly networks?: readonly string[];
  /** The announced address cannot be routed: media may come from any. */
  readonly anywhere?: boolean;
  /**
   * No address is learned: packets go to the announced address and are accepted from there, or if SRTP proves
   * them. For peers that are known not to be behind a NAT, or whose mapped address is known.
   */
  readonly announcedOnly?: boolean;
}

const LEARNING_WINDOW_MS = 2000;
const LAST_PORT = 65_535;
const EAR_HZ = 16_000;
const KINDS = { sound: 1, digit: 2, 'comfort-noise': 3, redundant: 4 } as const;
const DIGITS = '0123456789*#ABCD'; // RFC 4733, 3.2

function portAfter(port: number): number {
  return port === 0 ? 0 : Math.min(port + 1, LAST_PORT);
}

/** Returns the RFC 4733 event of a digit; undefined for other text. */
export function eventOf(digit: string): number | undefined {
  const event = DIGITS.indexOf(digit.toUpperCase());
  return digit.length === 1 && event >= 0 ? event : undefined;
}

type EarOptions = { readonly capacityMs: number } & (
  { readonly channels: 1; readonly sum?: boolean } | { readonly channels: 2; readonly sum?: never }
);

/** The plane of a socket. */
interface SocketOwner {
  openDtls(options: AssociationOptions): DtlsAssociation;
  onClose(): void;
}

export class MediaSocket {
  readonly handle: number;
  /** Even, unless it is shared; RTCP without mux is on the next one. 0 without ports. */
  readonly port: number;
  /** Called once for each key, when its telephone event begins; `onDigit` follows. */
  onKeyDown: (() => void) | undefined;
  /** Called once for each key, when it is released; `atMs` is when it was pressed. */
  onDigit: ((digit: string, durationMs: number, atMs: number) => void) | undefined;
  /** Called when media is sent to another address, or the first media arrived; see `stats`. */
  onTarget: (() => void) | undefined;
  /** Called on RTCP BYE. */
  onBye: (() => void) | undefined;
  /**
   * Called when the far end's checks nominate another address. Media goes there already, unless `ice` said
   * that it must not follow.
   */
  onNominated: ((address: string, port: number, component: IceComponent) => void) | undefined;
  /** Called when a check of RTP's component was answered whose source is not that of the last one. */
  onChecked: ((address: string, port: number) => void) | undefined;
  /** Called when the nominated path is gone: media waits for another nomination. */
  onPathLost: (() => void) | undefined;
  /**
   * Called when DTLS arrived and no association is in use, or without ICE also STUN: read it with
   * `takeForeign`.
   */
  onForeign: (() => void) | undefined;
  /** Called when one of the callbacks above threw: the owner should end the call. */
  onDefect: ((error: unknown) => void) | undefined;
  readonly #addon: SocketAddon;
  readonly #mux: boolean;
  readonly #shared: boolean;
  readonly #owner: SocketOwner;
  #last: SocketStats | undefined;
  #hadPath = false;
  #hearsKeys = false;
  readonly #toneFollowers = new Map<(tone: HeardTone) => void, Country>();
  /** Source of the last check and nominated addresses, as text, that the callbacks were called with. */
  #told: Partial<Record<'checked' | IceComponent, string>> = {};

  /** Made by MediaPlane.openSocket. */
  constructor(plane: number, { ports, udpMux, mux }: SocketOptions, owner: SocketOwner) {
    this.#addon = mediaAddon();
    if (udpMux !== undefined && !mux) {
      throw new ParleyError('CONFIG_INVALID', 'mux must be true on a shared UDP port');
    }
    const handle = this.#addon.socketOpen(plane, {
      mux,
      ...(ports === undefined ? {} : { ports: ports.handle }),
      ...(udpMux === undefined ? {} : { udpMux: udpMux.handle }),
    });
    if (typeof handle === 'string') throw new ParleyError('CALL_LIMIT', handle);
    this.handle = handle;
    this.port = this.#addon.socketPort(handle);
    this.#mux = mux;
    this.#shared = udpMux !== undefined;
    this.#owner = owner;
  }

  /**
   * Sets the accepted payload formats. Other packets are counted and dropped. A change does not interrupt
   * what is running.
   */
  formats(formats: readonly PayloadFormat[]): void {
    this.#addon.socketFormat(
      this.handle,
      formats.flatMap((format) => [
        format.payloadType,
        KINDS[format.kind],
        format.clockRate,
        format.kind === 'sound' ? format.codec : '',
      ]),
    );
  }

  /**
   * The address that the far end announces: packets are sent there at once. The socket follows the far end to
   * another address only after several packets in sequence from one that is allowed. To be called with every
   * description.
   */
  learn(remote: RemoteMedia): void {
    const { address = '', port = 0, windowMs = LEARNING_WINDOW_MS, announcedOnly = false } = remote;
    const { signalling = '', networks = [], anywhere = false } = remote;
    const { rtcpAddress = address, rtcpPort = portAfter(port) } = remote;
    const { mux = this.#mux } = remote;
    const rules = { windowMs, announcedOnly, signalling, networks, anywhere };
    this.#addon.socketLearn(this.handle, { address, port, rtcpAddress, rtcpPort, mux, ...rules });
  }

  /**
   * Sets the keys of received packets. Setting the same keys again keeps their counters. `closed` rejects
   * every packet, for calls that must be encrypted and have no keys yet.
   */
  srtp(keys: SrtpKeys | 'plain' | 'closed'): void {
    this.#addon.socketSrtp(this.handle, keys);
  }

  /**
   * Answers the far end's ICE checks from now on, as the controlled lite side, in the thread that reads them.
   * Only addresses that passed a check are heard in a handshake. Other local credentials restart ICE: those
   * that were used last stay valid, and media keeps its path until a check nominates one with the new ones.
   * Undefined ends ICE.
   *
   * `follow` false leaves it to `learn` where media goes; a shared port always follows. Throws EXISTS if
   * another call of the port has this fragment.
   */
  ice(credentials: IceCredentials | undefined, { follow = true } = {}): void {
    const follows = follow || this.#shared;
    if (!this.#addon.socketUseIce(this.handle, credentials ?? null, follows)) {
      throw new ParleyError('EXISTS', 'another call on this port has the same ICE user fragment');
    }
    if (credentials === undefined) {
      this.#told = {};
      this.#hadPath = false;
    }
    delete this.#told.checked;
  }

  /**
   * The nominated path is dead: nothing is sent until a check with the present credentials nominates one.
   * Only with ICE that media follows.
   */
  leavePath(): void {
    this.#addon.socketLeavePath(this.handle);
  }

  /** Time of the last valid ICE check on the plane's clock; undefined without ICE and before the first. */
  get lastCheckMs(): number | undefined {
    return this.#addon.socketIce(this.handle)?.lastCheckMs ?? undefined;
  }

  /** An association of the socket's plane. Errors of its callbacks are also reported by `onDefect`. */
  openDtls(options: Omit<AssociationOptions, 'onDefect'>): DtlsAssociation {
    return this.#owner.openDtls({ ...options, onDefect: (error) => this.onDefect?.(error) });
  }

  /**
   * With ICE, datagrams of checked addresses go to the association. It sends to the nominated address, and
   * before a nomination to the one of the last check. The first check starts it; until then `to` is used.
   * Undefined: `onForeign` and `sendForeign` carry datagrams.
   */
  useDtls(association: DtlsAssociation | undefined, to?: DatagramSource): void {
    this.#addon.socketUseDtls(this.handle, association?.handle ?? 0, to?.address ?? '', to?.port ?? 0);
  }

  /**
   * The playout or listener that sends from here. From now on the socket sets its target. Null lets it go,
   * and it sends nothing.
   */
  bind(stream: Playout | PlayoutListener | null): void {
    this.#addon.socketBind(this.handle, stream?.handle ?? 0);
  }

  /**
   * Opens a ring of the call's sound from now on, at 16 kHz; its handle may be sent to a worker. One channel
   * is the caller, or with `sum` the caller and our side together. Two are caller and our side interleaved:
   * what arrived and what left at the same moment lie beside each other. The call is decoded as long as it
   * has a ring or ears. A ring that is full ends with LISTENER_SLOW. It ends without an error when the
   * socket is closed, or by `closeEar`. Whoever opens a ring closes it. `capacityMs` from 32 to 60,000.
   * Throws WRONG_STATE if the socket is closed, or QUEUE_FULL.
   */
  openEar(options: EarOptions): PcmRing {
    const handle = this.#addon.socketOpenEar(this.handle, options);
    if (handle !== 0) return PcmRing.adopt(handle, EAR_HZ);
    if (this.#last !== undefined) throw new ParleyError('WRONG_STATE', 'the media socket is closed');
    throw new ParleyError('QUEUE_FULL', 'the call has the 8 listeners that it can have');
  }

  /** Ends a ring of `openEar`. What it holds can still be read. */
  closeEar(ring: Pick<PcmRing, 'handle'>): void {
    this.#addon.socketCloseEar(this.handle, ring.handle);
  }

  /**
   * True: keys are heard in the sound, too (DTMF), and reported by `onDigit`. For far ends that send no
   * telephone events, or one key would count twice.
   */
  hearKeys(on: boolean): void {
    if (this.#hearsKeys === on) return;
    this.#hearsKeys = on;
    this.#watchTones();
  }

  /**
   * Reports the tones in the far end's sound from now on, until the result is called. Those of networks are
   * known by the cadences of the country that was given last. Decodes the call as long as it lasts.
   */
  followTones(country: Country, onTone: (tone: HeardTone) => void): () => void {
    const follower = (tone: HeardTone) => onTone(tone);
    this.#toneFollowers.set(follower, country);
    this.#watchTones();
    return () => {
      if (this.#toneFollowers.delete(follower)) this.#watchTones();
    };
  }

  #watchTones(): void {
    if (this.#last !== undefined) return;
    const country = [...this.#toneFollowers.values()].at(-1);
    const [keys, tones] = [this.#hearsKeys, country !== undefined];
    this.#addon.socketWatchTones(this.handle, keys, tones, cadenceFields(country));
  }

  takeForeign(): ForeignPacket[] {
    return this.#addon.socketTakeForeign(this.handle);
  }

  /** Copies of everything that comes and leaves from now on, for `takeTapped`; false ends it. */
  tap(on: boolean): void {
    this.#addon.socketTap(this.handle, on);
  }

  /**
   * Takes the packets copied since the last call. Call it several times a second, and once more before the
   * socket closes.
   */
  takeTapped(): Tapped {
    return this.#addon.socketTakeTapped(this.handle);
  }

  /**
   * Sends STUN or DTLS from the RTP port, or from the RTCP port. Returns false if the port is 0 or the system
   * refused.
   */
  sendForeign(data: Uint8Array, address: string, port: number, rtcpPort = false): boolean {
    return this.#addon.socketSend(this.handle, data, address, port, rtcpPort);
  }

  /** Processes a datagram as if it had just arrived from this address. */
  feed(data: Uint8Array, address: string, port: number, rtcpPort = false): void {
    this.#addon.socketFeed(this.handle, data, address, port, rtcpPort);
  }

  /** Once closed, as they were at the end. */
  stats(): SocketStats {
    const stats = this.#last ?? this.#addon.socketStats(this.handle);
    if (stats === null) throw new ParleyError('WRONG_STATE', 'the media plane of this socket is closed');
    return stats;
  }

  /** Milliseconds without a valid RTP packet, at `nowMs` of the plane's clock; null before the first one. */
  quietMs(nowMs: number): number | null {
    const { lastRtpMs } = this.stats();
    return lastRtpMs === null ? null : nowMs - lastRtpMs;
  }

  /** Lets the playout go, which should have been closed before, so that its BYE left. Idempotent. */
  close(): void {
    if (this.#last !== undefined) return;
    const last = this.#addon.socketClose(this.handle);
    if (last !== null) this.#last = last;
    this.#owner.onClose();
  }

  /** The plane's: one inbound event without its socket. */
  tell([kind, event = 0, durationMs = 0, atMs = 0, hz = 0]: readonly number[]): void {
    if (kind === INBOUND.digit) return this.#tellDigit(event, durationMs, atMs);
    if (kind === INBOUND.keyDown && DIGITS[event] !== undefined) return this.onKeyDown?.();
    if (kind === INBOUND.tone) return this.#tellTone(toneOf(event, hz, atMs, durationMs));
    if (kind === INBOUND.target) return this.onTarget?.();
    if (kind === INBOUND.bye) return this.onBye?.();
    if (kind === INBOUND.foreign) return this.onForeign?.();
    if (kind === INBOUND.ice) return this.#tellIce();
  }

  #tellIce(): void {
    const state = this.#addon.socketIce(this.handle);
    if (state === null) return;
    if (this.#hadPath && !state.hasPath) {
      this.#told = {};
      this.onPathLost?.();
    }
    this.#hadPath = state.hasPath;
    this.#tellOnce(1, state.nominated, (address, port) => this.onNominated?.(address, port, 1));
    this.#tellOnce(2, state.rtcpNominated, (address, port) => this.onNominated?.(address, port, 2));
    this.#tellOnce('checked', state.checked, (address, port) => this.onChecked?.(address, port));
  }

  #tellOnce(
    what: 'checked' | IceComponent,
    place: { readonly address: string; readonly port: number } | null,
    tell: (address: string, port: number) => void,
  ): void {
    if (place === null) return;
    const text = `${place.address} ${place.port}`;
    if (this.#told[what] === text) return;
    this.#told[what] = text;
    tell(place.address, place.port);
  }

  #tellTone(tone: HeardTone | undefined): void {
    if (tone === undefined) return;
    for (const onTone of this.#toneFollowers.keys()) onTone(tone);
  }

  /** Flashes and tones of lines are events too, but no digits. */
  #tellDigit(event: number, durationMs: number, atMs: number): void {
    const digit = DIGITS[event];
    if (digit !== undefined) this.onDigit?.(digit, durationMs, atMs);
  }
}

interface PortOptions {
  /** IP address to listen on; `::` and `0.0.0.0` are every one of the machine. */
  readonly address: string;
  /** Rounded up to an even port. */
  readonly portMin: number;
  readonly portMax: number;
  readonly drainMs: number;
  /** Marks of the packets (RFC 2474), 0 to 63; 46 is Expedited Forwarding. */
  readonly dscp: number;
}

/**
 * The range of ports that calls receive on: even ones for RTP, the next odd one for RTCP. A released pair is
 * not reused for `drainMs`, because the far end may still send to it.
 */
export class RtpPorts {
  readonly handle: number;
  #closed = false;

  private constructor(handle: number) {
    this.handle = handle;
  }

  static open(options: PortOptions): RtpPorts {
    return new RtpPorts(mediaAddon().portsOpen(options));
  }

  /** `nowMs` is the clock of the plane whose sockets take the ports. */
  counts(nowMs: number): PortCounts {
    const counts = mediaAddon().portsCount(this.handle, nowMs);
    if (counts === null) throw new ParleyError('WRONG_STATE', 'the RTP ports are closed');
    return counts;
  }

  /** No socket takes a port any more; those that have one keep it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    mediaAddon().portsClose(this.handle);
  }
}
