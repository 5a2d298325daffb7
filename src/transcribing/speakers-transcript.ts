// Joins the transcripts of several speakers, each from a channel of its own, in the order of time.
import { joinTexts } from '../engines/openai/transcription-client.js';
import type { Cue } from './cues.js';
import type { TimedStretch, TimesQuality, Transcript } from './transcript.js';

interface Speaker {
  readonly label: string;
  readonly transcript: Transcript;
}

/** Reads as a `Transcript` does. Each stretch and cue names its speaker. */
export class SpeakersTranscript {
  readonly #speakers: readonly Speaker[];

  constructor(speakers: readonly Speaker[]) {
    this.#speakers = speakers;
  }

  get text(): string {
    return joinTexts(this.sentences().map(({ text }) => text));
  }

  /** BCP 47 tags, those of the first speaker first. */
  get languages(): string[] {
    return [...new Set(this.#speakers.flatMap(({ transcript }) => transcript.languages))];
  }

  get times(): TimesQuality {
    const spoken = this.#speakers.filter(({ transcript }) => transcript.text !== '');
    const qualities = new Set(spoken.map(({ transcript }) => transcript.times));
    const [only = 'fast'] = qualities;
    return qualities.size > 1 ? 'mixed' : only;
  }

  sentences(): TimedStretch[] {
    return this.#joined((transcript) => transcript.sentences());
  }

  words(): TimedStretch[] {
    return this.#joined((transcript) => transcript.words());
  }

  /** Cues of one speaker do not overlap. Those of two do where both speak at once. */
  cues(): Cue[] {
    const all = this.#speakers.flatMap(({ label: speaker, transcript }) =>
      transcript.cues().map((cue) => ({ ...cue, speaker })),
    );
    return all.toSorted((a, b) => a.beginMs - b.beginMs);
  }

  #joined(read: (transcript: Transcript) => readonly TimedStretch[]): TimedStretch[] {
    const all = this.#speakers.flatMap(({ label: speaker, transcript }) =>
      read(transcript).map((stretch) => ({ ...stretch, speaker })),
    );
    return all.toSorted((a, b) => a.beginSeconds - b.beginSeconds);
  }
}
