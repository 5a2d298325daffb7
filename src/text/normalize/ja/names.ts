// Names that are numbers in part, and numbers that belong to one trade: JL516便, B1F, トヨタ(7203), 打率.325, 9秒58.
import { isDigitAt } from '../characters.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { floor } from '../recognise/names.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { WRITING } from './writing.js';

const FLOOR = floor((number) => `${cardinal(number)}階`, '地下', spellDigits);

const FLIGHT = /([A-Z]{2,3}|[A-Z]\d|\d[A-Z]) ?(\d{1,4})(?=便)/y;

/** JL516便: the flight is counted. */
function flight(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const match = reading.match(FLIGHT);
  if (match === undefined) return undefined;
  const spoken = `${match[1] ?? ''}${cardinal(withoutZeros(match[2] ?? ''))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const SHARE = /(\d{4})(?=[)）])/y;
const TRADED = /^[)）].{0,12}?(?:株|続伸|続落|反発|反落|急騰|急落|上場|決算|高値|安値|買|売|証券|増益|減益)/;

/** トヨタ(7203)が反発: the number of a share. */
function share(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[\p{L}ー] ?[(（]$/u.test(text.slice(Math.max(0, at - 3), at))) return undefined;
  const digits = reading.match(SHARE)?.[1];
  if (digits === undefined || !TRADED.test(text.slice(at + 4, at + 24))) return undefined;
  return { end: at + 4, spoken: spellDigits(digits), rule: 'digits' };
}

const RATE = /0?\.(\d)(\d)(\d)(?!\d)/y;

/** 打率.325 is 三割二分五厘. */
function battingRate(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (
    !/[0.]/.test(text[at] ?? '') ||
    !/(?:打率|勝率|出塁率|長打率)(?:は|が|、|:)? ?$/.test(text.slice(Math.max(0, at - 6), at))
  )
    return undefined;
  const match = reading.match(RATE);
  if (match === undefined) return undefined;
  const parts = ['割', '分', '厘'].map((name, index) =>
    match[index + 1] === '0' ? '' : cardinal(match[index + 1] ?? '') + name,
  );
  const spoken = parts.join('');
  return spoken === '' ? undefined : { end: at + match[0].length, spoken, rule: 'decimal' };
}

const HUNDREDTHS = /\d{2}(?!\d|[.:/年月日時分])/y;
const DIGITS = Array.from('零一二三四五六七八九');

/** 9秒58: two digits behind the second are its decimals. */
export function hundredths(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (text[at - 1] !== '秒' || !isDigitAt(text, at - 2) || reading.match(HUNDREDTHS) === undefined)
    return undefined;
  const spoken = `${DIGITS[Number(text[at])] ?? ''}${DIGITS[Number(text[at + 1])] ?? ''}`;
  return { end: at + 2, spoken, rule: 'decimal' };
}

const LAUGHTER = /[wW]{1,40}(?=[\s。、！!？?」]|$)/y;

/** すごいwww: the letters stand for laughter. */
export function laughter(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (at === 0 && /^w{2,40}\P{L}{0,8}$/u.test(text))
    return { end: reading.runEnd, spoken: '', rule: 'punctuation' };
  if (!/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー！!？?。…]/u.test(text[at - 1] ?? ''))
    return undefined;
  const match = reading.match(LAUGHTER);
  return match && { end: at + match[0].length, spoken: '', rule: 'punctuation' };
}

const FACE =
  /[(（](?:[\^＾][_.oO▽∀ω-]?[\^＾]|[TＴ][_.][TＴ]|;_;|>_?<|≧▽≦|・∀・|´▽`|´・ω・`|\._\.)[;*/ﾉ]{0,2}[)）]/y;

/** (^^) is a face. */
function face(reading: Reading): Found | undefined {
  const match = reading.match(FACE);
  return match && { end: reading.at + match[0].length, spoken: '', rule: 'emoji' };
}

const MONEY = '(?:円|ドル|ユーロ|ポンド|元|ウォン|豪ドル)';
const MONEY_BEFORE = new RegExp(`${MONEY}$`);
const MONEY_BEHIND = new RegExp(`^/${MONEY}(?:[はがのを相、。]|$)`);

/** ドル/円は: nothing is said for the slash. */
function perCurrency({ text, at }: Reading): Found | undefined {
  if (!MONEY_BEFORE.test(text.slice(Math.max(0, at - 4), at)) || !MONEY_BEHIND.test(text.slice(at, at + 6)))
    return undefined;
  return { end: at + 1, spoken: '', rule: 'symbol' };
}

const SIZE = /(\d)L(?=サイズ|版|判|プリント)/y;

/** 2Lサイズ is no volume. */
function printSize(reading: Reading): Found | undefined {
  const match = reading.match(SIZE);
  return match && { end: reading.at + 2, spoken: `${cardinal(match[1] ?? '')}L`, rule: 'identifier' };
}

const TEST_NAME = /HbA1c(?=\d)/y;

/** HbA1c5.8%: a name that ends with a letter, and a value. */
function testName(reading: Reading): Found | undefined {
  const match = reading.isFresh && reading.text[reading.at] === 'H' ? reading.match(TEST_NAME) : undefined;
  return match && { end: reading.at + match[0].length, spoken: match[0], rule: 'identifier' };
}

const PLATE = /(\d{2,3}) ?([\u3042-\u3093]) ?([\d・]{1,2})-(\d{2})(?!\d)/y;

/** 品川300 あ 12-34 */
function plate(reading: Reading): Found | undefined {
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const [written, first = '', letter = '', second = '', third = ''] = match;
  const spoken = `${cardinal(first)}、${letter}、${spellDigits(second)}、${spellDigits(third)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const RATE_OF =
  /(\d{1,4})(回(?!\/分)|個|件|本|枚|人|名|錠|杯|台|単位|滴|包|カプセル)\/(か月|ヶ月|[日週月年人回台]|時間|分)(?![\p{Script=Han}])/uy;

/** 6回/日 */
function countRate(reading: Reading): Found | undefined {
  const match = reading.match(RATE_OF);
  const per = match && WRITING.per[match[3] ?? ''];
  if (match === undefined || per === undefined) return undefined;
  const spoken = `${per}${cardinal(withoutZeros(match[1] ?? ''))}${match[2] ?? ''}`;
  return { end: reading.at + match[0].length, spoken, rule: 'measure' };
}

const NAMELESS = /[○〇◯]{2,4}/y;

/** ○○銀行: circles that stand for a name. */
export function nameless(reading: Reading): Found | undefined {
  const written = reading.match(NAMELESS)?.[0];
  if (written === undefined) return undefined;
  return { end: reading.at + written.length, spoken: 'まる'.repeat(written.length), rule: 'symbol' };
}

/** In the order in which the language asks them. */
export const nameRules = {
  behindDigits: [
    [/[)）]/, share],
    [/[\u3042-\u3093 ]/, certain(plate)],
    [/[\p{Script=Han}カ]/u, certain(countRate)],
    [/F/, certain(FLOOR)],
    [/L/, certain(printSize)],
    [/[A-Z]/, flight],
    [/\./, battingRate],
  ],
  atLetter: [FLOOR, flight, testName],
  atMark: [
    [/\//, perCurrency],
    [/[(（]/, face],
    [/[○◯]/, nameless],
    [/\./, battingRate],
  ],
} satisfies Rules;
