// German, with gender and case.
import type { Language } from '../language.js';
import {
  houseNumber,
  lasting,
  officeNumber,
  postcode,
  sizes,
  street,
  timesAsMuch,
  wholeEuro,
} from './own.js';
import { followedBy } from '../reading.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const GERMAN: Language = {
  tag: 'de',
  writing: WRITING,
  speech: SPEECH,
  own: { atDigit: [followedBy(',.', wholeEuro), postcode, followedBy(':', lasting), followedBy('x×, ', sizes), followedBy('x,', timesAsMuch), followedBy('abcdefgh', houseNumber), officeNumber], atLetter: [street] },
  symbols: {
    inAddress: {
      '@': 'at', '.': 'Punkt', '/': 'Schrägstrich', '\\': 'Backslash', '-': 'Bindestrich', _: 'Unterstrich', ':': 'Doppelpunkt', '#': 'Raute',
      '?': 'Fragezeichen', '=': 'gleich', '&': 'und', '+': 'plus', '~': 'Tilde', '%': 'Prozent', '*': 'Stern', '!': 'Ausrufezeichen',
    },
    inMath: {
      '+': 'plus', '-': 'minus', '−': 'minus', '×': 'mal', '*': 'mal', '·': 'mal', '÷': 'geteilt durch', ':': 'geteilt durch', '/': 'geteilt durch', '=': 'gleich', '==': 'gleich',
      '<': 'kleiner als', '>': 'größer als', '<=': 'kleiner gleich', '>=': 'größer gleich', '≤': 'kleiner gleich', '≥': 'größer gleich',
      '≠': 'ungleich', '!=': 'ungleich', '≈': 'ungefähr', '~': 'ungefähr', '±': 'plus minus', '√': 'Wurzel aus', '→': 'nach', '∞': 'unendlich', π: 'Pi',
    },
    inText: { '&': 'und', '§': 'Paragraf', '©': 'Copyright', '®': '', '™': '', '°': 'Grad', '%': 'Prozent', '→': 'nach', '←': '', '•': '', '†': 'gestorben', '✓': '', '=': 'gleich', '@': 'at', '<': '', '>': '' },
    versionPoint: 'Punkt',
    version: 'Version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'Stern', hash: 'Raute', before: /drück|wähl|tipp|tast|gib|geben sie|eingabe/i, behind: /^["'”“`)\]]{0,2}[ -]?(?:taste|zeichen)/i },
    hashtag: 'Hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', de: 'D E', at: 'A T', ch: 'C H', eu: 'E U', io: 'I O', ai: 'A I', co: 'co', uk: 'U K', www: 'W W W', pdf: 'P D F', html: 'H T M L',
      jpg: 'J P G', png: 'P N G', csv: 'C S V', json: 'Jason', xml: 'X M L', txt: 'T X T', docx: 'Doc X', xlsx: 'X L S X', zip: 'Zip', mp: 'M P', exe: 'Exe', js: 'J S', ts: 'T S', gmbh: 'G M B H', gmx: 'G M X', md: 'M D',
    },
  },
}; // prettier-ignore
