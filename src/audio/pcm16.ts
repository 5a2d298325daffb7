// Float samples to signed 16-bit ones, and those to bytes.
//
// Full scale is 32768, so a sample that came from 16 bits goes back to exactly
// the value it had. What lies outside [-1, 1] is clamped: an overflow that
// wraps turns a loud peak into a crack. NaN becomes silence.
const FULL_SCALE = 32_768;

/** Rounds `count` samples of `input` into `output` from `outputOffset` on, half away from zero. */
export function toInt16(
  input: Float32Array,
  count: number,
  output: Int16Array,
  inputOffset = 0,
  outputOffset = 0,
): void {
  for (let i = 0; i < count; i++) {
    const scaled = (input[inputOffset + i] as number) * FULL_SCALE;
    // Storing into an Int16Array truncates toward zero, hence the half added.
    const rounded = scaled < 0 ? scaled - 0.5 : scaled + 0.5;
    output[outputOffset + i] = rounded > 32_767 ? 32_767 : rounded < -FULL_SCALE ? -FULL_SCALE : rounded;
  }
}

/** Exact: every 16-bit value has its own Float32. */
export function toFloat32(input: Int16Array, count: number, output: Float32Array): void {
  for (let i = 0; i < count; i++) output[i] = (input[i] as number) / FULL_SCALE;
}

/**
 * Writes `count` samples as s16le, whatever the byte order of this machine, and returns the bytes written.
 */
export function toBytesS16le(
  input: Float32Array,
  count: number,
  output: Uint8Array,
  outputOffset = 0,
): number {
  let at = outputOffset;
  for (let i = 0; i < count; i++) {
    const scaled = (input[i] as number) * FULL_SCALE;
    const rounded = scaled < 0 ? scaled - 0.5 : scaled + 0.5;
    const value = (rounded > 32_767 ? 32_767 : rounded < -FULL_SCALE ? -FULL_SCALE : rounded) | 0;
    output[at++] = value & 0xff;
    output[at++] = (value >> 8) & 0xff;
  }
  return at - outputOffset;
}
