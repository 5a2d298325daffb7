// What a Qwen3-TTS checkpoint offers, in the server's own terms.
import type { EngineCapabilities, Voice } from '../engine.js';
import type { ModelFacts } from './native-speech.js';

/** BCP 47 primary tags of the languages that published models name. */
const TAGS: Readonly<Record<string, string>> = {
  chinese: 'zh',
  english: 'en',
  french: 'fr',
  german: 'de',
  italian: 'it',
  japanese: 'ja',
  korean: 'ko',
  portuguese: 'pt',
  russian: 'ru',
  spanish: 'es',
};

/** Of the published models. */
export const QWEN3_LANGUAGES: readonly string[] = Object.values(TAGS).sort();

/** Where one is the speaker's own, it is the voice's first language. */
const NATIVE: Readonly<Record<string, string>> = {
  aiden: 'en',
  ono_anna: 'ja',
  ryan: 'en',
  sohee: 'ko',
};

/** Tags of the languages that the model speaks and the server can name. */
export function tagsOf(facts: ModelFacts): string[] {
  return facts.languages.flatMap((name) => TAGS[name] ?? []).sort();
}

/** The model's name of a language; undefined where it does not speak it. */
export function languageOf(facts: ModelFacts, tag: string): string | undefined {
  return facts.languages.find((name) => TAGS[name] === tag);
}

export function voicesOf(facts: ModelFacts): Voice[] {
  const tags = tagsOf(facts);
  return facts.speakers.map((name) => {
    const native = NATIVE[name];
    const languages =
      native !== undefined && tags.includes(native)
        ? [native, ...tags.filter((tag) => tag !== native)]
        : tags;
    return { name, engine: 'qwen3', languages, description: `Qwen3-TTS, the speaker ${name}` };
  });
}

export function capabilitiesOf(facts: ModelFacts): EngineCapabilities {
  return {
    clone: facts.modelType === 'base',
    design: facts.modelType === 'voice_design',
    instruct: facts.modelType === 'custom_voice' && facts.takesInstruction,
    sampling: true,
    wordTimes: false,
    textStreaming: true,
    languages: tagsOf(facts),
  };
}
