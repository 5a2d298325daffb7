// Assembles Korean, and orders its own recognisers by the character that decides.
// Numerals are Sino-Korean or native, depending on the noun that they count. Letters are spoken by name.
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
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
import { currencyPair } from '../shared-codes.js';
import {
  behindDigits,
  bracketedCountry,
  byMark,
  coefficient,
  formula,
  negativePower,
} from '../shared-forms.js';
import { clock, dateRules, halfFirst, hundredths, spacedDate } from './dates.js';
import { KEYWORDS, longCount, numberedRules, parts, roman } from './numbered.js';
import { cardinal, letterNames } from './numbers.js';
import { relationRules } from './relations.js';
import { SPEECH } from './speech.js';
import { beforeWord, capitals, tone, wordRules } from './words.js';
import { WRITING } from './writing.js';

// prettier-ignore
const IN_MATH: Readonly<Record<string, string>> = {
  '+': ' 더하기 ', '-': ' 빼기 ', '−': ' 빼기 ', '×': ' 곱하기 ', '*': ' 곱하기 ', '÷': ' 나누기 ', '/': ' 나누기 ', '=': ' 이퀄 ', '==': ' 이퀄 ',
  '~': '약 ', '±': '플러스마이너스', '√': '루트 ', '≈': ' 약 ', '≒': ' 약 ', '≠': ' 같지 않음 ', '→': '에서 ', '∞': '무한대', π: '파이',
};

const sign = numberSign(SPEECH, '.');

/** ①신청: a space behind the number of an item. */
function circled(reading: Reading): Found | undefined {
  const found = sign(reading);
  if (found?.rule !== 'markdown' || /^\s?$/.test(reading.text.slice(found.end, found.end + 1))) return found;
  return { ...found, spoken: `${found.spoken} ` };
}

const ANY = /^/; // no filter: the recogniser checks the text before the number

const OWN: NonNullable<Language['own']> = {
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
      ...dateRules.behindDigits,
      ...wordRules.behindDigits,
      [/[-–:대분\d]/, parts],
      [/[:aApP]/, clock],
      ...numberedRules.behindDigits,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      ...numberedRules.behindDigitsLater,
      ...wordRules.behindDigitsLater,
      [
        /[eE.]/,
        scientific(
          SPEECH,
          (number, negative, exponent) =>
            `${number} 곱하기 십의 ${negative ? '마이너스 ' : ''}${cardinal(exponent)}제곱`,
        ),
      ],
      [/[A-Za-z.,]/, capitalUnit(SPEECH, WRITING.units)],
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
    currencyPair(WRITING.currencies),
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
      [/[⁻^]/, negativePower((digits) => `의 마이너스 ${cardinal(digits)}제곱`)],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, signTwice()],
      [/\(/, bracketedCountry((groups, plus) => SPEECH.telephone(groups, plus))],
      [/_/, underscore(' 밑줄 ')],
      [/\+/, plusBetween(' 더하기 ')],
      [/\+/, plusOfNames(' 플러스 ')],
      [/[Ⅰ-Ⅻ①-⑳]/, circled],
      ...wordRules.atMark,
      ...dateRules.atMark,
      ...numberedRules.atMark,
      [/\*/, starBetween(' 곱하기 ')],
      ...relationRules.atMark,
    ]),
  ],
  atIdeograph: [...numberedRules.atIdeograph, tone],
};

// prettier-ignore
export const KOREAN: Language = {
  tag: 'ko',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    inAddress: {
      '@': '골뱅이', '.': '점', '/': '슬래시', '\\': '역슬래시', '-': '하이픈', _: '밑줄', ':': '콜론', '#': '샵',
      '?': '물음표', '=': '이퀄', '&': '앤드', '+': '플러스', '~': '물결', '%': '퍼센트', '*': '별표', '!': '느낌표',
    },
    inMath: IN_MATH,
    inFront: { '≈': '약 ' },
    inText: {
      '∞': '무한대', '&': ' 앤드 ', '©': '저작권', '®': '', '™': '', '°': '도', '→': ',', '←': '', '•': '', '†': '', '✓': '', '★': '', '☆': '', '※': '', '●': '', '○': '', '■': '', '□': '', '◆': '', '▲': '', '▶': '', '♪': '', '♡': '', '♥': '',
    },
    versionPoint: '점',
    version: '버전',
    minus: '마이너스',
    plus: '플러스',
    keys: { star: '별표', hash: '샵', before: /누르|눌러|버튼|입력|다이얼/, behind: /^.{0,10}(?:누르|눌러|누른|버튼|키를|키|입력|다이얼)/ },
    hashtag: '해시태그',
    addressWords: {
      www: '더블유더블유더블유', com: '컴', net: '넷', org: '오알지', kr: '케이알', co: '씨오', go: '지오', gov: '지오브이', ac: '에이씨', re: '알이', or: '오알', io: '아이오', ai: '에이아이', pdf: '피디에프', html: '에이치티엠엘', jpg: '제이피지', png: '피엔지', mp: '엠피', txt: '티엑스티', csv: '씨에스브이',
      js: '제이에스', md: '엠디', docx: '독스', xlsx: '엑셀엑스', json: '제이슨', xml: '엑스엠엘', hwp: '에이치더블유피', zip: '집', https: '에이치티티피에스', http: '에이치티티피', gmail: '지메일', naver: '네이버', google: '구글', daum: '다음', kakao: '카카오',
    },
  },
};
