// Reports the properties of a received RTP stream: completeness, pacing, digits, sound, and a hold within it.
import assert from 'node:assert/strict';
import { A_LAW_VALUES, MU_LAW, MU_LAW_VALUES } from '../../../src/codecs/g711.js';
import { type HeardPacket, readEvent } from './rtp-peer.js';
import { likenessSoFar, type Sound, voiced } from './sound-shape.js';

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

/**
 * `ticks`: timestamp units of a packet; `eventType`: packets of that type are no sound and count as no break.
 */
export function continuity(packets: readonly HeardPacket[], ticks = 160, eventType = 101): Continuity {
  let lost = 0;
  let disordered = 0;
  let timestampBreaks = 0;
  let previous: HeardPacket | undefined;
  for (const packet of packets) {
    const step = previous === undefined ? 1 : signed16(packet.sequence - previous.sequence);
    if (step <= 0) disordered++;
    else lost += step - 1;
    if (
      previous !== undefined &&
      step === 1 &&
      packet.payloadType !== eventType &&
      previous.payloadType !== eventType
    ) {
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
}

function spacing(times: readonly number[]): Continuity['spacingMs'] {
  const gaps = times.slice(1).map((atMs, n) => atMs - (times[n] ?? atMs));
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { median: at(0.5), p99: at(0.99), longest: at(1) };
}

/** The packets between pauses in which nothing came for longer than this. */
function stretches(packets: readonly HeardPacket[], pauseMs = 300): HeardPacket[][] {
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

/**
 * The sound in [-1, 1] at 8 kHz from the first packet on, each packet at its timestamp; zeros where none
 * came.
 */
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

// Sound received while a call is put on hold in the middle of a text: none during the hold, and afterwards
// the rest from the point of interruption.

const RATE = 8000;
const FRAME_MS = 20;
const LATE_MS = 300; // an offer and its answer, and the way to the next packet
const UNDER_WAY_MS = 100; // packets sent before the hold may be read after it
const LEAST_S = 0.3; // speech in each part; with less the test proves nothing
const ALIKE = 0.93;
const SILENCE = MU_LAW[32_768];

/** Held by the peer: not a packet comes for so long at least, and then the rest. */
export function assertHeldByPeer(packets: readonly HeardPacket[], text: Sound, heldMs: number): void {
  const [before = [], after = [], ...more] = stretches(packets, heldMs / 2);
  assert.equal(more.length, 0, 'it is held once');
  const silentMs = (after[0]?.atMs ?? Infinity) - (before.at(-1)?.atMs ?? 0);
  assert.ok(
    silentMs >= heldMs - FRAME_MS && silentMs < heldMs + LATE_MS,
    `no packet for ${silentMs} ms, held for ${heldMs}`,
  );
  assertRest(packets, before, after, text);
}

/**
 * Held by the server, which goes on sending, for the sake of NAT and SRTP, but silence: from when the hold
 * was agreed on until it was ended, in milliseconds of performance.now(). PCMU; longer than any pause of the
 * text.
 */
export function assertHeldByServer(
  packets: readonly HeardPacket[],
  text: Sound,
  fromMs: number,
  toMs: number,
): void {
  const isLoud = ({ payload }: HeardPacket): boolean => payload.some((code) => code !== SILENCE);
  const before = packets.findLastIndex((packet) => packet.atMs < toMs && isLoud(packet));
  const after = packets.findIndex((packet, at) => at > before && packet.atMs > fromMs && isLoud(packet));
  assert.ok(after > 0, 'there is more after it was held');
  const silentMs = (after - before - 1) * FRAME_MS;
  assert.ok(
    silentMs > toMs - fromMs - UNDER_WAY_MS && silentMs < toMs - fromMs + LATE_MS,
    `silence for ${silentMs} ms, held for ${toMs - fromMs}`,
  );
  assertRest(packets, packets.slice(0, before + 1), packets.slice(after), text);
}

/** Asserts one stream whose parts together contain the whole text, as without a hold. */
function assertRest(
  packets: readonly HeardPacket[],
  before: readonly HeardPacket[],
  after: readonly HeardPacket[],
  text: Sound,
): void {
  const { lost, disordered, sources } = continuity(packets);
  assert.deepEqual([lost, disordered, sources.length], [0, 0, 1]);
  const parts = [before, after].map((part) => g711Sound(part));
  const lengths = parts.map((part) => voiced(part, RATE).length);
  assert.ok(
    lengths.every((length) => length > LEAST_S * RATE),
    `${lengths.join(' and ')} samples of speech`,
  );
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  const { correlation } = likenessSoFar({ samples, rate: RATE }, text);
  assert.ok(correlation > ALIKE, `both parts together are like the text: ${correlation}`);
}
