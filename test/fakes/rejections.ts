// Collects unhandled rejections, which the test runner would otherwise report as failures.

/** The unhandled rejections until the action is over. */
export async function rejectionsOf(action: () => unknown): Promise<unknown[]> {
  const runner = process.listeners('unhandledRejection');
  const rejections: unknown[] = [];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => rejections.push(error));
  try {
    await action();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of runner) process.on('unhandledRejection', listener);
  }
  return rejections;
}
