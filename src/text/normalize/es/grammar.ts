// Spanish grammar around a number: whether the next word is counted by it, and its gender.
import { tablesOf } from '../../tables/language-tables.js';
import type { Around } from '../reading.js';
import type { Agreement, Gender } from './numbers.js';

/** Behind a number these are no counted nouns. */
const NOT_COUNTED = tablesOf('es').set('not counted');

/** A number behind these names the thing and counts nothing: página veintiuno. */
export const LABELS = tablesOf('es').set('numbered');

const INVARIABLE = tablesOf('es').set('adjectives of both genders');

const FEMININE = tablesOf('es').set('feminine nouns');

const MASCULINE = tablesOf('es').set('masculine nouns');

export function genderOf(noun: string): Gender {
  const word = noun.toLowerCase();
  if (MASCULINE.has(word)) return 'm';
  if (FEMININE.has(word)) return 'f';
  if (/(?:as|a|[csgxn]iones|[csgxn]ión|dad(?:es)?|tad(?:es)?|tud(?:es)?|umbres?|triz|trices)$/.test(word))
    return 'f';
  return 'm';
}

const PLURAL = /^\p{L}{2,}s$/u;
const SINGULAR = /^\p{L}{2,}[^s]$/u;

/** In 21 personas, 31 días, 200 nuevas plazas, 1 hora: as what follows asks; else alone. */
export function agreementOf(one: boolean, around: Around): Agreement {
  const next = around.nextWord;
  if (LABELS.has(around.previousWord)) return 'alone';
  if (one && (/^\p{Lu}{2,4}$/u.test(next) || (next === 'sobre' && around.secondNextWord === 'de')))
    return 'm';
  if (!/^\p{Ll}/u.test(next) || NOT_COUNTED.has(next)) return pronounGender(one, around);
  const noun = INVARIABLE.has(next) ? around.secondNextWord : next;
  if (one && /^(?:el|del|al)$/.test(around.previousWord)) return 'alone';
  if (!(one ? SINGULAR : PLURAL).test(noun) && !FEMININE.has(noun) && !MASCULINE.has(noun)) return 'alone';
  return genderOf(noun);
}

const SHARED = /^ (?:y|o|u|a) \d[\d.,]{0,14} (\p{Ll}{2,24})/u; // 200 o 300 personas

/**
 * Unas quinientas, a las veintiuna, a la una: the article shows the gender, or the noun behind the next
 * number.
 */
function pronounGender(one: boolean, around: Around): Agreement {
  const before = around.previousWord;
  const noun = SHARED.exec(around.text.slice(around.end, around.end + 48))?.[1] ?? '';
  if (PLURAL.test(noun) && !NOT_COUNTED.has(noun) && genderOf(noun) === 'f') return 'f';
  // 31 de las 41 víctimas.
  if (/^ de (?:las|ellas)(?!\p{L})/u.test(around.text.slice(around.end, around.end + 11))) return 'f';
  if (one)
    return before === 'la' &&
      /^(?:a|de|desde|hasta|sobre|hacia|es|era|será|sea|para)$/.test(around.secondPreviousWord)
      ? 'f'
      : 'alone';
  return /^(?:las|unas|aquellas|estas|esas|otras|todas)$/.test(before) ? 'f' : 'alone';
}

/** True if the word that follows is a noun (or its adjective) that an ordinal stands before. */
export function standsBeforeNoun(around: Around): boolean {
  const next = around.nextWord;
  return /^\p{L}{2,}/u.test(next) && !/^\p{Lu}+$/u.test(next) && !NOT_COUNTED.has(next.toLowerCase());
}

/** Between the ends of a range: entre 20 y 30, del 10 al 12, else a. */
export function rangeWord(around: Around): string {
  const [before, second] = [around.previousWord, around.secondPreviousWord];
  if (before === 'entre' || second === 'entre') return 'y';
  return before === 'del' || before === 'el' ? 'al' : 'a';
}
