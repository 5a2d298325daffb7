// Spanish, of Spain and of America.
import type { Language } from '../language.js';
import {
  halfMore,
  magnifiedMoney,
  moreThan,
  namedMoney,
  position,
  product,
  rating,
  shopPrice,
} from './amounts.js';
import { accountNumber, identity, lawNumber, openingMarks, postcode, road } from './codes.js';
import { centuries, dayAndMonth, decade, dottedTime, zone } from './moments.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const SPANISH: Language = {
  tag: 'es',
  writing: WRITING,
  speech: SPEECH,
  own: {
    atDigit: [
      product, dottedTime, halfMore, dayAndMonth, postcode, identity, lawNumber, magnifiedMoney, shopPrice, rating, position, moreThan,
    ], // prettier-ignore
    atLetter: [zone, centuries, accountNumber, road],
    atMark: [openingMarks, namedMoney, decade],
  },
  symbols: {
    inAddress: {
      '@': 'arroba', '.': 'punto', '/': 'barra', '\\': 'barra invertida', '-': 'guion', _: 'guion bajo', ':': 'dos puntos', '#': 'almohadilla',
      '?': 'interrogación', '=': 'igual', '&': 'ampersand', '+': 'más', '~': 'virgulilla', '%': 'por ciento', '*': 'asterisco', '!': 'exclamación',
    },
    inMath: {
      '+': 'más', '-': 'menos', '−': 'menos', '×': 'por', '*': 'por', '·': 'por', '÷': 'entre', '/': 'entre', '=': 'igual a',
      '==': 'igual a', '<': 'menor que', '>': 'mayor que',
      '<=': 'menor o igual que', '>=': 'mayor o igual que', '≤': 'menor o igual que', '≥': 'mayor o igual que', '≠': 'distinto de',
      '!=': 'distinto de', '≈': 'aproximadamente igual a', '~': 'aproximadamente',
      '±': 'más menos', '√': 'raíz cuadrada de', '→': 'a', '∞': 'infinito', π: 'pi',
    },
    inFront: { '<': 'menos de', '>': 'más de', '≤': 'como máximo', '≥': 'como mínimo', '≈': 'aproximadamente', '~': 'aproximadamente',
    '<=': 'como máximo', '>=': 'como mínimo' },
    inText: { '&': 'y', '§': 'sección', '©': 'copyright', '®': '', '™': '', '°': 'grados', '%': 'por ciento', '€': 'euros', '→': 'a',
    '←': '', '•': '', '†': '', '✓': '', '=': 'igual a', '·': '' },
    versionPoint: 'punto',
    version: 'versión',
    minus: 'menos',
    plus: 'más',
    keys: { star: 'asterisco', hash: 'almohadilla', before: /\b(?:puls|marc|marq|presion|oprim|digit|tecl|toque|introdu)/i },
    hashtag: 'hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', es: 'es', mx: 'M X', ar: 'A R', cl: 'C L', pe: 'P E', uy: 'U Y', gob: 'gob', edu: 'edu',
      eu: 'E U', uk: 'U K', io: 'I O', ai: 'A I', tv: 'T V', www: 'W W W', pdf: 'P D F', html: 'H T M L',
      jpg: 'J P G', png: 'P N G', csv: 'C S V', xml: 'X M L', txt: 'T X T', docx: 'doc X', xlsx: 'X L S X', zip: 'zip', mp: 'M P',
      exe: 'exe', js: 'J S', ts: 'T S', md: 'M D', py: 'P Y', api: 'A P I', https: 'H T T P S', http: 'H T T P',
    },
  },
}; // prettier-ignore
