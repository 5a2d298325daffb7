// Patterns of the routing table: `*` stands for any text, `?` for one
// character, anything else for itself, in capitals or not. Time grows with the
// length of the text, whatever a caller writes.

export class Pattern {
  readonly text: string;
  readonly #folded: string;

  constructor(text: string) {
    this.text = text;
    this.#folded = text.toLowerCase();
  }

  matches(value: string): boolean {
    const pattern = this.#folded;
    const text = value.toLowerCase();
    let [at, star, resume] = [0, -1, 0];
    let here = 0;
    while (here < text.length) {
      if (at < pattern.length && pattern[at] === '*') {
        [star, resume] = [at, here];
        at++;
      } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[here])) {
        at++;
        here++;
      } else if (star >= 0) {
        // The last star takes one character more; those before it never have to.
        resume++;
        [at, here] = [star + 1, resume];
      } else return false;
    }
    while (pattern[at] === '*') at++;
    return at === pattern.length;
  }
}
