// Which engine and voice speak a sentence, and in which words.
//
// What the request states always wins. Where it states no language, a sentence
// that is clearly in one language is spoken by a voice of that language or not
// at all. An unclear one follows the sentence before it, unless it looks like a
// whole sentence of English, which is never beyond doubt. A courtesy ("Hola!")
// decides only where it is all there is: before English it is part of it.
//
// The words are those of the language that is spoken: "$3.50" is read out by the
// voice, not by its engine. What turns out to be marks alone is left out.
import type { ResolvedVoice, SpeechRouting, VoiceWish } from '../speech/routing.js';
import { identifyLanguage } from '../text/language.js';
import { languageOf } from '../text/normalize/languages.js';
import { normalize } from '../text/normalize/normalize.js';
import type { SpokenSentence } from './line-piece.js';
import { nothingToSay } from './text-source.js';

const SENTENCE_WORDS = 4; // fewer are too few to call the speaker back from another language

/** What a request states of how its text is read. */
export interface ReadingWish extends VoiceWish {
  /** False: the engine is given the text as it is written. */
  readonly normalize?: boolean;
}

export class VoicePlan {
  readonly #routing: SpeechRouting;
  readonly #wish: ReadingWish;
  #language: string | undefined;

  constructor(routing: SpeechRouting, wish: ReadingWish) {
    this.#routing = routing;
    this.#wish = wish;
    this.#language = wish.language;
  }

  /** Every sentence of a text with its voice; throws VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE, or TEXT_EMPTY where none has words. */
  whole(sentences: readonly { readonly text: string }[]): SpokenSentence[] {
    const isOnly = sentences.length === 1;
    const spoken = sentences.flatMap(({ text }) => this.#sentence(text, isOnly) ?? []);
    if (spoken.length === 0) throw nothingToSay();
    return spoken;
  }

  /** Sentences with their voices, as they come; throws what `whole` throws, and what their source does. */
  async *arriving(
    sentences: AsyncIterable<{ readonly text: string; readonly isOnly: boolean }>,
  ): AsyncGenerator<SpokenSentence, void, undefined> {
    let isSilent = true;
    for await (const { text, isOnly } of sentences) {
      const sentence = this.#sentence(text, isOnly);
      if (sentence === undefined) continue;
      isSilent = false;
      yield sentence;
    }
    if (isSilent) throw nothingToSay();
  }

  /** Undefined where nothing of it is spoken: the fence of a block of code. */
  #sentence(text: string, isOnly: boolean): SpokenSentence | undefined {
    const voice = this.#next(text, isOnly);
    const language = this.#wish.normalize === false ? undefined : languageOf(voice.language);
    if (language === undefined) return { text, voice };
    const spoken = normalize(text, language);
    if (!/[\p{L}\p{N}]/u.test(spoken.text)) return undefined;
    return spoken.text === text ? { text, voice } : { text, voice, spoken };
  }

  #next(sentence: string, isOnly: boolean): ResolvedVoice {
    if (this.#wish.language === undefined) this.#language = this.#languageOf(sentence, isOnly);
    const { voice, reference } = this.#wish;
    return this.#routing.resolve({
      ...(voice === undefined ? {} : { voice }),
      ...(reference === undefined ? {} : { reference }),
      ...(this.#language === undefined ? {} : { language: this.#language }),
    });
  }

  #languageOf(sentence: string, isOnly: boolean): string | undefined {
    const { language, confident, courtesy } = identifyLanguage(sentence);
    if (confident && (isOnly || courtesy === undefined)) return language;
    const isEnglish = language === 'en' && sentence.split(/\s+/).length >= SENTENCE_WORDS;
    return isEnglish ? undefined : this.#language;
  }
}
