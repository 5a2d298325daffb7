// Which engine and voice speak a sentence.
//
// What the request states always wins. Where it states no language, a sentence
// that is clearly in one language is spoken by a voice of that language or not
// at all. An unclear one follows the sentence before it, unless it looks like a
// whole sentence of English, which is never beyond doubt. A courtesy ("Hola!")
// decides only where it is all there is: before English it is part of it.
import type { ResolvedVoice, SpeechRouting, VoiceWish } from '../speech/routing.js';
import { identifyLanguage } from '../text/language.js';
import type { SpokenSentence } from './line-piece.js';

const SENTENCE_WORDS = 4; // fewer are too few to call the speaker back from another language

export class VoicePlan {
  readonly #routing: SpeechRouting;
  readonly #wish: VoiceWish;
  #language: string | undefined;

  constructor(routing: SpeechRouting, wish: VoiceWish) {
    this.#routing = routing;
    this.#wish = wish;
    this.#language = wish.language;
  }

  /** Every sentence of a text with its voice; throws VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE. */
  whole(sentences: readonly { readonly text: string }[]): SpokenSentence[] {
    const isOnly = sentences.length === 1;
    return sentences.map(({ text }) => ({ text, voice: this.#next(text, isOnly) }));
  }

  /** Sentences with their voices, as they come; throws what `whole` throws, and what their source does. */
  async *arriving(
    sentences: AsyncIterable<{ readonly text: string; readonly isOnly: boolean }>,
  ): AsyncGenerator<SpokenSentence, void, undefined> {
    for await (const { text, isOnly } of sentences) yield { text, voice: this.#next(text, isOnly) };
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
