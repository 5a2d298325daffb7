// Turns the rows of tables into the entries of a `Writing`: nouns by their written forms, currencies by code.
import type { Writing } from '../normalize/language.js';
import type { Currency, Magnitude, Noun } from '../normalize/quantity.js';
import type { RowOf } from './schema.js';

export interface NounCells {
  readonly forms: readonly string[];
  readonly gender?: 'm' | 'f' | 'n' | undefined;
  readonly form?: string | undefined;
}

/** Builds a noun from the cells of a row. */
export type NounMaker = (cells: NounCells) => Noun;

/** A noun without the properties that its row leaves empty. */
function nounOf({ forms, gender, form }: NounCells): Noun {
  return { forms, ...(gender === undefined ? {} : { gender }), ...(form === undefined ? {} : { form }) };
}

/** Units by each of their written forms. `make` builds the noun where a language derives more of it. */
export function unitsOf(
  rows: readonly RowOf<'units'>[],
  make: NounMaker = nounOf,
): Readonly<Record<string, Noun>> {
  return byWritten(rows, make);
}

/** Magnitudes by their written forms: those for all numbers, or those for amounts of money only. */
export function magnitudesOf(
  rows: readonly RowOf<'magnitudes'>[],
  use?: 'money',
  make: NounMaker = nounOf,
): Readonly<Record<string, Magnitude>> {
  const wanted = rows.filter((row) => row.use === use);
  return byWritten(wanted, (row): Magnitude => ({ ...make(row), power: row.power }));
}

/** Currencies by code, and codes by sign. A currency without a code has its first sign in place of one. */
export function currenciesOf(
  rows: readonly RowOf<'currencies'>[],
  make: NounMaker = nounOf,
): Pick<Writing, 'currencies' | 'currencySigns'> {
  const currencies: Record<string, Currency> = {};
  const currencySigns: Record<string, string> = {};
  for (const row of rows) {
    const code = codeOf(row);
    currencies[code] = currencyOf(row, make);
    for (const sign of row.signs ?? []) if (sign !== code) currencySigns[sign] = code;
  }
  return { currencies, currencySigns };
}

function codeOf({ code, signs = [] }: RowOf<'currencies'>): string {
  return code ?? signs.find((sign) => /^[A-Z]{3}$/.test(sign)) ?? signs[0] ?? '';
}

function currencyOf(row: RowOf<'currencies'>, make: NounMaker): Currency {
  const { minor: forms, 'minor gender': gender, 'minor form': form } = row;
  if (forms === undefined) return make(row);
  return { ...make(row), minor: make({ forms, gender, form }) };
}

type SaidClass = 'before-number' | 'per' | 'letters' | 'address-words' | 'short-forms' | 'zones';

/** Spoken forms by each written form. */
export function saidOf<C extends SaidClass>(rows: readonly RowOf<C>[]): Readonly<Record<string, string>> {
  return byWritten(rows as readonly RowOf<SaidClass>[], ({ said }) => said);
}

/** The names of signs in one place. */
export function signsOf(
  rows: readonly RowOf<'signs'>[],
  place: NonNullable<RowOf<'signs'>['place']>,
): Readonly<Record<string, string>> {
  const wanted = rows.filter((row) => (row.place ?? 'text') === place);
  return Object.fromEntries(wanted.map((row) => [row.written, nameOf(row)]));
}

function nameOf({ said = '', spaced }: RowOf<'signs'>): string {
  switch (spaced) {
    case undefined:
      return said;
    case 'around':
      return ` ${said} `;
    case 'before':
      return ` ${said}`;
    case 'behind':
      return `${said} `;
  }
}

/** Written forms by number: the first list is that of January, or of Monday. */
export function numberedOf(
  rows: readonly RowOf<'months'>[] | readonly RowOf<'weekdays'>[],
  count: 12 | 7,
): readonly (readonly string[])[] {
  return Array.from({ length: count }, (_, index) =>
    rows.filter(({ number }) => number === index + 1).flatMap(({ written }) => written),
  );
}

/** The cue words of one kind. */
export function cuesOf(rows: readonly RowOf<'cue-words'>[], kind: CueKind): ReadonlySet<string> {
  return new Set(rows.filter((row) => row.kind === kind).flatMap(({ written }) => written));
}

type CueKind = NonNullable<RowOf<'cue-words'>['kind']>;

/** The field of a `Writing` for each kind of cue word that is a set of words. */
const WORD_SETS = {
  digits: 'digitsAfter',
  linking: 'linking',
  year: 'yearAfter',
  score: 'scoreWords',
  grade: 'gradeWords',
  'roman-before': 'romanBefore',
  'digit-word': 'digitWords',
  call: 'callWords',
  title: 'titles',
  condition: 'conditions',
  menu: 'menus',
  journey: 'journeyWords',
  'counted-of': 'countedOf',
  software: 'softwareNames',
  place: 'placeWords',
  'before-unit': 'unitWords',
  message: 'messageWords',
  'message-to': 'messageTo',
  wind: 'windWords',
} as const satisfies Record<
  Exclude<CueKind, 'telephone' | 'roman-cardinal' | 'roman-ordinal' | 'compass' | 'book'>,
  keyof Writing
>;

export type WordSets = Pick<Writing, (typeof WORD_SETS)[keyof typeof WORD_SETS]>;

/** Each set of cue words of the rows, joined to that of `base`. */
export function wordSetsOf(rows: readonly RowOf<'cue-words'>[], base?: WordSets): WordSets {
  const sets = Object.entries(WORD_SETS).map(([kind, field]) => {
    return [field, union(base?.[field] ?? new Set(), cuesOf(rows, kind as CueKind))] as const;
  });
  return Object.fromEntries(sets) as unknown as WordSets;
}

export function union(first: ReadonlySet<string>, second: ReadonlySet<string>): ReadonlySet<string> {
  return second.size === 0 ? first : new Set([...first, ...second]);
}

/** The kind of number that a Roman numeral is, by the word before it. */
export function romanAfter(
  rows: readonly RowOf<'cue-words'>[],
): Readonly<Record<string, 'cardinal' | 'ordinal'>> {
  return Object.fromEntries(
    (['cardinal', 'ordinal'] as const).flatMap((kind) =>
      Array.from(cuesOf(rows, `roman-${kind}`), (word) => [word, kind] as const),
    ),
  );
}

/** The cue words of one kind that have a value each; '' where the table has none. */
export function saidCues(
  rows: readonly RowOf<'cue-words'>[],
  kind: CueKind,
): Readonly<Record<string, string>> {
  const own = rows.filter((row) => row.kind === kind);
  return Object.fromEntries(
    own.flatMap(({ written, said = '' }) => written.map((one): [string, string] => [one, said])),
  );
}

/** Books of the Bible; a row without a spoken form has its written ones. */
export function booksOf(rows: readonly RowOf<'cue-words'>[]): Readonly<Record<string, string>> {
  const books = Object.entries(saidCues(rows, 'book'));
  return Object.fromEntries(books.map(([written, said]) => [written, said === '' ? written : said]));
}

/** Words in capitals that are spelled, or those that are read as a word. */
export function spelledOf(rows: readonly RowOf<'spelled'>[], as: 'letters' | 'word'): ReadonlySet<string> {
  return new Set(rows.filter((row) => (row.as ?? 'letters') === as).flatMap(({ written }) => written));
}

function byWritten<R extends { readonly written: readonly string[] }, T>(
  rows: readonly R[],
  make: (row: R) => T,
): Record<string, T> {
  return Object.fromEntries(
    rows.flatMap((row) => {
      const made = make(row);
      return row.written.map((written): [string, T] => [written, made]);
    }),
  );
}
