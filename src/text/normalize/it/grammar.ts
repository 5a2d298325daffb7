// Italian grammar around a number: gender of the noun that follows, un/uno/una/un', the words of a range.
import { tablesOf } from '../../tables/language-tables.js';
import { valueOf, type Numeral } from '../numerals.js';
import type { Around } from '../reading.js';
import type { Gender } from './numbers.js';

export function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const FEMININE = tablesOf('it').set('feminine nouns');
const FEMININE_ENDINGS = /(?:a|zione|sione|gione|nione|tudine|gine|trice|tà|tù|ice|ie)$/;
const MASCULINE = tablesOf('it').set('masculine nouns');
const EITHER_ADJECTIVES = tablesOf('it').set('adjectives before a noun');

export function isFeminine(word: string): boolean {
  if (FEMININE.has(word)) return true;
  return word.length > 2 && FEMININE_ENDINGS.test(word) && !MASCULINE.has(word);
}

const NO_NOUN = tablesOf('it').set('no noun');
const NUMBERED = tablesOf('it').set('numbered');

/** Nouns that take a fraction in recipes and the like: 2/3 tazza. */
export const MEASURES_OF = tablesOf('it').set('measures of');

/** Behind "pagina" or "numero" a number names one thing and counts nothing. */
export function isNumbered(around: Around): boolean {
  return NUMBERED.has(around.previousShort);
}

/** The gender of what is counted; undefined where nothing is. */
export function genderAhead(around: Around): Gender | undefined {
  const next = around.nextWord.toLowerCase();
  if (next === '' || NO_NOUN.has(next) || /^\p{L}['’]/u.test(next)) return undefined;
  const noun = around.secondNextWord.toLowerCase();
  const ambiguous = EITHER_ADJECTIVES.has(next) && next.endsWith('e') && noun !== '';
  return isFeminine(ambiguous ? noun : next) ? 'f' : 'm';
}

const HEAVY = /^(?:s[^aeiouàèéìòù]|z|gn|ps|pn|x|y|i[aeou])/iu; // lo zaino, uno studente
const VOWEL = /^h?[aeiouàèéìòù]/iu;

/** Un libro, uno studente, una casa, un'ora: with the space behind it where there is one. */
export function one(noun: string, gender: Gender): string {
  if (gender === 'f') return VOWEL.test(noun) && !/^i[aeou]/iu.test(noun) ? "un'" : 'una ';
  return HEAVY.test(noun) ? 'uno ' : 'un ';
}

/** Only one is singular: 0 chilometri, 1,5 litri. */
export function isPlural(numeral: Numeral): boolean {
  return Math.abs(valueOf(numeral)) !== 1 || numeral.decimals !== '';
}

/** Dall'otto, al dodici: the preposition before a number. */
export function before(preposition: 'al' | 'dal' | 'alle' | 'dalle', word: string): string {
  const vowel = preposition.endsWith('e')
    ? word === 'una' || word.startsWith('una ')
    : /^(?:uno|otto|ott|und)/.test(word);
  return vowel ? `${preposition.startsWith('d') ? "dall'" : "all'"}${word}` : `${preposition} ${word}`;
}

const AFTER_FROM = words('da dai dal dalle dagli dalla');
const TO: Readonly<Record<string, string>> = {
  dai: 'ai',
  dal: 'al',
  dalle: 'alle',
  dagli: 'agli',
  dalla: 'alla',
};
const PREPOSITIONS = tablesOf('it').set('prepositions');
const ARTICLES = tablesOf('it').set('plural articles');

/** Da cinque a dieci, tra cinque e dieci, due o tre; `neighbours` are numbers that follow each other. */
export function betweenNumbers(from: string, to: string, around: Around, neighbours: boolean): string {
  const word = around.previousWord;
  if (word === 'tra' || word === 'fra') return `${from} e ${to}`;
  if (AFTER_FROM.has(word)) return `${from} ${TO[word] ?? 'a'} ${to}`;
  if (isNumbered(around)) return neighbours ? `${from} e ${to}` : `da ${from} a ${to}`;
  if (neighbours) return `${from} o ${to}`;
  return ARTICLES.has(word) || PREPOSITIONS.has(word) || word === 'a' /* a 2-8 gradi */
    ? `${from}-${to}`
    : `da ${from} a ${to}`;
}
