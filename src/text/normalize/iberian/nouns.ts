// Lists names that Spanish and Portuguese share: units, magnitudes, currencies, signs, parts of addresses.
import type { Currency, Magnitude, Noun } from '../language.js';

interface NounTables {
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

interface Hundredths {
  /** Hundredths by currency code, if they are not the usual ones. */
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
      return [code, { ...noun(named), minor }];
    }),
  );
}

/** Ends of names; letters that stand alone are spelled. */
// prettier-ignore
export const ADDRESS_WORDS: Readonly<Record<string, string>> = {
  com: 'com', org: 'org', net: 'net', edu: 'edu', eu: 'E U', uk: 'U K', io: 'I O', ai: 'A I', tv: 'T V', www: 'W W W', pdf: 'P D F',
  html: 'H T M L', jpg: 'J P G', png: 'P N G', csv: 'C S V', xml: 'X M L', txt: 'T X T', docx: 'doc X', xlsx: 'X L S X', zip: 'zip',
  mp: 'M P', exe: 'exe', js: 'J S', ts: 'T S', md: 'M D', py: 'P Y', api: 'A P I', https: 'H T T P S', http: 'H T T P',
};

/** Signs of running text; those that are empty are not said. */
export const SIGNS: Readonly<Record<string, string>> = {
  '©': 'copyright',
  '®': '',
  '™': '',
  '←': '',
  '•': '',
  '†': '',
  '✓': '',
  '·': '',
  '€': 'euros',
  '=': 'igual a',
};
