// Portuguese grammar around a number: whether the next word is counted by it, and its gender.
import { tablesOf } from '../../tables/language-tables.js';
import type { Around } from '../reading.js';
import type { Gender } from './numbers.js';

/** Behind a number these are no counted nouns. */
const NOT_COUNTED = tablesOf('pt').set('not counted');

/** A number behind these names the thing and counts nothing: página vinte e um. */
export const LABELS = tablesOf('pt').set('numbered');

const INVARIABLE = tablesOf('pt').set('adjectives of both genders');

const FEMININE = tablesOf('pt').set('feminine nouns');

const MASCULINE = tablesOf('pt').set('masculine nouns');

export function genderOf(noun: string): Gender {
  const word = noun.toLowerCase();
  if (MASCULINE.has(word)) return 'm';
  if (FEMININE.has(word)) return 'f';
  return /(?:as?|[sçx]ões|[sçx]ão|[st]iões|dades?|tudes?|gens?|triz(?:es)?)$/.test(word) ? 'f' : 'm';
}

/** In 21 pessoas, 2 casas, 200 novas vagas, 1 hora: as what follows asks; else masculine. */
export function agreementOf(one: boolean, around: Around): Gender {
  const next = around.nextWord;
  if (LABELS.has(around.previousWord)) return 'm';
  if (!/^\p{Ll}/u.test(next) || NOT_COUNTED.has(next)) return genderAlone(one, around);
  const noun = INVARIABLE.has(next) ? around.secondNextWord : next;
  if (one === noun.endsWith('s') && !FEMININE.has(noun)) return 'm';
  return genderOf(noun);
}

const SHARED = /^ (?:e|ou|a) \d[\d.,]{0,14} (\p{Ll}{2,24})/u; // 2 ou 3 pessoas

/** Umas quinhentas, às duas, à uma: the article shows the gender, or the noun behind the next number. */
function genderAlone(one: boolean, { text, end, previousWord }: Around): Gender {
  const noun = SHARED.exec(text.slice(end, end + 48))?.[1] ?? '';
  if (noun !== '' && !NOT_COUNTED.has(noun) && (!one || noun.endsWith('s'))) return genderOf(noun);
  if (/^ d(?:as|elas)(?!\p{L})/u.test(text.slice(end, end + 8))) return 'f'; // 2 das 3 vagas
  if (/^ da (?:manhã|tarde|noite|madrugada)/.test(text.slice(end, end + 16))) return 'f'; // são 2 da manhã
  if (one) return previousWord === 'à' ? 'f' : 'm';
  return /^(?:às|as|das|nas|pelas|umas|estas|essas|outras|todas)$/.test(previousWord) ? 'f' : 'm';
}

/** True if the word that follows is a noun (or its adjective) that an ordinal stands before. */
export function standsBeforeNoun(around: Around): boolean {
  const next = around.nextWord;
  return /^\p{L}{2,}/u.test(next) && !/^\p{Lu}+$/u.test(next) && !NOT_COUNTED.has(next.toLowerCase());
}

/** Between the ends of a range: entre 20 e 30, de 10 a 12. */
export function rangeWord(around: Around): string {
  return around.previousWord === 'entre' || around.secondPreviousWord === 'entre' ? 'e' : 'a';
}
