// Portuguese, as in Brazil where the two differ; European forms are understood.
import type { Language } from '../language.js';
import { grouped, halfMore, lawNumber, moreThan, position, product, rating } from './amounts.js';
import { centuries, dayAndMonth, december, romanDay, weekdays, zone } from './moments.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const PORTUGUESE: Language = {
  tag: 'pt',
  writing: WRITING,
  speech: SPEECH,
  own: { atDigit: [grouped, product, halfMore, dayAndMonth, lawNumber, rating, position, moreThan], atLetter: [zone, centuries, romanDay, weekdays, december] },
  symbols: {
    inAddress: {
      '@': 'arroba', '.': 'ponto', '/': 'barra', '\\': 'barra invertida', '-': 'hífen', _: 'underline', ':': 'dois pontos', '#': 'cerquilha',
      '?': 'interrogação', '=': 'igual', '&': 'e comercial', '+': 'mais', '~': 'til', '%': 'por cento', '*': 'asterisco', '!': 'exclamação',
    },
    inMath: {
      '+': 'mais', '-': 'menos', '−': 'menos', '×': 'vezes', '*': 'vezes', '·': 'vezes', '÷': 'dividido por', '/': 'dividido por',
      '=': 'igual a', '==': 'igual a', '<': 'menor que', '>': 'maior que',
      '<=': 'menor ou igual a', '>=': 'maior ou igual a', '≤': 'menor ou igual a', '≥': 'maior ou igual a', '≠': 'diferente de',
      '!=': 'diferente de', '≈': 'aproximadamente', '~': 'aproximadamente',
      '±': 'mais ou menos', '√': 'raiz quadrada de', '→': 'para', '∞': 'infinito', π: 'pi',
    },
    inFront: { '<': 'menos de', '>': 'mais de', '≤': 'no máximo', '≥': 'no mínimo', '≈': 'aproximadamente', '~': 'aproximadamente',
    '<=': 'no máximo', '>=': 'no mínimo' },
    inText: { '&': 'e', '§': 'parágrafo', '©': 'copyright', '®': '', '™': '', '°': 'graus', '%': 'por cento', '€': 'euros', '→': 'para',
    '←': '', '•': '', '†': '', '✓': '', '=': 'igual a', '·': '' },
    versionPoint: 'ponto',
    version: 'versão',
    minus: 'menos',
    plus: 'mais',
    keys: { star: 'asterisco', hash: 'cerquilha', before: /\b(?:tecl|pression|prim|digit|disq|apert|marque|carreg|insira)/i },
    hashtag: 'hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', br: 'B R', pt: 'P T', gov: 'gov', edu: 'edu', eu: 'E U', uk: 'U K', io: 'I O', ai: 'A I',
      tv: 'T V', www: 'W W W', pdf: 'P D F', html: 'H T M L', jpg: 'J P G', png: 'P N G', csv: 'C S V',
      xml: 'X M L', txt: 'T X T', docx: 'doc X', xlsx: 'X L S X', zip: 'zip', mp: 'M P', exe: 'exe', js: 'J S', ts: 'T S', md: 'M D',
      py: 'P Y', api: 'A P I', https: 'H T T P S', http: 'H T T P',
    },
  },
}; // prettier-ignore
