// The body of POST /v1/audio/speech as its schema lets it through.
import type { TextFormat } from '../../speaking/text-source.js';

export interface SpeechBody {
  readonly model?: string;
  readonly input: string;
  readonly input_format?: TextFormat;
  readonly lexicon?: readonly object[];
  readonly voice?: string | { readonly id: string };
  readonly response_format?: string;
  readonly speed?: number;
  readonly language?: string;
  readonly sample_rate?: number;
  readonly instructions?: string;
  readonly instruct?: string;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly max_new_tokens?: number;
  readonly normalize?: boolean;
  readonly trim_silence?: boolean;
  readonly task_type?: 'CustomVoice' | 'VoiceDesign' | 'Base';
  readonly ref_audio?: string;
  readonly ref_text?: string;
  readonly x_vector_only_mode?: boolean;
  readonly stream?: boolean;
  readonly stream_format?: 'audio' | 'sse';
  readonly non_streaming_mode?: boolean;
  readonly initial_codec_chunk_frames?: number;
  readonly cache?: boolean;
}
