// What callers of the tests describe and hear: G.711 at 8 kHz, compared as waveforms.
import { A_LAW_VALUES, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import type { RtpPeer } from '../interop/telephone/rtp-peer.js';

/** Payload type of telephone events. */
export const EVENTS = 101;
const PIECE = 800; // samples of 8 kHz
export type Law = 'mu' | 'a';

/** An offer or answer of G.711 and telephone events. */
export function description(port: number, law: Law): string {
  const type = law === 'mu' ? 0 : 8;
  return [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP ${type} ${EVENTS}`,
    `a=rtpmap:${EVENTS} telephone-event/8000`,
    '',
  ].join('\r\n');
}

export const mediaPortIn = (sdp: string) => Number(/m=audio (\d+)/.exec(sdp)?.[1] ?? 0);

/** What a caller heard, packet after packet. */
export function heardBy({ rtp, law }: { readonly rtp: RtpPeer; readonly law: Law }, from = 0): Float32Array {
  const values = law === 'mu' ? MU_LAW_VALUES : A_LAW_VALUES;
  const packets = rtp.heard.slice(from).filter(({ payloadType }) => payloadType === (law === 'mu' ? 0 : 8));
  return Float32Array.from(
    packets.flatMap(({ payload }) => [...payload]),
    (code) => (values[code] ?? 0) / 32_768,
  );
}

/**
 * The median over pieces of 100 ms of the highest correlation of waveforms. A jitter buffer may shorten and
 * lengthen sound between them. It takes long, so callers are compared once they have hung up.
 */
export function waveLikeness(said: Float32Array, heard: Float32Array): number {
  const pieces = Array.from({ length: Math.floor(said.length / PIECE) }, (_, n) =>
    said.subarray(n * PIECE, (n + 1) * PIECE),
  )
    .filter((piece) => piece.some((sample) => Math.abs(sample) > 0.05))
    .filter((_, n) => n % 4 === 0);
  const found = pieces.map((piece) => correlation(piece, heard)).toSorted((a, b) => a - b);
  return found[Math.floor(found.length / 2)] ?? 0;
}

/** At the best shift. */
function correlation(said: Float32Array, heard: Float32Array): number {
  let best = 0;
  for (let shift = 0; shift + said.length <= heard.length; shift++) {
    let [both, own, other] = [0, 0, 0];
    for (let n = 0; n < said.length; n += 2) {
      const [one, two] = [said[n] as number, heard[n + shift] as number];
      both += one * two;
      own += one * one;
      other += two * two;
    }
    best = Math.max(best, both / Math.sqrt(own * other || 1));
  }
  return best;
}
