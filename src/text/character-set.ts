// Some characters, asked for at many places of a text: faster than an expression, or a search in a string.

const LOW = 128; // units that are asked for beforehand

export class CharacterSet {
  readonly #low = new Uint8Array(LOW);
  readonly #high = new Map<number, boolean>();
  readonly #expression: RegExp | undefined;

  /** Those of a string, or those that an expression for one character knows. */
  constructor(characters: string | RegExp) {
    const isString = typeof characters === 'string';
    this.#expression = isString ? undefined : characters;
    for (let unit = 0; unit < LOW; unit++) {
      const character = String.fromCharCode(unit);
      if (isString ? characters.includes(character) : characters.test(character)) this.#low[unit] = 1;
    }
    if (isString) for (const character of characters) this.#high.set(character.charCodeAt(0), true);
  }

  /** Whether one of them stands here; none stands outside the text. */
  at(text: string, at: number): boolean {
    const unit = text.charCodeAt(at);
    if (unit < LOW) return this.#low[unit] === 1;
    return this.#high.get(unit) ?? (this.#expression !== undefined && this.#ask(unit, this.#expression));
  }

  #ask(unit: number, expression: RegExp): boolean {
    if (Number.isNaN(unit)) return false;
    const known = expression.test(String.fromCharCode(unit));
    this.#high.set(unit, known);
    return known;
  }
}
