// Encoders that wait to be used again, per worker. An Opus encoder is some
// 30 kB that the garbage collector does not see, and a call needs a clean one
// for every utterance: taken from the shelf and reset, none is made.
import { CODECS, type CodecName } from './codec.js';
import { frameEncoder, type FrameEncoder } from './frame-encoder.js';
import type { OpusSettings } from './opus-encoder.js';

const MAX_KEPT = 64; // about 2 MB; more lines than this rarely end at once

export class EncoderShelf {
  readonly #kept = new Map<string, FrameEncoder[]>();
  #count = 0;

  take(codec: CodecName, frameMs: number, opus: OpusSettings): FrameEncoder {
    const kept = this.#kept.get(keyOf(codec, frameMs, opus))?.pop();
    if (kept === undefined) return frameEncoder(CODECS[codec], frameMs, opus);
    this.#count--;
    kept.reset();
    return kept;
  }

  /** Nobody uses the encoder any more; it was taken with these very settings. */
  giveBack(encoder: FrameEncoder, codec: CodecName, frameMs: number, opus: OpusSettings): void {
    if (this.#count >= MAX_KEPT) return;
    this.#count++;
    const key = keyOf(codec, frameMs, opus);
    const kept = this.#kept.get(key);
    if (kept === undefined) this.#kept.set(key, [encoder]);
    else kept.push(encoder);
  }
}

function keyOf(codec: CodecName, frameMs: number, opus: OpusSettings): string {
  const { application, complexity, bitsPerSecond, inBandFec, expectedLossPercent } = opus;
  return [codec, frameMs, application, complexity, bitsPerSecond, inBandFec, expectedLossPercent].join(' ');
}
