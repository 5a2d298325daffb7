// Assembles Mandarin, and orders its own recognisers by the character that decides.
// All words are made in simplified characters. For a text of traditional characters they are converted.
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import { certain } from '../reading.js';
import {
  capitalUnit,
  codeTwice,
  compoundMeasure,
  dateRange,
  era,
  hourRange,
  keyed,
  listNumber,
  masked,
  numberOfName,
  numberSign,
  plusBetween,
  relation,
  romanOrder,
  ruleLine,
  signTwice,
  slashedDays,
  thousands,
  tightListNumber,
  underscore,
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
} from '../recognise/formulas.js';
import { behindDigits, byMark } from '../shared-forms.js';
import { dateRules } from './dates.js';
import { modelMark, nameRules } from './names.js';
import { another, hotline, KEYWORDS, numberedRules } from './numbered.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { halfFirst, hundredths, timeRules } from './times.js';
import { WRITING } from './writing.js';

const { inMath: IN_MATH } = tablesOf('zh').signs;

const ANY = /^/; // no filter: the recogniser checks the text before the number

const inEra = certain(era((year, before) => `公元${before ? '前' : ''}${SPEECH.digits(year)}年`));

/** 披萨两份 */
function inItems(item: string, count: string): string {
  return `${item}${count === '2' ? '两' : cardinal(count)}份`;
}

const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [/[年ABCabc]/, inEra],
      [/[kK.]/, certain(thousands(SPEECH, /^ ?(?:粉|人|名|次|元|播|点|點|个|個|位|赞|讚)/))],
      [
        /s/,
        decade(
          (digits) => `${spellDigits(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [[3, 7], certain(hotline)],
      [/[.)）、]/, listNumber(SPEECH, '、')],
      [/\./, tightListNumber(SPEECH, '、')],
      [/[-–~～〜 ]/, hourRange(SPEECH)],
      [/[×xX✕✖ ]/, countOf(inItems)],
      [[2, 2], hundredths],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/\//, slashedDays('、', SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      ...dateRules.behindDigits,
      [/[-−–+×÷*/xX.=]/, certain(sum(SPEECH, IN_MATH))],
      ...numberedRules.behindDigits,
      [/[.:]/, ratio(SPEECH)],
      ...nameRules.behindDigits,
      ...timeRules.behindDigits,
      ...dateRules.behindDigitsLater,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [[3, 12], another],
      ...nameRules.behindDigitsLater,
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      [/[A-Za-z.,]/, certain(capitalUnit(SPEECH, WRITING.units))],
      ...nameRules.behindDigitsLast,
    ]),
    numberOfName(SPEECH),
  ],
  atLetter: [
    romanOrder(SPEECH),
    inEra,
    crossBetween('乘'),
    countedBehind(inItems),
    certain(codeTwice),
    halfFirst,
    ...nameRules.atLetter,
    ...numberedRules.atLetter,
  ],
  atMark: [
    byMark([
      [
        /['’‘]/,
        decade(
          (digits) => `${spellDigits(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, certain(signTwice())],
      [/_/, underscore('下划线')],
      [/[<>≠≤≥≈]/u, relation(IN_MATH)],
      [/×/, crossBetween('乘')],
      [/[×✕✖]/, countedBehind(inItems)],
      [/[Ⅰ-Ⅻ①-⑳]/, numberSign(SPEECH, '、', '，')],
      [/-/, certain(modelMark)],
      ...numberedRules.atMark,
      [/\+/, plusBetween('加')],
      [/\+/, plusOfNames('加')],
      [/\*/, starBetween('乘')],
      ...dateRules.atMark,
      ...numberedRules.atMarkLater,
    ]),
  ],
};

const TO_TRADITIONAL = new Map<string, string>();
const TO_SIMPLIFIED = new Set<string>();
for (const pair of tablesOf('zh').set('simplified and traditional')) {
  const [simplified = '', traditional = ''] = pair;
  TO_TRADITIONAL.set(simplified, traditional);
  TO_SIMPLIFIED.add(traditional);
}

// Traditional as well, of characters that are never made here.
for (const character of tablesOf('zh').set('traditional')) {
  TO_SIMPLIFIED.add(character);
}

/** Evidence of each character: 1 of a traditional one, -1 of a simplified one. */
const EVIDENCE_OF = new Int8Array(65_536);
for (const character of TO_TRADITIONAL.keys()) EVIDENCE_OF[character.charCodeAt(0)] = -1;
for (const character of TO_SIMPLIFIED) EVIDENCE_OF[character.charCodeAt(0)] = 1;

const EVIDENCE = 2_000; // units that are looked at
const CERTAIN = 2; // characters of one kind more than of the other

/**
 * True if more characters are certainly traditional than certainly simplified. The first characters decide,
 * so that a beginning has the characters of the whole.
 */
function isTraditional(text: string): boolean {
  let balance = 0;
  for (let at = 0; at < text.length && at < EVIDENCE && Math.abs(balance) < CERTAIN; at++) {
    balance += EVIDENCE_OF[text.charCodeAt(at)] ?? 0;
  }
  return balance > 0;
}

/**
 * Returns a function for the spoken words: it writes ", " as "，" and, for a traditional text, uses its
 * characters.
 */
function respell(text: string): (spoken: string) => string {
  const wide = (spoken: string): string => spoken.replaceAll(', ', '，');
  if (!isTraditional(text)) return wide;
  return (spoken) =>
    Array.from(wide(spoken), (character) => TO_TRADITIONAL.get(character) ?? character).join('');
}

// prettier-ignore
export const CHINESE: Language = {
  tag: 'zh',
  writing: { ...WRITING, codeBefore: KEYWORDS.codes },
  speech: SPEECH,
  unspaced: true,
  respell,
  continuations: ['，這個們', '，这个们'],
  own: OWN,
  symbols: {
    ...tablesOf('zh').signs,
    versionPoint: '点',
    version: 'V',
    minus: '负',
    plus: '正',
    keys: { star: '星号', hash: '井号', before: /[按拨撥键鍵]|输入|輸入|结束|結束/, behind: /^[”’」』）)]?[号號]?[键鍵]/ },
    hashtag: '话题',
    betweenCurrencies: '兑',
    pause: '，',
  },
};
