// Sound received while a call is put on hold in the middle of a text: none during the hold, and afterwards
// the rest from the point of interruption.
import assert from 'node:assert/strict';
import { MU_LAW } from '../../../src/codecs/g711.js';
import { continuity, g711Sound, stretches } from './rtp-record.js';
import type { HeardPacket } from './rtp-peer.js';
import { likenessSoFar, voiced, type Sound } from './sound-shape.js';

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
 * Held by the server, which goes on sending, for the sake of NAT and SRTP, but silence: from when the hold was agreed on
 * until it was ended, in milliseconds of performance.now(). PCMU; longer than any pause of the text.
 */
export function assertHeldByServer(packets: readonly HeardPacket[], text: Sound, fromMs: number, toMs: number): void {
  const isLoud = ({ payload }: HeardPacket): boolean => payload.some((code) => code !== SILENCE);
  const before = packets.findLastIndex((packet) => packet.atMs < toMs && isLoud(packet));
  const after = packets.findIndex((packet, at) => at > before && packet.atMs > fromMs && isLoud(packet));
  assert.ok(after > 0, 'there is more after it was held');
  const silentMs = (after - before - 1) * FRAME_MS;
  assert.ok(silentMs > toMs - fromMs - UNDER_WAY_MS && silentMs < toMs - fromMs + LATE_MS, `silence for ${silentMs} ms, held for ${toMs - fromMs}`);
  assertRest(packets, packets.slice(0, before + 1), packets.slice(after), text);
} // prettier-ignore

/** Asserts one stream whose parts together contain the whole text, as without a hold. */
function assertRest(packets: readonly HeardPacket[], before: readonly HeardPacket[], after: readonly HeardPacket[], text: Sound): void {
  const { lost, disordered, sources } = continuity(packets);
  assert.deepEqual([lost, disordered, sources.length], [0, 0, 1]);
  const parts = [before, after].map((part) => g711Sound(part));
  const lengths = parts.map((part) => voiced(part, RATE).length);
  assert.ok(lengths.every((length) => length > LEAST_S * RATE), `${lengths.join(' and ')} samples of speech`);
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  const { correlation } = likenessSoFar({ samples, rate: RATE }, text);
  assert.ok(correlation > ALIKE, `both parts together are like the text: ${correlation}`);
} // prettier-ignore
