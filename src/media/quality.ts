// Estimates how a call sounds, at our end and at the far end, which reports it. The E-model of ITU-T G.107,
// reduced to what RTP and RTCP report, gives a rating and a mean opinion score.
import type { CodecName } from '../codecs/codec.js';
import type { SocketStats } from './media-addon.js';

/** Our sound as the far end receives it, by its RTCP reports. */
export interface RemoteReception {
  readonly reports: number;
  /** Fraction of the packets lost since the call began, 0 to 1. */
  readonly loss: number;
  /** Fraction lost in the interval of the last report, 0 to 1. */
  readonly recentLoss: number;
  readonly jitterMs: number;
  /** Round trip; null until the far end has answered one of our reports. */
  readonly rttMs: number | null;
  /** Mean opinion score, 1 to 4.5. */
  readonly mos: number;
}

interface SentSound {
  readonly codec: CodecName;
  readonly frameMs: number;
  /** Packets that were sent. */
  readonly packets: number;
}

/** Undefined until the first report. */
export function remoteReception(
  { remoteReports: reports, remoteLost, remoteFractionLost, remoteJitterMs: jitterMs, rttMs }: SocketStats,
  { codec, frameMs, packets }: SentSound,
): RemoteReception | undefined {
  if (reports === 0) return undefined;
  // A far end that saw packets twice reports fewer than none lost (RFC 3550 section 6.4.1).
  const loss = packets > 0 ? Math.min(1, Math.max(0, remoteLost) / packets) : 0;
  const mos = mosOf(ratingOf({ codec, frameMs, rttMs, jitterMs, loss }));
  return { reports, loss, recentLoss: remoteFractionLost, jitterMs, rttMs, mos };
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
  L16: NO_IMPAIRMENT,
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
