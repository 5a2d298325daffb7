// The functions of the addon for a call's sockets (native/binding/socket_binding.cc).
// A handle that names nothing any more is answered, never thrown.
import { loadAddon } from '../addon.js';
import type { SrtpKeys } from './media-addon.js';

/** Of what planeTakeInbound gives: socket, kind, digit, durationMs, atMs. */
export const INBOUND_FIELDS = 5;
export const INBOUND = { digit: 0, sound: 1, target: 2, bye: 3, foreign: 4 } as const;

/** Of what socketTakeSound gives: timestamp, payload type, packets lost before, atMs, offset, bytes. */
export const SOUND_FIELDS = 6;

export interface SocketStats {
  /** RTP of the call's own source that was believed, and octets of its payload. */
  readonly packets: number;
  readonly octets: number;
  readonly comfortNoise: number;
  readonly digits: number;
  readonly rtcpPackets: number;
  /** Times that the far end went over to another SSRC. */
  readonly sourceChanges: number;

  /** Refused: not RTP or RTCP as it should be; from elsewhere; of no payload type that was agreed on. */
  readonly malformed: number;
  readonly strangers: number;
  readonly unknownPayloads: number;
  /** Refused by SRTP: the tag does not fit; seen before; no keys yet. */
  readonly forged: number;
  readonly replayed: number;
  readonly closed: number;
  /** STUN and DTLS. */
  readonly foreign: number;
  /** Times that the media was found at another address than the announced one. */
  readonly departures: number;

  /** Of what is received, over all sources (RFC 3550, A.3 and A.8). */
  readonly expected: number;
  readonly received: number;
  readonly repeated: number;
  readonly late: number;
  readonly lost: number;
  readonly jitterMs: number;
  readonly maxJitterMs: number;
  readonly ssrc: number;
  /** Of that source, extended by its wraps. */
  readonly highestSequence: number;

  /** Of what we send, by the far end's reports. */
  readonly remoteReports: number;
  readonly remoteLost: number;
  /** Of 1, in the last report. */
  readonly remoteFractionLost: number;
  readonly remoteJitterMs: number;
  /** Null until a report answered one of ours. */
  readonly rttMs: number | null;

  /** When the last one came, on the plane's clock; null: none yet. */
  readonly lastRtpMs: number | null;
  readonly lastRtcpMs: number | null;
  readonly bye: boolean;
  /** Packets that the listener did not take in time. */
  readonly soundDropped: number;

  /** Where the far end is reached; empty and 0 while nobody knows. */
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** The address was learned from a packet, not only announced. */
  readonly latched: boolean;
}

export interface PortCounts {
  readonly pairs: number;
  readonly inUse: number;
  /** Given back, and resting. */
  readonly draining: number;
  /** Times that a pair was stepped over because another program had it. */
  readonly takenByOthers: number;
}

export interface ForeignPacket {
  readonly address: string;
  readonly port: number;
  /** It came to the port of RTCP. */
  readonly rtcpPort: boolean;
  readonly data: Uint8Array;
}

/** A copy of one packet as it was on the wire. */
export interface TappedPacket {
  /** By us; received otherwise. */
  readonly sent: boolean;
  /** From or to our port of RTCP, where that is another one. */
  readonly rtcpPort: boolean;
  /** On the plane's clock. */
  readonly atMs: number;
  /** Of the far end. */
  readonly address: string;
  readonly port: number;
  readonly data: Uint8Array;
}

export interface Tapped {
  /** In the order of time. */
  readonly packets: readonly TappedPacket[];
  /** Copies that were not made, because nobody took those before in time. */
  readonly missed: number;
}

export interface SocketAddon {
  portsOpen(options: {
    address: string;
    portMin: number;
    portMax: number;
    drainMs: number;
    dscp: number;
  }): number;
  portsCount(ports: number, nowMs: number): PortCounts | null;
  portsClose(ports: number): void;
  /** The handle, or in words why there is none. */
  socketOpen(plane: number, options: { mux: boolean; ports?: number }): number | string;
  socketPort(socket: number): number;
  /** Groups of three: payload type, kind (1 sound, 2 digit, 3 comfort noise), Hz. */
  socketFormat(socket: number, formats: readonly number[]): void;
  socketLearn(
    socket: number,
    options: {
      address: string;
      port: number;
      rtcpAddress: string;
      rtcpPort: number;
      mux: boolean;
      windowMs: number;
      announcedOnly: boolean;
      signalling: string;
      networks: readonly string[];
      anywhere: boolean;
    },
  ): void;
  socketSrtp(socket: number, keys: SrtpKeys | 'plain' | 'closed'): void;
  socketBind(socket: number, stream: number): boolean;
  socketListen(socket: number, on: boolean): void;
  socketTakeSound(socket: number): { fields: Float64Array; data: Uint8Array };
  socketTakeForeign(socket: number): ForeignPacket[];
  socketTap(socket: number, on: boolean): void;
  socketTakeTapped(socket: number): Tapped;
  socketSend(socket: number, data: Uint8Array, address: string, port: number, rtcpPort: boolean): boolean;
  socketFeed(socket: number, data: Uint8Array, address: string, port: number, rtcpPort: boolean): void;
  socketStats(socket: number): SocketStats | null;
  /** The counts at the end, or null when it was closed before. */
  socketClose(socket: number): SocketStats | null;
}

let loaded: SocketAddon | undefined;

export function socketAddon(): SocketAddon {
  return (loaded ??= loadAddon<SocketAddon>());
}
