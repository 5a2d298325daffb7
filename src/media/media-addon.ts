// The media functions of the addon (native/binding): the plane and its streams, a call's sockets, and DTLS.
// Times are milliseconds of the monotonic clock, the one of process.hrtime. Stream, socket and DTLS functions
// answer a stale handle with null or -1 instead of throwing.
import { loadAddon } from '../addon.js';
import type { CodecName } from '../codecs/codec.js';

/** Names as in SDES (RFC 4568, RFC 6188, RFC 7714). */
type SrtpProfile =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM';

/** SRTP of one direction: 16 or 32 bytes of key, as the profile says; 14 bytes of salt, 12 for GCM. */
export interface SrtpKeys {
  readonly profile: SrtpProfile;
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
  /**
   * Bytes of the master key index (RFC 3711, section 3.1) in packets that come; none, if absent. 0 to 128.
   */
  readonly mkiBytes?: number;
}

interface ComfortNoise {
  /** 13 unless the peers agreed on another one. */
  readonly payloadType: number;
  /** Noise level in -dBov: 0 to 127. */
  readonly level: number;
  readonly intervalMs: number;
}

/** A key that is pressed at the far end (RFC 4733). */
export interface DigitTone {
  /** 0-9, 10 is *, 11 is #, 12-15 are A-D. */
  readonly event: number;
  /** Payload type and clock rate (Hz) of telephone-event. */
  readonly payloadType: number;
  readonly clockRate: number;
  /** From 10 on; at most 65,535 ticks of the clock, and 8 s. */
  readonly durationMs: number;
  /** Silence after it. */
  readonly pauseMs: number;
  /** -dBm0, 0 to 63. */
  readonly volume: number;
}

interface Red {
  /** Of `red` at the codec's clock rate (RFC 2198). */
  readonly payloadType: number;
  /** Voice frames that a packet may repeat. */
  readonly distance: 1 | 2;
}

export interface StreamOptions {
  readonly ssrc: number;
  readonly payloadType: number;
  /** Hz of the RTP timestamp. */
  readonly clockRate: number;
  /** RTP timestamp ticks per frame. */
  readonly ticksPerFrame: number;
  /** Length of one frame, 10 to 60 ms. */
  readonly frameMs: number;
  /**
   * Codec of the payloads. Absent: they are opaque. Listeners to both sides of the call hear nothing of them,
   * and a fade cuts the voice off at the end of a frame.
   */
  readonly codec?: CodecName;
  /** Sequence number of the first packet and timestamp of the first tick: random, says RFC 3550. */
  readonly sequence: number;
  readonly timestamp: number;
  /** Payload of one silent frame; empty sends nothing in pauses. */
  readonly silence: Uint8Array;
  /** Producers are notified of room when less than `lowMs` is queued. The queue is full at `highMs`. */
  readonly lowMs: number;
  readonly highMs: number;
  /**
   * Comfort noise (RFC 3389) in pauses instead of `silence`: one packet at their beginning, then one each
   * `intervalMs`.
   */
  readonly comfortNoise?: ComfortNoise;
  /**
   * In pauses `silence` is sent once at their beginning and then each so many milliseconds, at most 60,000
   * (discontinuous transmission, RFC 7587: 400 for Opus). 0 sends it in place of every frame. Default: 0.
   */
  readonly silenceIntervalMs?: number;
  /** Absent: RED is not negotiated. No frame is repeated before `redundancy` is called. */
  readonly red?: Red;
  /** Canonical name in reports (RFC 7022), at most 255 bytes. */
  readonly cname: string;
  /** Mean time between sender reports; 0 sends neither reports nor BYE. */
  readonly rtcpIntervalMs: number;
  /** Absent: plain RTP. */
  readonly srtp?: SrtpKeys;
}

/** A listener has the codec, clock rate, frame length and silence of its source. */
export type ListenerOptions = Omit<
  StreamOptions,
  'codec' | 'clockRate' | 'ticksPerFrame' | 'frameMs' | 'silence' | 'lowMs' | 'highMs'
>;

/** `fd` is a bound UDP socket of another owner; the plane works on a dup() of it. */
export type StreamTarget =
  { readonly fd: number; readonly address: string; readonly port: number } | { readonly capture: true };

/** 1 taken, 0 the queue is full, -1 the generation is stale or the stream closed. */
export type PushAnswer = 1 | 0 | -1;

export interface ClearedTrack {
  readonly track: number;
  /** Counted over everything pushed to the track. */
  readonly sentFrames: number;
  readonly droppedFrames: number;
  /** In order; none of them will be reported as reached. */
  readonly droppedMarks: readonly number[];
}

export interface Cleared {
  /** The generation that pushes must state from now on. */
  readonly generation: number;
  /** Every track that had not reached its end, oldest first. */
  readonly tracks: readonly ClearedTrack[];
}

/** A cleared queue together with its entries, for TakenEntries. */
export interface TakenQueue extends Cleared {
  readonly entries: Uint8Array;
}

export interface PlayoutStats {
  /** RTP packets that left, silence included. */
  readonly packets: number;
  /** Payload bytes, as sender reports count them. */
  readonly octets: number;
  readonly silencePackets: number;
  /** Ticks without a frame in the middle of a track. */
  readonly underruns: number;
  /** Packets that left more than 1 ms after they were due. */
  readonly lateTicks: number;
  /** Ticks left out because the clock was too late to catch up; no sound is lost by it. */
  readonly skippedTicks: number;
  /** Packets that the socket refused; they are lost. */
  readonly sendErrors: number;
  /** Packets that JavaScript carried instead of the socket. */
  readonly carried: number;
  readonly queuedMs: number;
  /** Sequence number of the next packet, and timestamp of the next tick. */
  readonly sequence: number;
  readonly timestamp: number;
  /** Keys that are still to be pressed or released. */
  readonly digitsWaiting: number;
}

export interface CapturedPacket {
  /** Handle of its stream. */
  readonly stream: number;
  readonly atMs: number;
  readonly kind: 'rtp' | 'rtcp';
  readonly data: Uint8Array;
}

export interface PlaneStats {
  readonly streams: number;
  readonly listeners: number;
  readonly sockets: number;
  /** Of DTLS; those with work that waits or is under way. */
  readonly associations: number;
  readonly associationsWaiting: number;
  readonly packets: number;
  readonly silencePackets: number;
  readonly lateTicks: number;
  readonly skippedTicks: number;
  readonly underruns: number;
  readonly sendErrors: number;
  /** Captured packets lost because they were not taken in time. */
  readonly captureOverflow: number;
  /** Always 0 unless the plane is wrong: marks are refused before they could be lost. */
  readonly marksLost: number;
  /** Scheduling class of the clock thread; a manual plane has no clock thread. */
  readonly priority: 'fifo' | 'nice' | 'normal';
  /** Upper bounds, the last one Infinity, and packets that left so long after they were due. */
  readonly latenessUpperMs: readonly number[];
  readonly latenessCounts: readonly number[];
}

interface MediaAddon extends SocketAddon, EarsAddon, RelayAddon, DtlsAddon {
  planeOpen(options: { manual: boolean; startMs?: number; wallMs?: number; seed: number }): number;
  planeClose(plane: number): void;
  planeAdvance(plane: number, toMs: number): number;
  planeWakeAt(plane: number, atMs: number): number;
  planeNow(plane: number): number;
  /** Returns true if marks or captured packets wait. After false, the thread is notified of `plane` once. */
  planeWatch(plane: number): boolean;
  /** Groups of four: stream, track, mark, sentAtMs. */
  planeTakeMarks(plane: number): Float64Array;
  planeTakePackets(plane: number): CapturedPacket[];
  planeTakeInbound(plane: number): Float64Array;
  planeTrace(plane: number, capacity: number): void;
  /** Groups of three: stream, dueMs, sentMs. */
  planeTakeTrace(plane: number): Float64Array;
  planeStats(plane: number): PlaneStats;
  /** `continues`: the handle of the stream whose place it takes. */
  streamOpen(plane: number, options: StreamOptions & { readonly continues?: number }): number;
  streamTarget(stream: number, target: StreamTarget | null): boolean;
  streamPush(stream: number, generation: number, track: number, payload: Uint8Array): PushAnswer;
  streamMark(
    stream: number,
    generation: number,
    track: number,
    mark: number,
    endOfTrack: boolean,
  ): PushAnswer;
  streamRest(stream: number, generation: number, track: number): PushAnswer;
  streamWatchRoom(stream: number): boolean;
  streamGeneration(stream: number): number;
  streamPause(stream: number): void;
  streamResume(stream: number): void;
  streamClear(stream: number): Cleared | null;
  /** Frames that are sent once more; 0 once closed. */
  streamRewind(stream: number, receivedTimestamp: number): number;
  /** False: the next frame is none of the track, or the stream is paused or closed. For any thread. */
  streamFade(stream: number, track: number): boolean;
  /** False: this track is not faded. */
  streamResumeFade(stream: number, track: number, backFrames: number): boolean;
  streamTake(stream: number): TakenQueue | null;
  streamSent(stream: number, track: number): number;
  streamDigit(stream: number, digit: DigitTone): boolean;
  streamSendRtcp(stream: number, compound: Uint8Array): boolean;
  /** From 1 to as many frames of Opus as fit into 120 ms, at most 6. 1 for other codecs. */
  streamFramesPerPacket(stream: number, frames: number): void;
  /** From 0 to the distance of the stream's `red`. */
  streamRedundancy(stream: number, redundancy: number): void;
  /** The handle of a stream, or why there is none: the source is closed, or it or the plane has no room. */
  listenerOpen(source: number, options: ListenerOptions): number | 'closed' | 'full';
  /** `closed`: either is, or they are of two planes. `differs`: in clock rate, frame length or silence. */
  listenerFollow(listener: number, source: number): 'follows' | 'closed' | 'differs' | 'full';
  streamStats(stream: number): PlayoutStats | null;
  /** The counts at the end, or null when it was closed before. */
  streamClose(stream: number): PlayoutStats | null;
}

let loaded: MediaAddon | undefined;

export function mediaAddon(): MediaAddon {
  return (loaded ??= loadAddon<MediaAddon>());
}

/** Fields of one event of planeTakeInbound: socket or association, kind, digit, durationMs, atMs, hz. */
export const INBOUND_FIELDS = 6;
// prettier-ignore
export const INBOUND = {
  digit: 0, target: 1, bye: 2, foreign: 3, ice: 4, dtls: 5, tone: 6, keyDown: 7,
} as const;

/** Figures of a call that is listened to. Samples are of 16 kHz; counters begin with the first listener. */
export interface HearingFigures {
  readonly samples: number;
  /** In the place of lost or late sound. */
  readonly concealed: number;
  /** From error correction of Opus, or from RED. */
  readonly recovered: number;
  /** Inserted or removed by time stretching. */
  readonly stretched: number;
  readonly latePackets: number;
  readonly lostPackets: number;
  /** Packets that were malformed or found a buffer full. */
  readonly discarded: number;
  /** Changes of the source, and jumps of its timestamp or sequence number. */
  readonly restarts: number;
  /** Silence in the rings of listeners, because the thread that listens was late. */
  readonly missed: number;
  /** Delay of the jitter buffer, and the delay that the jitter asks for. */
  readonly delayMs: number;
  readonly targetMs: number;
  readonly jitterMs: number;
  /** Positive: the far end's clock is faster than ours. */
  readonly driftPpm: number;
}

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

  /** Reception statistics over all sources (RFC 3550, A.3 and A.8). */
  readonly expected: number;
  readonly received: number;
  readonly repeated: number;
  readonly late: number;
  readonly lost: number;
  readonly jitterMs: number;
  readonly maxJitterMs: number;
  readonly ssrc: number;
  /** Extended highest sequence number received from that source. */
  readonly highestSequence: number;

  /** Statistics of our stream, from the far end's reports. */
  readonly remoteReports: number;
  readonly remoteLost: number;
  /** Fraction lost in the last report, 0 to 1. */
  readonly remoteFractionLost: number;
  readonly remoteJitterMs: number;
  /** Null until a report answered one of ours. */
  readonly rttMs: number | null;

  /** Arrival of the last one, on the plane's clock; null before the first. */
  readonly lastRtpMs: number | null;
  readonly lastRtcpMs: number | null;
  readonly bye: boolean;
  /** Counters grow over all listeners, present and past; absent before the first. */
  readonly hearing?: HearingFigures;

  /** Address and ports that media is sent to; empty and 0 while unknown. */
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** The address was learned from a packet, not only announced. */
  readonly latched: boolean;
  /** Media is sent through a connection of ICE-TCP; false once the socket is closed. */
  readonly overTcp: boolean;
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
interface TappedPacket {
  /** True if we sent it, false if we received it. */
  readonly sent: boolean;
  /** True if it used our RTCP port, where that is a separate port. */
  readonly rtcpPort: boolean;
  /** On the plane's clock. */
  readonly atMs: number;
  /** Address and port of the far end. */
  readonly address: string;
  readonly port: number;
  readonly data: Uint8Array;
}

export interface Tapped {
  /** In order of time. */
  readonly packets: readonly TappedPacket[];
  /** Copies not made because earlier ones were not taken in time. */
  readonly missed: number;
}

/** Credentials of both sides' ICE checks (RFC 8839 section 5.4). */
export interface IceCredentials {
  /** At least 4 characters of `ice-char`, of which 24 bits are random; unique among the calls of a port. */
  readonly localUfrag: string;
  /** At least 22 characters of `ice-char`, of which 128 bits are random. */
  readonly localPwd: string;
  readonly remoteUfrag: string;
  readonly remotePwd: string;
}

interface Place {
  readonly address: string;
  readonly port: number;
}

/** Results of the far end's checks with the present credentials. */
interface IceState {
  /** Source of the last check of RTP's component. */
  readonly checked: Place | null;
  readonly nominated: Place | null;
  readonly rtcpNominated: Place | null;
  /** Media has a nominated path, also one from before a restart. */
  readonly hasPath: boolean;
  readonly lastCheckMs: number | null;
}

export interface UdpMuxStats {
  readonly datagrams: number;
  /** Dropped: of no call; no binding request or too long; of an address that another call has. */
  readonly unknown: number;
  readonly malformed: number;
  readonly contested: number;
  /** Datagrams that found the receive buffer full. */
  readonly kernelDrops: number;
  /** Sizes that the system granted of the 8 MiB asked for; the smallest of all addresses. */
  readonly receiveBufferBytes: number;
  readonly sendBufferBytes: number;
  /** User fragments and checked far addresses of the calls. */
  readonly fragments: number;
  readonly addresses: number;
  /** Connections of ICE-TCP: open; accepted so far; refused, because there were too many. */
  readonly tcpConnections: number;
  readonly tcpAccepted: number;
  readonly tcpRefused: number;
  /** Closed, because no valid check or not the rest of a frame came within 10 s. */
  readonly tcpExpired: number;
  /** Packets dropped, because 64 kB waited for a far end already. */
  readonly tcpDropped: number;
}

/** native/binding/mux_binding.cc */
interface MuxAddon {
  /** The handle, or in words why there is none. */
  muxOpen(options: {
    addresses: readonly string[];
    port: number;
    tcpPort?: number;
    dscp: number;
  }): number | string;
  muxPort(mux: number): number;
  /** 0: none. */
  muxTcpPort(mux: number): number;
  muxStats(mux: number): UdpMuxStats | null;
  muxClose(mux: number): void;
}

/** native/binding/socket_binding.cc */
export interface SocketAddon extends MuxAddon {
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
  socketOpen(plane: number, options: { mux: boolean; ports?: number; udpMux?: number }): number | string;
  socketPort(socket: number): number;
  /** Groups of four: payload type, kind (1 sound, 2 digit, 3 comfort noise, 4 RED), Hz, codec or ''. */
  socketFormat(socket: number, formats: readonly (number | CodecName | '')[]): void;
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
  /** Null ends ICE. False: another call of the port has this fragment. */
  socketUseIce(socket: number, credentials: IceCredentials | null, follow: boolean): boolean;
  socketLeavePath(socket: number): void;
  socketIce(socket: number): IceState | null;
  /** Association 0: JavaScript carries the datagrams. The address '' is none. */
  socketUseDtls(socket: number, association: number, address: string, port: number): void;
  socketBind(socket: number, stream: number): boolean;
  /**
   * The handle of a ring of 16 kHz samples, which its opener closes; 0: the socket is closed, or has 8 rings.
   * A ring that is not read in time ends with LISTENER_SLOW.
   */
  socketOpenEar(socket: number, options: { channels: 1 | 2; sum?: boolean; capacityMs: number }): number;
  /** Ends the ring. What it holds can still be read. */
  socketCloseEar(socket: number, ring: number): void;
  /** Reports keys and tones from now on, as wished. `cadences`: see tone-events.ts. False: it is closed. */
  socketWatchTones(socket: number, keys: boolean, tones: boolean, cadences: Float64Array): boolean;
  socketTakeForeign(socket: number): ForeignPacket[];
  socketTap(socket: number, on: boolean): void;
  socketTakeTapped(socket: number): Tapped;
  socketSend(socket: number, data: Uint8Array, address: string, port: number, rtcpPort: boolean): boolean;
  socketFeed(socket: number, data: Uint8Array, address: string, port: number, rtcpPort: boolean): void;
  socketStats(socket: number): SocketStats | null;
  /** The counts at the end, or null when it was closed before. */
  socketClose(socket: number): SocketStats | null;
}

/** native/binding/ears_binding.cc; src/media/ears.ts says what the fields mean. */
interface EarsAddon {
  earsOpen(plane: number): number;
  /** False: either is closed, they are of two planes, or other ears hear the call. */
  earsAdd(ears: number, socket: number): boolean;
  earsRemove(ears: number, socket: number): void;
  /** Returns the rows. */
  earsTake(ears: number, samples: Float32Array, fields: Float64Array): number;
  /** Returns true if windows wait. After false, the thread is notified of `ears` once. */
  earsWatch(ears: number): boolean;
  earsClose(ears: number): void;
  /** Groups of six: 1 for a key, its event or the kind of tone, hz, atMs, durationMs, told at ms. */
  tonesFind(samples: Float32Array, sampleRate: number, cadences: Float64Array): Float64Array;
}

/** Counts of one direction of a bridge. */
export interface RelayFigures {
  /** RTP packets that left, and bytes of their payloads. */
  readonly packets: number;
  readonly octets: number;
  /** Dropped, because a voice or key of ours went first, or the stream had no target. */
  readonly paused: number;
  /** Dropped, because the other far end does not understand their payload; keys are not counted. */
  readonly refused: number;
  /** Dropped, because they were too late, or were recovered from RED before. */
  readonly repeated: number;
  /** Dropped, because they were more than 250 a second or found no room. */
  readonly dropped: number;
}

/** native/binding/relay_binding.cc */
interface RelayAddon {
  /**
   * The handle, or why there is none: one of them is closed or of another plane, the stream has no codec, or
   * socket or stream are relayed already.
   */
  relayOpen(plane: number, socket: number, stream: number): number | 'closed' | 'opaque' | 'taken';
  relayFlow(relay: number, open: boolean): void;
  relayStats(relay: number): RelayFigures | null;
  /** The counts at the end, or null when it was closed before. */
  relayClose(relay: number): RelayFigures | null;
}

export interface DtlsKeys {
  readonly send: SrtpKeys;
  readonly receive: SrtpKeys;
}

/** The status of an association, and its news since the last dtlsTake. */
export interface DtlsNews {
  readonly state: 'new' | 'handshaking' | 'open' | 'closed' | 'failed';
  readonly failure: '' | 'fingerprint' | 'no-profile' | 'protocol';
  readonly reason: string;
  /** Number of the datagram that closed or failed it; 0: none did. */
  readonly endCause: number;
  /** Number of the last datagram of dtlsReceive that was processed. */
  readonly taken: number;
  /** Description of the last unprotected fatal alert; null: none came. */
  readonly alert: number | null;
  /** Number of the present wait for a handshake message, which an unprotected alert began; 0: none. */
  readonly alertWait: number;
  /** Once, when it is open. */
  readonly keys: DtlsKeys | null;
  /** Datagrams to send, unless a socket does; and the number of the datagram that each answers, or 0. */
  readonly output: readonly { readonly cause: number; readonly data: Uint8Array }[];
  /** Application data of the far end, message by message. */
  readonly received: readonly Uint8Array[];
}

/** native/binding/dtls_binding.cc */
interface DtlsAddon {
  identityMake(): number;
  identityFingerprint(identity: number): string | null;
  identityClose(identity: number): void;
  /** The handle, or in words why there is none. `fingerprints` are groups of two: hash, digest. */
  dtlsOpen(
    plane: number,
    options: {
      certificate: number;
      active: boolean;
      fingerprints: readonly string[];
      retransmitMs: number;
      /** False drops the far end's application data. */
      applicationData: boolean;
    },
  ): number | string;
  dtlsStart(association: number): void;
  /** The number of the datagram; 0 if it was dropped. */
  dtlsReceive(association: number, data: Uint8Array): number;
  /** One message of 1 to 2048 bytes. False where it is not open, or too many wait. */
  dtlsSend(association: number, data: Uint8Array): boolean;
  dtlsTake(association: number): DtlsNews | null;
  /** The last datagrams to send, unless a socket does. */
  dtlsClose(association: number): readonly Uint8Array[] | null;
}
