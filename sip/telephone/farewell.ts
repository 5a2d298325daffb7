// How long the far end of a call that is over is waited for.
import type { Time } from '../../src/time.js';

const FAREWELL_MS = 4000; // SIP itself tries for 32 s, and goes on doing so

/** Resolves when the far end was told, or some seconds later: one that has vanished is told in vain. */
export async function farewell(told: Promise<void> | undefined, time: Time): Promise<void> {
  let callOff = (): void => undefined;
  const limit = new Promise<void>((resolve) => (callOff = time.after(FAREWELL_MS, resolve)));
  await Promise.race([told, limit]);
  callOff();
}
