// French grammar around a number: gender of the noun that follows, "de" before a noun, the plural.
import { tablesOf } from '../../tables/language-tables.js';
import { type Numeral, valueOf } from '../numerals.js';
import type { Around } from '../reading.js';

const FEMININE = tablesOf('fr').set('feminine nouns');
const FEMININE_ENDINGS =
  /(?:otte|rque|eque|[tsxg]ion|té|ée|rie|ette|ence|ance|euse|trice|ade|tude|esse|elle|enne|aison|ille|logie|graphie|omie|opie|ogie|ffe|ure|ise|ine|une|ude|ole|eille|ace)s?$/;
const MASCULINE = tablesOf('fr').set('masculine nouns');
const FEMININE_ADJECTIVES = tablesOf('fr').set('feminine adjectives');

const STREET =
  /^(?:rue|avenue|place|impasse|allée|route|ruelle|chaussée|villa|cité|esplanade|promenade|traverse|voie)$/;
const OF_NAME = /^ \p{L}+ (?:d[eu]s?(?!\p{L})|d['’]|la |l['’]|les |aux? |\p{Lu}|St|\d)/u;

/** 21 rue des Lilas: the number of a house. */
function isHouse({ text, start, end }: Around, next: string): boolean {
  if (!STREET.test(next)) return false;
  return text.slice(start, end) !== '1' || OF_NAME.test(text.slice(end, end + 24));
}

const ONE_OR_TWO = /^ (?:à|ou) \d{1,3} (\p{L}{3,24})/u; // 1 à 2 gélules

/** A noun (behind at most one adjective) that makes "une" of the 1 before it. */
export function isFeminineAhead(around: Around): boolean {
  const next = around.nextWord.toLowerCase();
  if (next === '') return false;
  if (next === 'à' || next === 'ou') {
    const [, noun = ''] = ONE_OR_TWO.exec(around.text.slice(around.end, around.end + 40)) ?? [];
    return isFeminine(noun.toLowerCase());
  }
  if (isHouse(around, next)) return false;
  if (isFeminine(next)) return true;
  return FEMININE_ADJECTIVES.has(next) && isFeminine(around.secondNextWord.toLowerCase());
}

export function isFeminine(word: string): boolean {
  const single = word.replace(/[sx]$/, '');
  if (FEMININE.has(word) || FEMININE.has(single)) return true;
  return word.length > 4 && FEMININE_ENDINGS.test(word) && !MASCULINE.has(single) && !MASCULINE.has(word);
}

const NUMBERED = tablesOf('fr').set('numbered');

/** Behind "page" or "numéro" a number names one thing and counts nothing. */
export function isNumbered(around: Around): boolean {
  return NUMBERED.has(around.previousWord.replace(/^(?:l|d|qu)['’]/, ''));
}

/** Between two ends of a range: entre cinq et dix, cinq à dix. */
export function and(around: Around): 'et' | 'à' {
  return around.previousWord === 'entre' ? 'et' : 'à';
}

/** Two is the first plural: 1,5 litre, 0 degré, 2 litres. */
export function isPlural(numeral: Numeral): boolean {
  return Math.abs(valueOf(numeral)) >= 2;
}

/** Millions d'euros, millions de yens. */
export function of(noun: string): string {
  return /^(?:[aeiouyàâéèêîôœæ]|h(?:a[bl]|e|o[mnr]|ô[pt]|u[im]|y))/iu.test(noun) &&
    !/^(?:yen|yuan|onz)/iu.test(noun)
    ? `d'${noun}`
    : `de ${noun}`;
}

const NO_NOUN = tablesOf('fr').set('no noun');

/** A word behind "3M" that is counted: 3M abonnés. */
export function isCounted(word: string): boolean {
  return /^\p{Ll}{3,}[sx]$/u.test(word) && !NO_NOUN.has(word);
}
