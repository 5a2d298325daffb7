// What a caller says, as one unbroken sound: payloads of G.711 become samples,
// and time that no packet fills becomes faded sound where packets were lost and
// silence where none were sent (comfort noise, suppressed pauses).
//
// It follows the timestamps, so a minute of call is a minute of samples, but for
// a jump of more than MAX_FILL_MS, which is a new beginning.
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';
import type { HeardPayload } from './media-socket.js';

/** Of G.711, whose timestamp counts samples. */
export const CALLER_RATE_HZ = 8000;
const MAX_FILL_MS = 2000;
const MAX_FILL = (CALLER_RATE_HZ * MAX_FILL_MS) / 1000;
/** A lost packet is bridged by what came before it, fading for so long. */
const FADE = (CALLER_RATE_HZ * 60) / 1000;

export type G711Name = 'PCMU' | 'PCMA';

const VALUES: Readonly<Record<G711Name, Int16Array>> = { PCMU: MU_LAW_VALUES, PCMA: A_LAW_VALUES };

export interface CallerSound {
  readonly samples: Int16Array;
  /** When the first packet of it came. */
  readonly atMs: number;
  /** Samples of it that stand for lost packets. */
  readonly concealed: number;
}

export class CallerAudio {
  readonly #values = new Map<number, Int16Array>();
  /** Timestamp that comes next; undefined before the first payload. */
  #next: number | undefined;
  #last: Int16Array = new Int16Array(0);

  /** Payload types of sound by codec; what is of no such type is taken for a pause. */
  constructor(codecs: Iterable<readonly [number, G711Name]>) {
    for (const [payloadType, name] of codecs) this.#values.set(payloadType, VALUES[name]);
  }

  /** The sound of one batch, or undefined when it only prolongs a pause. */
  take(payloads: readonly HeardPayload[]): CallerSound | undefined {
    const parts: Int16Array[] = [];
    let concealed = 0;
    for (const payload of payloads) concealed += this.#takeOne(payload, parts);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length === 0) return undefined;
    const samples = new Int16Array(length);
    let at = 0;
    for (const part of parts) {
      samples.set(part, at);
      at += part.length;
    }
    return { samples, atMs: payloads[0]?.atMs ?? 0, concealed };
  }

  /** Adds to `parts`; returns the samples that were made up. */
  #takeOne({ timestamp, payloadType, lostBefore, payload }: HeardPayload, parts: Int16Array[]): number {
    const values = this.#values.get(payloadType);
    const next = this.#next ?? timestamp;
    const gap = timestamp - next;
    let concealed = 0;
    if (gap > 0 && gap <= MAX_FILL) {
      const lost = lostBefore > 0;
      parts.push(lost ? this.#faded(gap) : new Int16Array(gap));
      if (lost) concealed = gap;
    }
    if (values === undefined) {
      // A pause begins: its length shows when the next sound comes.
      this.#next = Math.max(next, timestamp);
      this.#last = new Int16Array(0);
      return concealed;
    }
    // Sound that was bridged already, or that overlaps, is left out.
    const from = gap < 0 && gap >= -MAX_FILL ? Math.min(-gap, payload.length) : 0;
    const samples = Int16Array.from(payload.subarray(from), (code) => values[code] as number);
    this.#next = Math.max(gap < -MAX_FILL ? 0 : next, timestamp + payload.length);
    if (samples.length === 0) return concealed;
    parts.push(samples);
    this.#last = samples;
    return concealed;
  }

  /** The last frame over and over, going down to silence. */
  #faded(count: number): Int16Array {
    const last = this.#last;
    if (last.length === 0) return new Int16Array(count);
    return Int16Array.from({ length: count }, (_, n) => {
      const loudness = Math.max(0, 1 - n / FADE);
      return Math.trunc((last[n % last.length] as number) * loudness);
    });
  }
}
