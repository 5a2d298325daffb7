// What Korean knows of its own, by the character that decides; see `behindDigits` and `byMark`.
import {
  capitalUnit,
  codeTwice,
  compoundMeasure,
  dateRange,
  keyed,
  listNumber,
  masked,
  numberOfName,
  numberSign,
  plusBetween,
  ruleLine,
  signTwice,
  underscore,
  yearMonth,
} from '../recognise/attached.js';
import {
  crossBetween,
  decade,
  plusOfNames,
  processor,
  ratio,
  scientific,
  starBetween,
  sum,
} from '../recognise/formulas.js';
import {
  clock,
  halfFirst,
  hundredths,
  memorial,
  rangeMark,
  shortYear,
  spacedDate,
  weekday,
} from './dates.js';
import { monthDay, officialDate, pair, quarter, shortDate } from './days.js';
import {
  car,
  company,
  equals,
  longCount,
  lot,
  optionalVowel,
  particle,
  parts,
  postcode,
  roman,
} from './numbered.js';
import { currencyPair } from '../currency-pairs.js';
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
import {
  behindDigits,
  bracketedCountry,
  byMark,
  coefficient,
  formula,
  negativePower,
} from '../shared-forms.js';
import { cardinal, letterNames } from './numbers.js';
import { SPEECH } from './speech.js';
import { emergency, key, KEYWORDS, plate } from './telephone.js';
import { compared, limit } from './relations.js';
import { CURRENCIES, UNITS } from './units.js';
import {
  arrow,
  battingRate,
  beforeWord,
  capitals,
  flight,
  game,
  generations,
  letteredFlight,
  longUnit,
  page,
  paper,
  perCurrency,
  pro,
  spacedMagnitude,
  tone,
} from './words.js';

export const IN_MATH: Readonly<Record<string, string>> = {
  '+': ' 더하기 ', '-': ' 빼기 ', '−': ' 빼기 ', '×': ' 곱하기 ', '*': ' 곱하기 ', '÷': ' 나누기 ', '/': ' 나누기 ', '=': ' 이퀄 ', '==': ' 이퀄 ',
  '~': '약 ', '±': '플러스마이너스', '√': '루트 ', '≈': ' 약 ', '≒': ' 약 ', '≠': ' 같지 않음 ', '→': '에서 ', '∞': '무한대', π: '파이',
}; // prettier-ignore

const sign = numberSign(SPEECH, '.');

/** ①신청: a space behind the number of an item. */
function circled(reading: Reading): Found | undefined {
  const found = sign(reading);
  if (found?.rule !== 'markdown' || /^\s?$/.test(reading.text.slice(found.end, found.end + 1))) return found;
  return { ...found, spoken: `${found.spoken} ` };
}

const ANY = /^/; // what stands before the number decides

export const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [
        /s/,
        decade(
          (digits) => `${cardinal(digits)}년대`,
          (digits) => `${cardinal(digits)}년대`,
        ),
      ],
      [ANY, hundredths],
      [/[.)）、]/, listNumber(SPEECH, '.')],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      [/\./, spacedDate],
      [/[-−+×÷*/xX.=]/, sum(SPEECH, IN_MATH)],
      [/[.:]/, ratio(SPEECH)],
      [/\./, shortDate],
      [/\//, quarter],
      [/\//, pair],
      [/\//, monthDay],
      [ANY, memorial],
      [/편/, flight],
      [/[A-Z]/, letteredFlight],
      [/\./, battingRate],
      [/[-–:대분\d]/, parts],
      [/[:aApP]/, clock],
      [ANY, postcode],
      [ANY, emergency],
      [/[가-힣]/, plate],
      [ANY, keyed(SPEECH, KEYWORDS)],
      [/-/, car],
      [/-/, lot],
      [/-/, game],
      [/[경조]/, longUnit],
      [/프/, pro],
      [/세/, generations],
      [/[십백천만억조.,]/, spacedMagnitude],
      [
        /[eE.]/,
        scientific(
          SPEECH,
          (number, negative, exponent) =>
            `${number} 곱하기 십의 ${negative ? '마이너스 ' : ''}${cardinal(exponent)}제곱`,
        ),
      ],
      [/[mk]/, compoundMeasure(SPEECH, UNITS)],
      [/[A-Za-z.,]/, capitalUnit(SPEECH, UNITS)],
      [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥-' })],
      [ANY, longCount],
    ]),
    numberOfName(SPEECH),
    beforeWord,
  ],
  atLetter: [
    formula(letterNames, cardinal),
    processor(SPEECH),
    crossBetween(' 곱하기 '),
    currencyPair(CURRENCIES),
    codeTwice,
    halfFirst,
    paper,
    page,
    letteredFlight,
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
      [/[⁻^]/, negativePower((digits) => `의 마이너스 ${cardinal(digits)}제곱`)],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, signTwice()],
      [/\(/, bracketedCountry((groups, plus) => SPEECH.telephone(groups, plus))],
      [/_/, underscore(' 밑줄 ')],
      [/[(（]/, weekday],
      [/[*＊#＃(]/, key],
      [/[\^;~～]/, tone],
      [/\./, battingRate],
      [/\(/, optionalVowel],
      [/['’‘]/, officialDate],
      [/['’‘]/, shortYear],
      [/[-–—~～〜∼]/, rangeMark],
      [/[<>≥≤≠!]/, compared],
      [/[<>≥≤]/, limit],
      [/→/, arrow],
      [/\//, perCurrency],
      [/=/, equals],
      [/\+/, plusBetween(' 더하기 ')],
      [/\+/, plusOfNames(' 플러스 ')],
      [/\*/, starBetween(' 곱하기 ')],
      [/[Ⅰ-Ⅻ①-⑳]/, circled],
    ]),
  ],
  atIdeograph: [particle, company, tone],
};
