// The languages whose speech is written with figures, by BCP 47 primary tag.
import { languageOf } from '../normalize/languages.js';
import { Addresses } from './addresses.js';
import { amount, AmountNouns } from './amounts.js';
import { digitRun } from './digit-run.js';
import { GERMAN, germanDate, germanTime } from './de.js';
import { ENGLISH, englishDate, englishTime, englishYear } from './en.js';
import { SPANISH, spanishDate, spanishTime } from './es.js';
import { FRENCH, frenchDate, frenchTime } from './fr.js';
import { Letters } from './letters.js';
import type { Listening } from './listening.js';
import { NumberWords } from './number-words.js';
import { plainNumber, rangeOf } from './plain-numbers.js';
import { Spelling } from './spelling.js';
import type { Reader, Vocabulary } from './spoken-reading.js';
import { WordTrie } from './word-trie.js';

interface Heard {
  readonly listening: Listening;
  /** Dates, times and years. */
  readonly own: readonly Reader[];
}

const HEARD: Readonly<Record<string, Heard>> = {
  de: { listening: GERMAN, own: [germanTime, germanDate] },
  en: { listening: ENGLISH, own: [englishTime, englishDate, englishYear] },
  es: { listening: SPANISH, own: [spanishTime, spanishDate] },
  fr: { listening: FRENCH, own: [frenchTime, frenchDate] },
};

/** Shorter other names are written only; some are numbers: sept. */
const SHORTEST_MONTH = 4;

export interface InverseLanguage extends Vocabulary {
  /** The first one counts where several read equally far. */
  readonly readers: readonly Reader[];
}

const kept = new Map<string, InverseLanguage>();

/** Undefined for a language whose speech is left as it was recognised. */
export function inverseLanguageOf(tag: string): InverseLanguage | undefined {
  const language = languageOf(tag);
  const heard =
    language !== undefined && Object.hasOwn(HEARD, language.tag) ? HEARD[language.tag] : undefined;
  if (language === undefined || heard === undefined) return undefined;
  let found = kept.get(language.tag);
  if (found === undefined) kept.set(language.tag, (found = built(heard, language)));
  return found;
}

/** Takes some ten milliseconds: all number words are asked for once. */
function built({ listening, own }: Heard, language: Vocabulary['language']): InverseLanguage {
  const months = new WordTrie<number>();
  for (const [index, names] of language.writing.dates.months.entries()) {
    for (const name of names.filter((known) => !known.endsWith('.') && known.length > SHORTEST_MONTH)) {
      months.add(name, index + 1);
    }
    months.add(names[0] ?? '', index + 1);
  }
  const letters = new Letters(listening);
  const nouns = new AmountNouns(language, listening.units);
  const addresses = new Addresses(language, listening, letters);
  const spelling = new Spelling(language, listening, letters);
  const counts: Reader[] = [...own, (reading, at) => amount(reading, at, nouns), plainNumber];
  return {
    language,
    listening,
    numbers: new NumberWords(language, listening.numbers),
    months,
    readers: [
      (reading, at) => addresses.address(reading, at),
      (reading, at) => spelling.spelled(reading, at),
      ...counts,
      digitRun,
      (reading, at) => rangeOf(reading, at, counts),
    ],
  };
}
