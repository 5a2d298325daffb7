// Tables of nouns as data: "metro", "libra f", "grado Celsius|grados Celsius"; units, magnitudes and currencies of them.
import type { Currency, Magnitude, Noun } from '../language.js';

export interface NounTables {
  readonly noun: (named: string) => Noun;
  /** Written forms, parted by spaces, and the noun for them. */
  readonly units: (list: Readonly<Record<string, string>>) => Record<string, Noun>;
}

/** `plural` makes the plural of the first word; what `agreeing` knows behind it has one, too. */
export function nounTables(plural: (word: string) => string, agreeing: RegExp): NounTables {
  const noun = (named: string): Noun => {
    const feminine = named.endsWith(' f');
    const [one = '', many] = (feminine ? named.slice(0, -2) : named).split('|');
    const [first = '', ...rest] = one.split(' ');
    const others = rest.map((word) => (agreeing.test(word) ? `${word}s` : word));
    return { forms: [one, many ?? [plural(first), ...others].join(' ')], gender: feminine ? 'f' : 'm' };
  };
  const units = (list: Readonly<Record<string, string>>): Record<string, Noun> => {
    const found: Record<string, Noun> = {};
    for (const [written, named] of Object.entries(list)) {
      const known = noun(named);
      for (const form of written.split(' ')) found[form] = known;
    }
    return found;
  };
  return { noun, units };
}

/** Forms parted by commas, the singular and the plural, the power of ten. */
export function magnitudes(
  list: readonly (readonly [forms: string, one: string, many: string, power: number])[],
): Readonly<Record<string, Magnitude>> {
  return Object.fromEntries(
    list.flatMap(([forms, one, many, power]) =>
      forms.split(',').map((form) => [form, { forms: [one, many], power }] as const),
    ),
  );
}

export interface Hundredths {
  /** By code, where it is not the usual one. */
  readonly own: Readonly<Record<string, Noun>>;
  readonly usual: Noun;
  /** Codes of currencies that have none, or do not say them. */
  readonly without: ReadonlySet<string>;
}

export function currencies(
  names: Readonly<Record<string, string>>,
  noun: (named: string) => Noun,
  { own, usual, without }: Hundredths,
): Readonly<Record<string, Currency>> {
  return Object.fromEntries(
    Object.entries(names).map(([code, named]) => {
      const minor = without.has(code) ? undefined : (own[code] ?? usual);
      return [code, { ...noun(named), ...(minor && { minor }) }];
    }),
  );
}
