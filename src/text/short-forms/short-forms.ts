// Words whose full stop usually does not end a sentence, and words that begin one: data, a file for each language.
//
// Where the language of a text is known, its own words count and those that are
// written everywhere; where it is not, the words of all of them.
import { GERMAN } from './de.js';
import { ENGLISH } from './en.js';
import { SPANISH } from './es.js';
import { FRENCH } from './fr.js';
import { INTERNATIONAL } from './international.js';
import { ITALIAN } from './it.js';
import { PORTUGUESE } from './pt.js';
import { RUSSIAN } from './ru.js';

/** Lower case and without the last full stop; the lists differ in what may follow a real sentence end. */
export interface ShortForms {
  /** Always followed by the rest of the phrase: a name, an example, a number. */
  readonly neverFinal: ReadonlySet<string>;
  /** Not final before a digit ("No. 5", "Fig. 2"); otherwise an ordinary word ("I said no."). */
  readonly beforeNumber: ReadonlySet<string>;
  /** May end a sentence, and then the next word begins one: only one of `starters` proves it. */
  readonly seldomFinal: ReadonlySet<string>;
  /** Likewise, but only in this spelling: "the CIA. Bob", "a rod. Bob". */
  readonly seldomFinalAsWritten: ReadonlySet<string>;
  /** Ends the sentence where a capital follows that is not part of a time or a name. */
  readonly oftenFinal: ReadonlySet<string>;
  /** What follows a time of day without ending the sentence: "at 3 p.m. Eastern", "5 p.m. Monday". */
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

/**
 * The same as they are written down; what is not there is empty. Those of `seldomFinalHere` are seldom final where the
 * language of the text is stated: in another language they are words that end sentences.
 */
export type ShortFormLists = Partial<Readonly<Record<keyof ShortForms | 'seldomFinalHere', string>>>;

// Chinese, Japanese and Korean write short forms as others do, if any.
const LISTS: Readonly<Record<string, ShortFormLists>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  ja: ENGLISH,
  ko: ENGLISH,
  pt: PORTUGUESE,
  ru: RUSSIAN,
  zh: ENGLISH,
};

const known = new Map<string, ShortForms>(); // by language; '' is all of them
const byTag = new Map<string, ShortForms>();
const MOST_TAGS = 200;

/** Those of a language by its BCP 47 tag; of all where it is not stated, or nobody knows it. */
export function shortFormsOf(tag = ''): ShortForms {
  const before = byTag.get(tag);
  if (before !== undefined) return before;
  const forms = formsOf(tag);
  if (byTag.size < MOST_TAGS) byTag.set(tag, forms);
  return forms;
}

function formsOf(tag: string): ShortForms {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  const key = Object.hasOwn(LISTS, primary) ? primary : '';
  let forms = known.get(key);
  if (forms === undefined) {
    const own = LISTS[key];
    const lists =
      own === undefined ? Object.values(LISTS) : [own, { seldomFinal: own.seldomFinalHere ?? '' }];
    known.set(key, (forms = joined([INTERNATIONAL, ...lists])));
  }
  return forms;
}

function joined(lists: readonly ShortFormLists[]): ShortForms {
  const words = (name: keyof ShortForms): ReadonlySet<string> =>
    new Set(lists.flatMap((list) => (list[name] ?? '').split(/\s+/)).filter((word) => word !== ''));
  return {
    neverFinal: words('neverFinal'),
    beforeNumber: words('beforeNumber'),
    seldomFinal: words('seldomFinal'),
    seldomFinalAsWritten: words('seldomFinalAsWritten'),
    oftenFinal: words('oftenFinal'),
    afterTime: words('afterTime'),
    starters: words('starters'),
    shortStarters: words('shortStarters'),
    beforeOrdinal: words('beforeOrdinal'),
    afterOrdinal: words('afterOrdinal'),
  };
}
