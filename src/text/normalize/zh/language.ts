// Mandarin, from simplified and traditional characters: the words are in those of the text.
import type { Language } from '../language.js';
import { IN_MATH, OWN } from './own.js';
import { SPEECH } from './speech.js';
import { respell } from './traditional.js';
import { WRITING } from './writing.js';

export const CHINESE: Language = {
  tag: 'zh',
  writing: WRITING,
  speech: SPEECH,
  unspaced: true,
  respell,
  own: OWN,
  symbols: {
    inAddress: {
      '@': '艾特', '.': '点', '/': '斜杠', '\\': '反斜杠', '-': '杠', _: '下划线', ':': '冒号', '#': '井号',
      '?': '问号', '=': '等于', '&': '和', '+': '加', '~': '波浪号', '%': '百分号', '*': '星号', '!': '感叹号',
    },
    inMath: IN_MATH,
    inFront: { '≈': '约' },
    inText: {
      '∞': '无穷大', '&': '和', '©': '版权所有', '®': '', '™': '', '°': '度', '→': '到', '←': '', '•': '', '†': '', '✓': '', '√': '', '★': '', '☆': '', '※': '', '●': '', '■': '', '◆': '', '▲': '', '=': '等于', '♪': '',
    },
    versionPoint: '点',
    version: 'V',
    minus: '负',
    plus: '正',
    keys: { star: '星号', hash: '井号', before: /[按拨撥键鍵]|输入|輸入|结束|結束/, behind: /^[”’」』）)]?[号號]?[键鍵]/ },
    hashtag: '话题',
    addressWords: { www: 'WWW', com: 'com', cn: 'CN', pdf: 'PDF', html: 'HTML', io: 'IO', ai: 'AI', hk: 'HK', tw: 'TW', jpg: 'JPG', png: 'PNG', mp: 'MP', txt: 'TXT', csv: 'CSV', js: 'JS', md: 'MD', docx: 'DOCX', xlsx: 'XLSX', pptx: 'PPTX', json: 'JSON', xml: 'XML' },
  },
}; // prettier-ignore
