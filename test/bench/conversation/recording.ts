// The recording of one call, made from the packets at the caller's end: what the caller sent and what came
// from us, each packet at its time of the monotonic clock. The judge reads it, and a WAV file lets a person
// hear it.
import { Resampler } from '../../../src/audio/resampler.js';
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';
import { wavBytes } from '../../interop/telephone/sound-shape.js';

export const PACKET_MS = 20;

export interface Packet {
  /** Time at which it left the caller, or reached the caller. */
  readonly atMs: number;
  /** From -1 to 1. */
  readonly samples: Float32Array;
  /** Hz. */
  readonly rate: number;
}

export interface Recording {
  /** A packet leaves when its last sample has been said. */
  readonly caller: readonly Packet[];
  readonly ours: readonly Packet[];
}

/** Both sides as channels of 16 kHz: the caller is the left one. */
export function stereoWav({ caller, ours }: Recording): Buffer {
  const fromMs = Math.min(caller[0]?.atMs ?? Infinity, ours[0]?.atMs ?? Infinity) - PACKET_MS;
  const [left, right] = [channelOf(caller, fromMs, -PACKET_MS), channelOf(ours, fromMs, 0)];
  const both = new Float32Array(2 * Math.max(left.length, right.length));
  for (const [n, sample] of left.entries()) both[2 * n] = sample;
  for (const [n, sample] of right.entries()) both[2 * n + 1] = sample;
  const bytes = wavBytes({ samples: both, rate: 2 * SAMPLE_RATE });
  bytes.writeUInt16LE(2, CHANNELS_AT);
  bytes.writeUInt32LE(SAMPLE_RATE, RATE_AT);
  bytes.writeUInt16LE(4, FRAME_BYTES_AT);
  return bytes;
}

/** Places of the header of a WAV file. */
const CHANNELS_AT = 22;
const RATE_AT = 24;
const FRAME_BYTES_AT = 32;

function channelOf(packets: readonly Packet[], fromMs: number, shiftMs: number): Float32Array {
  const placeOf = (atMs: number) => Math.round(((atMs + shiftMs - fromMs) * SAMPLE_RATE) / 1000);
  const end = packets.reduce((most, { atMs }) => Math.max(most, placeOf(atMs + 2 * PACKET_MS)), 0);
  const channel = new Float32Array(end);
  for (const { atMs, samples, rate } of packets) channel.set(at16k(samples, rate), placeOf(atMs));
  return channel;
}

function at16k(samples: Float32Array, rate: number): Float32Array {
  if (rate === SAMPLE_RATE) return samples;
  const resampler = new Resampler(rate, SAMPLE_RATE, samples.length);
  const sound = new Float32Array(resampler.maxOutput(samples.length) + resampler.maxFlush);
  const count = resampler.process(samples, samples.length, sound);
  const rest = resampler.flush(sound.subarray(count));
  return sound.slice(0, count + rest);
}
