// Decides which line works next in an encoder worker.
//
// Lines take turns of a few frames. One that has not given its call a cushion
// yet goes before those that have: its first packet is being waited for, while
// the others have hundreds of milliseconds queued. After a pass the event loop
// gets its turn, so that an abort is heard within a pass.
import type { LinePump } from './line-pump.js';

const TURN_FRAMES = 5; // 100 ms of sound
const STARTING_TURN_FRAMES = 2; // many that start together all have their first packet soon
const PASS_FRAMES = 40; // some 6 ms of Opus: how long an abort may wait
const CUSHION_FRAMES = 10; // 200 ms of sound

export class PumpRota {
  readonly #starting: LinePump[] = [];
  readonly #running: LinePump[] = [];
  readonly #waiting = new Set<LinePump>();
  #scheduled = false;

  /** The line may be able to work. */
  readonly wake = (pump: LinePump): void => {
    if (this.#waiting.has(pump)) return;
    this.#waiting.add(pump);
    this.#queueOf(pump).push(pump);
    this.#schedule();
  };

  #queueOf(pump: LinePump): LinePump[] {
    return pump.framesPut < CUSHION_FRAMES ? this.#starting : this.#running;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pass();
    });
  }

  #pass(): void {
    const again: LinePump[] = [];
    for (let frames = 0; frames < PASS_FRAMES;) {
      const turnFrames = this.#starting.length > 0 ? STARTING_TURN_FRAMES : TURN_FRAMES;
      const pump = this.#starting.shift() ?? this.#running.shift();
      if (pump === undefined) break;
      this.#waiting.delete(pump);
      const before = pump.framesPut;
      if (pump.turn(turnFrames) === 'more') again.push(pump);
      frames += Math.max(1, pump.framesPut - before);
    }
    for (const pump of again) this.wake(pump);
    if (this.#waiting.size > 0) this.#schedule();
  }
}
