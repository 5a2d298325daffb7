// Opens live transcriptions for the clients of this server.
import type { HearingSettings } from '../config/hearing-config.js';
import type { RecognisedText, Recogniser } from '../engines/recogniser.js';
import type { Time } from '../time.js';
import { type LiveListener, LiveTranscription, type VoiceActivity } from './live-transcription.js';

interface LiveTranscriberParts {
  readonly recogniser: Recogniser;
  readonly activity: VoiceActivity;
  /** Clients that state none get these. */
  readonly settings: HearingSettings;
  readonly time: Time;
}

export interface LiveRequest {
  /** Name in the log. */
  readonly name: string;
  readonly language?: string | undefined;
  readonly context?: string | undefined;
  readonly partials: boolean;
  /** Changes to the settings by which speech and turns are found. */
  readonly turns?: Partial<HearingSettings>;
  readonly endsTurns: 'silence' | 'commit';
  readonly listener: LiveListener;
  readonly onFinal?: ((text: RecognisedText, ms: number) => void) | undefined;
}

export class LiveTranscriber {
  readonly #parts: LiveTranscriberParts;

  constructor(parts: LiveTranscriberParts) {
    this.#parts = parts;
  }

  /** Name of the recogniser. */
  get name(): string {
    return this.#parts.recogniser.name;
  }

  /** True if there may be texts of a turn before its end. */
  get tellsPartials(): boolean {
    return this.#parts.recogniser.tellsPartials;
  }

  /** Throws as the constructor of LiveTranscription does. */
  open({ turns, ...request }: LiveRequest): LiveTranscription {
    const { recogniser, activity, settings, time } = this.#parts;
    // Each sound of a voice is a turn, however short: its text tells whether it was one.
    const own = { ...settings, minSpeechMs: 0, ...turns };
    const bounds = {
      minSilenceMs: Math.min(own.minSilenceMs, own.silenceMs),
      maxSilenceMs: Math.max(own.maxSilenceMs, own.silenceMs),
    };
    const now = () => time.now();
    return new LiveTranscription({ ...request, recogniser, activity, settings: { ...own, ...bounds }, now });
  }
}
