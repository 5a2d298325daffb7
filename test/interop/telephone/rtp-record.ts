// Properties of a received RTP stream: completeness, pacing, digits and sound.
import { A_LAW_VALUES, MU_LAW_VALUES } from '../../../src/codecs/g711.js';
import { readEvent } from './rtp-packet.js';
import type { HeardPacket } from './rtp-peer.js';

interface Continuity {
  readonly packets: number;
  /** Numbers that never came, and those that came late or twice. */
  readonly lost: number;
  readonly disordered: number;
  /** Sound packets that follow one another by number, but not by timestamp. */
  readonly timestampBreaks: number;
  readonly markers: number;
  readonly sources: readonly number[];
  readonly payloadTypes: readonly number[];
  /** Milliseconds between sound packets as they came. */
  readonly spacingMs: { readonly median: number; readonly p99: number; readonly longest: number };
}

/** `ticks`: timestamp units of a packet; `eventType`: packets of that type are no sound and count as no break. */
export function continuity(packets: readonly HeardPacket[], ticks = 160, eventType = 101): Continuity {
  let lost = 0;
  let disordered = 0;
  let timestampBreaks = 0;
  let previous: HeardPacket | undefined;
  for (const packet of packets) {
    const step = previous === undefined ? 1 : signed16(packet.sequence - previous.sequence);
    if (step <= 0) disordered++;
    else lost += step - 1;
    if (previous !== undefined && step === 1 && packet.payloadType !== eventType && previous.payloadType !== eventType) {
      if ((packet.timestamp - previous.timestamp) >>> 0 !== ticks) timestampBreaks++;
    }
    if (step > 0) previous = packet;
  }
  const sound = packets.filter(({ payloadType }) => payloadType !== eventType);
  return {
    packets: packets.length,
    lost: Math.max(0, lost - disordered),
    disordered,
    timestampBreaks,
    markers: packets.filter(({ marker }) => marker).length,
    sources: [...new Set(packets.map(({ ssrc }) => ssrc))],
    payloadTypes: [...new Set(packets.map(({ payloadType }) => payloadType))],
    spacingMs: spacing(sound.map(({ atMs }) => atMs)),
  };
} // prettier-ignore

function spacing(times: readonly number[]): Continuity['spacingMs'] {
  const gaps = times.slice(1).map((atMs, n) => atMs - (times[n] ?? atMs));
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { median: at(0.5), p99: at(0.99), longest: at(1) };
}

/** The packets between pauses in which nothing came for longer than this. */
export function stretches(packets: readonly HeardPacket[], pauseMs = 300): HeardPacket[][] {
  const found: HeardPacket[][] = [];
  for (const packet of packets) {
    const latest = found.at(-1);
    const sinceMs = packet.atMs - (latest?.at(-1)?.atMs ?? -Infinity);
    if (latest === undefined || sinceMs > pauseMs) found.push([packet]);
    else latest.push(packet);
  }
  return found;
}

function signed16(difference: number): number {
  return (difference << 16) >> 16;
}

interface Laws {
  /** Payload types of G.711; 0 and 8 if absent. */
  readonly mu?: number;
  readonly a?: number;
}

/** The sound in [-1, 1] at 8 kHz from the first packet on, each packet at its timestamp; zeros where none came. */
export function g711Sound(packets: readonly HeardPacket[], { mu = 0, a = 8 }: Laws = {}): Float32Array {
  const sound = packets.filter(({ payloadType }) => payloadType === mu || payloadType === a);
  const start = sound[0]?.timestamp ?? 0;
  const placeOf = (packet: HeardPacket): number => (packet.timestamp - start) | 0;
  const length = Math.max(0, ...sound.map((packet) => placeOf(packet) + packet.payload.length));
  const samples = new Float32Array(length);
  for (const packet of sound) {
    const values = packet.payloadType === mu ? MU_LAW_VALUES : A_LAW_VALUES;
    const place = placeOf(packet);
    if (place >= 0) packet.payload.forEach((code, n) => (samples[place + n] = (values[code] ?? 0) / 32_768));
  }
  return samples;
}

interface HeardDigit {
  readonly digit: string;
  readonly durationMs: number;
  readonly packets: number;
  /** Packets with the end bit. */
  readonly ends: number;
  readonly markers: number;
}

/** The digits of a stream in order; an event is what has one timestamp. */
export function heardDigits(packets: readonly HeardPacket[], eventType = 101): HeardDigit[] {
  const events = new Map<number, HeardPacket[]>();
  for (const packet of packets) {
    if (packet.payloadType !== eventType) continue;
    events.set(packet.timestamp, [...(events.get(packet.timestamp) ?? []), packet]);
  }
  return [...events.values()].map((group) => {
    const read = group.flatMap(({ payload }) => readEvent(payload) ?? []);
    return {
      digit: read[0]?.digit ?? '?',
      durationMs: Math.max(...read.map(({ duration }) => duration)) / 8,
      packets: group.length,
      ends: read.filter(({ end }) => end).length,
      markers: group.filter(({ marker }) => marker).length,
    };
  });
}
