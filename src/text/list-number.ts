// Numbers and letters that begin the item of a list: their stop ends no sentence.
import { CharacterSet } from './character-set.js';

const LONGEST_LEAD = 64; // units of a line before and with its number
const LONGEST_LIST = 200; // units of items on one line
const MOST_ITEMS = 10;
const NUMBER =
  /^[\s*_#>-]*(?:(?:step|question|item|point|part|schritt|frage|punkt|teil|étape|paso|passo)\s)?\p{N}{1,2}$/iu;
/** A. Yes, ii. Two, 가. 신청 */
const LETTER = /^[\s*_#>(-]*(?:[A-HQR]|[ivx]{1,4}|[가나다라마바사아자차])$/u;
const LETTERS = new CharacterSet('ABCDEFGHQRivx가나다라마바사아자차');
const NEXT_ITEM = /^\s*(\p{N}{1,2})[.)]\s.*[^.\s]\s(\p{N}{1,2})$/su;

/** The number that the text ends with stands at the beginning of its line, or behind an item on the same line. */
export function endsWithListNumber(text: string): boolean {
  const line = lastLine(text);
  return (line.length <= LONGEST_LEAD && NUMBER.test(line)) || isNextItem(text);
}

export function endsWithListLetter(text: string): boolean {
  if (!LETTERS.at(text, text.length - 1)) return false;
  const line = lastLine(text);
  return line.length <= LONGEST_LEAD && LETTER.test(line);
}

function lastLine(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

/** 1. One 2. Two: the items of a list on one line. */
function isNextItem(text: string): boolean {
  const [, first = '', last = ''] = NEXT_ITEM.exec(text.slice(0, LONGEST_LIST)) ?? [];
  return Number(last) > Number(first) && Number(last) < Number(first) + MOST_ITEMS;
}
