// The voices of models of Pocket TTS: those whose files are in the folders, with their licences, and those
// that stand for names of OpenAI, Qwen and ElevenLabs.
import { defaultPocketVoice, isNonCommercial, pocketVoiceNamed } from '../../config/pocket-catalog.js';
import type { Voice } from '../engine.js';
import type { ModelFacts } from '../native/native-speech.js';

export interface ModelVoices {
  /** BCP 47 primary tag. */
  readonly language: string;
  readonly facts: Pick<ModelFacts, 'speakers'>;
}

const UNKNOWN = 'not stated';

/**
 * The voices of these models, preferred ones first: those that a language has by default, then the others by
 * name.
 */
export function voicesOf(models: readonly ModelVoices[], nonCommercial: boolean): Voice[] {
  const usual = models.map(({ language, facts: { speakers } }) => {
    const wanted = defaultPocketVoice(language);
    return { language, name: speakers.includes(wanted) ? wanted : speakers[0] };
  });
  const all = new Set(models.flatMap(({ facts }) => facts.speakers).toSorted());
  const first = usual.flatMap(({ name }) => name ?? []);
  return [...new Set([...first, ...all])].map((name) => {
    const published = pocketVoiceNamed(name);
    const licence = published?.licence ?? UNKNOWN;
    const isRefused = published !== undefined && isNonCommercial(published) && !nonCommercial;
    return {
      name,
      engine: 'pocket',
      languages: models.flatMap(({ language, facts }) => (facts.speakers.includes(name) ? language : [])),
      description: `Pocket TTS by Kyutai, the voice ${name}${published === undefined ? '' : `, ${published.gender}`}`,
      licence,
      usualFor: usual.flatMap((one) => (one.name === name ? one.language : [])),
      ...(isRefused && {
        refusal: `its licence, ${licence}, forbids commercial use; the operator allows it with POCKET_NONCOMMERCIAL=1`,
      }),
    };
  });
}

type Gender = 'female' | 'male';

/**
 * Each name stands for one of the four English voices that `parley pull pocket-en` fetches. OpenAI's and
 * Qwen's names keep the gender of the flite voices that stand for them.
 */
// prettier-ignore
const ENGLISH: Readonly<Record<string, string>> = {
  // OpenAI
  alloy: 'alba', ash: 'george', ballad: 'marius', cedar: 'george', coral: 'vera', echo: 'george', fable: 'marius',
  marin: 'alba', nova: 'alba', onyx: 'george', sage: 'vera', shimmer: 'vera', verse: 'marius',
  // Qwen3-TTS, CustomVoice
  aiden: 'george', dylan: 'george', ono_anna: 'vera', ryan: 'george', serena: 'alba', sohee: 'vera',
  uncle_fu: 'marius', vivian: 'alba',
  // ElevenLabs; `eric` is a name of Qwen's, too
  adam: 'george', alice: 'vera', antoni: 'marius', aria: 'alba', arnold: 'george', bella: 'alba', bill: 'george',
  brian: 'george', callum: 'marius', charlie: 'marius', charlotte: 'vera', chris: 'george', daniel: 'george',
  domi: 'alba', elli: 'vera', eric: 'marius', jessica: 'alba', josh: 'marius', laura: 'vera', liam: 'marius',
  lily: 'vera', matilda: 'alba', rachel: 'alba', river: 'alba', roger: 'george', sam: 'marius', sarah: 'vera',
  will: 'marius',
};

/** ElevenLabs' ids of those of its voices that every account has. */
// prettier-ignore
const ELEVENLABS_IDS: readonly (readonly [id: string, name: string])[] = [
  ['21m00Tcm4TlvDq8ikWAM', 'rachel'], ['9BWtsMINqrJLrRacOk9x', 'aria'], ['AZnzlk1XvdvUeBnXmlld', 'domi'],
  ['bIHbv24MWmeRgasZH58o', 'will'], ['cgSgspJ2msm6clMCkdW9', 'jessica'], ['cjVigY5qzO86Huf0OWal', 'eric'],
  ['CwhRBWXzGAHq8TQ4Fs17', 'roger'], ['ErXwobaYiN019PkySvjV', 'antoni'], ['EXAVITQu4vr4xnSDxMaL', 'sarah'],
  ['FGY2WhTYpPnrIDTdsKH5', 'laura'], ['IKne3meq5aSn9XLyUdCD', 'charlie'], ['iP95p4xoKVk53GoZ742B', 'chris'],
  ['JBFqnCBsd6RMkjVDRZzb', 'george'], ['MF3mGyEYCl7XYWbV9V6O', 'elli'], ['N2lVS1w4EtoT3dr4eOWO', 'callum'],
  ['nPczCjzI2devNBz1zQrb', 'brian'], ['onwK4e9ZLuTAKqWW03F9', 'daniel'], ['pFZP5JQG7iQjIQuC4Bku', 'lily'],
  ['pNInz6obpgDQGcFmaJgB', 'adam'], ['pqHfZKP75CvOlQylNhV4', 'bill'], ['SAz9YHcvj6GT2YYXdXww', 'river'],
  ['TX3LPaxmHKxFdv7VOQHJ', 'liam'], ['TxGEqnHWrfWFTfGW9XjX', 'josh'], ['VR6AewLTigWG4xSOukaG', 'arnold'],
  ['Xb7hH8MSUJpSbSDYk0k2', 'alice'], ['XB0fDUnXU5powFXDhCwa', 'charlotte'],
  ['XrExE9yKIg1WjnnlVkGX', 'matilda'], ['yoZ06aMxZJJ28mfd3POQ', 'sam'],
];

/** Voices by names and ids of other products, in lower case, for English. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ENGLISH),
  ...ELEVENLABS_IDS.map(([id, name]) => [id.toLowerCase(), ENGLISH[name] ?? name] as const),
]);

/** Voices of other languages' pulls, for the gender that the default voice does not have. */
const OTHERS: Readonly<Record<Gender, string>> = { female: 'alba', male: 'marius' };

/** Every name and id that a voice of Pocket TTS can stand for, in lower case. */
export const POCKET_FOREIGN_NAMES: readonly string[] = [...BY_NAME.keys()];

/**
 * The voice that stands for a name of OpenAI, Qwen or ElevenLabs, or an id of ElevenLabs; undefined for
 * another name. `name` is in lower case, `language` a primary tag. In other languages than English it is the
 * default voice, or one of the other gender.
 */
export function pocketStandIn(name: string, language: string): string | undefined {
  const english = BY_NAME.get(name);
  if (english === undefined || language === 'en') return english;
  const gender = pocketVoiceNamed(english)?.gender;
  const native = defaultPocketVoice(language);
  if (gender === undefined || pocketVoiceNamed(native)?.gender === gender) return native;
  return OTHERS[gender];
}
