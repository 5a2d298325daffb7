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
  /**
   * `sentence` sends the audio of each sentence between a start and an end of its own. The other two modes
   * send one stream for each text. With `sentence_commit` the server speaks no text before its
   * `input.commit`.
   */
  readonly streamingMode: (typeof STREAMING_MODES)[number];
  /** True to send each sentence in pieces while it is made, false to send it whole. */
  readonly streamAudio: boolean;
  /** True to send the audio in JSON, with the times of the words after each sentence. */
  readonly wordTimestamps: boolean;
}

export type OmniMessage =
  | { readonly type: 'session.config'; readonly config: OmniConfig }
  | { readonly type: 'input.text'; readonly text: string }
  | { readonly type: 'input.commit'; readonly commitId: string | undefined }
  | { readonly type: 'input.done' | 'input.cancel' | 'session.close' };

const TYPES = [
  'session.config',
  'input.text',
  'input.commit',
  'input.done',
  'input.cancel',
  'session.close',
] as const;
const STREAMING_MODES = ['sentence', 'token_level', 'sentence_commit'] as const;
const USUAL_FORMAT = 'wav'; // the default of vLLM-Omni too
/** Fields shared with POST /v1/audio/speech, and those of the socket alone. */
const CONFIG_FIELDS = [
  'type',
  'model',
  'response_format',
  'sample_rate',
  ...SPEECH_OPTION_FIELDS,
  'streaming_mode',
  'stream_audio',
  'split_granularity',
  'word_timestamps',
  'initial_codec_chunk_frames',
  'non_streaming_mode',
  'streaming_drain_max_steps',
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
    case 'input.commit':
      refuseUnknown(fields, ['type', 'commit_id'], `"${type}"`);
      return { type, commitId: stringIn(fields, 'commit_id') };
    default:
      refuseUnknown(fields, ['type'], `"${type}"`);
      return { type };
  }
}

function readConfig(fields: Fields, limits: SpeechOptionLimits): OmniConfig {
  // The value changes nothing: text is always cut into sentences, and clients count the pieces they get.
  choiceIn(fields, 'split_granularity', GRANULARITIES);
  const streamingMode = choiceIn(fields, 'streaming_mode', STREAMING_MODES) ?? 'sentence';
  const isOneStream = streamingMode !== 'sentence';
  const format = readFormat(fields, isOneStream ? 'pcm' : USUAL_FORMAT);
  const streamAudio = (flagIn(fields, 'stream_audio') ?? false) || isOneStream;
  const speech = { ...readSpeechOptions(fields, limits), format, sampleRate: readRate(fields, format) };
  const config = {
    model: readModel(fields),
    speech: streamAudio ? speech : ({ ...speech, delivery: 'whole' } as const),
    streamingMode,
    streamAudio,
    wordTimestamps: flagIn(fields, 'word_timestamps') ?? false,
  };
  if (isOneStream && format.name !== 'pcm') {
    throw invalid('response_format', `must be "pcm" with "streaming_mode": "${streamingMode}"`);
  }
  if (config.wordTimestamps) checkTimestamps(config);
  return config;
}

/** vLLM-Omni, too, sends word times only with PCM that it streams sentence by sentence. */
function checkTimestamps({ streamingMode, streamAudio, speech }: OmniConfig): void {
  if (streamingMode === 'sentence' && streamAudio && speech.format.name === 'pcm') return;
  throw invalid(
    'word_timestamps',
    'may be true only with "stream_audio": true, "response_format": "pcm" and "streaming_mode": "sentence"',
  );
}

function readText(fields: Fields): string {
  const text = stringIn(fields, 'text');
  if (text === undefined) throw invalid('text', 'must be a string');
  return text;
}
