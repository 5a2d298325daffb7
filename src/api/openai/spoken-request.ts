// Fits a SpeechRequest to the engine that will speak: makes the voice that comes with it, and takes out the options
// that the engine cannot heed.
import type { SpeechOptions, VoiceReference } from '../../engines/engine.js';
import { ParleyError } from '../../errors.js';
import { type SpeechRequest, stated } from '../../speaking/speech-request.js';
import { unheededMarkup } from '../../speaking/text-reading.js';
import type { FieldNames } from './field-names.js';
import type { EngineAbilities, SpeechSource } from './speech-source.js';

/** The field of a request that states the option, and the capability that an engine needs for it. */
const OPTIONS: Readonly<
  Record<keyof SpeechOptions, readonly [field: string, needs: 'instruct' | 'sampling']>
> = {
  instructions: ['instructions', 'instruct'],
  temperature: ['temperature', 'sampling'],
  topP: ['top_p', 'sampling'],
  topK: ['top_k', 'sampling'],
  seed: ['seed', 'sampling'],
  maxNewTokens: ['max_new_tokens', 'sampling'],
};

/**
 * The request as its engine can speak it, with the fields that it cannot heed as `ignoredFields`. Throws what can be
 * known of a voice and language without waiting.
 */
export function fitted(speech: SpeechSource, request: SpeechRequest): SpeechRequest {
  const { text, markup, options, reference, ignoredFields = [] } = request;
  const unheeded =
    markup === true
      ? [...ignoredFields, ...unheededMarkup(text).map((what) => `SSML ${what}`)]
      : ignoredFields;
  // A plain request need not ask for the capabilities of its engine.
  if (options === undefined && reference === undefined) return withIgnored(request, unheeded);
  const abilities = speech.abilities(request);
  if (reference !== undefined) refuseIncapable(abilities, reference);
  const stating = Object.entries(options ?? {}) as [keyof SpeechOptions, string | number][];
  const able = stating.filter(([option]) => abilities[OPTIONS[option][1]]);
  const unable = stating.filter(([option]) => !abilities[OPTIONS[option][1]]);
  const { options: _stated, ...plain } = request;
  return withIgnored(able.length === 0 ? plain : { ...plain, options: Object.fromEntries(able) }, [
    ...unable.map(([option]) => OPTIONS[option][0]),
    ...unheeded,
  ]);
}

function withIgnored(request: SpeechRequest, ignoredFields: readonly string[]): SpeechRequest {
  return ignoredFields.length === 0 ? request : { ...request, ignoredFields };
}

/** The same with the voice made of the sample that the request brings. Rejects with whatever is wrong with it. */
export async function fittedWithVoice(
  speech: SpeechSource,
  { sample, ...request }: SpeechRequest,
  signal: AbortSignal,
): Promise<SpeechRequest> {
  if (sample === undefined) return fitted(speech, request);
  const reference = await speech.reference({ ...sample, ...stated({ language: request.language }) }, signal);
  return fitted(speech, { ...request, reference });
}

/** The ignored fields for a header, by the client's names for them; undefined if there are none. */
export function ignoredNames(
  { ignoredFields = [] }: SpeechRequest,
  names: FieldNames,
): readonly string[] | undefined {
  return ignoredFields.length === 0 ? undefined : ignoredFields.map((field) => names[field] ?? field);
}

function refuseIncapable({ engine, clone, design }: EngineAbilities, { kind }: VoiceReference): void {
  if (kind === 'sample' ? clone : design) return;
  const what =
    kind === 'sample'
      ? 'speak with the voice of a sample ("ref_audio")'
      : 'make a voice from a description ("task_type" "VoiceDesign")';
  const field = kind === 'sample' ? 'ref_audio' : 'task_type';
  throw new ParleyError('CAPABILITY_MISSING', `the engine ${engine} cannot ${what}`, { field });
}
