// What was opened is closed in reverse, all of it, whatever fails on the way.

/** Things to close, last opened first. */
export class Closing {
  readonly #steps: (() => void | Promise<void>)[] = [];
  #closed: Promise<void> | undefined;

  add(step: () => void | Promise<void>): void {
    this.#steps.unshift(step);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the server did not close cleanly');
  }
}
