// Italian names of signs.
import type { SymbolNames } from '../language.js';

export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'chiocciola', '.': 'punto', '/': 'slash', '\\': 'backslash', '-': 'trattino', _: 'trattino basso', ':': 'due punti', '#': 'cancelletto',
    '?': 'punto interrogativo', '=': 'uguale', '&': 'e', '+': 'più', '~': 'tilde', '%': 'per cento', '*': 'asterisco', '!': 'punto esclamativo',
  },
  inMath: {
    '+': 'più', '-': 'meno', '−': 'meno', '×': 'per', '*': 'per', '÷': 'diviso', '/': 'diviso', '=': 'uguale', '==': 'uguale',
    '<': 'è minore di', '>': 'è maggiore di', '<=': 'è minore o uguale a', '>=': 'è maggiore o uguale a', '≤': 'è minore o uguale a', '≥': 'è maggiore o uguale a',
    '≠': 'è diverso da', '!=': 'è diverso da', '≈': 'è circa uguale a', '~': 'circa', '±': 'più o meno', '√': 'radice quadrata di', '→': 'a', '∞': 'infinito', π: 'pi greco',
  },
  inFront: { '<': 'meno di', '>': 'più di', '≤': 'al massimo', '≥': 'almeno', '<=': 'al massimo', '>=': 'almeno', '≈': 'circa' },
  inText: {
    '&': 'e', '§': 'paragrafo', '©': 'copyright', '®': '', '™': '', '°': 'gradi', '%': 'per cento', '→': 'a', '←': '', '•': '', '†': '', '✓': '',
    '=': 'uguale', '€': 'euro', '∞': 'infinito', π: 'pi greco',
  },
  versionPoint: 'punto',
  version: 'versione',
  minus: 'meno',
  plus: 'più',
  keys: { star: 'asterisco', hash: 'cancelletto', before: /\b(?:prem|digit|tast|compon|inseri|schiacc)/i },
  hashtag: 'hashtag',
  addressWords: {
    com: 'com', org: 'org', net: 'net', gov: 'gov', it: 'it', eu: 'E U', co: 'co', uk: 'U K', us: 'U S', fr: 'F R', ch: 'C H', tv: 'T V',
    www: 'vu vu vu', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'J S O N', jpg: 'J P G', jpeg: 'J P E G', png: 'P N G', mp: 'M P', xml: 'X M L',
    yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', doc: 'doc', docx: 'D O C X', xls: 'X L S', xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q', gmail: 'gmail', hr: 'H R',
  },
}; // prettier-ignore
