// A request as ElevenLabs' clients write it, in the words of /v1/audio/speech.
import { DEFAULT_OUTPUT_FORMAT, readOutputFormat } from './output-format.js';
import type { FieldNames } from '../openai/field-names.js';
import type { SpeechBody } from '../openai/speech-body.js';

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

/** What these clients call what is called otherwise inside. */
export const ELEVENLABS_NAMES: FieldNames = {
  voice: 'voice_id',
  model: 'model_id',
  language: 'language_code',
  normalize: 'apply_text_normalization',
};

/** `voice` by its name here. Throws INVALID_FIELD. */
export function speechBodyOf(
  voice: string,
  outputFormat: string = DEFAULT_OUTPUT_FORMAT,
  body: ElevenLabsBody,
): SpeechBody {
  const { text, model_id: model, language_code: language, voice_settings: settings } = body;
  const { seed, cache } = body;
  const { format, sampleRate } = readOutputFormat(outputFormat);
  return {
    input: text,
    voice,
    response_format: format.name,
    sample_rate: sampleRate,
    ...(model === undefined ? {} : { model }),
    ...(language === undefined ? {} : { language }),
    ...(settings?.speed === undefined ? {} : { speed: settings.speed }),
    ...(seed === undefined ? {} : { seed }),
    ...(cache === undefined ? {} : { cache }),
    ...(body.apply_text_normalization === 'off' ? { normalize: false } : {}),
  };
}
