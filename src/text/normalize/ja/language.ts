// Assembles Japanese, and orders its own recognisers by the character that decides.
// Numbers are spoken in kanji and digits in katakana; numbers.ts gives the reason.
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import { certain, type Found, type Reading } from '../reading.js';
import {
  dayBeforeWeekday,
  betweenShares,
  boundOf,
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
  relation,
  romanOrder,
  ruleLine,
  signTwice,
  slashedDays,
  strokePause,
  thousands,
  tightListNumber,
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
import { behindDigits, betweenAmounts, byMark, perWord } from '../shared-forms.js';
import { dateRules, padded } from './dates.js';
import { hundredths, laughter, nameless, nameRules } from './names.js';
import { KEYWORDS, numberedRules, roman } from './numbered.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

/** →次へ: what begins a line points at it. */
function arrow({ text, at }: Reading): Found | undefined {
  return at === 0 || text[at - 1] === '\n' ? { end: at + 1, spoken: '', rule: 'symbol' } : undefined;
}

const { inMath: IN_MATH } = tablesOf('ja').signs;

/** 二つ, 十二個 */
function inItems(item: string, count: string): string {
  return `${item}${cardinal(count)}${Number(count) < 10 ? 'つ' : '個'}`;
}

const ANY = /^/; // no filter: the recogniser checks the text before the number

const inEra = certain(era((year, before) => `${before ? '紀元前' : '西暦'}${cardinal(year)}年`));

/** 20本/km²: behind a counter the phrase follows. */
const BEHIND_COUNTED = Object.fromEntries(
  Object.entries(WRITING.per).map(([unit, phrase]) => [unit, `、${phrase}`]),
);

const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [/[年ABCabc]/, inEra],
      [/[kK.]/, certain(thousands(SPEECH, /^ ?(?:人|回|円|件|再生|フォロワー|いいね|個|台|名)/))],
      [
        /s/,
        decade(
          (digits) => `${cardinal(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [/[(（]/, dayBeforeWeekday('日', SPEECH)],
      [[2, 2], hundredths],
      [/[.)）、]/, listNumber(SPEECH, '、')],
      [/[-–~～〜 ]/, hourRange(SPEECH)],
      [/[×xX✕✖ ]/, countOf(inItems)],
      [/\./, tightListNumber(SPEECH, '、')],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/\//, twoDegrees(SPEECH, WRITING.units)],
      [/\//, slashedDays('、', SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      [[1, 2], certain(padded)],
      [/[-−–+×÷*/xX.=]/, certain(sum(SPEECH, IN_MATH))],
      [/[.:]/, ratio(SPEECH)],
      ...dateRules.behindDigits,
      ...numberedRules.behindDigits,
      ...nameRules.behindDigits,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      [/[A-Za-z.,]/, certain(capitalUnit(SPEECH, WRITING.units))],
      ...numberedRules.behindDigitsLater,
    ]),
    numberOfName(SPEECH),
  ],
  atLetter: [
    romanOrder(SPEECH),
    inEra,
    crossBetween('かける'),
    countedBehind(inItems),
    page(SPEECH, 'ページ'),
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
      [/[—─━═]/, ruleLine()],
      [/[▲△]/, lossOf('マイナス')],
      [/→/, arrow],
      [/[¥$€£₩]/, certain(signTwice())],
      [/_/, underscore('アンダーバー')],
      [/×/, crossBetween('かける')],
      [/[×✕✖]/, countedBehind(inItems)],
      [/\//, betweenAmounts],
      [/[~～〜∼]/, bounded],
      [/[~～〜∼]/, until(SPEECH, (name) => `${name}曜日`, 'まで')],
      [/:/, betweenShares('対')],
      [/[<>≤≥≦≧]/u, boundOf(SPEECH, WRITING, { least: '以上', most: '以下', over: '超', under: '未満' })],
      [/\//, perWord(BEHIND_COUNTED)],
      [/\+/, plusOfNames('プラス')],
      [/[<>≠≤≥≈≒]/u, relation(IN_MATH)],
      [/\+/, plusBetween('足す')],
      [/[Ⅰ-Ⅻ①-⑳]/, numberSign(SPEECH, '、', '、')],
      ...dateRules.atMark,
      ...nameRules.atMark,
      ...numberedRules.atMark,
      [/\*/, starBetween('かける')],
      [/\//, strokePause],
      [/[-−×÷+=]/, wordMath(IN_MATH)],
    ]),
  ],
  atIdeograph: [nameless],
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
    betweenCurrencies: '',
    pause: '、',
  },
};
