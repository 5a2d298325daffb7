// English, American where the two differ and the text does not say.
import type { Language } from '../language.js';
import { AT_DIGIT, AT_LETTER, AT_MARK } from './own.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const ENGLISH: Language = {
  tag: 'en',
  writing: WRITING,
  speech: SPEECH,
  own: { atDigit: AT_DIGIT, atLetter: AT_LETTER, atMark: AT_MARK },
  symbols: {
    inAddress: {
      '@': 'at', '.': 'dot', '/': 'slash', '\\': 'backslash', '-': 'dash', _: 'underscore', ':': 'colon', '#': 'hash',
      '?': 'question mark', '=': 'equals', '&': 'and', '+': 'plus', '~': 'tilde', '%': 'percent', '*': 'star', '!': 'exclamation mark',
    },
    inMath: {
      '+': 'plus', '-': 'minus', '−': 'minus', '×': 'times', '*': 'times', '÷': 'divided by', '/': 'divided by', '=': 'equals', '==': 'equals',
      '<': 'is less than', '>': 'is greater than', '<=': 'is less than or equal to', '>=': 'is greater than or equal to',
      '≤': 'is less than or equal to', '≥': 'is greater than or equal to', '≠': 'is not equal to', '!=': 'is not equal to',
      '≈': 'is approximately', '~': 'about', '±': 'plus or minus', '√': 'the square root of', '→': 'to', '∞': 'infinity', π: 'pi',
    },
    inFront: { '<': 'less than', '>': 'more than', '<=': 'at most', '>=': 'at least', '≤': 'at most', '≥': 'at least', '≈': 'approximately' },
    inText: {
      '&': 'and', '§': 'section', '©': 'copyright', '®': '', '™': '', '°': 'degrees', '%': 'percent', '→': 'to', '←': '', '↑': 'up', '↓': 'down', '■': '', '●': '', '◆': '', '►': '', '✗': '', '‡': '', '•': '', '†': '', '✓': '', '=': 'equals', '@': 'at', '<': '', '>': '',
    },
    versionPoint: 'point',
    version: 'version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'star', hash: 'pound', before: /\b(?:press|push|hit|dial|enter|type|key|button|pad|followed by|end with)/i, behind: /^["'”’`)\]]{0,2}[ -]?(?:key|button)\b/i },
    hashtag: 'hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', edu: 'E D U', gov: 'gov', io: 'I O', ai: 'A I', co: 'co', uk: 'U K', us: 'U S', eu: 'E U', de: 'D E', fr: 'F R',
      ca: 'C A', au: 'A U', tv: 'T V', me: 'me', www: 'W W W', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'jason',
      jpg: 'J P G', jpeg: 'J peg', png: 'P N G', mp: 'M P', xml: 'X M L', yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', docx: 'doc X',
      xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q',
    },
  },
}; // prettier-ignore
