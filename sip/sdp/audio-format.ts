// Lists the codecs of telephone calls as SDP names them, and maps payload types to encodings.
import { OPUS_FRAMES_MS } from '../../src/codecs/opus-format.js';

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
  // Always 48000/2 (RFC 7587 section 7).
  opus: { name: 'opus', clockRate: 48_000, channels: 2, packetTimesMs: OPUS_FRAMES_MS },
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
