// Hearing for tests: the test decides in place of the worker that hears.
import type { CallHearing } from '../../src/call/caller-speech.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { HearingEvent } from '../../src/hearing/hearing-messages.js';
import { HEARING_SETTINGS } from './hearing-settings.js';

/** Notes what a call asks for, and reports what the test decides. */
export class FakeHearing implements CallHearing {
  readonly settings = HEARING_SETTINGS;
  readonly asked: unknown[] = [];
  tracks: readonly number[] = [];
  report: (event: HearingEvent) => void = () => undefined;
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
        interruptible: (tracks) => void (this.tracks = tracks.map(({ track }) => track)),
        awaitInput: () => void this.asked.push('awaitInput'),
        endTurn: () => void this.asked.push('endTurn'),
        close: () => void this.asked.push('close'),
      };
    },
  };
}
