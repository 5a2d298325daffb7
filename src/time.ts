// Defines time as a parameter: the clock of the system, or one that a test controls.

export interface Time {
  /** Milliseconds of the monotonic clock, the same one that the media plane stamps its packets with. */
  now(): number;
  /** Runs `action` once after `ms` milliseconds; the returned function cancels the timer. */
  after(ms: number, action: () => void): () => void;
}

export const systemTime: Time = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
