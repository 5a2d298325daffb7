// Lists the codecs of telephone calls as SDP names them, maps payload types to encodings, and reads the fmtp
// parameters of Opus.
export type AudioCodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus';

/** An encoding as an rtpmap states it. */
export interface Encoding {
  readonly name: string;
  /** Hz of the RTP timestamp: 8000 for G.722 too, which samples at 16,000 (RFC 3551 section 4.5.2). */
  readonly clockRate: number;
  readonly channels: number;
}

export interface AudioCodec extends Encoding {
  readonly name: AudioCodecName;
  readonly staticPayloadType?: number;
  /** Packet times in milliseconds that this server can send. */
  readonly packetTimesMs: readonly number[];
}

const ANY_TEN = [10, 20, 30, 40, 50, 60];

export const AUDIO_CODECS: Readonly<Record<AudioCodecName, AudioCodec>> = {
  PCMU: { name: 'PCMU', clockRate: 8000, channels: 1, staticPayloadType: 0, packetTimesMs: ANY_TEN },
  PCMA: { name: 'PCMA', clockRate: 8000, channels: 1, staticPayloadType: 8, packetTimesMs: ANY_TEN },
  G722: { name: 'G722', clockRate: 8000, channels: 1, staticPayloadType: 9, packetTimesMs: ANY_TEN },
  // Always 48000/2 (RFC 7587 section 7); frames of Opus are 10, 20, 40 or 60 ms long.
  opus: { name: 'opus', clockRate: 48_000, channels: 2, packetTimesMs: [10, 20, 40, 60] },
};

const COMFORT_NOISE_TYPE = 13; // for a clock of 8000 (RFC 3389 section 4)
const EVENT_CLOCKS = { least: 1000, most: 192_000 }; // Hz: what the media plane takes

export interface AudioFormat extends Encoding {
  readonly payloadType: number;
  /** The value of its `a=fmtp`, not parsed. */
  readonly parameters?: string;
}

/** Our codec for an encoding; undefined if there is none. */
export function codecOf(format: Encoding): AudioCodec | undefined {
  const codec = Object.values(AUDIO_CODECS).find(
    ({ name }) => name.toLowerCase() === format.name.toLowerCase(),
  );
  if (codec === undefined) return undefined;
  if (codec.name === 'opus') return format.clockRate === codec.clockRate ? codec : undefined;
  // Some peers write G.722's sampling rate into its rtpmap and still use the clock of RFC 3551.
  const misnamed = codec.name === 'G722' && format.clockRate === 16_000;
  return (format.clockRate === codec.clockRate || misnamed) && format.channels === 1 ? codec : undefined;
}

/** True for telephone events with a clock rate that the media plane can count in. */
export function isTelephoneEvent({ name, clockRate }: Encoding): boolean {
  const isUsable = clockRate >= EVENT_CLOCKS.least && clockRate <= EVENT_CLOCKS.most;
  return isUsable && name.toLowerCase() === 'telephone-event';
}

export function isComfortNoise({ name, clockRate }: Encoding): boolean {
  return name.toUpperCase() === 'CN' && clockRate === 8000;
}

/** Key that identifies an encoding in any description. */
export function keyOf(format: Encoding): string {
  const { name, clockRate, channels } = codecOf(format) ?? format;
  return `${name}/${clockRate}/${channels}`.toLowerCase();
}

/** The encoding of a static payload type (RFC 3551 table 4). */
export function staticEncoding(payloadType: number): Encoding | undefined {
  if (payloadType === COMFORT_NOISE_TYPE) return { name: 'CN', clockRate: 8000, channels: 1 };
  const codec = Object.values(AUDIO_CODECS).find(
    ({ staticPayloadType }) => staticPayloadType === payloadType,
  );
  return codec === undefined
    ? undefined
    : { name: codec.name, clockRate: codec.clockRate, channels: codec.channels };
}

/**
 * Packet time to send with: the longest that this server supports within the peer's request and limit, else
 * the shortest supported one.
 */
export function packetTime(codec: AudioCodec, wantedMs: number, mostMs: number | undefined): number {
  const limit = Math.min(wantedMs, mostMs ?? wantedMs);
  return codec.packetTimesMs.findLast((ms) => ms <= limit) ?? (codec.packetTimesMs[0] as number);
}

export interface OpusParameters {
  /** The peer can use forward error correction. */
  readonly useInbandFec: boolean;
  /** The peer prefers no packets to encoded silence. */
  readonly useDtx: boolean;
  readonly stereo: boolean;
  readonly constantBitrate: boolean;
  /** Highest sampling rate in Hz that the peer can play, 8000 to 48000. */
  readonly maxPlaybackRate: number;
  /** Highest bit rate that the peer accepts, 6000 to 510000; undefined leaves it to the sender. */
  readonly maxAverageBitrate: number | undefined;
  /** Highest sampling rate in Hz that the peer sends. */
  readonly spropMaxCaptureRate: number;
  /** The peer will probably send two channels. */
  readonly spropStereo: boolean;
}

/** Reads the fmtp parameters of Opus (RFC 7587 section 6). Values out of range count as absent. */
export function readOpusParameters(text: string | undefined): OpusParameters {
  const written = readParameters(text);
  const number = (name: string, least: number, most: number): number | undefined => {
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
    maxPlaybackRate: number('maxplaybackrate', 8000, 48_000) ?? 48_000,
    maxAverageBitrate: number('maxaveragebitrate', 6000, 510_000),
    spropMaxCaptureRate: number('sprop-maxcapturerate', 8000, 48_000) ?? 48_000,
    spropStereo: written.get('sprop-stereo') === '1',
  };
}

/** Reads `name=value` pairs separated by semicolons. Names become lower case; the first of a name counts. */
function readParameters(text: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of (text ?? '').split(';')) {
    const at = part.indexOf('=');
    const name = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase();
    if (name !== '' && !found.has(name)) found.set(name, at < 0 ? '' : part.slice(at + 1).trim());
  }
  return found;
}
