// The contract of a container: it turns sound into the bytes of a file while the sound streams.
// container-makers.ts opens one for each format.
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
  /** The bytes before the first sound; the caller sends them. */
  readonly header: Uint8Array;
  /**
   * Returns the bytes that `frame` completes, possibly none; valid until the next call. `count` is below
   * frameSamples for the last frame only.
   */
  encode(frame: Float32Array, count: number): Uint8Array;
  /** Returns the remaining bytes; no frame follows. */
  finish(): Uint8Array;
  /**
   * The header that states the length of the sound, in a buffer of its own. It is known after `finish`, and
   * undefined if the stream itself already states everything that the format can state.
   */
  fileHeader(): FileHeader | undefined;
  /** Frees memory that the garbage collector does not see. Idempotent. */
  close(): void;
}

/** Samples of 20 ms: a compromise between delay and the number of calls. */
export function pieceSamples(rate: number): number {
  return Math.round(rate / 50);
}
