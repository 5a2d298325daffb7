// Closes what a test opened when the test ends. The latest is closed first, since peers sign off from those
// opened before them.
import type { TestContext } from 'node:test';
import { Closing } from '../../../src/shutdown.js';

interface Closeable {
  close(): Promise<void>;
}

const closings = new WeakMap<TestContext, Closing>();

/** Resolves with what was opened, which is closed at the end of the test. */
export async function kept<T extends Closeable>(t: TestContext, opening: T | Promise<T>): Promise<T> {
  const opened = await opening;
  const closing = closings.get(t) ?? new Closing();
  if (!closings.has(t)) {
    closings.set(t, closing);
    t.after(() => closing.close());
  }
  closing.add(() => opened.close());
  return opened;
}
