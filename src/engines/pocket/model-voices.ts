// The voices of models of Pocket TTS: those whose files are in the folders, with their licences.
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
