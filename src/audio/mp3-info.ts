// The Info frame that stands before the frames of an MP3 file of constant rate.
//
// It is a frame of silence. In the place of its sound it states how many frames
// and bytes follow (Xing's header), and how many samples at both ends are not
// part of the sound (LAME's extension). Players that know it begin and end
// exactly; others play a frame of silence more.
//
//   frame header │ side information │ "Info" flags frames bytes seek table quality │ "LAME3.100" … delay, padding … CRC
//         4             9 or 17         4      4     4      4       100       4                36

const HEADER_BYTES = 4;
const XING_BYTES = 120;
const LAME_BYTES = 36;
const ALL_FIELDS = 0x0f; // frames, bytes, seek table, quality
const SEEK_POINTS = 100;
const CONSTANT_RATE = 0x01; // revision 0 of the extension, method 1
const SOURCE_RATES: readonly (readonly [upToHz: number, code: number])[] = [
  [32_000, 0],
  [44_100, 1],
  [48_000, 2],
];

export interface Mp3Totals {
  /** Hz. */
  readonly rate: number;
  readonly kbps: number;
  /** The header of the stream's first frame. */
  readonly firstHeader: Uint8Array;
  /** Of the sound itself. */
  readonly samples: number;
  /** Samples that the encoder put before the sound, without those of a decoder. */
  readonly delay: number;
  /** Of all frames. */
  readonly bytes: number;
  /** Of all frames, by `mp3Crc`. */
  readonly crc: number;
}

/** Samples of a frame: those of MPEG-1 are twice as long as those of MPEG-2 and 2.5. */
export function mp3FrameSamples(rate: number): number {
  return rate >= 32_000 ? 1152 : 576;
}

/** One channel at a constant rate. */
export function mp3InfoFrame({ rate, kbps, firstHeader, samples, delay, bytes, crc }: Mp3Totals): Uint8Array {
  const frameSamples = mp3FrameSamples(rate);
  const bytesPerFrame = (frameSamples * kbps * 125) / rate; // of kb/s 125 bytes a second; frames are rounded by turns
  const frames = Math.round(bytes / bytesPerFrame);
  const padding = frames * frameSamples - delay - samples;
  const frame = new Uint8Array(Math.floor(bytesPerFrame));
  const view = new DataView(frame.buffer);
  frame.set(firstHeader.subarray(0, HEADER_BYTES));
  frame[1] = (frame[1] as number) | 0x01; // no checksum behind the header
  frame[2] = (frame[2] as number) & ~0x02; // no byte more than the rate makes
  const xing = HEADER_BYTES + (rate >= 32_000 ? 17 : 9);
  putText(frame, xing, 'Info');
  view.setUint32(xing + 4, ALL_FIELDS);
  view.setUint32(xing + 8, frames);
  view.setUint32(xing + 12, bytes + frame.length);
  for (let i = 0; i < SEEK_POINTS; i++) frame[xing + 16 + i] = Math.floor((i * 256) / SEEK_POINTS);
  const lame = xing + XING_BYTES;
  putText(frame, lame, 'LAME3.100');
  frame[lame + 9] = CONSTANT_RATE;
  view.setUint32(lame + 20, ((kbps << 24) | (delay << 12) | padding) >>> 0);
  const [, source = 3] = SOURCE_RATES.find(([upToHz]) => rate <= upToHz) ?? [];
  frame[lame + 24] = source << 6;
  view.setUint32(lame + 28, bytes + frame.length);
  view.setUint16(lame + 32, crc);
  const end = lame + LAME_BYTES - 2;
  view.setUint16(end, mp3Crc(frame.subarray(0, end)));
  return frame;
}

const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ 0xa001;
  return rest;
});

/** CRC-16 as the extension has it (0x8005, the lowest bit first), going on from `crc`. */
export function mp3Crc(bytes: Uint8Array, crc = 0): number {
  let rest = crc;
  for (const byte of bytes) rest = (rest >>> 8) ^ (CRC[(rest ^ byte) & 0xff] as number);
  return rest;
}

function putText(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}
