// The delay that stalls leave in sound, by arrivals that the test states.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StallDelay } from '../../src/call/stall-delay.js';

const PIECE_MS = 20;

/** A sender, and a listener who hears its sound as it comes, one piece behind the other. */
class Line {
  nowMs = 1000;
  /** The last answer. */
  delayMs = 0;
  readonly #delay = new StallDelay();
  #heardToMs = 0;

  get waitingMs(): number {
    return Math.max(0, this.#heardToMs - this.nowMs);
  }

  come(ms = PIECE_MS): void {
    this.#heardToMs = Math.max(this.#heardToMs, this.nowMs) + ms;
    this.delayMs = this.#delay.came(this.nowMs, ms, () => this.waitingMs);
  }

  /** Sound in real time, so many times as fast. */
  speak(ms: number, speed = 1, pieceMs = PIECE_MS): void {
    for (let sent = 0; sent < ms; sent += pieceMs) {
      this.come(pieceMs);
      this.nowMs += pieceMs / speed;
    }
  }

  /** A stall: the sound of this time comes at its end, at once. */
  stall(ms: number): void {
    this.nowMs += ms;
    for (let sent = 0; sent < ms; sent += PIECE_MS) this.come();
  }

  restart(): void {
    this.#heardToMs = 0;
    this.#delay.restart();
  }
}

test('sound in real time has no delay, whatever the length of its pieces', () => {
  for (const pieceMs of [10, 20, 100, 1000]) {
    const line = new Line();
    line.speak(10_000, 1, pieceMs);
    assert.equal(line.delayMs, 0);
  }
});

test('what a stall has held back is the delay of all later sound, once the sender is in real time again', () => {
  for (const ms of [100, 500, 3000]) {
    const line = new Line();
    line.speak(2000);
    line.stall(ms);
    assert.equal(line.delayMs, 0);
    line.speak(2000);
    assert.ok(Math.abs(line.delayMs - ms) <= PIECE_MS, `${line.delayMs} after ${ms}`);
    assert.ok(Math.abs(line.waitingMs - ms) <= PIECE_MS);
  }
});

test('the delays of several stalls add up', () => {
  const line = new Line();
  line.speak(2000);
  for (let n = 0; n < 3; n++) {
    line.stall(400);
    line.speak(1000);
  }
  assert.ok(Math.abs(line.delayMs - 400) <= PIECE_MS); // what waits bridges the next stall
  line.stall(1000);
  line.speak(1000);
  assert.ok(Math.abs(line.delayMs - 1000) <= PIECE_MS);
});

for (const [what, send] of [
  ['a whole answer at once', (line: Line) => line.come(8000)],
  ['an answer twice as fast as it is spoken', (line: Line) => line.speak(8000, 2)],
  ['an answer a little faster than it is spoken', (line: Line) => line.speak(8000, 1.05)],
  [
    'an answer with a second of it ahead',
    (line: Line) => {
      line.come(1000);
      line.speak(5000);
    },
  ],
] as const) {
  test(`${what} is no delay, also after a pause of any length`, () => {
    for (const pauseMs of [0, 300, 1500, 7000]) {
      const line = new Line();
      line.speak(1000);
      line.nowMs += line.waitingMs + pauseMs;
      const delays: number[] = [];
      const { come } = line;
      line.come = (ms) => {
        come.call(line, ms);
        delays.push(line.delayMs);
      };
      send(line);
      assert.ok(Math.max(...delays) <= 100, `${Math.max(...delays)} ms after ${pauseMs} ms`);
    }
  });
}

test('an answer in real time after a pause has no delay, and a stall in it has its own', () => {
  const line = new Line();
  line.speak(1000);
  line.nowMs += 5000;
  line.speak(4000);
  assert.equal(line.delayMs, 0);
  line.stall(500);
  line.speak(1000);
  assert.ok(Math.abs(line.delayMs - 500) <= PIECE_MS);
});

test('a sender whose clock is ahead of ours has the delay that it makes', () => {
  const line = new Line();
  line.speak(300_000, 1.002);
  assert.ok(line.waitingMs > 500 && line.delayMs > line.waitingMs - 3 * PIECE_MS, String(line.delayMs));
});

test('after what waits was dropped there is no delay', () => {
  const line = new Line();
  line.speak(2000);
  line.stall(500);
  line.speak(1000);
  line.restart();
  line.speak(2000);
  assert.equal(line.delayMs, 0);
});
