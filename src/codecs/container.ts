// Sound as the bytes of a file while it streams: what a line of bytes needs of
// a format, whichever it is. The makers are in container-makers.ts.
export type ContainerName = 'pcm' | 'wav' | 'ulaw' | 'alaw' | 'flac' | 'mp3' | 'aac' | 'ogg';

/** The beginning of a whole file: `bytes` take the place of the first `replaced` bytes of the stream. */
export interface FileHeader {
  readonly replaced: number;
  readonly bytes: Uint8Array;
}

export interface Container {
  /** Hz of the samples it takes. */
  readonly sampleRate: number;
  readonly frameSamples: number;
  /** What goes before the first sound; the caller sends it. */
  readonly header: Uint8Array;
  /**
   * The bytes that `frame` completes, maybe none; valid until the next call. `count` is below frameSamples for
   * the last frame only.
   */
  encode(frame: Float32Array, count: number): Uint8Array;
  /** What remains: nothing follows. */
  finish(): Uint8Array;
  /**
   * The header that states the length of the sound. Known after `finish`, in a buffer of its own; undefined
   * where the stream itself says all that the format can say.
   */
  fileHeader(): FileHeader | undefined;
  /** Lets go of what it holds outside the garbage collector's reach. Idempotent. */
  close(): void;
}

/** Samples of a piece of 20 ms: soon there, and few calls. */
export function pieceSamples(rate: number): number {
  return Math.round(rate / 50);
}
