// Spanish, of Spain and of America.
import { ADDRESS_WORDS, SIGNS } from '../iberian/symbols.js';
import type { Language } from '../language.js';
import { OWN } from './own.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const SPANISH: Language = {
  tag: 'es',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
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
    inText: { ...SIGNS, '&': 'y', '§': 'sección', '°': 'grados', '%': 'por ciento', '→': 'a' },
    versionPoint: 'punto',
    version: 'versión',
    minus: 'menos',
    plus: 'más',
    keys: { star: 'asterisco', hash: 'almohadilla', before: /\b(?:puls|marc|marq|presion|oprim|digit|tecl|toque|introdu)/i },
    hashtag: 'hashtag',
    addressWords: { ...ADDRESS_WORDS, es: 'es', mx: 'M X', ar: 'A R', cl: 'C L', pe: 'P E', uy: 'U Y', gob: 'gob' },
  },
}; // prettier-ignore
