// Describes a Qwen3-TTS checkpoint: its voices, languages and capabilities.
import type { EngineCapabilities, Voice } from '../engine.js';
import { primaryTag, tagOfName } from '../language-names.js';
import type { ModelFacts } from '../native/native-speech.js';

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

/** Native languages of speakers, listed first among those of the voice. */
const NATIVE: Readonly<Record<string, string>> = {
  aiden: 'en',
  ono_anna: 'ja',
  ryan: 'en',
  sohee: 'ko',
};

/** Tags of the model's languages. */
function tagsOf(facts: ModelFacts): string[] {
  return [...new Set(facts.languages.map(tagOf))].sort();
}

/** The model's name of a language; undefined if the model does not speak it. */
export function languageOf(facts: ModelFacts, tag: string): string | undefined {
  return facts.languages.find((name) => tagOf(name) === tag);
}

/** A language without a tag keeps the name of the checkpoint. */
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
    clone: facts.takesRecording,
    design: facts.modelType === 'voice_design',
    instruct: facts.modelType === 'custom_voice' && facts.takesInstruction,
    sampling: true,
    wordTimes: false,
    textStreaming: true,
    languages: tagsOf(facts),
  };
}
