// ADTS (ISO/IEC 14496-3, 1.A.2): AAC as a stream, each frame of which says what
// it is, so that a reader may begin at any of them and nothing goes before.
import { ParleyError } from '../errors.js';

// The index in a header is the place in this list.
const RATES_HZ: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
];
const HEADER_BYTES = 7; // without a checksum
const MAX_FRAME_BYTES = 0x1fff; // 13 bits say how long a frame is

/** One channel of AAC-LC at `rate` Hz: `unit` is what an encoder made of 1024 samples. */
export function adtsFrame(unit: Uint8Array, rate: number): Uint8Array {
  const rateIndex = RATES_HZ.indexOf(rate);
  const length = HEADER_BYTES + unit.length;
  if (rateIndex < 0 || length > MAX_FRAME_BYTES) {
    throw new ParleyError('ENCODER_FAILED', `no ADTS frame has ${length} bytes at ${rate} Hz`);
  }
  const frame = new Uint8Array(length);
  frame[0] = 0xff;
  frame[1] = 0xf1; // MPEG-4: its noise substitution is not in MPEG-2; no checksum
  frame[2] = (1 << 6) | (rateIndex << 2); // LC
  frame[3] = (1 << 6) | (length >> 11); // one channel
  frame[4] = (length >> 3) & 0xff;
  frame[5] = ((length & 7) << 5) | 0x1f; // from here on eleven ones: the rate in bits is not constant
  frame[6] = 0xfc; // one unit
  frame.set(unit, HEADER_BYTES);
  return frame;
}
