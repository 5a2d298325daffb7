// French, as said in France.
import type { Language } from '../language.js';
import { atDigit, atLetter, atMark } from './own.js';
import { SPEECH } from './speech.js';
import { SYMBOLS } from './symbols.js';
import { WRITING } from './writing.js';

export const FRENCH: Language = {
  tag: 'fr',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
