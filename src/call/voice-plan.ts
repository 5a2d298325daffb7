// Which engine and voice speak a sentence.
//
// What the request states always wins. Where it states no language, a sentence
// that is clearly in one language is spoken by a voice of that language or not
// at all; an unclear one follows the sentence before it.
import type { ResolvedVoice, SpeechRouting, VoiceWish } from '../speech/routing.js';
import { identifyLanguage } from '../text/language.js';

export class VoicePlan {
  readonly #routing: SpeechRouting;
  readonly #wish: VoiceWish;
  #language: string | undefined;

  constructor(routing: SpeechRouting, wish: VoiceWish) {
    this.#routing = routing;
    this.#wish = wish;
    this.#language = wish.language;
  }

  /** The voice for the next sentence; throws VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE. */
  next(sentence: string): ResolvedVoice {
    if (this.#wish.language === undefined) {
      const found = identifyLanguage(sentence);
      if (found.confident) this.#language = found.language;
    }
    return this.#routing.resolve({
      ...this.#wish,
      ...(this.#language === undefined ? {} : { language: this.#language }),
    });
  }
}
