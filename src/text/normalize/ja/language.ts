// Japanese. Numbers are said in kanji and digits in katakana; see `numbers.ts` for why.
import type { Language } from '../language.js';
import { IN_MATH, OWN } from './own.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const JAPANESE: Language = {
  tag: 'ja',
  writing: WRITING,
  speech: SPEECH,
  unspaced: true,
  respell: () => (spoken) => spoken.replaceAll(', ', '、'), // a pause is written as it is here
  own: OWN,
  symbols: {
    inAddress: {
      '@': 'アットマーク', '.': 'ドット', '/': 'スラッシュ', '\\': 'バックスラッシュ', '-': 'ハイフン', _: 'アンダーバー', ':': 'コロン', '#': 'シャープ',
      '?': 'クエスチョンマーク', '=': 'イコール', '&': 'アンド', '+': 'プラス', '~': 'チルダ', '%': 'パーセント', '*': 'アスタリスク', '!': 'ビックリマーク',
    },
    inMath: IN_MATH,
    inFront: { '≈': '約', '≒': '約' },
    inText: {
      '∞': '無限大', '&': 'アンド', '©': 'コピーライト', '®': '', '™': '', '°': '度', '→': '、', '←': '', '•': '', '†': '', '✓': '', '★': '', '☆': '', '※': '', '●': '', '○': '', '■': '', '□': '', '◆': '', '▲': '', '▼': '', '♪': '', '♡': '', '=': 'イコール',
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
