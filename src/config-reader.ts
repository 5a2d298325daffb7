// Single variables of the environment, read as what they must be. Mistakes are
// remembered, so that all of them can be told together.

export type Environment = Readonly<Record<string, string | undefined>>;

// Users of older servers have written all of these.
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Reads single variables and remembers every mistake. */
export class ConfigReader<Variable extends string> {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  raw(name: Variable): string | undefined {
    const value = this.#env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  }

  problem(name: Variable, what: string): void {
    this.problems.push(`${name} ${what}`);
  }

  number(name: Variable, fallback: number, min: number, max: number): number {
    const raw = this.raw(name);
    if (raw === undefined) return fallback;
    const value = Number(raw);
    if (/^-?\d+(\.\d+)?$/.test(raw) && value >= min && value <= max) return value;
    this.problem(name, `must be a number from ${min} to ${max}, not "${raw}"`);
    return fallback;
  }

  integer(name: Variable, fallback: number, min: number, max: number): number {
    const value = this.number(name, fallback, min, max);
    if (Number.isInteger(value)) return value;
    this.problem(name, `must be a whole number, not "${value}"`);
    return fallback;
  }

  flag(name: Variable, fallback = false): boolean {
    const raw = this.raw(name)?.toLowerCase();
    if (raw === undefined) return fallback;
    const flag = FLAGS.get(raw);
    if (flag === undefined) this.problem(name, `must be 1 or 0, not "${raw}"`);
    return flag ?? fallback;
  }

  list(name: Variable): readonly string[] {
    const items = (this.raw(name) ?? '').split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  }

  /** A list whose items must all be of one kind; `kind` says which. */
  listOf(name: Variable, kind: string, isOne: (item: string) => boolean): readonly string[] {
    const items = this.list(name);
    const wrong = items.find((item) => !isOne(item));
    if (wrong !== undefined) this.problem(name, `must be ${kind}, not "${wrong}"`);
    return items;
  }

  choice<T extends string>(name: Variable, allowed: readonly T[], fallback: T): T {
    const raw = this.raw(name);
    if (raw === undefined) return fallback;
    const found = allowed.find((item) => item === raw.toLowerCase());
    if (found === undefined) this.problem(name, `must be one of ${allowed.join(', ')}, not "${raw}"`);
    return found ?? fallback;
  }
}
