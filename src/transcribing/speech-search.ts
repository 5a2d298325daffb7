// Finds the speech of a whole sound, such as a piece of a file, with the voice activity detection of calls.
// The worker that listens to calls analyses it, little of one sound at a time.
import { PcmRing } from '../audio/pcm-ring.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { SpeechFinder, SpeechStretch } from '../engines/recogniser.js';
import { GIVEN_UP, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { VoiceActivity } from './live-transcription.js';

interface SpeechSearchParts {
  readonly activity: VoiceActivity;
  readonly settings: HearingSettings;
  readonly time: Time;
}

const STALL_MS = 20_000; // without any progress

export class SpeechSearch implements SpeechFinder {
  readonly #parts: SpeechSearchParts;

  constructor({ settings, ...parts }: SpeechSearchParts) {
    // Speech that is not found is lost, while a text of a noise can still be empty.
    this.#parts = { ...parts, settings: { ...settings, sensitivity: 'high', endedByHand: true } };
  }

  async find(samples: Float32Array, rate: number, signal: AbortSignal): Promise<readonly SpeechStretch[]> {
    if (samples.length === 0) return [];
    const ring = PcmRing.open(rate, samples.length);
    try {
      ring.write(samples);
      ring.end();
      return await this.#listen(ring, samples.length / rate, signal);
    } finally {
      ring.close();
    }
  }

  async #listen(ring: PcmRing, seconds: number, signal: AbortSignal): Promise<readonly SpeechStretch[]> {
    const { activity, settings, time } = this.#parts;
    const found = new FoundSpeech();
    let cancelTimer: () => void = () => undefined;
    let giveUp: () => void = () => undefined;
    let stream: { close(): void } | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        giveUp = () => reject(GIVEN_UP);
        signal.addEventListener('abort', giveUp, { once: true });
        if (signal.aborted) return giveUp();
        const watch = () => {
          cancelTimer();
          const message = `voice activity detection made no progress within ${STALL_MS / 1000} s`;
          cancelTimer = time.after(STALL_MS, () => reject(new ParleyError('HEARING_FAILED', message)));
        };
        watch();
        stream = activity.listenToRing('a file', ring, settings, {
          event: ({ type, atMs }) => found.hear(type, atMs / 1000),
          analysed: (_, isOver) => (isOver ? resolve() : watch()),
          lost: reject,
        });
      });
      return found.until(seconds);
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', giveUp);
      stream?.close();
    }
  }
}

class FoundSpeech {
  readonly #stretches: SpeechStretch[] = [];
  #begin: number | undefined;

  hear(type: string, atSeconds: number): void {
    if (type === 'speech.started') this.#begin = Math.max(0, atSeconds);
    if (type === 'speech.stopped') this.#end(atSeconds);
  }

  /** Speech that goes on ends with the sound. */
  until(seconds: number): readonly SpeechStretch[] {
    this.#end(seconds);
    return this.#stretches;
  }

  #end(endSeconds: number): void {
    if (this.#begin !== undefined && endSeconds > this.#begin)
      this.#stretches.push({ beginSeconds: this.#begin, endSeconds });
    this.#begin = undefined;
  }
}
