// Builds a language with tables on top of its own: a row replaces the entry of the same written form. The
// entries of these tables also come before the recognisers of the language itself (`table-entries.ts`).
import type { TableLayer, Tables } from '../tables/layer.js';
import {
  booksOf,
  cuesOf,
  currenciesOf,
  magnitudesOf,
  type NounMaker,
  numberedOf,
  romanAfter,
  saidCues,
  saidOf,
  signsOf,
  spelledOf,
  union,
  unitsOf,
  wordSetsOf,
} from '../tables/entries.js';
import { conditional, unconditionalFirst } from '../tables/neighbours.js';
import { isPattern } from '../tables/pattern.js';
import type { RowOf } from '../tables/schema.js';
import type { Language, Saying, Speech, SymbolNames, Writing } from './language.js';
import type { Currency, Noun } from './quantity.js';
import { alternatives } from './recognise/dates.js';
import { tableRecognisers } from './table-entries.js';

/** Languages that were built, by the language below and the tables on top of it. */
const kept = new WeakMap<Language, WeakMap<Tables, Language>>();

/** The language with the tables of a layer for a tag; the language itself if the layer has none. */
export function withLayer(language: Language, tag: string, layer: TableLayer): Language {
  return layer.tablesFor(tag).reduce(keptWith, language);
}

function keptWith(base: Language, tables: Tables): Language {
  const known = kept.get(base) ?? new WeakMap<Tables, Language>();
  kept.set(base, known);
  const built = known.get(tables) ?? withTables(base, tables);
  known.set(tables, built);
  return built;
}

function withTables(base: Language, tables: Tables): Language {
  const plain = withoutPatterns(tables);
  const make = nounMaker(base);
  const speech: Speech = {
    ...base.speech,
    letters: lettersWith((letters) => base.speech.letters(letters), saidOf(plain.letters ?? [])),
  };
  const language: Language = {
    ...base,
    writing: writingWith(base.writing, plain, make),
    symbols: symbolsWith(base.symbols, plain),
    speech,
    ...spokenWith({ ...base, speech }, plain.spoken ?? []),
  };
  const shortForms = shortFormsOf(plain);
  const recognise = tableRecognisers(language, { tables, plain, shortForms, make });
  const order = orderOf(tables);
  const own = (order === undefined ? undefined : base.ownOf?.(order)) ?? base.own ?? {};
  const atDigit = [...recognise.atDigit, ...(own.atDigit ?? [])];
  const atLetter = [...recognise.atLetter, ...(own.atLetter ?? [])];
  const atMark = [...recognise.atMark, ...(own.atMark ?? [])];
  const atIdeograph = [...recognise.atIdeograph, ...(own.atIdeograph ?? [])];
  return { ...language, own: { ...own, atDigit, atLetter, atMark, atIdeograph } };
}

/** Only the written forms that are literals. */
function withoutPatterns(tables: Tables): Tables {
  const literal = <R extends { readonly written: readonly string[] }>(rows: readonly R[] | undefined) =>
    rows?.flatMap((row) => {
      const written = row.written.filter((form) => !isPattern(form));
      return written.length === 0 ? [] : [{ ...row, written }];
    });
  const { units, per, letters, zones } = tables;
  return {
    ...tables,
    units: literal(units) ?? [],
    'short-forms': literal(tables['short-forms']) ?? [],
    'before-number': literal(tables['before-number']) ?? [],
    per: literal(per) ?? [],
    letters: literal(letters) ?? [],
    zones: literal(zones) ?? [],
    'address-words': literal(tables['address-words']) ?? [],
  };
}

/** Builds nouns as the language's functions expect them: a last form stands for those that are missing. */
function nounMaker({ noun, writing }: Language): NounMaker {
  if (noun !== undefined) return noun;
  const some = Object.values(writing.units)[0]?.forms.length ?? 1;
  return ({ forms, gender, form }) => ({
    forms: Array.from(
      { length: Math.max(some, forms.length) },
      (_, index) => forms[index] ?? forms.at(-1) ?? '',
    ),
    ...(gender === undefined ? {} : { gender }),
    ...(form === undefined ? {} : { form }),
  });
}

function writingWith(base: Writing, tables: Tables, make: NounMaker): Writing {
  const { units = [], magnitudes = [], spelled = [] } = tables;
  const [asLetters, asWord] = [spelledOf(spelled, 'letters'), spelledOf(spelled, 'word')];
  const cues = tables['cue-words'] ?? [];
  return {
    ...base,
    units: unitsWith(base.units, unitsOf(units, make)),
    ...currenciesWith(base, tables.currencies ?? [], make),
    magnitudes: { ...base.magnitudes, ...magnitudesOf(magnitudes, undefined, make) },
    moneyMagnitudes: { ...base.moneyMagnitudes, ...magnitudesOf(magnitudes, 'money', make) },
    abbreviations: { ...base.abbreviations, ...shortFormsOf(tables), ...saidOf(tables.letters ?? []) },
    beforeNumber: { ...base.beforeNumber, ...saidOf(tables['before-number'] ?? []) },
    per: { ...base.per, ...saidOf(tables.per ?? []) },
    spelled: union(without(base.spelled, asWord), asLetters),
    read: union(without(base.read, asLetters), asWord),
    dates: {
      ...base.dates,
      ...ordersOf(tables),
      months: numberedWith(base.dates.months, tables.months, 12),
      weekdays: numberedWith(base.dates.weekdays, tables.weekdays, 7),
    },
    times: timesWith(base.times, tables.zones ?? []),
    telephone: { ...base.telephone, keywords: union(base.telephone.keywords, cuesOf(cues, 'telephone')) },
    books: { ...base.books, ...booksOf(cues) },
    compass: { ...base.compass, ...saidCues(cues, 'compass') },
    ...wordSetsOf(cues, base),
    romanAfter: { ...base.romanAfter, ...romanAfter(cues) },
  };
}

function orderOf({ formats = [] }: Tables): RowOf<'formats'>['value'] | undefined {
  return formats.find(({ name }) => name === 'date-order')?.value;
}

function ordersOf(tables: Tables): Pick<Writing['dates'], 'orders'> | undefined {
  const order = orderOf(tables);
  return order === undefined ? undefined : { orders: { '/': order, '.': order, '-': order } };
}

/** A unit that the language also knows with a stop behind it is that of the row there, too. */
function unitsWith(base: Writing['units'], own: Writing['units']): Writing['units'] {
  const dotted = Object.entries(own).flatMap(([written, noun]): [string, Noun][] =>
    Object.hasOwn(base, `${written}.`) ? [[`${written}.`, noun]] : [],
  );
  return { ...base, ...Object.fromEntries(dotted), ...own };
}

/** A currency that has a sign of a known one is that one. What a row leaves empty stays as it was. */
function currenciesWith(
  base: Writing,
  rows: readonly RowOf<'currencies'>[],
  make: NounMaker,
): Pick<Writing, 'currencies' | 'currencySigns'> {
  const coded = rows.map((row) => {
    const known = row.signs?.find((sign) => Object.hasOwn(base.currencySigns, sign));
    const code = row.code ?? (known === undefined ? undefined : base.currencySigns[known]);
    return code === undefined ? row : { ...row, code };
  });
  const { currencies: own, currencySigns } = currenciesOf(coded, make);
  const currencies = Object.entries(own).map(([code, currency]): [string, Currency] => [
    code,
    { ...base.currencies[code], ...currency },
  ]);
  return {
    currencies: { ...base.currencies, ...Object.fromEntries(currencies) },
    currencySigns: { ...base.currencySigns, ...currencySigns },
  };
}

/** The short forms of a layer. */
function shortFormsOf(tables: Tables): Readonly<Record<string, Saying>> {
  const found: Record<string, Saying> = {};
  for (const row of unconditionalFirst(tables['short-forms'] ?? [])) {
    for (const form of row.written) found[form] = conditional(row.said, row, found[form]);
  }
  return found;
}

/** A written form of another month is taken from there. */
function numberedWith(
  base: readonly (readonly string[])[],
  rows: readonly RowOf<'months'>[] | readonly RowOf<'weekdays'>[] | undefined,
  count: 12 | 7,
): readonly (readonly string[])[] {
  if (rows === undefined || rows.length === 0) return base;
  const own = numberedOf(rows, count);
  const moved = new Set(own.flat());
  return base.map((names, index) => [...names.filter((name) => !moved.has(name)), ...(own[index] ?? [])]);
}

function timesWith(base: Writing['times'], rows: readonly RowOf<'zones'>[]): Writing['times'] {
  const of = (kind: NonNullable<RowOf<'zones'>['kind']>) =>
    saidOf(rows.filter((row) => (row.kind ?? 'zone') === kind));
  return {
    ...base,
    zones: { ...base.zones, ...of('zone') },
    halves: { ...base.halves, ...of('half') },
    words: { ...base.words, ...of('clock') },
  };
}

function symbolsWith(base: SymbolNames, { signs = [], 'address-words': words = [] }: Tables): SymbolNames {
  return {
    ...base,
    inText: { ...base.inText, ...signsOf(signs, 'text') },
    inMath: { ...base.inMath, ...signsOf(signs, 'math') },
    inFront: { ...base.inFront, ...signsOf(signs, 'front') },
    inAddress: { ...base.inAddress, ...signsOf(signs, 'address') },
    addressWords: { ...base.addressWords, ...saidOf(words) },
  };
}

/** Says other words than the language does, also where a recogniser of its own has said them. */
function spokenWith(
  { speech, respell }: Language,
  rows: readonly RowOf<'spoken'>[],
): Partial<Pick<Language, 'speech' | 'respell'>> {
  if (rows.length === 0) return {};
  const parts = rows.map((row): [RegExp, string] => [patternOf(row), replacementOf(row)]);
  const change = (said: string): string => parts.reduce((words, [from, to]) => words.replace(from, to), said);
  type Say = (...given: readonly unknown[]) => unknown;
  const functions = Object.entries(speech).map(([name, say]: [string, Say]): [string, Say] => [
    name,
    (...given) => {
      const said = say(...given);
      return typeof said === 'string' ? change(said) : said;
    },
  ]);
  return {
    speech: Object.fromEntries(functions) as unknown as Speech,
    respell: (text) => {
      const first = respell?.(text);
      return (said) => change(first?.(said) ?? said);
    },
  };
}

function patternOf({ written, before, unless }: RowOf<'spoken'>): RegExp {
  const one = (words: readonly string[]): string => `(?:${alternatives(words)})(?!\\p{L})`;
  const words = alternatives([written]).replaceAll('\\*', '([^,]{1,60})');
  const behind = before === undefined ? '' : one(before);
  const exception = unless === undefined ? '' : `(?!${behind}(?:-\\p{L}+)? ${one(unless)})`;
  return new RegExp(before === undefined ? words : `${words}(?= ${exception}${behind})`, 'gu');
}

/** The stars are the parts that are kept. */
function replacementOf({ said }: RowOf<'spoken'>): string {
  let star = 0;
  return said.replaceAll('$', '$$$$').replaceAll('*', () => `$${++star}`);
}

/** Letters with a name of their own are said by it, one by one. */
function lettersWith(
  base: (letters: string) => string,
  names: Readonly<Record<string, string>>,
): (letters: string) => string {
  if (Object.keys(names).length === 0) return base;
  return (letters) => {
    if (!Array.from(letters).some((letter) => Object.hasOwn(names, letter))) return base(letters);
    return Array.from(letters, (letter) => names[letter] ?? base(letter)).join(' ');
  };
}

function without(first: ReadonlySet<string>, second: ReadonlySet<string>): ReadonlySet<string> {
  return second.size === 0 ? first : new Set([...first].filter((word) => !second.has(word)));
}
