// Assembles Korean, and orders its own recognisers by the character that decides.
// Numerals are Sino-Korean or native, depending on the noun that they count. Letters are spoken by name.
import { tablesOf } from '../../tables/language-tables.js';
import { beginning } from '../dispatch.js';
import type { Language } from '../language.js';
import { certain, type Found, type Reading } from '../reading.js';
import {
  dayBeforeWeekday,
  betweenShares,
  capitalUnit,
  codeTwice,
  compoundMeasure,
  bounded,
  dateRange,
  era,
  hourRange,
  keyed,
  listNumber,
  lossOf,
  masked,
  numberOfName,
  numberSign,
  page,
  plusBetween,
  romanOrder,
  ruleLine,
  signTwice,
  slashedDays,
  strokePause,
  underscore,
  until,
  wordMath,
  yearMonth,
} from '../recognise/attached.js';
import {
  countedBehind,
  countOf,
  crossBetween,
  decade,
  plusOfNames,
  ratio,
  starBetween,
  sum,
  twoDegrees,
} from '../recognise/formulas.js';
import { behindDigits, betweenAmounts, byMark } from '../shared-forms.js';
import { clock, dateRules, halfFirst, hundredths, spacedDate } from './dates.js';
import { KEYWORDS, numberedRules, parts, roman } from './numbered.js';
import { cardinal, native } from './numbers.js';
import { relationRules } from './relations.js';
import { SPEECH } from './speech.js';
import { beforeWord, capitals, tone, wordRules } from './words.js';
import { WRITING } from './writing.js';

const { inMath: IN_MATH } = tablesOf('ko').signs;

const sign = numberSign(SPEECH, '.', ', ');

/** ①신청: a space behind the number of an item. */
function circled(reading: Reading): Found | undefined {
  const found = sign(reading);
  if (found?.rule !== 'markdown' || /^\s?$/.test(reading.text.slice(found.end, found.end + 1))) return found;
  return { ...found, spoken: `${found.spoken} ` };
}

/** 피자 두 개 */
function inItems(item: string, count: string): string {
  return `${item} ${native(count) ?? cardinal(count)} 개`;
}

const ANY = /^/; // no filter: the recogniser checks the text before the number

const inEra = certain(era((year, before) => `${before ? '기원전' : '서기'} ${cardinal(year)}년`));

const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [/[년ABCabc]/, inEra],
      [
        /s/,
        decade(
          (digits) => `${cardinal(digits)}년대`,
          (digits) => `${cardinal(digits)}년대`,
        ),
      ],
      [/[(（]/, dayBeforeWeekday('일', SPEECH)],
      [[2, 2], hundredths],
      [/[.)）、]/, listNumber(SPEECH, '.')],
      [/[-–~～〜∼ ]/, hourRange(SPEECH, ' 사이')],
      [/[×xX✕✖ ]/, countOf(inItems)],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, certain(yearMonth(SPEECH))],
      [/\//, twoDegrees(SPEECH, WRITING.units)],
      [/\//, slashedDays(', ', SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      [/\./, spacedDate],
      [/[-−–+×÷*/xX.=]/, certain(sum(SPEECH, IN_MATH))],
      [/[.:]/, ratio(SPEECH)],
      ...dateRules.behindDigits,
      ...wordRules.behindDigits,
      [/[-–:대분\d]/, parts],
      [/[:aApP]/, clock],
      ...numberedRules.behindDigits,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      ...numberedRules.behindDigitsLater,
      ...wordRules.behindDigitsLater,
      [/[A-Za-z.,]/, certain(capitalUnit(SPEECH, WRITING.units))],
    ]),
    numberOfName(SPEECH),
    certain(beforeWord),
  ],
  atLetter: [
    romanOrder(SPEECH),
    inEra,
    crossBetween(' 곱하기 '),
    countedBehind(inItems),
    page(SPEECH, ' 페이지'),
    codeTwice,
    halfFirst,
    ...wordRules.atLetter,
    roman,
    capitals,
  ],
  atMark: [
    byMark([
      [
        /['’‘]/,
        decade(
          (digits) => `${cardinal(digits)}년대`,
          (digits) => `${cardinal(digits)}년대`,
        ),
      ],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, certain(signTwice())],
      [/_/, underscore(' 밑줄 ')],
      [/[×✕✖]/, countedBehind(inItems)],
      [/\//, betweenAmounts],
      [/[~～〜∼]/, bounded],
      [/[~～〜∼]/, until(SPEECH, (name) => ` ${name}요일`, '까지')],
      [/:/, betweenShares(' 대 ')],
      [/▼/, lossOf('마이너스 ')],
      [/\+/, plusBetween(' 더하기 ')],
      [/\+/, plusOfNames(' 플러스 ')],
      [/[Ⅰ-Ⅻ①-⑳]/, circled],
      ...wordRules.atMark,
      ...dateRules.atMark,
      ...numberedRules.atMark,
      [/\*/, starBetween(' 곱하기 ')],
      ...relationRules.atMark,
      [/\//, strokePause],
      [/[-−×÷+=]/, wordMath(IN_MATH)],
    ]),
  ],
  atIdeograph: [...numberedRules.atIdeograph, beginning(/[ㅋㅎㅠㅜ]/, tone)],
};

// prettier-ignore
export const KOREAN: Language = {
  continuations: [' 눌러 주세요'],
  tag: 'ko',
  writing: { ...WRITING, codeBefore: KEYWORDS.codes },
  speech: SPEECH,
  own: OWN,
  symbols: {
    ...tablesOf('ko').signs,
    versionPoint: '점',
    version: '버전',
    minus: '마이너스',
    plus: '플러스',
    keys: { star: '별표', hash: '샵', before: /누르|눌러|버튼|입력|다이얼/, behind: /^.{0,10}(?:누르|눌러|누른|버튼|키를|키|입력|다이얼)/ },
    hashtag: '해시태그',
    pause: ',',
  },
};
