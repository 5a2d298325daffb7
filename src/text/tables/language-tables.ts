// The part of a language that its tables hold: all words of its `Writing` and the names of its signs. The
// language's code adds telephone patterns, number formats, and sayings that depend on the neighbours of a
// short form.
import { ParleyError } from '../../errors.js';
import type { Language, Saying, SymbolNames, Writing } from '../normalize/language.js';
import type { Magnitude, Noun } from '../normalize/quantity.js';
import { builtInRows } from './built-in.js';
import {
  booksOf,
  currenciesOf,
  cuesOf,
  magnitudesOf,
  type NounCells,
  numberedOf,
  romanAfter,
  saidCues,
  saidOf,
  signsOf,
  spelledOf,
  unitsOf,
  type WordSets,
  wordSetsOf,
} from './entries.js';
import { conditional, unconditionalFirst } from './neighbours.js';
import type { RowOf, TableClass } from './schema.js';

/** A saying made of the words in the column `said`; more than one are parted by bars there. */
export type MakeSaying = (...said: string[]) => Saying;

interface Making {
  /** Builds a noun where the language derives forms that its tables leave out. */
  readonly noun?: (row: NounCells) => Noun;
  /** By the name in the column `form` of the table of short forms. */
  readonly sayings?: Readonly<Record<string, MakeSaying>>;
}

type Words = WordSets &
  Pick<
    Writing,
    | 'currencies'
    | 'currencySigns'
    | 'units'
    | 'per'
    | 'magnitudes'
    | 'moneyMagnitudes'
    | 'abbreviations'
    | 'beforeNumber'
    | 'spelled'
    | 'read'
    | 'romanAfter'
    | 'compass'
    | 'books'
  >;

type SignNames = Pick<
  SymbolNames,
  'inAddress' | 'inMath' | 'inFront' | 'behindNoun' | 'inText' | 'addressWords'
>;

const known = new Map<string, LanguageTables>();

/** The built-in tables of a language. */
export function tablesOf(language: Language['tag']): LanguageTables {
  let tables = known.get(language);
  if (tables === undefined) known.set(language, (tables = new LanguageTables(language)));
  return tables;
}

class LanguageTables {
  readonly #language: string;

  constructor(language: Language['tag']) {
    this.#language = language;
  }

  /** The words of its `Writing`. */
  words(making: Making = {}): Words {
    const { noun, sayings = {} } = making;
    const cues = this.#rows('cue-words');
    const money = this.magnitudes('money', noun);
    return {
      ...currenciesOf(this.#rows('currencies'), noun),
      units: unitsOf(this.#rows('units'), noun),
      per: saidOf(this.#rows('per')),
      magnitudes: this.magnitudes(undefined, noun),
      ...(Object.keys(money).length === 0 ? {} : { moneyMagnitudes: money }),
      abbreviations: { ...this.letters, ...this.#shortForms(sayings) },
      beforeNumber: Object.fromEntries(
        this.#rows('before-number').flatMap(({ written, said, form }) =>
          written.map((one): [string, string] => [one, form === 'spaced' ? `${said} ` : said]),
        ),
      ),
      spelled: this.spelled,
      read: this.read,
      romanAfter: romanAfter(cues),
      ...wordSetsOf(cues),
      compass: saidCues(cues, 'compass'),
      books: booksOf(cues),
    };
  }

  magnitudes(use?: 'money', noun?: (row: NounCells) => Noun): Readonly<Record<string, Magnitude>> {
    return magnitudesOf(this.#rows('magnitudes'), use, noun);
  }

  /** Words in capitals that are spelled. */
  get spelled(): ReadonlySet<string> {
    return spelledOf(this.#rows('spelled'), 'letters');
  }

  /** Words in capitals that are read as words. */
  get read(): ReadonlySet<string> {
    return spelledOf(this.#rows('spelled'), 'word');
  }

  /** Names of Greek letters in running text. */
  get letters(): Readonly<Record<string, string>> {
    return saidOf(this.#rows('letters').filter(({ use }) => use === undefined));
  }

  /** Names of letters for one use. */
  letterNames(use: string): Readonly<Record<string, string>> {
    return saidOf(this.#rows('letters').filter((row) => row.use === use));
  }

  get dates(): {
    readonly months: readonly (readonly string[])[];
    readonly weekdays: readonly (readonly string[])[];
  } {
    const [months, weekdays] = [this.#rows('months'), this.#rows('weekdays')];
    return {
      months: months.length === 0 ? [] : numberedOf(months, 12),
      weekdays: weekdays.length === 0 ? [] : numberedOf(weekdays, 7),
    };
  }

  get times(): Pick<Writing['times'], 'halves' | 'words' | 'zones'> {
    const rows = this.#rows('zones');
    const of = (kind: 'zone' | 'half' | 'clock'): Readonly<Record<string, string>> =>
      saidOf(rows.filter((row) => (row.kind ?? 'zone') === kind));
    return { halves: of('half'), words: of('clock'), zones: of('zone') };
  }

  /** Words before a telephone number. */
  get telephone(): ReadonlySet<string> {
    return cuesOf(this.#rows('cue-words'), 'telephone');
  }

  /** Names of signs and of the ends of addresses. */
  get signs(): SignNames {
    const rows = this.#rows('signs');
    return {
      inAddress: signsOf(rows, 'address'),
      inMath: signsOf(rows, 'math'),
      inFront: signsOf(rows, 'front'),
      behindNoun: signsOf(rows, 'noun'),
      inText: signsOf(rows, 'text'),
      addressWords: saidOf(this.#rows('address-words')),
    };
  }

  /** A set of cue words of this language only. A name without rows is a mistake in the code or the table. */
  set(name: string): ReadonlySet<string> {
    return new Set(this.#setRows(name).flatMap(({ written }) => written));
  }

  /** Such a set whose words have a value each; '' where the table has none. */
  map(name: string): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#setRows(name).flatMap(({ written, said = '' }) =>
        written.map((one): [string, string] => [one, said]),
      ),
    );
  }

  /** Such a set of nouns with their genders, which are among `allowed`. */
  genders<G extends 'm' | 'f' | 'n'>(name: string, allowed: readonly G[]): ReadonlyMap<string, G> {
    return new Map(
      Object.entries(this.map(name)).map(([noun, value]) => {
        const gender = allowed.find((one) => one === value);
        if (gender !== undefined) return [noun, gender];
        const place = `cue-words of ${this.#language}, set "${name}"`;
        throw new ParleyError(
          'CONFIG_INVALID',
          `${place}: ${noun} is "${value}"; allowed: ${allowed.join(', ')}`,
        );
      }),
    );
  }

  #setRows(name: string): readonly RowOf<'cue-words'>[] {
    const rows = this.#rows('cue-words').filter((row) => row.set === name);
    if (rows.length > 0) return rows;
    throw new ParleyError('CONFIG_INVALID', `cue-words of ${this.#language} lack the set "${name}"`);
  }

  #shortForms(sayings: Readonly<Record<string, MakeSaying>>): Readonly<Record<string, Saying>> {
    const found: Record<string, Saying> = {};
    for (const row of unconditionalFirst(this.#rows('short-forms'))) {
      const saying = this.#sayingOf(row, sayings);
      for (const written of row.written) found[written] = conditional(saying, row, found[written]);
    }
    return found;
  }

  #sayingOf(
    { said, form, line }: RowOf<'short-forms'>,
    sayings: Readonly<Record<string, MakeSaying>>,
  ): Saying {
    if (form === undefined) return said;
    const make = Object.hasOwn(sayings, form) ? sayings[form] : undefined;
    if (make !== undefined) return make(...said.split('|'));
    const place = `short-forms of ${this.#language}, line ${line}, column "form"`;
    throw new ParleyError(
      'CONFIG_INVALID',
      `${place}: is "${form}"; allowed: ${Object.keys(sayings).join(', ')}`,
    );
  }

  #rows<C extends TableClass>(name: C): readonly RowOf<C>[] {
    return builtInRows(this.#language, name);
  }
}
