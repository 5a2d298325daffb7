// Decodes the packets of a call that changes its codec, as a far end does, at 8 kHz, and measures how far the
// sound is from the one that was spoken.
import assert from 'node:assert/strict';
import { Resampler } from '../../src/audio/resampler.js';
import { CODECS, type CodecName } from '../../src/codecs/codec.js';
import { frameDecoder } from '../../src/codecs/frame-decoder.js';
import { payloadTypeOf, type SentPacket } from '../fakes/call-under-test.js';

export const RATE = 8000;
const PER_MS = RATE / 1000;

/** A tone that rises by 400 Hz a second: every moment of it is like no other. */
export function rising(ms: number): Float32Array {
  return Float32Array.from({ length: ms * PER_MS }, (_, n) => {
    const t = n / RATE;
    return 0.4 * Math.sin(2 * Math.PI * (300 * t + 200 * t * t));
  });
}

function codecOf({ payloadType }: SentPacket): CodecName {
  const found = Object.values(CODECS).find((codec) => payloadTypeOf(codec) === payloadType);
  return (found ?? assert.fail(`payload type ${payloadType}`)).name;
}

/** A decoder is made where the codec changes, as far ends do. */
export function heardOf(packets: readonly SentPacket[]): Float32Array {
  const parts: number[] = [];
  for (let at = 0; at < packets.length;) {
    const name = codecOf(packets[at] as SentPacket);
    const decoder = frameDecoder(name);
    const sound: number[] = [];
    for (; at < packets.length && codecOf(packets[at] as SentPacket) === name; at++) {
      for (const sample of decoder.decode((packets[at] as SentPacket).payload)) sound.push(sample / 32_768);
    }
    for (const sample of atEightKilohertz(Float32Array.from(sound), CODECS[name].sampleRate)) {
      parts.push(sample);
    }
  }
  return Float32Array.from(parts);
}

function atEightKilohertz(sound: Float32Array, rate: number): Float32Array {
  const resampler = new Resampler(rate, RATE, sound.length);
  const output = new Float32Array(resampler.maxOutput(sound.length) + resampler.maxFlush);
  const count = resampler.process(sound, sound.length, output);
  return output.subarray(0, count + resampler.flush(output, count));
}

/** Without the silence before and after; far ends' decoders ring a little. */
export function sounding(heard: Float32Array): Float32Array {
  const loud = (sample: number) => Math.abs(sample) > 0.02;
  const first = heard.findIndex(loud);
  return first < 0 ? new Float32Array(0) : heard.slice(first, heard.findLastIndex(loud) + 1);
}

interface Alignment {
  /** In milliseconds of what was heard. */
  readonly atMs: number;
  /** Delay of the received sound against the reference. */
  readonly lagMs: number;
  /** 1: the same but for loudness. */
  readonly likeness: number;
  /** Loudness against what was said. */
  readonly gain: number;
}

/**
 * Window after window of what was heard, each where it fits best within `range` ms of its place in what was
 * said.
 */
export function alignments(heard: Float32Array, said: Float32Array, range = 60, windowMs = 40): Alignment[] {
  const length = windowMs * PER_MS;
  const found: Alignment[] = [];
  for (let at = 0; at + length <= heard.length; at += length) {
    let best: Alignment = { atMs: at / PER_MS, lagMs: 0, likeness: -1, gain: 0 };
    for (let lag = -range * PER_MS; lag <= range * PER_MS; lag++) {
      const from = at - lag;
      if (from < 0 || from + length > said.length) continue;
      const { likeness, gain } = compared(heard, at, said, from, length);
      if (likeness > best.likeness) best = { atMs: at / PER_MS, lagMs: lag / PER_MS, likeness, gain };
    }
    found.push(best);
  }
  return found;
}

function compared(a: Float32Array, aFrom: number, b: Float32Array, bFrom: number, length: number) {
  let product = 0;
  let aEnergy = 1e-9;
  let bEnergy = 1e-9;
  for (let i = 0; i < length; i++) {
    const x = a[aFrom + i] as number;
    const y = b[bFrom + i] as number;
    product += x * y;
    aEnergy += x * x;
    bEnergy += y * y;
  }
  return { likeness: product / Math.sqrt(aEnergy * bEnergy), gain: Math.sqrt(aEnergy / bEnergy) };
}
