// A producer of tokens that the test feeds by hand.

export class TokenSource implements AsyncIterable<string> {
  readonly #waiting: string[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  /** True once the consumer has left. */
  returned = false;

  push(token: string): void {
    this.#waiting.push(token);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return {
      next: async () => {
        while (this.#waiting.length === 0 && !this.#ended) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
        const value = this.#waiting.shift();
        return value === undefined ? { done: true, value: undefined } : { done: false, value };
      },
      return: () => {
        this.returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}
