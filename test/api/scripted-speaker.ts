// A speaker whose sound has a known length, as 16-bit samples of its rate, and
// which the test may hold.
import { atOnce, sentencesFrom, sentencesOf } from '../../src/speaking/text-source.js';
import type { Time } from '../../src/time.js';
import type { SentenceSpeaker, SpokenSentenceSound } from '../../src/speaking/spoken-sentences.js';
import type { SpeechSettings } from '../../src/speaking/speech-request.js';
import { type AskedSpeech, askedSpeech } from './fake-speech.js';
import { ParleyError } from '../../src/errors.js';
import type { WordTime } from '../../src/engines/engine.js';
import { NO_TIME, type SoundOutcome, type SoundSource } from '../../src/speaking/sound.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 60_000 };
export const MS_PER_CHAR = 80;
const PAUSE_MS = 160;
const PIECE_MS = 40;

interface SpeakerCall {
  readonly settings: AskedSpeech<SpeechSettings>;
  /** Sentences whose sound was given out. */
  readonly sentences: string[];
  aborted: boolean;
}

class ScriptedSound implements SoundSource {
  readonly contentType = 'audio/pcm';
  readonly outcome: Promise<SoundOutcome | undefined>;
  cancelled = false;
  readonly #speaker: ScriptedSpeaker;
  readonly #durationMs: number;
  readonly #rate: number;
  #settle!: (outcome: SoundOutcome | undefined) => void;

  constructor(
    speaker: ScriptedSpeaker,
    { text, leadMs, rate }: { text: string; leadMs: number; rate: number },
  ) {
    this.#speaker = speaker;
    this.#rate = rate;
    this.#durationMs = leadMs + text.length * MS_PER_CHAR;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    const sentence = { text, startMs: leadMs, endMs: this.#durationMs, words: speaker.words(text, leadMs) };
    const outcome = { durationMs: this.#durationMs, sentences: [sentence], timing: NO_TIME };
    this.finish = () => this.#settle(outcome);
    if (speaker.cached) this.finish();
  }

  /** The outcome is known from now on. */
  readonly finish: () => void;

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (let ms = 0; ms < this.#durationMs; ms += PIECE_MS) {
        await this.#speaker.turn(this);
        if (this.cancelled) throw new ParleyError('ABORTED', 'the reader left');
        if (this.#speaker.failure !== undefined) throw this.#speaker.failure;
        const samples = (Math.min(PIECE_MS, this.#durationMs - ms) * this.#rate) / 1000;
        yield new Uint8Array(2 * Math.round(samples)).fill(1);
      }
      this.finish();
    } finally {
      this.cancel();
    }
  }

  cancel(): void {
    this.cancelled = true;
    this.#settle(undefined);
    this.#speaker.wake();
  }
}

export class ScriptedSpeaker implements SentenceSpeaker {
  readonly calls: SpeakerCall[] = [];
  readonly sounds: ScriptedSound[] = [];
  /** Error with which `speak` rejects. */
  refusal: ParleyError | undefined;
  /** Error that ends every sound early. */
  failure: ParleyError | undefined;
  /** Outcomes are known before the sound. */
  cached = false;
  /** The outcome has the times of words. */
  telling = false;
  readonly #time: Time;
  #pieces = Infinity;
  #waiting: (() => void)[] = [];

  constructor(time: Time) {
    this.#time = time;
  }

  /** From now on only so many pieces of 40 ms come, over all sounds. */
  allow(pieces: number): void {
    this.#pieces = pieces;
    this.wake();
  }

  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async turn(sound: ScriptedSound): Promise<void> {
    while (this.#pieces <= 0 && !sound.cancelled) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#pieces--;
  }

  words(text: string, leadMs: number): WordTime[] {
    if (!this.telling) return [];
    return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
      word,
      textOffset: index,
      startMs: leadMs + index * MS_PER_CHAR,
    }));
  }

  async *speak(
    text: string | AsyncIterable<string>,
    settings: SpeechSettings,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenSentenceSound, void, undefined> {
    const call: SpeakerCall = { settings: askedSpeech(settings), sentences: [], aborted: false };
    this.calls.push(call);
    const sounds: ScriptedSound[] = [];
    const abort = () => {
      call.aborted = true;
      for (const sound of sounds) sound.cancel();
    };
    signal.addEventListener('abort', abort, { once: true });
    if (this.refusal !== undefined) throw this.refusal;
    const options = { limits: LIMITS, time: this.#time, signal, onPause: () => undefined };
    const sentences =
      typeof text === 'string' ? atOnce(sentencesOf(text, LIMITS)) : sentencesFrom(text, options);
    for await (const sentence of sentences) {
      const index = call.sentences.push(sentence.text) - 1;
      const leadMs = index === 0 ? (settings.leadMs ?? 0) : PAUSE_MS;
      const sound = new ScriptedSound(this, { text: sentence.text, leadMs, rate: settings.sampleRate });
      this.sounds.push(sound);
      sounds.push(sound);
      if (signal.aborted) sound.cancel();
      yield { index, text: sentence.text, sound };
      sound.cancel();
    }
  }
}
