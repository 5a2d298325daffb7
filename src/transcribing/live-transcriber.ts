// Opens live transcriptions for the clients of this server.
import type { HearingSettings } from '../config/hearing-config.js';
import type { RecognisedText, Recogniser } from '../engines/recogniser.js';
import type { Time } from '../time.js';
import { writtenForm } from '../text/inverse/inverse.js';
import { type LiveListener, LiveTranscription, type VoiceActivity } from './live-transcription.js';

interface LiveTranscriberParts {
  readonly recogniser: Recogniser;
  readonly activity: VoiceActivity;
  /** Clients that state none get these. */
  readonly settings: HearingSettings;
  readonly time: Time;
  /** Requests that do not state it get texts with figures. False, if absent. */
  readonly smartFormat?: boolean;
}

export interface LiveRequest {
  /** Name in the log. */
  readonly name: string;
  readonly language?: string | undefined;
  readonly context?: string | undefined;
  readonly partials: boolean;
  /** Texts are written with figures; undefined: the server's default. */
  readonly smartFormat?: boolean | undefined;
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
  open({ turns, smartFormat = this.#parts.smartFormat, ...request }: LiveRequest): LiveTranscription {
    const { recogniser, activity, settings, time } = this.#parts;
    const listener = smartFormat === true ? writing(request.listener, request.language) : request.listener;
    // Each sound of a voice is a turn, however short: its text tells whether it was one.
    const own = { ...settings, minSpeechMs: 0, ...turns };
    const bounds = {
      minSilenceMs: Math.min(own.minSilenceMs, own.silenceMs),
      maxSilenceMs: Math.max(own.maxSilenceMs, own.silenceMs),
    };
    const now = () => time.now();
    return new LiveTranscription({
      ...request,
      listener,
      recogniser,
      activity,
      settings: { ...own, ...bounds },
      now,
    });
  }
}

/** A listener that gets written forms. No part of a partial one is stable: words to come may change it. */
function writing(listener: LiveListener, stated: string | undefined): LiveListener {
  const written = (recognised: RecognisedText): RecognisedText => {
    const { text, language = stated } = recognised;
    return language === undefined ? recognised : { ...recognised, text: writtenForm(text, language).text };
  };
  return {
    ...listener,
    partial: (text) => listener.partial({ ...written(text), stable: 0 }),
    final: (text) => {
      const one = written(text);
      listener.final({ ...one, stable: one.text.length });
    },
  };
}
