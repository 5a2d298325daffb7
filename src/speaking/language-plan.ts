// Chooses the language of each sentence: the one that the request states, or the one that the text shows.
//
// The shortest beginning of a sentence that is clear decides for all of it, so that a first clause has the
// language of its sentence.
// A clear sentence decides for itself. An unclear one follows the sentence before it, unless it looks like a
// whole sentence of English, which never counts as clear. Where no clear sentence came before, the lead of
// the identifier decides. At the beginning of a whole text an unclear sentence follows the first clear one
// ("OK. Das mache ich."). A courtesy ("Hola!") decides only if it is the only sentence: before English it is
// part of it.
import { canonicalTag, tagOfName } from '../engines/language-names.js';
import { identifyLanguage } from '../text/language.js';

const SENTENCE_WORDS = 4; // of an unclear sentence that changes the language to English
const BEGINNING_WORDS = 3; // of an unclear sentence that begins a text in English

/** The language of a sentence as its text shows it. */
export interface PlannedLanguage {
  /** BCP 47 tag. */
  readonly tag: string;
  /** True if the request states it, or the text proves it. False: a voice of another language will do. */
  readonly isSure: boolean;
}

export class LanguagePlan {
  readonly #stated: string | undefined;
  #language: PlannedLanguage | undefined;

  /** `stated` is the language of every sentence. */
  constructor(stated?: string) {
    this.#stated = tagOfStated(stated);
    this.#language = this.#stated === undefined ? undefined : { tag: this.#stated, isSure: true };
  }

  /** Takes all sentences, if they are known before the first call of `of`. */
  begin(sentences: readonly { readonly text: string }[]): void {
    this.#language ??= firstClear(sentences);
  }

  /**
   * The language of the next sentence; undefined if nothing is known. Call it once for each sentence, in
   * order.
   */
  of(sentence: string, isOnly: boolean): PlannedLanguage | undefined {
    if (this.#stated === undefined) this.#language = this.#detected(sentence, isOnly);
    return this.#language;
  }

  /** The language that a sentence with this beginning would have; the plan stays as it is. */
  beginsWith(beginning: string): PlannedLanguage | undefined {
    return this.#stated === undefined ? this.#detected(beginning, false) : this.#language;
  }

  /** True if the language of this beginning is that of its whole sentence, whatever follows. */
  isSure(beginning: string): boolean {
    if (this.#stated !== undefined || clearBeginning(beginning) !== undefined) return true;
    return !ENDS_CLAUSE.test(beginning) && isClear(identifyLanguage(beginning), beginning);
  }

  #detected(sentence: string, isOnly: boolean): PlannedLanguage | undefined {
    const { language, confident, courtesy, leads = false } = shown(sentence);
    if (confident && (isOnly || courtesy === undefined)) return { tag: language, isSure: true };
    if (isEnglish(language, sentence, SENTENCE_WORDS)) return undefined; // the default voice speaks it
    const isLed = leads && language !== 'en' && this.#language?.isSure !== true;
    return isLed ? { tag: language, isSure: false } : this.#language;
  }
}

type Shown = ReturnType<typeof identifyLanguage>;

const CLAUSE_END = /[,;:—–](?=\s|$)|[，；：、]/gu;
const ENDS_CLAUSE = /[,;:—–，；：、]["'”’»)\]」』）】*_]*$/u;
const MOST_CLAUSES = 4;

/** The language of a sentence, decided by its shortest beginning that is clear. */
function shown(sentence: string): Shown {
  return clearBeginning(sentence) ?? identifyLanguage(sentence);
}

function clearBeginning(sentence: string): Shown | undefined {
  let clauses = 0;
  for (const { index } of sentence.matchAll(CLAUSE_END)) {
    if (++clauses > MOST_CLAUSES) return undefined;
    const beginning = sentence.slice(0, index + 1);
    const found = identifyLanguage(beginning);
    if (isClear(found, beginning)) return found;
  }
  return undefined;
}

/** English is never proved: its clear lead counts. */
function isClear({ language, confident, courtesy, leads }: Shown, text: string): boolean {
  if (confident) return courtesy === undefined;
  return leads === true && isEnglish(language, text, SENTENCE_WORDS);
}

const WORD = /\p{L}{2,}/gu;
const FEWEST_OF_LETTERS = 2; // words; "x = 5, y = 3" is no sentence of any language

function isEnglish(language: string, sentence: string, words: number): boolean {
  if (language !== 'en' || sentence.split(/\s+/).length < words) return false;
  return (sentence.match(WORD)?.length ?? 0) >= FEWEST_OF_LETTERS;
}

/** The language of an unclear beginning: that of the first clear sentence, or of the first lead. */
function firstClear(sentences: readonly { readonly text: string }[]): PlannedLanguage | undefined {
  let leading: PlannedLanguage | undefined;
  for (const { text } of sentences) {
    const { language, confident, courtesy, leads = false } = shown(text);
    if (confident && courtesy === undefined) return { tag: language, isSure: true };
    if (isEnglish(language, text, BEGINNING_WORDS)) return leading;
    if (leads && language !== 'en') leading ??= { tag: language, isSure: false };
  }
  return leading;
}

const MAX_LENGTH = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const TAG_OR_NAME = /^[a-z]{2,20}([-_][a-z0-9]{1,8})*$/i;
const THREE_LETTERS = /^[a-z]{3}(?![a-z])/i; // ISO 639-2 and 639-3

/** True for a BCP 47 tag, the English name of a language, or "auto", with or without blanks around it. */
export function isStatedLanguage(value: string): boolean {
  return value.length <= MAX_LENGTH && (TAG_OR_NAME.test(value.trim()) || tagOfName(value) !== undefined);
}

/** The BCP 47 tag of a stated language, with two letters where it has them; undefined if the text decides. */
export function tagOfStated(stated: string | undefined): string | undefined {
  const language = stated?.trim() ?? '';
  if (language === '' || language.toLowerCase() === 'auto') return undefined;
  const named = tagOfName(language);
  if (named !== undefined) return named;
  return THREE_LETTERS.test(language) ? canonicalTag(language) : language;
}
