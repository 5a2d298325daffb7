// Time as a parameter: the system's, or one that a test holds.

export interface Time {
  /** Milliseconds of the monotonic clock, the same one that the media plane stamps its packets with. */
  now(): number;
  /** Runs `action` once after `ms` milliseconds; the function returned calls it off. */
  after(ms: number, action: () => void): () => void;
}

export const systemTime: Time = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
