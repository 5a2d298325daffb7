// Recognisers of the entries of a table layer. They come before those of the language itself, so that the
// words of a tenant win over a rule of the language for the same token.
import { type NounMaker, saidOf } from '../tables/entries.js';
import type { Tables } from '../tables/layer.js';
import {
  isPattern,
  parsePattern,
  PATTERN_CLASSES,
  PatternTable,
  type PatternMatch,
} from '../tables/pattern.js';
import type { RowOf } from '../tables/schema.js';
import { classAt, DIGIT, LETTER } from './characters.js';
import { type Asked, provenRow, type Row } from './dispatch.js';
import type { Language, Saying, Speech } from './language.js';
import type { Currency, Noun } from './quantity.js';
import { numeralOf } from './numerals.js';
import {
  Around,
  type Found,
  NOWHERE,
  type Reading,
  type Recogniser,
  type Rule,
  type Token,
} from './reading.js';
import { Quantities } from './recognise/quantities.js';
import { Words } from './recognise/words.js';

type Recognisers = Readonly<Record<'atDigit' | 'atLetter' | 'atMark' | 'atIdeograph', readonly Asked[]>>;

interface LayerParts {
  readonly tables: Tables;
  /** The tables without their patterns. */
  readonly plain: Tables;
  readonly shortForms: Readonly<Record<string, Saying>>;
  readonly make: NounMaker;
}

/** The language has the entries that are no patterns already. */
export function tableRecognisers(
  language: Language,
  { tables, plain, shortForms, make }: LayerParts,
): Recognisers {
  const patterns = patternRecogniser(language, tables, make);
  const amounts = ownAmounts(language, plain);
  const words = ownWords(language, shortForms, saidOf(plain['before-number'] ?? []));
  const given = <T>(list: readonly (T | undefined)[]) => list.filter((one) => one !== undefined);
  return {
    atDigit: given([patterns, amounts?.atDigit, words?.atDigit]),
    atLetter: given([patterns, amounts?.atLetter, words?.atLetter]),
    atMark: given([patterns, amounts?.atMark, words?.atMark]),
    atIdeograph: given([patterns, words?.atMark]),
  };
}

/** Amounts whose unit or currency is one of the layer; undefined if it has neither. */
function ownAmounts(
  language: Language,
  { units = [], currencies = [] }: Tables,
): Readonly<Record<'atDigit' | 'atLetter' | 'atMark', Row>> | undefined {
  if (units.length === 0 && currencies.length === 0) return undefined;
  const { writing } = language;
  const codes = currencies.flatMap(({ code, signs = [] }) => [
    ...signs,
    ...(code === undefined ? [] : [code]),
  ]);
  const own = new Set<Noun | Currency | undefined>([
    ...units.flatMap(({ written }) => written.map((form) => writing.units[form])),
    ...codes.map((code) => writing.currencies[writing.currencySigns[code] ?? code]),
  ]);
  const amounts = new Quantities(language);
  const only = ({ knows, recognise }: Row): Row => {
    const ofLayer: Recogniser = (reading) => {
      const found = recognise(reading);
      return found?.token !== undefined && isOf(found.token, own) ? found : undefined;
    };
    return provenRow({ knows, recognise: ofLayer });
  };
  return { atDigit: only(amounts.atDigit), atLetter: only(amounts.atLetter), atMark: only(amounts.atMark) };
}

/** The unit or currency of the token is one of these. */
function isOf(token: Token, own: ReadonlySet<Noun | Currency | undefined>): boolean {
  switch (token.type) {
    case 'money':
      return own.has(token.currency);
    case 'measure':
    case 'fraction':
      return token.unit !== undefined && own.has(token.unit);
    case 'rate':
    case 'signed':
      return isOf(token.of, own);
    case 'range':
      return isOf(token.from, own) || isOf(token.to, own);
    default:
      return false;
  }
}

/** The short forms of the layer; undefined if it has none. */
function ownWords(
  language: Language,
  abbreviations: Readonly<Record<string, Saying>>,
  beforeNumber: Readonly<Record<string, string>>,
): Readonly<Record<'atDigit' | 'atMark' | 'atLetter', Row>> | undefined {
  if (Object.keys({ ...beforeNumber, ...abbreviations }).length === 0) return undefined;
  const { writing } = language;
  const { atDigit, atMark } = new Words({
    ...language,
    writing: { ...writing, abbreviations, beforeNumber },
  });
  const [digit, mark] = [provenRow(atDigit), provenRow(atMark)];
  return {
    atDigit: digit,
    atMark: mark,
    atLetter: { ...mark, knows: (place) => place.isFresh && mark.knows(place) },
  };
}

interface Entry {
  readonly rule: Rule;
  readonly say: (reading: Reading, match: PatternMatch<Entry>) => string;
}

function patternRecogniser(language: Language, tables: Tables, make: NounMaker): Recogniser | undefined {
  const table = new PatternTable<Entry>(language.writing.numbers);
  let isEmpty = true;
  for (const [written, entry] of entriesOf(language, tables, make)) {
    const pattern = parsePattern(written);
    if (typeof pattern === 'string') continue; // the parser of tables has refused it
    table.add(pattern, { ...entry, rule: pattern.isIdentifier ? 'identifier' : entry.rule });
    isEmpty = false;
  }
  if (isEmpty) return undefined;
  return (reading): Found | undefined => {
    const { text, at } = reading;
    const kind = classAt(text, at);
    if (!reading.isFresh && (kind === LETTER || kind === DIGIT)) return undefined;
    const match = table.at(text, at);
    if (match === undefined) return undefined;
    const { end, value } = match;
    return { end, spoken: value.say(reading, match), rule: value.rule, isCertain: true };
  };
}

function* entriesOf(language: Language, tables: Tables, make: NounMaker): Generator<[string, Entry]> {
  const { speech } = language;
  for (const row of tables.units ?? []) {
    const unit = make(row);
    const say: Entry['say'] = (reading, { end, numbers: [number = numeralOf('1')] }) =>
      speech.measure({ number }, unit, reading.around(end));
    for (const written of row.written.filter(isPattern)) yield [written, { rule: 'measure', say }];
  }
  for (const name of PATTERN_CLASSES) {
    for (const { written, said } of tables[name] ?? []) {
      for (const form of written.filter(isPattern)) yield [form, saidEntry(language, said, make)];
    }
  }
  for (const row of tables.patterns ?? []) yield [row.written, patternEntry(language, row, make)];
}

function patternEntry(language: Language, row: RowOf<'patterns'>, make: NounMaker): Entry {
  const { written, said, manner = written.startsWith('id:') ? 'digits' : undefined } = row;
  if (manner === undefined) return saidEntry(language, said ?? '', make);
  const say: Entry['say'] = ({ text, at }, { end }) => {
    const spoken = sayIn(manner, text.slice(at, end), language.speech);
    return said === undefined ? spoken : said.replaceAll('{d}', () => spoken);
  };
  return { rule: 'identifier', say };
}

/** `{n}` stands for a number; `{n} locale|locali` names the forms of what it counts. */
function saidEntry(language: Language, said: string, make: NounMaker): Entry {
  const { speech } = language;
  const [, forms] = /^\{n\} ([^{}]*\|[^{}]*)$/.exec(said) ?? [];
  if (forms !== undefined) {
    const unit = make({ forms: forms.split('|').map((form) => form.trim()) });
    const say: Entry['say'] = (reading, { end, numbers: [number = numeralOf('1')] }) =>
      speech.measure({ number }, unit, reading.around(end));
    return { rule: 'measure', say };
  }
  if (!said.includes('{n}')) return { rule: 'abbreviation', say: () => said };
  const parts = said.split('{n}');
  const say: Entry['say'] = (_reading, { numbers }) =>
    parts
      .map((part, index) => {
        const number = index === 0 ? undefined : numbers[Math.min(index, numbers.length) - 1];
        if (number === undefined) return part;
        // The number is read as in front of the words that follow it.
        const { whole } = number;
        return speech.count({ number }, new Around(whole + part, 0, whole.length)) + part;
      })
      .join('');
  return { rule: 'measure', say };
}

const PAIR = 2;

/** The letters and figures of an identifier, without the marks between them. */
function sayIn(manner: NonNullable<RowOf<'patterns'>['manner']>, written: string, speech: Speech): string {
  const runs = written.match(/\d+|[\p{L}\p{M}]+/gu) ?? [];
  return runs
    .map((run) => {
      const isNumber = /^\d/.test(run);
      switch (manner) {
        case 'words':
          return isNumber ? speech.number(numeralOf(run.replace(/^0+(?=\d)/, '')), NOWHERE) : run;
        case 'pairs':
          return isNumber ? sayPairs(run, speech) : speech.letters(run);
        case 'digits':
        case 'letters':
          return isNumber ? speech.digits(run) : speech.letters(run);
      }
    })
    .join(' ');
}

/** 12345: twelve thirty-four five. A pair that begins with a zero is said by its digits. */
function sayPairs(digits: string, speech: Speech): string {
  const pairs = Array.from({ length: Math.ceil(digits.length / PAIR) }, (_, index) =>
    digits.slice(index * PAIR, (index + 1) * PAIR),
  );
  return pairs
    .map((pair) =>
      pair.length < PAIR || pair.startsWith('0')
        ? speech.digits(pair)
        : speech.number(numeralOf(pair), NOWHERE),
    )
    .join(' ');
}
