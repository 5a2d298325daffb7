// What Chinese knows of its own, by the character that decides; see `behindDigits` and `byMark`.
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
  relation,
  ruleLine,
  signTwice,
  tightListNumber,
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
import { date, generation, named, padded, plainMonth, rangeMark, season } from './dates.js';
import { bracketedYear, dashedDay, monthDay, republic, shortYear } from './days.js';
import {
  called,
  citizen,
  clearly,
  magnified,
  modelMark,
  myriads,
  plate,
  share,
  standard,
  stored,
  thousands,
  vehicle,
} from './names.js';
import {
  below,
  inFront,
  longCount,
  more,
  arrow,
  numberMark,
  partOfYear,
  parts,
  perAmount,
  roman,
  score,
  tone,
  topic,
  zone,
} from './numbered.js';
import { currencyPair } from '../currency-pairs.js';
import type { Language } from '../language.js';
import {
  behindDigits,
  bracketedCountry,
  byMark,
  coefficient,
  formula,
  negativePower,
} from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { another, areaCode, hotline, key, KEYWORDS } from './telephone.js';
import { clock, halfFirst, hundredths, primed } from './times.js';
import { CURRENCIES, UNITS } from './units.js';

export const IN_MATH: Readonly<Record<string, string>> = {
  '+': '加', '-': '减', '−': '减', '×': '乘', '*': '乘', '÷': '除以', '/': '除以', '=': '等于', '==': '等于',
  '<': '小于', '>': '大于', '<=': '小于等于', '>=': '大于等于', '≤': '小于等于', '≥': '大于等于', '≠': '不等于', '!=': '不等于',
  '≈': '约等于', '~': '约', '±': '正负', '√': '根号', '→': '到', '∞': '无穷大', π: '派',
}; // prettier-ignore

const ANY = /^/; // what stands before the number decides

export const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [
        /s/,
        decade(
          (digits) => `${spellDigits(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [ANY, hotline],
      [/[.)）、]/, listNumber(SPEECH, '、')],
      [/\./, tightListNumber(SPEECH, '、')],
      [ANY, hundredths],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      [/年/, date],
      [/[HQ]/, partOfYear],
      [/\./, plainMonth],
      [/[/.-]/, republic],
      [/[pP届级級屆大购購年活期电]/, named],
      [/[-–/]/, season],
      [/[月日号號时時点點]/, padded],
      [/[后後·・•.]/, generation],
      [/[-−+×÷*/xX.=]/, sum(SPEECH, IN_MATH)],
      [/[分/-]/, parts],
      [/[-–:]/, score],
      [/[.:]/, ratio(SPEECH)],
      [/[)）〕\]]/, bracketedYear],
      [ANY, standard],
      [/\//, monthDay],
      [/-/, dashedDay],
      [/[:aApP]/, clock],
      [/['′’]/, primed],
      [/[Xx]/, citizen],
      [ANY, keyed(SPEECH, KEYWORDS)],
      [ANY, another],
      [ANY, clearly],
      [ANY, called],
      [/[.)）]/, share],
      [/[wW.]/, myriads],
      [/[kK]/, thousands],
      [
        /[eE.]/,
        scientific(
          SPEECH,
          (number, negative, exponent) => `${number}乘十的${negative ? '负' : ''}${cardinal(exponent)}次方`,
        ),
      ],
      [/[mk]/, compoundMeasure(SPEECH, UNITS)],
      [/[A-Za-z.,]/, capitalUnit(SPEECH, UNITS)],
      [/[GMTK.]/, stored],
      [/[xX×.]/, magnified],
      [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥-' })],
      [ANY, longCount],
    ]),
    numberOfName(SPEECH),
  ],
  atLetter: [
    formula((letters) => letters, cardinal, ''),
    processor(SPEECH),
    crossBetween('乘'),
    currencyPair(CURRENCIES, '兑'),
    codeTwice,
    halfFirst,
    plate,
    vehicle,
    roman,
    zone,
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
      [/[⁻^]/, negativePower((digits) => `的负${cardinal(digits)}次方`)],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, signTwice()],
      [/\(/, bracketedCountry((groups, plus) => SPEECH.telephone(groups, plus))],
      [/_/, underscore('下划线')],
      [/#/, topic],
      [/#/, numberMark],
      [/→/, arrow],
      [/[*＊#＃]/, key],
      [/（/, areaCode],
      [/['’‘]/, shortYear],
      [/-/, modelMark],
      [/-/, below],
      [/[-–—~～〜]/, rangeMark],
      [/[<>≠≤≥≈]/u, relation(IN_MATH)],
      [/\+/, inFront],
      [/\+/, plusBetween('加')],
      [/\+/, plusOfNames('加')],
      [/×/, crossBetween('乘')],
      [/\*/, starBetween('乘')],
      [/\//, perAmount],
      [/\+/, more],
      [/[Ⅰ-Ⅻ①-⑳]/, numberSign(SPEECH, '、')],
      [/[。…~～〜]/, tone],
    ]),
  ],
};
