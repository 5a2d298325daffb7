// The marks of a playout, one 32-bit number each, and the queue of those that wait for the frame they follow.
//
//   0x0iiiiiii  segment i started     written right after its first frame, so that
//                                     it is reached when that frame has left
//   0x4iiiiiii  segment i ended       after its last frame
//   0xffffffff  the track ended       nothing of it follows
//
// A mark is reached when everything before it in the queue was sent.
import type { SegmentStarted } from './encoder-messages.js';

type MarkMeaning =
  | { readonly kind: 'segment-started'; readonly index: number }
  | { readonly kind: 'segment-ended'; readonly index: number }
  | { readonly kind: 'track-ended'; readonly index: -1 };

const ENDED_BIT = 0x4000_0000;
const MAX_INDEX = ENDED_BIT - 1;

export const TRACK_ENDED = 0xffff_ffff;

export function segmentStarted(index: number): number {
  return checked(index);
}

export function segmentEnded(index: number): number {
  return checked(index) + ENDED_BIT;
}

export function decodeMark(mark: number): MarkMeaning {
  if (mark === TRACK_ENDED) return { kind: 'track-ended', index: -1 };
  if (mark >= ENDED_BIT) return { kind: 'segment-ended', index: mark - ENDED_BIT };
  return { kind: 'segment-started', index: mark };
}

function checked(index: number): number {
  if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) {
    throw new RangeError(`the index of a segment must be a whole number from 0 to ${MAX_INDEX}`);
  }
  return index;
}

type Started = Omit<SegmentStarted, 'queuedAtMs'>;

interface DueMark {
  /** The frame it follows; -1 for none. */
  readonly frame: number;
  readonly value: number;
  /** The report of a start mark. */
  readonly started: Started | undefined;
}

export class DueMarks {
  readonly #due: DueMark[] = [];
  /** Their start marks are on the way into the queue. */
  readonly #starting: Started[] = [];

  /**
   * The segment's first frame is `started.firstFrame`; one without sound is marked after the frame before it.
   */
  start(started: Started, frame = started.firstFrame): void {
    this.#due.push({ frame, value: segmentStarted(started.index), started });
  }

  end(index: number, lastFrame: number): void {
    this.#due.push({ frame: lastFrame, value: segmentEnded(index), started: undefined });
  }

  /** The next mark whose frame is among the first `framesPut`. */
  next(framesPut: number): number | undefined {
    const due = this.#due[0];
    if (due === undefined || due.frame >= framesPut) return undefined;
    this.#due.shift();
    if (due.started !== undefined) this.#starting.push(due.started);
    return due.value;
  }

  /** Segments whose start was handed over since the last time. */
  takeStarted(): readonly Started[] {
    return this.#starting.length === 0 ? this.#starting : this.#starting.splice(0);
  }
}
