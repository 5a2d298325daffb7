// The format parameters of Opus in SDP (RFC 7587, sections 6 and 7): those of the far end limit what the
// encoder sends, and ours are written for it. Packet times (RFC 8866, section 6.4) become frame lengths.
//
// Every parameter is declarative: it states what its sender wants to receive, or will probably send. Unknown
// parameters and values out of range count as absent, and no text makes the reader fail.
import type { OpusSettings } from './opus.js';

/** Frame lengths in milliseconds that this server sends. */
export const OPUS_FRAMES_MS: readonly number[] = [10, 20, 40, 60];

export interface OpusParameters {
  /** The sender of the description can use forward error correction. */
  readonly useInbandFec: boolean;
  /** It prefers no packets to encoded silence. */
  readonly useDtx: boolean;
  readonly stereo: boolean;
  readonly constantBitrate: boolean;
  /** Highest sampling rate in Hz that it can play, 8000 to 48000. */
  readonly maxPlaybackRate: number;
  /** Highest bit rate that it accepts, 6000 to 510000; undefined if it states none. */
  readonly maxAverageBitrate: number | undefined;
  /** Highest sampling rate in Hz that it sends. */
  readonly spropMaxCaptureRate: number;
  /** It will probably send two channels. */
  readonly spropStereo: boolean;
}

const BITRATES = [6000, 510_000] as const; // bit/s, RFC 7587 section 7
const RATES_HZ = [8000, 48_000] as const;
const MOST_PARAMETERS = 64; // of one fmtp; later ones count as absent

/** Reads the value of an `a=fmtp` of Opus, after the payload type. Undefined gives the defaults. */
export function readOpusParameters(text: string | undefined): OpusParameters {
  const written = readPairs(text ?? '');
  const number = (name: string, [least, most]: readonly [number, number]): number | undefined => {
    const value = written.get(name) ?? '';
    return /^\d{1,7}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? Number(value)
      : undefined;
  };
  return {
    useInbandFec: written.get('useinbandfec') === '1',
    useDtx: written.get('usedtx') === '1',
    stereo: written.get('stereo') === '1',
    constantBitrate: written.get('cbr') === '1',
    maxPlaybackRate: number('maxplaybackrate', RATES_HZ) ?? RATES_HZ[1],
    maxAverageBitrate: number('maxaveragebitrate', BITRATES),
    spropMaxCaptureRate: number('sprop-maxcapturerate', RATES_HZ) ?? RATES_HZ[1],
    spropStereo: written.get('sprop-stereo') === '1',
  };
}

/** Reads `name=value` pairs separated by semicolons. Names become lower case; the first of a name counts. */
function readPairs(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of text.split(';', MOST_PARAMETERS)) {
    const at = part.indexOf('=');
    const name = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase();
    if (name !== '' && !found.has(name)) found.set(name, at < 0 ? '' : part.slice(at + 1).trim());
  }
  return found;
}

/** Writes the stated parameters in the order of RFC 7587 section 7. Absent ones keep their defaults. */
export function writeOpusParameters(ours: Partial<OpusParameters>): string {
  const flag = (value: boolean | undefined) => (value === undefined ? undefined : Number(value));
  const pairs = [
    ['maxplaybackrate', ours.maxPlaybackRate],
    ['sprop-maxcapturerate', ours.spropMaxCaptureRate],
    ['maxaveragebitrate', ours.maxAverageBitrate],
    ['stereo', flag(ours.stereo)],
    ['sprop-stereo', flag(ours.spropStereo)],
    ['cbr', flag(ours.constantBitrate)],
    ['useinbandfec', flag(ours.useInbandFec)],
    ['usedtx', flag(ours.useDtx)],
  ] as const;
  return pairs.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join(';');
}

/** Milliseconds between two frames of a pause with discontinuous transmission, as libopus sends them. */
export const DTX_INTERVAL_MS = 400;

/** Limits of the far end for what the encoder sends. */
export interface OpusLimits {
  /** Bit/s on average; undefined leaves it to the sender. */
  readonly maxBitsPerSecond: number | undefined;
  /** Hz that the far end can play, 8000 to 48000: sound above half of it would be wasted. */
  readonly maxPlaybackRate: number;
  /** Forward error correction is of use to the far end. */
  readonly inBandFec: boolean;
  /** Pauses send a frame each DTX_INTERVAL_MS only. */
  readonly dtx: boolean;
  readonly constantBitrate: boolean;
}

/**
 * Bit/s for mono speech at playback rates below 48 kHz: the default of maxaveragebitrate (RFC 7587, sections
 * 3.1.1 and 7). The rates in between are interpolated.
 */
const DEFAULT_BITRATES: readonly (readonly [atMostHz: number, bitsPerSecond: number])[] = [
  [8000, 12_000],
  [12_000, 16_000],
  [16_000, 20_000],
  [24_000, 28_000],
];

export function opusLimits(theirs: OpusParameters): OpusLimits {
  const { maxPlaybackRate, maxAverageBitrate, useInbandFec, useDtx, constantBitrate } = theirs;
  const usual = DEFAULT_BITRATES.find(([atMostHz]) => maxPlaybackRate <= atMostHz)?.[1];
  return {
    maxBitsPerSecond: maxAverageBitrate ?? usual,
    maxPlaybackRate,
    inBandFec: useInbandFec,
    dtx: useDtx,
    constantBitrate,
  };
}

/**
 * Measured with libopus 1.3.1, mono speech and frames of 20 ms: below it no frame carries a copy of the one
 * before, whatever loss is expected.
 */
const LEAST_FEC_BITRATE = 20_000; // bit/s

/**
 * The settings within the limits. `expectedLossPercent` above 0 adds forward error correction, if the far end
 * and the bit rate allow it. Without limits the settings stay as they are.
 */
export function withinLimits(
  settings: OpusSettings,
  limits: OpusLimits | undefined,
  expectedLossPercent = 0,
): OpusSettings {
  if (limits === undefined) return settings;
  const { maxBitsPerSecond = Infinity, maxPlaybackRate, constantBitrate } = limits;
  const bitsPerSecond = Math.min(settings.bitsPerSecond, maxBitsPerSecond);
  const corrects = limits.inBandFec && expectedLossPercent > 0 && bitsPerSecond >= LEAST_FEC_BITRATE;
  return {
    ...settings,
    bitsPerSecond,
    ...(maxPlaybackRate < RATES_HZ[1] ? { maxPlaybackRate } : {}),
    ...(constantBitrate ? { constantBitrate } : {}),
    ...(corrects ? { inBandFec: true, expectedLossPercent } : {}),
  };
}

const USUAL_FRAME_MS = 20;

/**
 * Frame length in milliseconds for the far end's `a=ptime` and `a=maxptime`: the longest that this server
 * sends within both, else the shortest. 20 if neither is stated.
 */
export function opusFrameMs(ptime: string | undefined, maxptime: string | undefined): number {
  const limit = Math.min(readMs(ptime) ?? USUAL_FRAME_MS, readMs(maxptime) ?? Infinity);
  return OPUS_FRAMES_MS.findLast((ms) => ms <= limit) ?? (OPUS_FRAMES_MS[0] as number);
}

export const MOST_PACKET_MS = 120; // the default of maxptime (RFC 7587, section 6.1)

/** The longest packet in milliseconds that the far end takes. */
export function opusPacketMs(maxptime: string | undefined): number {
  return Math.min(readMs(maxptime) ?? MOST_PACKET_MS, MOST_PACKET_MS);
}

/** Milliseconds of a packet time; some peers write `20.0`. Undefined if it is malformed or 0. */
function readMs(text: string | undefined): number | undefined {
  const [, ms] = /^(\d{1,4})(?:\.\d{1,6})?$/.exec(text?.trim() ?? '') ?? [];
  return ms === undefined || Number(ms) === 0 ? undefined : Number(ms);
}
