// The start of a talkspurt, held back until a few frames of it are there.
//
// A first frame alone on the wire has to be followed by the next one within 20
// ms, and a thread that encodes below the event loop's priority may be off the
// processor for longer. Held for three frames, whose encoding takes less than a
// millisecond, a talkspurt starts with 60 ms in hand and no audible delay.
import type { PayloadQueue } from './playout-sink.js';

const START_FRAMES = 3; // an engine's first piece is longer: 80 ms of a 12.5 Hz codec

/** A payload, or a mark that is not the track's end. */
type Held = Uint8Array | number;

export class HeldStart implements PayloadQueue {
  #queue: PayloadQueue;
  readonly #held: Held[] = [];
  #frames = 0;
  #holding = true;

  constructor(queue: PayloadQueue) {
    this.#queue = queue;
  }

  /** What is held, and all that comes, goes to another queue. */
  goOnInto(queue: PayloadQueue): void {
    this.#queue = queue;
  }

  /** Something was taken that the playout does not have yet. */
  get holding(): boolean {
    return this.#held.length > 0;
  }

  push(generation: number, track: number, payload: Uint8Array): number {
    if (this.#holding && this.#frames + 1 < START_FRAMES) {
      this.#frames++;
      this.#held.push(payload.slice()); // the encoder uses its memory again
      return 1;
    }
    const answer = this.#release(generation, track);
    return answer === 1 ? this.#queue.push(generation, track, payload) : answer;
  }

  mark(generation: number, track: number, mark: number, endOfTrack: boolean): number {
    if (this.#held.length > 0 && !endOfTrack) {
      this.#held.push(mark);
      return 1;
    }
    const answer = this.#release(generation, track);
    return answer === 1 ? this.#queue.mark(generation, track, mark, endOfTrack) : answer;
  }

  rest(generation: number, track: number): number {
    const released = this.#release(generation, track);
    const answer = released === 1 ? this.#queue.rest(generation, track) : released;
    if (answer === 1) {
      this.#holding = true;
      this.#frames = 0;
    }
    return answer;
  }

  isDry(): boolean {
    return this.#held.length === 0 && this.#queue.isDry();
  }

  onRoom(callback: () => void): void {
    this.#queue.onRoom(callback);
  }

  forget(callback: () => void): void {
    this.#queue.forget(callback);
  }

  /** 1 when nothing is held any more; otherwise the queue's answer, and the rest is tried again later. */
  #release(generation: number, track: number): number {
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const answer =
        typeof next === 'number'
          ? this.#queue.mark(generation, track, next, false)
          : this.#queue.push(generation, track, next);
      if (answer !== 1) return answer;
      this.#held.shift();
    }
    this.#holding = false;
    return 1;
  }
}
