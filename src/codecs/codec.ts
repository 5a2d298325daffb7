// Codecs as data: what SDP, the clock and the encoders need to know of each.
/** Codecs that SDP may name. */
export type SdpCodecName = 'opus' | 'G722' | 'PCMU' | 'PCMA';
export type CodecName = SdpCodecName | 'L16';

export interface Codec {
  readonly name: CodecName;
  /** Hz of the RTP timestamp (RFC 3551 section 6; RFC 7587 section 4.1 for Opus). */
  readonly clockRate: number;
  /** Hz of the PCM that the encoder takes. */
  readonly sampleRate: number;
  /** Channels as SDP states them; the sound itself is always mono. */
  readonly sdpChannels: number;
  /** The static payload type (RFC 3551 table 4), or undefined where SDP assigns one. */
  readonly staticPayloadType: number | undefined;
  /** Milliseconds of one frame unless the peer asks for another length. */
  readonly frameMs: number;
  /** One frame of digital silence of `frameMs` milliseconds. */
  silence(frameMs: number): Uint8Array;
}

function filled(samplesPerMs: number, value: number): (frameMs: number) => Uint8Array {
  return (frameMs) => new Uint8Array(samplesPerMs * frameMs).fill(value);
}

// TOC byte 0xF8: CELT only, full band, 20 ms, mono, one frame (RFC 6716
// section 3.1); the two bytes after it decode to exact silence. 40 and 60 ms
// are two and three frames of 20 in one packet (section 3.2.3 and 3.2.5).
const OPUS_SILENCE: Readonly<Record<number, Uint8Array>> = {
  10: Uint8Array.of(0xf0, 0xff, 0xfe),
  20: Uint8Array.of(0xf8, 0xff, 0xfe),
  40: Uint8Array.of(0xf9, 0xff, 0xfe, 0xff, 0xfe),
  60: Uint8Array.of(0xfb, 0x03, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe),
};
const OPUS_FRAME_MS = 20;

export const OPUS: Codec = {
  name: 'opus',
  clockRate: 48_000,
  sampleRate: 48_000,
  sdpChannels: 2,
  staticPayloadType: undefined,
  frameMs: OPUS_FRAME_MS,
  silence: (frameMs) => OPUS_SILENCE[frameMs] ?? (OPUS_SILENCE[OPUS_FRAME_MS] as Uint8Array),
};

/** Its RTP clock is half of its sampling rate, by an old mistake that is the rule now (RFC 3551, 4.5.2). */
export const G722: Codec = {
  name: 'G722',
  clockRate: 8000,
  sampleRate: 16_000,
  sdpChannels: 1,
  staticPayloadType: 9,
  frameMs: 20,
  // The smallest steps of both bands: a decoder comes to rest 55 dB below full scale within 50 ms, whatever
  // it heard before. The coder's own bytes for silence depend on that, and repeated they leave four times as
  // much.
  silence: filled(8, 0xfe),
};

export const PCMU: Codec = {
  name: 'PCMU',
  clockRate: 8000,
  sampleRate: 8000,
  sdpChannels: 1,
  staticPayloadType: 0,
  frameMs: 20,
  silence: filled(8, 0xff),
};

export const PCMA: Codec = {
  name: 'PCMA',
  clockRate: 8000,
  sampleRate: 8000,
  sdpChannels: 1,
  staticPayloadType: 8,
  frameMs: 20,
  silence: filled(8, 0xd5),
};

/**
 * 16-bit samples, the most significant byte first (RFC 3551, 4.5.11), for calls whose sound does not cross a
 * network as RTP. SDP never offers it.
 */
export const L16: Codec = {
  name: 'L16',
  clockRate: 24_000,
  sampleRate: 24_000,
  sdpChannels: 1,
  staticPayloadType: undefined,
  frameMs: 20,
  silence: filled(48, 0),
};

export const CODECS: Readonly<Record<CodecName, Codec>> = { opus: OPUS, G722, PCMU, PCMA, L16 };

/** RTP timestamp ticks of one frame. */
export function ticksPerFrame(codec: Codec, frameMs: number): number {
  return (codec.clockRate * frameMs) / 1000;
}

/** PCM samples that the encoder takes for one frame. */
export function samplesPerFrame(codec: Codec, frameMs: number): number {
  return (codec.sampleRate * frameMs) / 1000;
}
