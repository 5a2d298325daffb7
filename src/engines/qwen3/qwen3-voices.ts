// What a Qwen3-TTS checkpoint offers, in the server's own terms.
import type { EngineCapabilities, Voice } from '../engine.js';
import { primaryTag, tagOfName } from '../language-names.js';
import type { ModelFacts } from './native-speech.js';

/** BCP 47 primary tags of the languages that published models speak. */
export const QWEN3_LANGUAGES: readonly string[] = [
  'de',
  'en',
  'es',
  'fr',
  'it',
  'ja',
  'ko',
  'pt',
  'ru',
  'zh',
];

/** Where one is the speaker's own, it is the voice's first language. */
const NATIVE: Readonly<Record<string, string>> = {
  aiden: 'en',
  ono_anna: 'ja',
  ryan: 'en',
  sohee: 'ko',
};

/** Tags of the languages that the model speaks. */
export function tagsOf(facts: ModelFacts): string[] {
  return [...new Set(facts.languages.map(tagOf))].sort();
}

/** The model's name of a language; undefined where it does not speak it. */
export function languageOf(facts: ModelFacts, tag: string): string | undefined {
  return facts.languages.find((name) => tagOf(name) === tag);
}

/** A language without a tag is asked for by the name that the checkpoint gives it. */
function tagOf(name: string): string {
  return tagOfName(name) ?? primaryTag(name);
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
