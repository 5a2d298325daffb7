// Japanese. Numbers are said in kanji and digits in katakana; see `numbers.ts` for why.
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
  yearMonth,
} from '../recognise/attached.js';
import { clock, era, halfFirst, monthDay, padded, rangeMark, score, weekday } from './dates.js';
import { emergency, house, KEYWORDS, longCount, parts, postcode, roman, sign } from './numbered.js';
import { SPEECH } from './speech.js';
import { UNITS } from './units.js';
import { WRITING } from './writing.js';

const IN_MATH: Readonly<Record<string, string>> = {
  '+': '足す', '-': '引く', '−': '引く', '×': 'かける', '*': 'かける', '÷': '割る', '/': '割る', '=': 'イコール', '==': 'イコール',
  '<': '小なり', '>': '大なり', '<=': '小なりイコール', '>=': '大なりイコール', '≤': '小なりイコール', '≥': '大なりイコール', '≠': 'ノットイコール', '!=': 'ノットイコール',
  '≈': 'ニアリーイコール', '≒': 'ニアリーイコール', '~': '約', '±': 'プラスマイナス', '√': 'ルート', '→': 'から', '∞': '無限大', π: 'パイ',
}; // prettier-ignore

export const JAPANESE: Language = {
  tag: 'ja',
  writing: WRITING,
  speech: SPEECH,
  unspaced: true,
  respell: () => (spoken) => spoken.replaceAll(', ', '、'), // a pause is written as it is here
  own: {
    atDigit: [
      listNumber(SPEECH, '、'), dateRange(SPEECH), yearMonth(SPEECH), masked(SPEECH), padded, monthDay, score, clock, postcode, keyed(SPEECH, KEYWORDS), house, emergency, parts,
      capitalUnit(SPEECH, UNITS), longCount, numberOfName(SPEECH),
    ],
    atLetter: [era, halfFirst, roman],
    atMark: [weekday, rangeMark, relation(IN_MATH), plusBetween('足す'), numberSign(SPEECH, '、'), sign],
  },
  symbols: {
    inAddress: {
      '@': 'アットマーク', '.': 'ドット', '/': 'スラッシュ', '\\': 'バックスラッシュ', '-': 'ハイフン', _: 'アンダーバー', ':': 'コロン', '#': 'シャープ',
      '?': 'クエスチョンマーク', '=': 'イコール', '&': 'アンド', '+': 'プラス', '~': 'チルダ', '%': 'パーセント', '*': 'アスタリスク', '!': 'ビックリマーク',
    },
    inMath: IN_MATH,
    inFront: { '≈': '約', '≒': '約' },
    inText: {
      '&': 'アンド', '©': 'コピーライト', '®': '', '™': '', '°': '度', '→': '、', '←': '', '•': '', '†': '', '✓': '', '★': '', '☆': '', '※': '', '●': '', '○': '', '■': '', '□': '', '◆': '', '▲': '', '▼': '', '♪': '', '♡': '', '=': 'イコール',
    },
    versionPoint: '点',
    version: 'バージョン',
    minus: 'マイナス',
    plus: 'プラス',
    keys: { star: '米印', hash: 'シャープ', before: /押|入力|ボタン|キー|ダイヤル|プッシュ/, behind: /^.{0,10}(?:押|入力|ボタン|キー|ダイヤル|プッシュ)/ },
    hashtag: 'ハッシュタグ',
    addressWords: { www: 'WWW', com: 'com', co: 'CO', jp: 'JP', io: 'IO', ai: 'AI', pdf: 'PDF', html: 'HTML', jpg: 'JPG', png: 'PNG', txt: 'TXT', csv: 'CSV', js: 'JS', md: 'MD', docx: 'DOCX', xlsx: 'XLSX', pptx: 'PPTX', json: 'JSON', xml: 'XML' },
  },
}; // prettier-ignore
