// Hearing for tests: the test decides in place of the worker that hears.
import type { CallHearing } from '../../src/call/caller-speech.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { ExpectedWords, HeardWords, HearingEvent } from '../../src/hearing/hearing-messages.js';
import { HEARING_SETTINGS } from './hearing-settings.js';

/** Notes what a call asks for, and reports what the test decides. */
export class FakeHearing implements CallHearing {
  readonly settings: HearingSettings;
  readonly asked: unknown[] = [];
  tracks: readonly number[] = [];
  /** What the call says of the caller's words. */
  readonly words: HeardWords[] = [];
  expectedWords: ExpectedWords = 'none';
  /** Called after each change of what is asked for. */
  onAsked: () => void = () => undefined;
  report: (event: HearingEvent) => void = () => undefined;
  constructor(settings = HEARING_SETTINGS) {
    this.settings = settings;
  }

  readonly service: { listen: CallHearing['service']['listen'] } = {
    listen: (
      call: string,
      _media: unknown,
      settings: HearingSettings,
      onEvent: (event: HearingEvent) => void,
    ): ReturnType<CallHearing['service']['listen']> => {
      this.asked.push(['listen', call, settings]);
      this.report = onEvent;
      return {
        follow: () => void this.asked.push('follow'),
        change: (changed) => void this.asked.push(['change', changed]),
        interruptible: (tracks) => {
          this.tracks = tracks.map(({ track }) => track);
          this.onAsked();
        },
        expectWords: (expected) => {
          this.expectedWords = expected;
          this.onAsked();
        },
        words: (words) => {
          this.words.push(words);
          this.onAsked();
        },
        awaitInput: () => void this.asked.push('awaitInput'),
        endTurn: () => void this.asked.push('endTurn'),
        close: () => void this.asked.push('close'),
      };
    },
  };
}
