// Portuguese, as in Brazil where the two differ; European forms are understood.
import { ADDRESS_WORDS, SIGNS } from '../iberian/symbols.js';
import type { Language } from '../language.js';
import { OWN } from './own.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const PORTUGUESE: Language = {
  tag: 'pt',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
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
    inText: { ...SIGNS, '&': 'e', '§': 'parágrafo', '°': 'graus', '%': 'por cento', '→': 'para' },
    versionPoint: 'ponto',
    version: 'versão',
    minus: 'menos',
    plus: 'mais',
    keys: { star: 'asterisco', hash: 'cerquilha', before: /\b(?:tecl|pression|prim|digit|disq|apert|marque|carreg|insira)/i },
    hashtag: 'hashtag',
    addressWords: { ...ADDRESS_WORDS, br: 'B R', pt: 'P T', gov: 'gov' },
  },
}; // prettier-ignore
