// The language of each sentence of a text that states none.
//
// A sentence that is clearly in one language is taken for it. An unclear one
// follows the sentence before it, unless it looks like a whole sentence of
// English, which is never beyond doubt; at the beginning of a text that is all
// there, it follows the first clear one ("OK. Das mache ich."). A courtesy
// ("Hola!") decides only where it is all there is: before English it is part of it.
import { tagOfName } from '../engines/language-names.js';
import { identifyLanguage } from '../text/language.js';

const SENTENCE_WORDS = 4; // fewer are too few to call the speaker back from another language
const BEGINNING_WORDS = 3; // and fewer than these to begin in English: OK. Das mache ich.

export class LanguagePlan {
  readonly #stated: string | undefined;
  #language: string | undefined;

  /** `stated` is the language of every sentence. */
  constructor(stated?: string) {
    this.#stated = stated;
    this.#language = stated;
  }

  /** Told all sentences, where they are there before the first is asked for. */
  begin(sentences: readonly { readonly text: string }[]): void {
    this.#language ??= firstClear(sentences);
  }

  /** Of the next sentence; undefined where nothing is known. To be asked once for each, in order. */
  of(sentence: string, isOnly: boolean): string | undefined {
    if (this.#stated === undefined) this.#language = this.#judged(sentence, isOnly);
    return this.#language;
  }

  #judged(sentence: string, isOnly: boolean): string | undefined {
    const { language, confident, courtesy } = identifyLanguage(sentence);
    if (confident && (isOnly || courtesy === undefined)) return language;
    return isEnglish(language, sentence, SENTENCE_WORDS) ? undefined : this.#language;
  }
}

function isEnglish(language: string, sentence: string, words: number): boolean {
  return language === 'en' && sentence.split(/\s+/).length >= words;
}

/** What an unclear beginning is part of: the language of the first sentence that tells one. */
function firstClear(sentences: readonly { readonly text: string }[]): string | undefined {
  for (const { text } of sentences) {
    const { language, confident, courtesy } = identifyLanguage(text);
    if (confident && courtesy === undefined) return language;
    if (isEnglish(language, text, BEGINNING_WORDS)) return undefined;
  }
  return undefined;
}

// The language that a request states: a BCP 47 tag, the English name of a
// language as some models' servers take it, or "auto".

const MAX_LENGTH = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const TAG_OR_NAME = /^[a-z]{2,20}([-_][a-z0-9]{1,8})*$/i;

export function isStatedLanguage(value: string): boolean {
  return value.length <= MAX_LENGTH && TAG_OR_NAME.test(value);
}

/** The tag; undefined where the text is to decide. */
export function tagOfStated(language: string): string | undefined {
  const name = language.toLowerCase();
  return name === 'auto' ? undefined : (tagOfName(name) ?? language);
}
