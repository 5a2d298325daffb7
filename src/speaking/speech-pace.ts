// How long a character of a voice sounds: a usual figure at first, and what was
// heard of the voice from then on.
import type { ResolvedVoice } from '../engines/routing.js';

// Milliseconds of an unhurried speaker, where a character is more than a sound of an alphabet; others: the usual.
const MS_PER_CHARACTER: Readonly<Record<string, number>> = { zh: 220, ja: 130, ko: 140 };
const USUAL_MS = 65;

const USUAL_CHARACTERS = 40; // as many as the usual figure counts for beside what was heard
const MOST_CHARACTERS = 4000; // of what was heard; then the older half of it counts half

export class SpeechPace {
  #ms: number;
  #characters = USUAL_CHARACTERS;

  constructor(language: string) {
    this.#ms = USUAL_CHARACTERS * (MS_PER_CHARACTER[language] ?? USUAL_MS);
  }

  get msPerCharacter(): number {
    return this.#ms / this.#characters;
  }

  spoke(ms: number, characters: number): void {
    this.#ms += ms;
    this.#characters += characters;
    if (this.#characters <= MOST_CHARACTERS) return;
    this.#ms /= 2;
    this.#characters /= 2;
  }
}

const MOST_VOICES = 1000; // the one met first is forgotten first

/** Those of a server's voices. */
export class SpeechPaces {
  readonly #paces = new Map<string, SpeechPace>();

  of({ engine, voice, language, reference }: ResolvedVoice): SpeechPace {
    const key = JSON.stringify([engine.name, voice, language, reference?.hash]);
    const known = this.#paces.get(key);
    if (known !== undefined) return known;
    const pace = new SpeechPace(language);
    this.#paces.set(key, pace);
    for (const oldest of this.#paces.keys()) {
      if (this.#paces.size <= MOST_VOICES) break;
      this.#paces.delete(oldest);
    }
    return pace;
  }
}
