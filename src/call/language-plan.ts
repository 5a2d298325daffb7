// The language of each sentence of a text that states none.
//
// A sentence that is clearly in one language is taken for it. An unclear one
// follows the sentence before it, unless it looks like a whole sentence of
// English, which is never beyond doubt. A courtesy ("Hola!") decides only where
// it is all there is: before English it is part of it.
import { identifyLanguage } from '../text/language.js';

const SENTENCE_WORDS = 4; // fewer are too few to call the speaker back from another language

export class LanguagePlan {
  readonly #stated: string | undefined;
  #language: string | undefined;

  /** `stated` is the language of every sentence. */
  constructor(stated?: string) {
    this.#stated = stated;
    this.#language = stated;
  }

  /** Of the next sentence; undefined where nothing is known. To be asked once for each, in order. */
  of(sentence: string, isOnly: boolean): string | undefined {
    if (this.#stated === undefined) this.#language = this.#judged(sentence, isOnly);
    return this.#language;
  }

  #judged(sentence: string, isOnly: boolean): string | undefined {
    const { language, confident, courtesy } = identifyLanguage(sentence);
    if (confident && (isOnly || courtesy === undefined)) return language;
    const isEnglish = language === 'en' && sentence.split(/\s+/).length >= SENTENCE_WORDS;
    return isEnglish ? undefined : this.#language;
  }
}
