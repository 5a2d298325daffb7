// The word before a stop mark, which tells whether the stop is that of a short form.
import { CharacterSet } from './character-set.js';
import type { ShortForms } from './short-forms/short-forms.js';

export const WORD_LIMIT = 48; // units; no abbreviation is longer
/** White space as expressions know it. */
export const WHITE = new CharacterSet(/\s/u);

/** Short forms of two words: 3 p. m., p. ex. */
const SPACED_FORM =
  /(?:(?<=\p{N}\s?)[ap]\. m|(?<!\p{L})(?:p\. e[sxj]|(?:ad|per) es|z\.\sB|т\.\s[дп]|d\.\sh|i\.\sd\.\sR))$/iu;
const SPACED_END = new CharacterSet('msxjbhrдпMSXJBHRДП');
const ALTERNATIVE = /^\p{L}{2,6}\.(?:\p{L}{2,3})?\/(\p{L}{2,6}(?:\.\p{L}{2,3})?)$/u;
const ADDRESS = /[/\\@=]|www\./;
const BEGINS_WORD = new CharacterSet(/[\p{L}\p{N}§]/u);
const SPACED_LENGTH = 12; // units of one, and of what stands before it

/** The word before the stop; an address or path is one ordinary word, whatever its last letters are. */
export function lastWord(before: string, forms: ShortForms): string {
  const ends = before.length - 1;
  const spaced = SPACED_END.at(before, ends)
    ? SPACED_FORM.exec(before.slice(-SPACED_LENGTH))?.[0]
    : undefined;
  if (spaced !== undefined) return spaced.replaceAll(/\s/gu, '');
  let start = before.length;
  while (start > 0 && before.length - start < WORD_LIMIT && !WHITE.at(before, start - 1)) start--;
  const token = before.slice(start);
  const alternative = token.includes('/') ? ALTERNATIVE.exec(token)?.[1] : undefined; // Sr./Sra.
  if (alternative !== undefined) return alternative;
  const whole = BEGINS_WORD.at(token, 0) ? token : token.replace(/^[^\p{L}\p{N}§]+/u, '');
  const key = whole.toLowerCase();
  if (forms.neverFinal.has(key) || forms.seldomFinal.has(key)) return whole; // г-н, dott.ssa, s/n
  if (ADDRESS.test(token)) return 'address';
  return /[\p{L}\p{M}\p{N}.§ºª]*$/u.exec(whole)?.[0] ?? '';
}
