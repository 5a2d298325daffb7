// Assembles Japanese, and orders its own recognisers by the character that decides.
// Numbers are spoken in kanji and digits in katakana; numbers.ts gives the reason.
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import { certain, type Found, type Reading } from '../reading.js';
import {
  capitalUnit,
  codeTwice,
  compoundMeasure,
  dateRange,
  era,
  keyed,
  listNumber,
  masked,
  numberOfName,
  numberSign,
  plusBetween,
  relation,
  romanOrder,
  slashedDays,
  ruleLine,
  signTwice,
  thousands,
  tightListNumber,
  underscore,
  yearMonth,
} from '../recognise/attached.js';
import {
  crossBetween,
  decade,
  plusOfNames,
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
import { dateRules, padded } from './dates.js';
import { hundredths, laughter, nameRules } from './names.js';
import { KEYWORDS, numberedRules, roman } from './numbered.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

/** ▲5%: of accounts, a minus. */
function loss({ text, at }: Reading): Found | undefined {
  return /^.[\d¥￥]/u.test(text.slice(at, at + 2))
    ? { end: at + 1, spoken: 'マイナス', rule: 'symbol' }
    : undefined;
}

/** →次へ: what begins a line points at it. */
function arrow({ text, at }: Reading): Found | undefined {
  return at === 0 || text[at - 1] === '\n' ? { end: at + 1, spoken: '', rule: 'symbol' } : undefined;
}

const { inMath: IN_MATH } = tablesOf('ja').signs;

const ANY = /^/; // no filter: the recogniser checks the text before the number

const inEra = certain(era((year, before) => `${before ? '紀元前' : '西暦'}${cardinal(year)}年`));

const OWN: NonNullable<Language['own']> = {
  atDigit: [
    inEra,
    certain(thousands(SPEECH, /^ ?(?:人|回|円|件|再生|フォロワー|いいね|個|台|名)/)),
    behindDigits([
      [
        /s/,
        decade(
          (digits) => `${cardinal(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [ANY, hundredths],
      [/[.)）、]/, listNumber(SPEECH, '、')],
      [/\./, tightListNumber(SPEECH, '、')],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/\//, slashedDays('、', SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      [ANY, certain(padded)],
      [/[-−+×÷*/xX.=]/, certain(sum(SPEECH, IN_MATH))],
      [/[.:]/, ratio(SPEECH)],
      ...dateRules.behindDigits,
      ...numberedRules.behindDigits,
      ...nameRules.behindDigits,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [
        /[eE.]/,
        scientific(
          SPEECH,
          (number, negative, exponent) =>
            `${number}かける十の${negative ? 'マイナス' : ''}${cardinal(exponent)}乗`,
        ),
      ],
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      [/[A-Za-z.,]/, certain(capitalUnit(SPEECH, WRITING.units))],
      [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥-' })],
      ...numberedRules.behindDigitsLater,
    ]),
    numberOfName(SPEECH),
  ],
  atLetter: [
    romanOrder(SPEECH),
    inEra,
    formula((letters) => letters, cardinal, ''),
    crossBetween('かける'),
    currencyPair(WRITING.currencies, ''),
    codeTwice,
    ...dateRules.atLetter,
    ...nameRules.atLetter,
    roman,
    laughter,
  ],
  atMark: [
    byMark([
      [
        /['’‘]/,
        decade(
          (digits) => `${cardinal(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [/[⁻^]/, negativePower((digits) => `のマイナス${cardinal(digits)}乗`)],
      [/[—─━═]/, ruleLine()],
      [/[▲△]/, loss],
      [/→/, arrow],
      [/[¥$€£₩]/, certain(signTwice())],
      [/\(/, bracketedCountry((groups, plus) => SPEECH.telephone(groups, plus))],
      [/_/, underscore('アンダーバー')],
      [/×/, crossBetween('かける')],
      [/\+/, plusOfNames('プラス')],
      [/[<>≠≤≥≈≒]/u, relation(IN_MATH)],
      [/\+/, plusBetween('足す')],
      [/[Ⅰ-Ⅻ①-⑳]/, numberSign(SPEECH, '、')],
      ...dateRules.atMark,
      ...nameRules.atMark,
      ...numberedRules.atMark,
      [/\*/, starBetween('かける')],
    ]),
  ],
};

// prettier-ignore
export const JAPANESE: Language = {
  continuations: ['押してください'],
  tag: 'ja',
  writing: { ...WRITING, codeBefore: KEYWORDS.codes },
  speech: SPEECH,
  unspaced: true,
  respell: () => (spoken) => spoken.replaceAll(', ', '、'), // a pause is written as it is here
  own: OWN,
  symbols: {
    ...tablesOf('ja').signs,
    versionPoint: '点',
    version: 'バージョン',
    minus: 'マイナス',
    plus: 'プラス',
    keys: { star: '米印', hash: 'シャープ', before: /押|入力|ボタン|キー|ダイヤル|プッシュ/, behind: /^.{0,10}(?:押|入力|ボタン|キー|ダイヤル|プッシュ)/ },
    hashtag: 'ハッシュタグ',
    pause: '、',
  },
};
