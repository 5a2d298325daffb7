// The Pocket TTS models that `parley pull` fetches, with the voices that are published for each of them.
// Files of one model come from several commits: its publisher pins weights and voices apart.

const OPEN = 'kyutai/pocket-tts-without-voice-cloning';
/** Has the encoder, which makes a voice of a recording. Its terms must be accepted. */
const GATED = 'kyutai/pocket-tts';

const OPEN_WEIGHTS: PinnedRepository = { id: OPEN, revision: 'd29db7978e464fb90cb3359ee0c69a273b9142cc' };
const VOICES: PinnedRepository = { id: OPEN, revision: 'e041936c75475d350b405bc870bcf7c22da4e9e6' };
const GATED_ENGLISH: PinnedRepository = { id: GATED, revision: '19f95fe2df36e79fbd9f10008595cc4c977a0fcc' };

export const POCKET_CREDIT = {
  credit: 'Pocket TTS by Kyutai',
  authors:
    'Manu Orsini, Simon Rouard, Gabriel de Marmiesse, Vaclav Volhejn, Neil Zeghidour, Alexandre Défossez',
  licence: 'CC BY 4.0',
  link: 'https://creativecommons.org/licenses/by/4.0/',
} as const;

/** The terms of the gated repository, in short. */
export const POCKET_TERMS =
  'no voice is cloned or impersonated without the explicit, lawful consent of its speaker; no deception; no unlawful content';

/** A repository of the hub at one commit. */
export interface PinnedRepository {
  /** owner/name */
  readonly id: string;
  readonly revision: string;
}

export interface PocketModel {
  /** The short name, such as `pocket-de`. */
  readonly name: string;
  /** The publisher's name: of the folder, and of the configuration that the engine has for it. */
  readonly configuration: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  readonly weights: PinnedRepository;
  readonly tokenizer: PinnedRepository;
  readonly voices: PinnedRepository;
  /** Needs HF_TOKEN and accepted terms; clones voices. */
  readonly isGated: boolean;
  readonly layers: 6 | 24;
  /** Bytes of the published weights. */
  readonly weightBytes: number;
  /** Bytes of a published voice, about. */
  readonly voiceBytes: number;
}

const SIX_LAYERS = { layers: 6, weightBytes: 219_029_196, voiceBytes: 6_500_000 } as const;
/** A preview of the publisher's; the pinned commit has no smaller French model. */
const LAYERS_24 = { layers: 24, weightBytes: 672_200_000, voiceBytes: 26_000_000 } as const;

const open = { weights: OPEN_WEIGHTS, tokenizer: OPEN_WEIGHTS, voices: VOICES, isGated: false };

// prettier-ignore
export const POCKET_MODELS: readonly PocketModel[] = [
  { name: 'pocket-en', configuration: 'english_2026-04', language: 'en', ...open, ...SIX_LAYERS },
  { name: 'pocket-de', configuration: 'german', language: 'de', ...open, ...SIX_LAYERS },
  { name: 'pocket-fr', configuration: 'french_24l', language: 'fr', ...open, ...LAYERS_24 },
  { name: 'pocket-es', configuration: 'spanish', language: 'es', ...open, ...SIX_LAYERS },
  { name: 'pocket-it', configuration: 'italian', language: 'it', ...open, ...SIX_LAYERS },
  { name: 'pocket-pt', configuration: 'portuguese', language: 'pt', ...open, ...SIX_LAYERS },
  { name: 'pocket-en-cloning', configuration: 'english_2026-04', language: 'en', ...open, ...SIX_LAYERS, weights: GATED_ENGLISH, isGated: true },
];

/** Undefined for another name. */
export function pocketModelNamed(name: string): PocketModel | undefined {
  return POCKET_MODELS.find((model) => model.name === name.trim().toLowerCase());
}

const LANGUAGES: Readonly<Record<string, string>> = {
  dutch: 'nl',
  english: 'en',
  french: 'fr',
  german: 'de',
  italian: 'it',
  portuguese: 'pt',
  spanish: 'es',
};

/** The primary tag of a model's language by the name of its folder, such as `german_24l`. */
export function pocketLanguageOf(folder: string): string | undefined {
  const [name = ''] = /^[a-z]+/.exec(folder.toLowerCase()) ?? [];
  return LANGUAGES[name];
}

/** `not stated`: the publisher says nothing of the recording; it comes with the model, which is CC BY 4.0. */
export type VoiceLicence = 'CC0 1.0' | 'CC BY 4.0' | 'CC BY-NC 4.0' | 'not stated';

export interface PocketVoice {
  readonly name: string;
  readonly gender: 'female' | 'male';
  /** The licence of the recording that the voice was made from. */
  readonly licence: VoiceLicence;
}

/** Every model has these voices. */
// prettier-ignore
export const POCKET_VOICES: readonly PocketVoice[] = [
  { name: 'alba', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'anna', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'azelma', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'bill_boerst', gender: 'male', licence: 'CC0 1.0' },
  { name: 'caro_davy', gender: 'female', licence: 'CC0 1.0' },
  { name: 'charles', gender: 'male', licence: 'CC BY 4.0' },
  { name: 'cosette', gender: 'female', licence: 'CC BY-NC 4.0' },
  { name: 'eponine', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'estelle', gender: 'female', licence: 'not stated' },
  { name: 'eve', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'fantine', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'george', gender: 'male', licence: 'CC BY 4.0' },
  { name: 'giovanni', gender: 'male', licence: 'CC0 1.0' },
  { name: 'jane', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'javert', gender: 'male', licence: 'CC0 1.0' },
  { name: 'jean', gender: 'male', licence: 'CC BY-NC 4.0' },
  { name: 'juergen', gender: 'male', licence: 'not stated' },
  { name: 'lola', gender: 'female', licence: 'CC0 1.0' },
  { name: 'marius', gender: 'male', licence: 'CC0 1.0' },
  { name: 'mary', gender: 'female', licence: 'CC BY 4.0' },
  { name: 'michael', gender: 'male', licence: 'CC BY 4.0' },
  { name: 'paul', gender: 'male', licence: 'CC BY 4.0' },
  { name: 'peter_yearsley', gender: 'male', licence: 'CC0 1.0' },
  { name: 'rafael', gender: 'male', licence: 'not stated' },
  { name: 'stuart_bell', gender: 'male', licence: 'CC0 1.0' },
  { name: 'vera', gender: 'female', licence: 'CC BY 4.0' },
];

/** Undefined for another name; `name` in any case. */
export function pocketVoiceNamed(name: string): PocketVoice | undefined {
  return POCKET_VOICES.find((voice) => voice.name === name.trim().toLowerCase());
}

/** True if the licence forbids commercial use: such a voice speaks only with POCKET_NONCOMMERCIAL=1. */
export function isNonCommercial({ licence }: PocketVoice): boolean {
  return licence === 'CC BY-NC 4.0';
}

const DEFAULT_VOICES: Readonly<Record<string, string>> = {
  de: 'juergen',
  es: 'lola',
  fr: 'estelle',
  it: 'giovanni',
  pt: 'rafael',
};

/** The publisher's choice for a language, by its primary tag. */
export function defaultPocketVoice(language: string): string {
  return DEFAULT_VOICES[language] ?? 'alba';
}

const OTHERS = ['alba', 'marius', 'vera', 'george'];
const FIRST_VOICES = 4;

/** The default voice and three others with licences that allow commercial use. */
export function firstPocketVoices(language: string): readonly string[] {
  return [...new Set([defaultPocketVoice(language), ...OTHERS])].slice(0, FIRST_VOICES);
}
