// Rejections that nobody awaited, which the runner of tests would take for
// failures of its own.

/** The unhandled rejections until the action is over. */
export async function rejectionsOf(action: () => unknown): Promise<unknown[]> {
  const runner = process.listeners('unhandledRejection');
  const told: unknown[] = [];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => told.push(error));
  try {
    await action();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of runner) process.on('unhandledRejection', listener);
  }
  return told;
}
