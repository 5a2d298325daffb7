// G.711: 16-bit samples to one byte of logarithmic code, and back, by table.
//
// Both laws code sign, segment (an octave) and four bits within it. The sample
// is cut to the law's own width first: 14 bits for mu-law, 13 for A-law, with
// negative values in ones' complement, as the ITU's reference code (G.191) does.
const MU_BIAS = 33; // moves the segment borders to powers of two
const MU_MAX = 8191; // 14 bits without the sign, biased
const A_TOGGLE = 0x55; // every other bit inverted (G.711, table 1a, note 2)
const MU_TOGGLE = 0xff;

/** Code of each 16-bit value, at index value + 32768. */
export const MU_LAW: Uint8Array = encodeTable(encodeMuLaw);
export const A_LAW: Uint8Array = encodeTable(encodeALaw);

/** 16-bit value of each code. */
export const MU_LAW_VALUES: Int16Array = Int16Array.from({ length: 256 }, (_, code) => decodeMuLaw(code));
export const A_LAW_VALUES: Int16Array = Int16Array.from({ length: 256 }, (_, code) => decodeALaw(code));

/** Smallest magnitude of 16 bits that is no digital silence: A-law codes silence as 8. */
export const LEAST_AUDIBLE = 9;

function encodeTable(encode: (value: number) => number): Uint8Array {
  return Uint8Array.from({ length: 65_536 }, (_, index) => encode(index - 32_768));
}

/** Position of the highest bit set. */
function log2(value: number): number {
  return 31 - Math.clz32(value);
}

function encodeMuLaw(value: number): number {
  const sign = value < 0 ? 0x80 : 0;
  const magnitude = Math.min((value < 0 ? ~value >> 2 : value >> 2) + MU_BIAS, MU_MAX);
  const segment = log2(magnitude) - 5;
  const step = (magnitude >> (segment + 1)) & 0x0f;
  return (sign | (segment << 4) | step) ^ MU_TOGGLE;
}

function encodeALaw(value: number): number {
  const sign = value < 0 ? 0 : 0x80;
  const magnitude = value < 0 ? ~value >> 4 : value >> 4;
  // Segments 0 and 1 have the same step; from 2 on each doubles it.
  const segment = Math.max(0, log2(magnitude) - 3);
  const step = (magnitude >> Math.max(0, segment - 1)) & 0x0f;
  return (sign | (segment << 4) | step) ^ A_TOGGLE;
}

function decodeMuLaw(code: number): number {
  const bits = code ^ MU_TOGGLE;
  const segment = (bits >> 4) & 7;
  const magnitude = ((((bits & 0x0f) << 1) + MU_BIAS) << segment) - MU_BIAS;
  return (bits & 0x80 ? -magnitude : magnitude) << 2;
}

function decodeALaw(code: number): number {
  const bits = code ^ A_TOGGLE;
  const segment = (bits >> 4) & 7;
  const step = ((bits & 0x0f) << 1) + 1; // the middle of the interval
  const magnitude = segment === 0 ? step : (step + 32) << (segment - 1);
  return (bits & 0x80 ? magnitude : -magnitude) << 3;
}
