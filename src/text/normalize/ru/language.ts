// Russian, with the cases of its numerals.
import type { Language } from '../language.js';
import { atDigit, atLetter, atMark } from './own.js';
import { SPEECH } from './speech.js';
import { SYMBOLS } from './symbols.js';
import { WRITING } from './writing.js';

export const RUSSIAN: Language = {
  tag: 'ru',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
