// Writes the words of callers with figures: "four two oh seven" is 4207. Listeners of a caller ask for it.
// They get the words as they were recognised beside the written form.
import { spokenDigits, writtenForm } from '../text/inverse/inverse.js';
import { tagOfStated } from '../speaking/language-plan.js';
import type { TurnWords } from './caller-turns.js';

/** `stated`: the language that is expected, for words whose language is not known. */
export function writtenWords<T extends TurnWords>(words: T, stated: string | undefined): T {
  const language = words.language ?? tagOfStated(stated);
  if (language === undefined || words.text === '') return words;
  return { ...words, text: writtenForm(words.text, language).text, heard: words.text };
}

/** The digits of an answer that is nothing but digits. Undefined without a written form. */
export function digitsOf({ heard, language }: TurnWords, stated: string | undefined): string | undefined {
  const tag = language ?? tagOfStated(stated);
  return heard === undefined || tag === undefined ? undefined : spokenDigits(heard, tag);
}
