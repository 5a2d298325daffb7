// Mandarin, from simplified and traditional characters: the words are in those of the text.
import type { Language } from '../language.js';
import {
  capitalUnit,
  dateRange,
  keyed,
  listNumber,
  masked,
  numberOfName,
  numberSign,
  plusBetween,
  relation,
  signTwice,
  underscore,
  yearMonth,
} from '../recognise/attached.js';
import { plusOfNames, processor, ratio, starBetween, sum } from '../recognise/formulas.js';
import { date, generation, named, padded, plainMonth, rangeMark, season } from './dates.js';
import { bracketedYear, dashedDay, monthDay, republic, shortYear } from './days.js';
import {
  called,
  citizen,
  clearly,
  modelMark,
  myriads,
  plate,
  share,
  standard,
  stored,
  vehicle,
} from './names.js';
import { inFront, longCount, more, parts, perAmount, roman, score, tone, topic, zone } from './numbered.js';
import { bracketedCountry } from '../shared-forms.js';
import { SPEECH } from './speech.js';
import { another, areaCode, hotline, key, KEYWORDS } from './telephone.js';
import { clock, halfFirst, hundredths, primed } from './times.js';
import { respell } from './traditional.js';
import { UNITS } from './units.js';
import { WRITING } from './writing.js';

const IN_MATH: Readonly<Record<string, string>> = {
  '+': '加', '-': '减', '−': '减', '×': '乘', '*': '乘', '÷': '除以', '/': '除以', '=': '等于', '==': '等于',
  '<': '小于', '>': '大于', '<=': '小于等于', '>=': '大于等于', '≤': '小于等于', '≥': '大于等于', '≠': '不等于', '!=': '不等于',
  '≈': '约等于', '~': '约', '±': '正负', '√': '根号', '→': '到', '∞': '无穷大', π: '派',
}; // prettier-ignore

export const CHINESE: Language = {
  tag: 'zh',
  writing: WRITING,
  speech: SPEECH,
  unspaced: true,
  respell,
  own: {
    atDigit: [
      hotline, listNumber(SPEECH, '、'), hundredths, dateRange(SPEECH), yearMonth(SPEECH), masked(SPEECH), date, plainMonth, republic, named, season, padded, generation, sum(SPEECH, IN_MATH), parts, score, ratio(SPEECH), bracketedYear, standard, monthDay, dashedDay, clock, primed,
      citizen, keyed(SPEECH, KEYWORDS), another, clearly, called, share, myriads, capitalUnit(SPEECH, UNITS), stored, longCount, numberOfName(SPEECH),
    ],
    atLetter: [processor(SPEECH), halfFirst, plate, vehicle, roman, zone],
    atMark: [signTwice(), bracketedCountry(SPEECH.telephone), underscore('下划线'), topic, key, areaCode, shortYear, modelMark, rangeMark, relation(IN_MATH), inFront, plusBetween('加'), plusOfNames('加'), starBetween('乘'), perAmount, more, numberSign(SPEECH, '、'), tone],
  },
  symbols: {
    inAddress: {
      '@': '艾特', '.': '点', '/': '斜杠', '\\': '反斜杠', '-': '杠', _: '下划线', ':': '冒号', '#': '井号',
      '?': '问号', '=': '等于', '&': '和', '+': '加', '~': '波浪号', '%': '百分号', '*': '星号', '!': '感叹号',
    },
    inMath: IN_MATH,
    inFront: { '≈': '约' },
    inText: {
      '&': '和', '©': '版权所有', '®': '', '™': '', '°': '度', '→': '到', '←': '', '•': '', '†': '', '✓': '', '√': '', '★': '', '☆': '', '※': '', '●': '', '■': '', '◆': '', '▲': '', '=': '等于', '♪': '',
    },
    versionPoint: '点',
    version: '版本',
    minus: '负',
    plus: '正',
    hashtag: '话题',
    addressWords: { www: 'WWW', com: 'com', cn: 'CN', pdf: 'PDF', html: 'HTML', io: 'IO', ai: 'AI', hk: 'HK', tw: 'TW', jpg: 'JPG', png: 'PNG', mp: 'MP', txt: 'TXT', csv: 'CSV', js: 'JS', md: 'MD', docx: 'DOCX', xlsx: 'XLSX', pptx: 'PPTX', json: 'JSON', xml: 'XML' },
  },
}; // prettier-ignore
