// Computes the media figures of a call for its record, and the packet copies and quality reports for
// captures. The E-model of ITU-T G.107, reduced to what RTP and RTCP report, estimates how the call sounded.
import type { CallRecord } from '../../src/call/phone-calls.js';
import { type CodecName, CODECS } from '../../src/codecs/codec.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { SocketStats } from '../../src/media/media-addon.js';
import type { MediaQuality, MediaSource } from '../capture/taps.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { SentCounts, SentSource } from './outgoing-voice.js';

export type CallFigures = Pick<CallRecord, 'codec' | 'srtp' | 'sent' | 'received' | 'remote'>;

/** Empty if nothing was agreed on. */
export function figuresOf(
  agreed: AgreedAudio | undefined,
  sent: SentCounts,
  stats: SocketStats,
): CallFigures {
  if (agreed === undefined) return {};
  const { received: packets } = stats;
  const loss = stats.expected > 0 ? Math.max(0, stats.lost) / stats.expected : 0;
  const { codec, packetTimeMs: frameMs, keys } = agreed;
  const { jitterMs, rttMs } = stats;
  const mos = mosOf(ratingOf({ codec, frameMs, rttMs, jitterMs, loss }));
  const remoteLoss = sent.packets > 0 ? Math.min(1, Math.max(0, stats.remoteLost) / sent.packets) : 0;
  return {
    codec,
    srtp: keys.kind,
    sent,
    ...(packets === 0 ? {} : { received: { packets, loss, jitterMs, mos } }),
    ...(stats.remoteReports === 0
      ? {}
      : { remote: { loss: remoteLoss, jitterMs: stats.remoteJitterMs, rttMs } }),
  };
}

/** Copies since the last call; `address` is our local address. */
export function copiesOf(socket: MediaSocket, address: string): ReturnType<MediaSource['takeCopies']> {
  const { packets, missed } = socket.takeTapped();
  const copies = packets.map(({ sent, rtcpPort, atMs, address: host, port, data }) => {
    const local = { address, port: socket.port + (rtcpPort ? 1 : 0) };
    const remote = { address: host, port };
    return { from: sent ? local : remote, to: sent ? remote : local, atMs, packet: data };
  });
  return { copies, missed };
}

export function qualityOf(
  agreed: AgreedAudio,
  socket: MediaSocket,
  address: string,
  sent: SentSource,
  figures: CallFigures,
): MediaQuality {
  const stats = socket.stats();
  return {
    local: { address, port: socket.port },
    remote: { address: stats.address, port: stats.port },
    report: {
      sentSsrc: sent.ssrc,
      sentPackets: figures.sent?.packets ?? 0,
      sentBytes: sent.octets,
      receivedSsrc: stats.ssrc,
      receivedPackets: stats.received,
      lostPackets: stats.lost,
      highestSequence: stats.highestSequence,
      jitterMs: stats.jitterMs,
      clockRate: CODECS[agreed.codec].clockRate,
      rttMs: stats.rttMs,
      mos: figures.received?.mos ?? null,
    },
  };
}

interface Impairments {
  readonly codec: CodecName;
  readonly frameMs: number;
  readonly rttMs: number | null;
  readonly jitterMs: number;
  /** Fraction of packets lost, 0 to 1. */
  readonly loss: number;
}

const DEFAULT_RATING = 93.2; // everything else at the defaults of G.107
const NO_IMPAIRMENT = { ie: 0, bpl: 25.1 }; // G.113, appendix I: G.711 with concealment
/**
 * Impairment of the codec, and how well it bears loss (G.113, appendix I; Opus as its in-band tests suggest).
 */
const CODEC_IMPAIRMENT: Readonly<Record<CodecName, { readonly ie: number; readonly bpl: number }>> = {
  PCMU: NO_IMPAIRMENT,
  PCMA: NO_IMPAIRMENT,
  G722: NO_IMPAIRMENT,
  opus: { ie: 0, bpl: 20 },
};
const ASSUMED_RTT_MS = 50; // if no report has arrived
const NOTICED_DELAY_MS = 177.3;

/**
 * The rating R of G.107, 0 to 93.2:
 *
 *   R = 93.2 - Id(delay) - Ie,eff(codec, loss)
 *
 * Delay is one way: half the round trip, the frame, and a jitter buffer of twice the jitter. Loss is taken as
 * random, and concealment as in G.711 appendix I.
 */
export function ratingOf({ codec, frameMs, rttMs, jitterMs, loss }: Impairments): number {
  const delayMs = (rttMs ?? ASSUMED_RTT_MS) / 2 + frameMs + 2 * jitterMs;
  const late = Math.max(0, delayMs - NOTICED_DELAY_MS);
  const { ie, bpl } = CODEC_IMPAIRMENT[codec];
  const percent = 100 * Math.min(1, Math.max(0, loss));
  const equipment = ie + ((95 - ie) * percent) / (percent + bpl);
  return Math.max(0, DEFAULT_RATING - (0.024 * delayMs + 0.11 * late) - equipment);
}

/** Mean opinion score of a rating, 1 to 4.5 (G.107, annex B). */
export function mosOf(rating: number): number {
  const r = Math.min(100, Math.max(0, rating));
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6);
}
