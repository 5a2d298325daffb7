// Waits until what was said is heard, before a call ends or is handed on.
import type { Call } from '../call/call.js';
import type { Time } from '../time.js';

const STALL_MS = 60_000; // nothing happens in the call: what waits will not be heard

/** Resolves with `spoken`, or when nothing has happened in the call for a minute. */
export async function lastWords(
  call: Pick<Call, 'observe'>,
  spoken: Promise<unknown>,
  time: Time,
): Promise<void> {
  let [cancel, stop] = [() => {}, () => {}];
  const stalled = new Promise<void>((resolve) => {
    const restart = () => {
      cancel();
      cancel = time.after(STALL_MS, resolve);
    };
    restart();
    stop = call.observe(restart);
  });
  await Promise.race([spoken, stalled]);
  cancel();
  stop();
}
