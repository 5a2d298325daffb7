// Roman numerals where English has them: Chapter IV, Henry VIII, Super Bowl LVIII, Final Fantasy VII, the
// XXIII Olympic Games.
import { tablesOf } from '../../tables/language-tables.js';
import { romanValue } from '../recognise/words.js';
import { withoutZeros } from '../numerals.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { cardinal, ordinal } from './numbers.js';

const CAPITALS = /[IVXLC]{1,8}(?![\p{L}\p{N}])/uy;
const SMALL = /[ivx]{2,5}(?![\p{L}\p{N}'’])/uy;
const VALID = /^C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const LONGEST_LEAD = 48; // units before a numeral that may say what it is

function set(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const CARDINALS = tablesOf('en').set('numbered by Romans');
const BEFORE_X = tablesOf('en').set('before X');
const FIRST_NAMES = tablesOf('en').set('rulers');
const RULER =
  /\b(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Prince|Princess|Sultan|Shah|Kaiser|Duke|Pharaoh|Saint) (?:\p{Lu}[\p{L}'’.-]+ ){1,3}$/u;
const SURNAME = /(?:^|[^\p{L}])(\p{Lu}\p{Ll}+)(?: \p{Lu}\.)? \p{Lu}[\p{L}'’-]+,? $/u;
const LISTED = /(\p{L}+) [IVXLC]{1,7}(?:,? (?:and|or|to|through|of|vs\.?|&) |, | ?[-–] ?)$/u;
const BEFORE_STOP = /\b(?:vol|ch|sec|art|pt|bk|app|fig|no|ex)\. $/i;
const MEDICAL = tablesOf('en').set('medical IV');
const BEFORE_DRIP = tablesOf('en').set('before a medical IV');
const ORDERED = tablesOf('en').set('ordered by Romans');
const AFTER_CAPITAL = /(?:^|[^\p{L}\p{N}])\p{Lu}[\p{L}\p{N}'’]* $/u;
const SEQUEL = /^(?:II|III|IV|VI{1,3}|IX|XI{1,3}|XIV|XV|XVI{1,3})$/;
/** Albert I. Jones: an initial between two names. */
const INITIAL = /^\. \p{Lu}\p{Ll}/u;
const PRONOUN =
  /^ (?:am|was|have|had|will|would|can|could|think|know|do|did|said|say|want|need|saw|love|like|feel|mean|hope|guess|believe)\b/;

/** The words around a Roman numeral decide whether it is a cardinal, an ordinal or letters. */
function kindOf(reading: Reading, word: string, end: number): 'cardinal' | 'ordinal' | 'letters' | undefined {
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  const around = reading.around(end);
  const { previousWord } = around;
  // Class C, Series X
  if (/^[CL]$/.test(word) || (word === 'X' && !BEFORE_X.has(previousWord))) return undefined;
  const listed = LISTED.exec(lead)?.[1]?.toLowerCase() ?? '';
  if (CARDINALS.has(listed) || CARDINALS.has(listed.replace(/s$/, ''))) return 'cardinal';
  if (word === 'I' && PRONOUN.test(reading.text.slice(end, end + 9))) return undefined;
  if (CARDINALS.has(previousWord) || (CARDINALS.has(previousWord.replace(/s$/, '')) && word.length > 1))
    return 'cardinal';
  if (BEFORE_STOP.test(lead)) return 'cardinal';
  if (word === 'I' && INITIAL.test(reading.text.slice(end, end + 4)) && !RULER.test(lead)) return undefined;
  if (word === 'IV' && (MEDICAL.has(around.nextWord) || BEFORE_DRIP.has(previousWord))) return 'letters';
  if (RULER.test(lead) || FIRST_NAMES.has(previousWord))
    return isName(lead, previousWord) ? 'ordinal' : undefined;
  if (word.length < 2) return undefined;
  if (ORDERED.has(around.nextWord)) return 'ordinal';
  if (!SEQUEL.test(word)) return undefined;
  const first = SURNAME.exec(lead)?.[1]?.toLowerCase() ?? '';
  if (FIRST_NAMES.has(first) && /^(?:II|III|IV)$/.test(word)) return 'ordinal';
  return AFTER_CAPITAL.test(lead) ? 'cardinal' : undefined;
}

/** The name stands there with a capital: John, not a john. */
function isName(lead: string, name: string): boolean {
  return (
    lead.trimEnd().endsWith(name.slice(0, 1).toUpperCase() + name.slice(1)) || /\p{Lu}[^ ]* $/u.test(lead)
  );
}

export const roman: Recogniser = (reading) => {
  const word = reading.match(CAPITALS)?.[0];
  if (word === undefined || word === '' || !VALID.test(word)) return undefined;
  const end = reading.at + word.length;
  const kind = kindOf(reading, word, end);
  if (kind === undefined) return undefined;
  if (kind === 'letters') return { end, spoken: Array.from(word).join(' '), rule: 'acronym' };
  const value = String(romanValue(word));
  const article = reading.around(end).previousWord === 'the' ? '' : 'the ';
  const spoken = kind === 'cardinal' ? cardinal(value) : `${article}${ordinal(value)}`;
  // Section IV.B
  const letter = kind === 'cardinal' && /^\.[A-Z](?![\p{L}\p{N}])/u.test(reading.text.slice(end, end + 3));
  return { end: letter ? end + 1 : end, spoken, rule: 'roman' };
};

const BEFORE_SMALL = set(
  'scene chapter section page pages clause paragraph footnote note item subsection subparagraph act part',
);

/** Scene ii, page xiv. */
export function smallRoman(reading: Reading): Found | undefined {
  const word = reading.match(SMALL)?.[0];
  if (word === undefined || !VALID.test(word.toUpperCase())) return undefined;
  if (!BEFORE_SMALL.has(reading.around(reading.at).previousWord)) return undefined;
  const spoken = cardinal(withoutZeros(String(romanValue(word.toUpperCase()))));
  return { end: reading.at + word.length, spoken, rule: 'roman' };
}
