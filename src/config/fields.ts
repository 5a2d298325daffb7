// Reads the fields of a configured object and collects every mistake with its place. A wrong value reads as
// absent, so that reading goes on.

const MOST_ITEMS = 100;

export type Fields = Readonly<Record<string, unknown>>;

export class FieldReader {
  readonly problems: string[] = [];

  problem(at: string, what: string): undefined {
    this.problems.push(`${at} ${what}`);
    return undefined;
  }

  /** Checks for an object with only these fields: a misspelt one would be ignored in silence. */
  fields(value: unknown, at: string, known: readonly string[]): value is Fields {
    if (!isFields(value)) {
      this.problem(at, 'must be an object');
      return false;
    }
    const strange = Object.keys(value).filter((name) => !known.includes(name));
    const allowed = known.length === 0 ? 'not allowed: it has no fields' : `none of ${known.join(', ')}`;
    for (const name of strange) this.problems.push(`${at}: "${name}" is ${allowed}`);
    return true;
  }

  /** One line of 1 to `most` characters. */
  text(fields: Fields, name: string, at: string, most = 255): string | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    const isLine = typeof value === 'string' && !/[\x00-\x1f\x7f]/.test(value);
    if (isLine && value.trim() !== '' && value.length <= most) return value;
    return this.problem(`${at}.${name}`, `must be a line of 1 to ${most} characters`);
  }

  integer(fields: Fields, name: string, at: string, least: number, most: number): number | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    return this.problem(`${at}.${name}`, `must be a whole number from ${least} to ${most}`);
  }

  number(fields: Fields, name: string, at: string, least: number, most: number): number | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    return this.problem(`${at}.${name}`, `must be a number from ${least} to ${most}`);
  }

  flag(fields: Fields, name: string, at: string): boolean | undefined {
    const value = fields[name];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.problem(`${at}.${name}`, 'must be true or false');
  }

  word<W extends string>(fields: Fields, name: string, at: string, words: readonly W[]): W | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    const found = words.find((word) => word === value);
    return found ?? this.problem(`${at}.${name}`, `must be one of ${words.join(', ')}`);
  }

  /** A list of texts that pass `isGood`; `what` names their kind in the message. */
  list(
    fields: Fields,
    name: string,
    at: string,
    what: string,
    isGood: (item: string) => boolean,
  ): string[] | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length > MOST_ITEMS) {
      return this.problem(`${at}.${name}`, `must be a list of at most ${MOST_ITEMS} items`);
    }
    const good = value.filter((item): item is string => typeof item === 'string' && isGood(item));
    if (good.length === value.length) return good;
    return this.problem(`${at}.${name}`, `must hold nothing but ${what}`);
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
