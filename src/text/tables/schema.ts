// The classes of word tables and their columns. A table is a file `{language}/{class}.tsv` that a native
// speaker corrects without a build. `parse.ts` reads it and checks every cell against the columns below.
//
// A table without a row of column names has the columns in the order given here, so that the first two
// columns (the written form, then the spoken one) are enough for most entries.

export const TABLE_CLASSES = [
  'units',
  'currencies',
  'magnitudes',
  'short-forms',
  'before-number',
  'per',
  'signs',
  'letters',
  'months',
  'weekdays',
  'zones',
  'cue-words',
  'address-words',
  'spelled',
  'patterns',
  'spoken',
  'formats',
] as const;

export type TableClass = (typeof TABLE_CLASSES)[number];

/** True for the name of a class of tables. */
export function isTableClass(name: string): name is TableClass {
  return (TABLE_CLASSES as readonly string[]).includes(name);
}

interface TextColumn {
  /** One text. A `list` is parted by commas, `forms` of a noun by vertical bars. */
  readonly holds: 'text' | 'list' | 'forms';
  readonly required?: true;
}

interface ChoiceColumn {
  readonly holds: 'choice';
  readonly of: readonly string[];
  readonly required?: true;
}

interface NumberColumn {
  readonly holds: 'number';
  readonly from: number;
  readonly to: number;
  readonly required?: true;
}

export type Column = TextColumn | ChoiceColumn | NumberColumn;

const WRITTEN = { holds: 'list', required: true } as const;
const SAID = { holds: 'text', required: true } as const;
const TEXT = { holds: 'text' } as const;
const FORMS = { holds: 'forms', required: true } as const;
const GENDER = { holds: 'choice', of: ['m', 'f', 'n'] } as const;

/** Kinds of cue words, each a set of words in small letters. */
const CUES = [
  'telephone', // before a telephone number
  'digits', // before a number that is said digit by digit
  'linking', // between such a word and its number
  'year', // before four digits that are a year
  'score', // beside the result of a game
  'grade', // the beginning of a word near the points that somebody has got
  'roman-cardinal', // before a Roman numeral that is a cardinal
  'roman-ordinal', // before a Roman numeral that is an ordinal
  'roman-before', // behind a Roman numeral that is an ordinal
  'digit-word', // for the figures of a number: "digits"
  'call', // before a number that is called
  'title', // short form of a title before a name
  'condition', // before a comparison
  'journey', // before an airport
  'menu', // before a path through the menus of an app: Settings → Wi-Fi
  'software', // before a number of a version
  'place', // before a number and a letter: room 12 B
  'before-unit', // before one unit without its number: pro m², le kWh
  'counted-of', // behind the # of "# of users"
  'message', // of a text message, which is sent to a short number
  'message-to', // between the message and that number
  'wind', // near a point of the compass
  'book', // of the Bible, in capitals as written; `said` is its name, if it is another
  'compass', // the letters of a point of the compass; `said` is its name
] as const;

/** The columns of each class, in the order of a table without column names. */
export const SCHEMAS = {
  /** Units behind a number. `form` is a word for the language's own functions, such as "before". */
  units: { written: WRITTEN, forms: FORMS, gender: GENDER, form: TEXT },
  /** A currency has an ISO code, signs or short forms, or both. `minor` is its hundredth. */
  currencies: {
    signs: { holds: 'list' },
    forms: FORMS,
    gender: GENDER,
    minor: { holds: 'forms' },
    'minor gender': GENDER,
    form: TEXT,
    'minor form': TEXT,
    code: TEXT,
  },
  /** Words that multiply the number before them by ten to the `power`. `money`: only behind "£5". */
  magnitudes: {
    written: WRITTEN,
    forms: FORMS,
    power: { holds: 'number', from: 1, to: 36, required: true },
    gender: GENDER,
    form: TEXT,
    use: { holds: 'choice', of: ['money'] },
  },
  /**
   * Short forms in running text. `when` asks for a neighbour; `form` is for the code of the language. With
   * `behind` the form counts only behind one of these words, which are in small letters.
   */
  'short-forms': {
    written: WRITTEN,
    said: SAID,
    when: { holds: 'choice', of: ['before number', 'behind number', 'before name'] },
    form: TEXT,
    behind: { holds: 'list' },
  },
  /** Short forms that are said in full where a number follows. */
  'before-number': { written: WRITTEN, said: SAID, form: TEXT },
  /** Behind a slash: "month" of "$20/month", with the whole phrase "per month". */
  per: { written: WRITTEN, said: SAID },
  /**
   * Names of signs, by the place in which they stand. `text` is where no place is given. A sign without a
   * name is silent. In a language without rules of its own `range` is between two numbers, `fraction` between
   * numerator and denominator. `spaced` puts spaces about the name in a language whose words are not parted
   * by them.
   */
  signs: {
    written: { holds: 'text', required: true },
    said: TEXT,
    place: { holds: 'choice', of: ['text', 'math', 'front', 'noun', 'address', 'range', 'fraction'] },
    spaced: { holds: 'choice', of: ['around', 'before', 'behind'] },
  },
  /** Names of letters: of the Greek alphabet in running text, or for a use that the language's code knows. */
  letters: { written: WRITTEN, said: SAID, use: TEXT },
  /** Written forms of the months. January is 1. */
  months: { written: WRITTEN, number: { holds: 'number', from: 1, to: 12, required: true } },
  /** Written forms of the days of the week. Monday is 1. */
  weekdays: { written: WRITTEN, number: { holds: 'number', from: 1, to: 7, required: true } },
  /** Behind a time of day: a zone, a half of the day (a.m.), or a word for "o'clock". */
  zones: {
    written: WRITTEN,
    said: SAID,
    kind: { holds: 'choice', of: ['zone', 'half', 'clock'] },
  },
  /** Words that decide how their neighbours are read: of a kind of all languages, or of a set of one. */
  'cue-words': { written: WRITTEN, kind: { holds: 'choice', of: CUES }, set: TEXT, said: TEXT },
  /** Ends of host and file names that are said otherwise than by their letters. */
  'address-words': { written: WRITTEN, said: SAID },
  /** Words in capitals that are spelled, or read as a word. */
  spelled: { written: WRITTEN, as: { holds: 'choice', of: ['letters', 'word'] } },
  /** Patterns of `pattern.ts`. The manner decides about the characters; `said` are words around them. */
  patterns: {
    written: { holds: 'text', required: true },
    said: TEXT,
    manner: { holds: 'choice', of: ['digits', 'pairs', 'letters', 'words'] },
  },
  /**
   * Words of a variant in place of those that the language says. One star may stand for up to 60 characters
   * without a comma, which are kept. With `before` the words count only before one of these. With `unless`
   * none of those may follow that one.
   */
  spoken: {
    written: { holds: 'text', required: true },
    said: SAID,
    before: { holds: 'list' },
    unless: { holds: 'list' },
  },
  /** How a variant writes: `date-order` is the order of a date in figures. */
  formats: {
    name: { holds: 'choice', of: ['date-order'], required: true },
    value: { holds: 'choice', of: ['dmy', 'mdy', 'ymd'], required: true },
  },
} as const satisfies Readonly<Record<TableClass, Readonly<Record<string, Column>>>>;

type Cell<C> = C extends { readonly holds: 'list' | 'forms' }
  ? readonly string[]
  : C extends { readonly holds: 'number' }
    ? number
    : C extends { readonly holds: 'choice'; readonly of: readonly (infer Name)[] }
      ? Name
      : string;

type Cells<S> = {
  readonly [K in keyof S as S[K] extends { readonly required: true } ? K : never]: Cell<S[K]>;
} & {
  readonly [K in keyof S as S[K] extends { readonly required: true } ? never : K]?: Cell<S[K]> | undefined;
};

/** A checked row of a table, with the number of its line. */
export type RowOf<C extends TableClass> = Cells<(typeof SCHEMAS)[C]> & { readonly line: number };
