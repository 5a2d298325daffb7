// Japanese number words. n2words says 千万 for 一千万, so they are made from myriads here.
//
// Numbers that count are written in kanji: a speech model that reads ordinary Japanese knows the sound
// changes of 三本 and 六百, which kana would have to spell out. Digits said one by one are in katakana, since a
// row of kanji (一二三四) would be read as a number.
import { myriadWords, type MyriadNames } from '../myriads.js';
import { keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

const KANJI = Array.from('零一二三四五六七八九');
const KANA = ['ゼロ', 'イチ', 'ニ', 'サン', 'ヨン', 'ゴ', 'ロク', 'ナナ', 'ハチ', 'キュウ'];

const NAMES: MyriadNames = {
  digits: ['', ...KANJI.slice(1)],
  places: ['', '十', '百', '千'],
  groups: ['', '万', '億', '兆', '京', '垓'],
  between: '',
  saysOne: (_place, group, digits) => digits === '1000' && group > 0,
  loneOne: () => '一',
};

export const cardinal = keptWords((digits) =>
  digits === '0' ? 'ゼロ' : (myriadWords(digits, NAMES) ?? spellDigits(digits)),
);

/** ゼロキュウゼロ: each digit by its name. */
export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => KANA[Number(digit)] ?? digit).join('');
}

/** 零点五, 三点一四. */
export function decimal({ negative, whole, decimals }: Numeral): string {
  const sign = negative ? 'マイナス' : '';
  if (decimals === '') return sign + cardinal(whole);
  const places = Array.from(decimals, (digit) => KANJI[Number(digit)] ?? digit).join('');
  return `${sign}${whole === '0' ? '零' : cardinal(whole)}点${places}`;
}
