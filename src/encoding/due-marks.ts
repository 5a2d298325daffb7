// The marks of a line that wait for the frame they follow.
import { segmentEnded, segmentStarted } from './marks.js';
import type { SegmentStarted } from './line-messages.js';

type Started = Omit<SegmentStarted, 'queuedAtMs'>;

interface DueMark {
  /** The frame it follows; -1 for none. */
  readonly frame: number;
  readonly value: number;
  /** What a start mark is reported with. */
  readonly started: Started | undefined;
}

export class DueMarks {
  readonly #due: DueMark[] = [];
  /** Their start marks are on the way into the queue. */
  readonly #starting: Started[] = [];

  /** The segment's first frame is `started.firstFrame`; one without sound is marked after the frame before it. */
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
