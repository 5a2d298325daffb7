// Korean number words: Sino-Korean, and native ones before the counters that ask for them. n2words says 억 일
// for 일억 일 and 점 십사 for 점 일사, and knows no native numerals, so they are made here.
import { tablesOf } from '../../tables/language-tables.js';
import { myriadWords, type MyriadNames } from '../myriads.js';
import { keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

const DIGITS = Array.from('영일이삼사오육칠팔구');

const NAMES: MyriadNames = {
  digits: ['', ...DIGITS.slice(1)],
  places: ['', '십', '백', '천'],
  groups: ['', '만', '억', '조', '경', '해'],
  between: ' ',
  saysOne: () => false,
  loneOne: (group) => (group === 1 ? '' : '일'),
};

export const cardinal = keptWords((digits) =>
  digits === '0' ? '영' : (myriadWords(digits, NAMES) ?? spellDigits(digits)),
);

/** 공일공: each digit by its name. */
export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => (digit === '0' ? '공' : (DIGITS[Number(digit)] ?? digit))).join('');
}

/** 삼 점 일사. */
export function decimal({ negative, whole, decimals }: Numeral): string {
  const places = Array.from(decimals, (digit) => DIGITS[Number(digit)] ?? digit).join('');
  return `${negative ? '마이너스 ' : ''}${cardinal(whole)}${decimals === '' ? '' : ` 점 ${places}`}`;
}

const NATIVE = ['', '한', '두', '세', '네', '다섯', '여섯', '일곱', '여덟', '아홉'];
const NATIVE_TENS = ['', '열', '스물', '서른', '마흔', '쉰', '예순', '일흔', '여든', '아흔'];

/** 한, 스무, 백다섯: as it stands before a counter, undefined where only Sino-Korean is said. */
export function native(digits: string): string | undefined {
  const value = Number(digits);
  if (digits.length > 4 || value === 0) return undefined;
  const [hundreds, rest] = [digits.slice(0, -2), value % 100];
  if (value >= 100 && (rest === 0 || rest > 9)) return undefined;
  const head = value >= 100 ? cardinal(`${hundreds}00`) : '';
  if (rest === 20) return '스무';
  return `${head}${NATIVE_TENS[Math.floor(rest / 10)] ?? ''}${NATIVE[rest % 10] ?? ''}`;
}

const LETTERS = tablesOf('ko').letterNames('spelled');

/** 지디피: the names of the letters. */
export function letterNames(letters: string): string {
  return Array.from(letters.toUpperCase(), (letter) => LETTERS[letter] ?? letter).join('');
}

const CLOSED_DIGITS = '013678'; // 영 일 삼 육 칠 팔, and every ten, hundred, thousand
const CLOSED_LETTERS = 'LMNRlmnr'; // 엘 엠 엔 알
const HANGUL = 0xac00;
const LAST_HANGUL = 0xd7a3;
const FINALS = 28;
const RIEUL = 8;

type Final = 'vowel' | 'rieul' | 'consonant';

/** Final sound of a written character. It selects between 은 and 는, 을 and 를, 이 and 가. */
export function finalOf(character: string): Final | undefined {
  const code = character.charCodeAt(0);
  if (code >= HANGUL && code <= LAST_HANGUL) {
    const final = (code - HANGUL) % FINALS;
    return final === 0 ? 'vowel' : final === RIEUL ? 'rieul' : 'consonant';
  }
  if (/\d/.test(character))
    return '178'.includes(character) ? 'rieul' : CLOSED_DIGITS.includes(character) ? 'consonant' : 'vowel';
  if (/[A-Za-z]/.test(character))
    return 'LRlr'.includes(character) ? 'rieul' : CLOSED_LETTERS.includes(character) ? 'consonant' : 'vowel';
  return character === '%' || character === '℃' ? 'vowel' : undefined;
}
