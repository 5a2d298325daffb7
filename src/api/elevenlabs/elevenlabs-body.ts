// The decoder of ElevenLabs' HTTP requests for speech.
import { DEFAULT_OUTPUT_FORMAT, readOutputFormat } from './output-format.js';
import type { FieldNames } from '../openai/field-names.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import { type SpeechRequest, stated } from '../../speaking/speech-request.js';
import { isMarkup } from '../../speaking/text-source.js';

/** As its schema lets it through. */
export interface ElevenLabsBody {
  readonly text: string;
  readonly model_id?: string;
  readonly language_code?: string;
  readonly voice_settings?: { readonly speed?: number };
  readonly seed?: number;
  readonly apply_text_normalization?: 'auto' | 'on' | 'off';
  readonly cache?: boolean;
}

/** The clients' names for fields that have another name in a SpeechRequest. */
export const ELEVENLABS_NAMES: FieldNames = {
  voice: 'voice_id',
  model: 'model_id',
  language: 'language_code',
  normalize: 'apply_text_normalization',
};

/** `voice` is its name on this server. Throws INVALID_FIELD. */
export function readElevenLabsRequest(
  { text, language_code: language, voice_settings: settings, seed, cache, ...body }: ElevenLabsBody,
  voice: string,
  outputFormat: string = DEFAULT_OUTPUT_FORMAT,
): SpeechRequest {
  return {
    text,
    voice,
    ...readOutputFormat(outputFormat),
    speed: settings?.speed ?? 1,
    ...stated({
      language: language === undefined ? undefined : tagOfStated(language),
      cache,
      normalize: body.apply_text_normalization === 'off' ? false : undefined,
      markup: isMarkup(text) ? true : undefined,
      options: seed === undefined ? undefined : { seed },
    }),
  };
}
