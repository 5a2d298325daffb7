// Lists, for each language, the short forms whose full stop usually does not end a sentence, and the
// words that usually begin one. They are sets of its table of cue words.
// If the language of a text is known, its own sets and the international list apply, otherwise all sets.
// Short forms of a tenant's tables that end with a stop count, too.
import { builtInRows } from './tables/built-in.js';
import type { TableLayer } from './tables/layer.js';
import type { RowOf } from './tables/schema.js';

const INTERNATIONAL: ShortFormLists = {
  neverFinal: `mr mrs ms mx dr prof cf e.g i.e vs `,
  beforeNumber: `no nr exp ref max min vol fig p pp art tel ext ex op § th n° nº № no° nro`,
  seldomFinal: `
    st mt al u.s u.s.a u.k u.n e.u d.c l.a n.y b.c a.d p.s ph.d m.d b.a m.a b.sc m.sc ll.m d.d.s r.n c.e.o
  `,
  oftenFinal: `a.m p.m am pm etc inc ltd co corp llc plc jr`,
  afterTime: `est edt et cst cdt ct mst mdt mt pst pdt pt gmt utc cet cest bst ist jst`,
};

/** Lower case and without the last full stop; the lists differ in what may follow a real sentence end. */
export interface ShortForms {
  /** Always followed by the rest of the phrase: a name, an example, a number. */
  readonly neverFinal: ReadonlySet<string>;
  /** Not final before a digit ("No. 5", "Fig. 2"); otherwise an ordinary word ("I said no."). */
  readonly beforeNumber: ReadonlySet<string>;
  /** Letters with which hardly a word ends: before a digit, one that does is a short form. */
  readonly noWordEnds: ReadonlySet<string>;
  /** May end a sentence, and then the next word begins one: only one of `starters` proves it. */
  readonly seldomFinal: ReadonlySet<string>;
  /** Like `seldomFinal`, but only in this spelling: "the CIA. Bob", "a rod. Bob". */
  readonly seldomFinalAsWritten: ReadonlySet<string>;
  /** Ends the sentence where a capital follows that is not part of a time or a name. */
  readonly oftenFinal: ReadonlySet<string>;
  /** Like `seldomFinal`, but only behind a number: 2 caps. daily; "Take off your cap. Bob". */
  readonly behindNumber: ReadonlySet<string>;
  /** Words that may follow a time of day within the sentence: "at 3 p.m. Eastern", "5 p.m. Monday". */
  readonly afterTime: ReadonlySet<string>;
  /** Capitalised, these begin a sentence and hardly ever continue a name. */
  readonly starters: ReadonlySet<string>;
  /** Short forms that begin a sentence: 500 v. Chr. Vgl. Kapitel 3. */
  readonly shortStarters: ReadonlySet<string>;
  /** Words before an ordinal with a stop: in "am 3. Oktober" the stop belongs to the number. */
  readonly beforeOrdinal: ReadonlySet<string>;
  /** Words after one. */
  readonly afterOrdinal: ReadonlySet<string>;
}

/** Words that are parted by white space; a list that is absent is empty. */
type ShortFormLists = Partial<Readonly<Record<keyof ShortForms, string>>>;

/** Chinese, Japanese and Korean write short forms as English does, if any. */
const TABLES: Readonly<Record<string, string>> = {
  de: 'de',
  en: 'en',
  es: 'es',
  fr: 'fr',
  it: 'it',
  ja: 'en',
  ko: 'en',
  pt: 'pt',
  ru: 'ru',
  zh: 'en',
};

/** Sets of the tables of cue words. */
const SETS: Readonly<Record<keyof ShortForms, string>> = {
  neverFinal: 'sentence: never final',
  beforeNumber: 'sentence: before number',
  noWordEnds: 'sentence: no word ends',
  seldomFinal: 'sentence: seldom final',
  seldomFinalAsWritten: 'sentence: seldom final as written',
  oftenFinal: 'sentence: often final',
  behindNumber: 'sentence: behind number',
  afterTime: 'sentence: after time',
  starters: 'sentence: starters',
  shortStarters: 'sentence: short starters',
  beforeOrdinal: 'sentence: before ordinal',
  afterOrdinal: 'sentence: after ordinal',
};
/** Seldom final where the language of the text is stated: in others they are words that end sentences. */
const SELDOM_FINAL_HERE = 'sentence: seldom final here';

const known = new Map<string, ShortForms>(); // by language; '' is all of them
const byTag = new Map<string, ShortForms>();
const MOST_TAGS = 200;

/** A layer's short forms join those of its language, and are kept by language. */
const layered = new WeakMap<TableLayer, Map<string, ShortForms>>();

/** Returns the short forms of a BCP 47 tag, or of all languages if the tag is absent or unknown. */
export function shortFormsOf(tag = '', layer?: TableLayer): ShortForms {
  if (layer === undefined) return plainFormsOf(tag);
  const known = layered.get(layer) ?? new Map<string, ShortForms>();
  layered.set(layer, known);
  let forms = known.get(tag);
  if (forms === undefined) known.set(tag, (forms = withRows(plainFormsOf(tag), rowsOf(layer, tag))));
  return forms;
}

function rowsOf(layer: TableLayer, tag: string): readonly RowOf<'short-forms'>[] {
  return layer.tablesFor(tag).flatMap((tables) => tables['short-forms'] ?? []);
}

/** The set in which a short form of a table counts, by its condition. */
const SET_OF = {
  'before number': 'beforeNumber',
  'behind number': 'behindNumber',
  'before name': 'neverFinal',
} as const;

function withRows(forms: ShortForms, rows: readonly RowOf<'short-forms'>[]): ShortForms {
  const found: Partial<Record<keyof ShortForms, ReadonlySet<string>>> = {};
  for (const { written, when } of rows) {
    const set = when === undefined ? 'seldomFinal' : SET_OF[when];
    const own = written.filter((form) => form.endsWith('.')).map((form) => form.slice(0, -1).toLowerCase());
    if (own.length > 0) found[set] = new Set([...(found[set] ?? forms[set]), ...own]);
  }
  return { ...forms, ...found };
}

function plainFormsOf(tag: string): ShortForms {
  const before = byTag.get(tag);
  if (before !== undefined) return before;
  const forms = formsOf(tag);
  if (byTag.size < MOST_TAGS) byTag.set(tag, forms);
  return forms;
}

function formsOf(tag: string): ShortForms {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  const key = Object.hasOwn(TABLES, primary) ? primary : '';
  let forms = known.get(key);
  if (forms === undefined) known.set(key, (forms = read(TABLES[key])));
  return forms;
}

/** Short forms of one language with those of its own, or of all languages. */
function read(language: string | undefined): ShortForms {
  const languages = language === undefined ? [...new Set(Object.values(TABLES))] : [language];
  const words = (name: keyof ShortForms): ReadonlySet<string> => {
    const isHere = name === 'seldomFinal' && language !== undefined;
    const sets = isHere ? [SETS[name], SELDOM_FINAL_HERE] : [SETS[name]];
    const international = (INTERNATIONAL[name] ?? '').split(/\s+/).filter((word) => word !== '');
    return new Set([...international, ...languages.flatMap((one) => wordsOf(one, sets))]);
  };
  return {
    neverFinal: words('neverFinal'),
    beforeNumber: words('beforeNumber'),
    noWordEnds: language === undefined ? new Set() : words('noWordEnds'),
    seldomFinal: words('seldomFinal'),
    seldomFinalAsWritten: words('seldomFinalAsWritten'),
    oftenFinal: words('oftenFinal'),
    behindNumber: words('behindNumber'),
    afterTime: words('afterTime'),
    starters: words('starters'),
    shortStarters: words('shortStarters'),
    beforeOrdinal: words('beforeOrdinal'),
    afterOrdinal: words('afterOrdinal'),
  };
}

function wordsOf(language: string, sets: readonly string[]): readonly string[] {
  return builtInRows(language, 'cue-words').flatMap(({ set, written }) =>
    set !== undefined && sets.includes(set) ? written : [],
  );
}
