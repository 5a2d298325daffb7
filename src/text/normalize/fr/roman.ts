// Roman numerals: XXe siècle, François Ier, Louis XIV, chapitre IV.
import type { Found, Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';

const ORDINAL = /([IVXLCDM]{1,9})(ers?|ᵉʳ|re|ʳᵉ|ère|nde?|èmes?|eme|es|e|ᵉ|°(?= s))(?![\p{L}\p{N}])/uy;
const NUMERAL = /(?:[IVXLC]{2,9}|[IVXLC](?!\. \p{Lu}))(?![\p{L}\p{N}]|\.\p{L})/uy; // not the initial of a name
const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const RULERS =
  words(`louis henri charles françois napoléon philippe jacques édouard george georges guillaume richard paul pie benoît grégoire léon
  innocent clément jean nicolas alexandre frédéric ferdinand alphonse albert léopold baudouin juan hassan mohammed ramsès ptolémée urbain
  boniface christian gustave emmanuel mehmed soliman charles-quint félipe philippe-auguste amédée othon rainier honoré`);
const QUEENS = words('élisabeth elisabeth elizabeth catherine marie margrethe isabelle');
const NUMBERED =
  words(`chapitre tome volume livre acte scène partie titre annexe article phase type niveau classe section apollo rocky
  vatican an chap vol t art mark figure tableau épisode mondiale paris lyon bordeaux lille nanterre licence groupe catégorie stade grade`);

function isNumeral(letters: string): boolean {
  return ROMAN.test(letters) && (letters.length > 1 || /[IVX]/.test(letters)); // Le, De, Ce, Me are words
}

/** XXe, Ier, IIe, XIXes */
export function romanOrdinal(reading: Reading): Found | undefined {
  const match = reading.match(ORDINAL);
  const [written = '', letters = '', mark = ''] = match ?? [];
  if (match === undefined || !isNumeral(letters)) return undefined;
  const end = reading.at + written.length;
  const spoken = SPEECH.ordinal(String(romanValue(letters)), reading.around(end), mark);
  return spoken === undefined ? undefined : { end, spoken, rule: 'roman' };
}

const SURE = /^X{0,2}(?:I{2,3}|IV|VI{1,3}|IX)$|^X{1,2}(?:I|V)$/;

/** Final Fantasy VII: behind a name these letters are nothing but a number. */
function isSequel({ text, at }: Reading, letters: string): boolean {
  return SURE.test(letters) && /\p{Lu}\p{Ll}[\p{L}’'-]{0,20} $/u.test(text.slice(Math.max(0, at - 24), at));
}

/** Louis XIV is "Louis quatorze", François I "François premier". */
export function kingOrChapter(reading: Reading): Found | undefined {
  const letters = reading.match(NUMERAL)?.[0] ?? '';
  if (letters === '' || !isNumeral(letters)) return undefined;
  const end = reading.at + letters.length;
  const before = reading.around(end).previousShort.replace(/^(?:l|d)['’]/, '');
  if (letters === 'XV' && /^ d(?:e |['’])\p{Lu}/u.test(reading.text.slice(end, end + 5)))
    return { end, spoken: 'quinze', rule: 'roman' };
  const queen = QUEENS.has(before);
  const ruler = queen || RULERS.has(before);
  if (!ruler && !NUMBERED.has(before) && !isSequel(reading, letters)) return undefined;
  const value = romanValue(letters);
  const first = queen ? 'première' : 'premier';
  return { end, spoken: ruler && value === 1 ? first : cardinal(String(value)), rule: 'roman' };
}
