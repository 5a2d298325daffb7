// Tokens between the page that sends them and the utterance that speaks them.
// Its length is bounded by whoever pushes: it never holds more than one text.

export class TokenStream implements AsyncIterable<string> {
  #tokens: string[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  push(token: string): void {
    if (this.#end !== undefined || token === '') return;
    this.#tokens.push(token);
    this.#wake?.();
  }

  /** The text is complete. */
  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** The text is refused: what was not read of it yet is dropped. */
  fail(error: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#tokens = [];
    this.#wake?.();
  }

  /** For one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        while (this.#tokens.length === 0 && this.#end === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
        const waiting = this.#tokens;
        this.#tokens = [];
        if (waiting.length > 0) yield waiting.join('');
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else return;
      }
    } finally {
      this.end();
      this.#tokens = [];
    }
  }
}
