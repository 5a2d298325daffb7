// Reads the messages of vLLM-Omni's speech socket: a closed union, checked field by field before anything
// acts on it.
import type { SpeechSettings } from '../../speaking/speech-request.js';
import {
  choiceIn,
  type Fields,
  flagIn,
  invalid,
  SPEECH_OPTION_FIELDS,
  type SpeechOptionLimits,
  readFields,
  readFormat,
  readSpeechOptions,
  readModel,
  readRate,
  refuseUnknown,
  stringIn,
} from '../http/message-fields.js';

/** Settings for the texts that follow. */
export interface OmniConfig {
  readonly model: string | undefined;
  readonly speech: SpeechSettings;
  /** True to send each sentence in pieces while it is made, false to send it whole. */
  readonly streamAudio: boolean;
}

export type OmniMessage =
  | { readonly type: 'session.config'; readonly config: OmniConfig }
  | { readonly type: 'input.text'; readonly text: string }
  | { readonly type: 'input.done' | 'input.cancel' | 'session.close' };

const TYPES = ['session.config', 'input.text', 'input.done', 'input.cancel', 'session.close'] as const;
const USUAL_FORMAT = 'wav'; // the default of vLLM-Omni too
/** Fields shared with POST /v1/audio/speech, and those of the socket alone. */
const CONFIG_FIELDS = [
  'type',
  'model',
  'response_format',
  'sample_rate',
  ...SPEECH_OPTION_FIELDS,
  'stream_audio',
  'split_granularity',
  'word_timestamps',
  'initial_codec_chunk_frames',
  'non_streaming_mode',
] as const;
const GRANULARITIES = ['none', 'sentence', 'clause'] as const;

/** Throws MALFORMED and INVALID_FIELD. */
export function readOmniMessage(data: string | Uint8Array, limits: SpeechOptionLimits): OmniMessage {
  const fields = readFields(data);
  const type = choiceIn(fields, 'type', TYPES);
  switch (type) {
    case undefined:
      throw invalid('type', `must be one of ${TYPES.join(', ')}`);
    case 'session.config':
      refuseUnknown(fields, CONFIG_FIELDS, `"${type}"`);
      return { type, config: readConfig(fields, limits) };
    case 'input.text':
      refuseUnknown(fields, ['type', 'text'], `"${type}"`);
      return { type, text: readText(fields) };
    default:
      refuseUnknown(fields, ['type'], `"${type}"`);
      return { type };
  }
}

function readConfig(fields: Fields, limits: SpeechOptionLimits): OmniConfig {
  if (flagIn(fields, 'word_timestamps') === true) {
    throw invalid('word_timestamps', 'must be false: this server has no times of words here');
  }
  // The value changes nothing: text is always cut into sentences, and clients count the pieces they get.
  choiceIn(fields, 'split_granularity', GRANULARITIES);
  const format = readFormat(fields, USUAL_FORMAT);
  return {
    model: readModel(fields),
    speech: { ...readSpeechOptions(fields, limits), format, sampleRate: readRate(fields, format) },
    streamAudio: flagIn(fields, 'stream_audio') ?? false,
  };
}

function readText(fields: Fields): string {
  const text = stringIn(fields, 'text');
  if (text === undefined) throw invalid('text', 'must be a string');
  return text;
}
