// The 44 bytes in front of 16-bit mono PCM that make it a WAV file.
//
// A streamed file does not know its length when the header goes out. Players
// agree on 0xFFFFFFFF in both length fields for that case and read to the end.
export const WAV_HEADER_BYTES = 44;

const UNKNOWN_LENGTH = 0xffff_ffff;
const BYTES_PER_SAMPLE = 2;
// The RIFF length counts everything after its own field: the header without its first 8 bytes, and the data.
const RIFF_OVERHEAD = WAV_HEADER_BYTES - 8;

/** The header of mono s16le at `rate` Hz; without `samples` the one of a stream of unknown length. */
export function wavHeader(rate: number, samples?: number): Uint8Array {
  const dataBytes = samples === undefined ? UNKNOWN_LENGTH : samples * BYTES_PER_SAMPLE;
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  ascii(header, 0, 'RIFF');
  view.setUint32(4, samples === undefined ? UNKNOWN_LENGTH : RIFF_OVERHEAD + dataBytes, true);
  ascii(header, 8, 'WAVEfmt ');
  view.setUint32(16, 16, true); // length of the format chunk
  view.setUint16(20, 1, true); // integer PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * BYTES_PER_SAMPLE, true); // bytes a second
  view.setUint16(32, BYTES_PER_SAMPLE, true); // bytes of one sample of all channels
  view.setUint16(34, 16, true); // bits a sample
  ascii(header, 36, 'data');
  view.setUint32(40, dataBytes, true);
  return header;
}

function ascii(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}
