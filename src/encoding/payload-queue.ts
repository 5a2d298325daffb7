// The queue of payloads in front of a playout, as a line's sink sees it. HeldStart holds back the start of a talkspurt
// until a few frames are ready. NoQueue discards payloads that are made only to be kept.

/** The part of PlayoutWriter that a line pushes to. Answers: 1 taken, 0 full, -1 stale or closed. */
export interface PayloadQueue {
  push(generation: number, track: number, payload: Uint8Array): number;
  mark(generation: number, track: number, mark: number, endOfTrack: boolean): number;
  pauseInput(generation: number, track: number): number;
  isEmpty(): boolean;
  /** True while it keeps payloads that it has not passed on. */
  readonly holding?: boolean;
  onRoom(callback: () => void): void;
  forget(callback: () => void): void;
}

const START_FRAMES = 3; // an engine's first piece is longer: 80 ms of a 12.5 Hz codec

/** A payload, or a mark that is not the track's end. */
type Held = Uint8Array | number;

/**
 * Holds back the start of a talkspurt. After a first frame on the wire the next one is due within 20 ms, and a thread
 * with a priority below the event loop's may be off the processor for longer. Three frames take less than a millisecond
 * to encode, so a talkspurt starts with 60 ms queued and no audible delay.
 */
export class HeldStart implements PayloadQueue {
  #queue: PayloadQueue;
  readonly #held: Held[] = [];
  #frames = 0;
  #holding = true;

  constructor(queue: PayloadQueue) {
    this.#queue = queue;
  }

  /** Sends held and later payloads to another queue. */
  redirect(queue: PayloadQueue): void {
    this.#queue = queue;
  }

  /** True while it holds payloads that the playout does not have yet. */
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

  pauseInput(generation: number, track: number): number {
    const released = this.#release(generation, track);
    const answer = released === 1 ? this.#queue.pauseInput(generation, track) : released;
    if (answer === 1) {
      this.#holding = true;
      this.#frames = 0;
    }
    return answer;
  }

  isEmpty(): boolean {
    return this.#held.length === 0 && this.#queue.isEmpty();
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

export class NoQueue implements PayloadQueue {
  push(): 1 {
    return 1;
  }

  mark(): 1 {
    return 1;
  }

  pauseInput(): 1 {
    return 1;
  }

  isEmpty(): boolean {
    return false;
  }

  onRoom(): void {}
  forget(): void {}
}
