// A transcriber that reads its upload and tells the pieces that the test gives it.
import { ParleyError } from '../../src/errors.js';
import { shareTime } from '../../src/transcribing/timed-text.js';
import type {
  TranscribedPiece,
  TranscriptionEnd,
  TranscriptionPlace,
  TranscriptionRequest,
} from '../../src/transcribing/transcriber.js';

export function piece(
  text: string,
  beginSeconds: number,
  endSeconds: number,
  more: Partial<TranscribedPiece> = {},
): TranscribedPiece {
  const words = shareTime(text, beginSeconds, endSeconds);
  return { text, beginSeconds, endSeconds, words, language: 'en', isAligned: true, ...more };
}

interface Asked {
  readonly request: TranscriptionRequest;
  readonly signal: AbortSignal;
  /** Bytes of the upload so far. */
  bytes: Buffer;
}

export class FakeTranscriber {
  readonly recogniser = { name: 'fake-asr', languages: ['en', 'de'] };
  canAlign = true;
  readonly asked: Asked[] = [];
  pieces: readonly TranscribedPiece[] = [piece('Hello there. How are you?', 0, 3)];
  /** Pieces of the second channel, where one channel is asked for; undefined: the file is mono. */
  secondPieces: readonly TranscribedPiece[] | undefined;
  /** Thrown after the pieces. */
  failure: ParleyError | undefined;
  /** Thrown before the upload is read. */
  refusal: ParleyError | undefined;
  /** The end waits for this. */
  until: Promise<void> = Promise.resolve();

  /** Places that were taken, and those that were given back. */
  readonly places = { taken: 0, released: 0 };

  enter(): Promise<TranscriptionPlace> {
    this.places.taken++;
    return Promise.resolve({ queuedMs: 4, release: () => void this.places.released++ });
  }

  async transcribe(
    request: TranscriptionRequest,
    signal: AbortSignal,
    onPiece: (piece: TranscribedPiece) => void,
  ): Promise<TranscriptionEnd> {
    const asked: Asked = { request, signal, bytes: Buffer.alloc(0) };
    this.asked.push(asked);
    if (this.refusal !== undefined) throw this.refusal;
    for await (const bytes of request.upload) asked.bytes = Buffer.concat([asked.bytes, bytes]);
    const pieces = request.channel === 1 ? (this.secondPieces ?? []) : this.pieces;
    for (const one of pieces) onPiece(one);
    const gone = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new ParleyError('ABORTED', 'not wanted')));
    });
    gone.catch(() => undefined);
    await Promise.race([this.until, gone]);
    if (this.failure !== undefined) throw this.failure;
    const seconds = pieces.at(-1)?.endSeconds ?? 0;
    const ofFile = this.secondPieces === undefined ? 1 : 2;
    const channels = request.channel === undefined ? undefined : ofFile;
    return { seconds, channels, queuedMs: 1, firstTextMs: 2, workMs: 3 };
  }
}
