// Waits for work of another thread or of the network, which has no fixed time.
const LIMIT_MS = 10_000;

/** Resolves once the condition holds; rejects, naming it, when it does not within 10 s. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + LIMIT_MS;
  while (!(await condition())) {
    if (performance.now() > limit) throw new Error(`not within ${LIMIT_MS} ms: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
