// A request to speak a text. Each protocol decodes its own request into a SpeechRequest once. The
// SpeechRequest is passed on unchanged to the sentences, which become requests to an engine
// (engines/engine.ts).
import type { SpeechClass, SpeechOptions } from '../engines/engine.js';
import type { VoiceRequest } from '../engines/routing.js';
import type { Lexicon } from '../text/lexicon.js';
import type { VoiceSample } from '../voices/references.js';
import type { AudioFormat } from './audio-format.js';
import type { TextFormat } from './text-source.js';

/** Settings for reading a text: its voice, and how its words are chosen. */
export interface TextSettings extends VoiceRequest {
  /** The text is SSML. A text that arrives in tokens never is. */
  readonly markup?: boolean | undefined;
  /** If false, the engine gets the text as it is written. */
  readonly normalize?: boolean | undefined;
  /** Pronunciations for this text. They take precedence over those of the server. */
  readonly lexicon?: Lexicon | undefined;
  /** Factor of the voice's own pace, 0.25 to 4, at the same pitch; only for plain texts of a call. */
  readonly pace?: number | undefined;
  /**
   * API key, address or call of the client, among which the engine's time is shared fairly. Its key decides
   * which word tables apply.
   */
  readonly client?: string | undefined;
}

/** Settings for speaking any text of a client. */
export interface SpeechSettings extends TextSettings {
  readonly format: AudioFormat;
  /** Hz; a rate that the format has. */
  readonly sampleRate: number;
  /** 0.25 to 4 times the voice's own pace, at the same pitch. */
  readonly speed?: number | undefined;
  readonly options?: SpeechOptions | undefined;
  /** If false, the silence around each sentence stays. */
  readonly trimSilence?: boolean | undefined;
  /** If false, the rendering is neither looked up in the cache nor kept there. */
  readonly cache?: boolean | undefined;
  /** Class of the listener that waits for the audio; `http` if absent. */
  readonly kind?: SpeechClass | undefined;
  /** All at once, or as events while it is made; if absent, as bytes while it is made. */
  readonly delivery?: 'whole' | 'events' | undefined;
  /** Milliseconds of silence before the first sound: the pause after what another stream said. */
  readonly leadMs?: number | undefined;
  /**
   * When the listener will have heard the streams before this one, in milliseconds of the monotonic clock.
   */
  readonly dueAtMs?: number | undefined;
}

/** A text for a call, or to be shown as it would be spoken. */
export interface TextRequest extends Pick<
  TextSettings,
  'voice' | 'language' | 'normalize' | 'lexicon' | 'pace' | 'client'
> {
  readonly text: string;
  /** `auto` if absent. */
  readonly format?: TextFormat | undefined;
}

export interface SpeechRequest extends SpeechSettings {
  readonly text: string;
  /** A sample of the voice to speak with, which becomes the `reference`. */
  readonly sample?: VoiceSample | undefined;
  /** Fields that have no effect, as the client named them. */
  readonly ignoredFields?: readonly string[] | undefined;
}
