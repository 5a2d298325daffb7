// A text, whole or in tokens, as sentences that sound: each is a rendering of
// its own, made while the one before it is being sent.
//
//   sentence N    taken by whoever sends it
//   sentence N+1  opened as soon as N is taken: made, and held up by its own ring
//   sentence N+2  text
import { GIVEN_UP, ParleyError } from '../errors.js';
import type { SpeechOptions, VoiceReference } from '../speech/engine.js';
import type { SpeechRouting } from '../speech/routing.js';
import type { Sound, SoundSource } from '../speech/sound.js';
import { systemTime, type Time } from '../time.js';
import type { AudioFormat } from './audio-format.js';
import type { CachedSpeechRequest } from './cached-speech.js';
import { Listener } from './listener.js';
import { SENTENCE_PAUSE_MS, type SpokenSentence } from './speech-line.js';
import { sentencesFrom, sentencesOf, type TextLimits } from './text-source.js';
import { VoicePlan } from './voice-plan.js';

/** How a text is to be spoken. */
export interface SpeakingManner {
  readonly voice?: string;
  readonly language?: string;
  readonly container: AudioFormat['container'];
  /** Hz. */
  readonly sampleRate: number;
  readonly speed?: number;
  readonly options?: SpeechOptions;
  readonly trimSilence?: boolean;
  /** Silence before the first sentence, in milliseconds: the pause after what an earlier text said. */
  readonly leadMs?: number;
  /** A voice of the text's own. */
  readonly reference?: VoiceReference;
  /** Who shares the engine fairly with others. */
  readonly client: string;
  /** False neither looks in the cache nor leaves anything there. */
  readonly cache?: boolean;
}

export interface SpokenSentenceSound {
  /** From 0. */
  readonly index: number;
  readonly text: string;
  /** Its bytes: a whole container of its own, begun with the pause after the sentence before. */
  readonly sound: SoundSource;
}

/** What dialects are given to speak with. */
export interface SentenceSpeaker {
  /**
   * The sentences of a text in order, each as soon as its sound has begun. Throws what the text, its voice or its
   * engine is refused with, TIMEOUT when tokens stop coming, ABORTED with the signal. Leaving the loop stops the work.
   */
  speak(
    text: string | AsyncIterable<string>,
    manner: SpeakingManner,
    signal: AbortSignal,
  ): AsyncIterable<SpokenSentenceSound>;
}

export interface SentenceParts {
  readonly speech: {
    find(request: CachedSpeechRequest): Sound | undefined;
    openStream(request: CachedSpeechRequest, signal: AbortSignal): Promise<SoundSource>;
  };
  readonly routing: SpeechRouting;
  readonly limits: TextLimits;
  readonly time?: Time;
}

const CHUNK_BYTES = 16 * 1024; // of a rendering that is there whole: as others come

export class SpokenSentences implements SentenceSpeaker {
  readonly #parts: SentenceParts;

  constructor(parts: SentenceParts) {
    this.#parts = parts;
  }

  async *speak(
    text: string | AsyncIterable<string>,
    manner: SpeakingManner,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenSentenceSound, void, undefined> {
    const controller = new AbortController();
    const reading = new Reading(this.#parts, text, manner, AbortSignal.any([signal, controller.signal]));
    try {
      let next = reading.open();
      for (let sentence = await next; sentence !== undefined; sentence = await next) {
        refuseAborted(signal);
        reading.handedOver(sentence);
        next = reading.open();
        next.catch(() => undefined); // told when its turn comes
        yield sentence;
        reading.leave(sentence);
      }
    } finally {
      controller.abort(GIVEN_UP);
      reading.close();
    }
  }
}

/** One text on its way through. */
class Reading {
  readonly #parts: SentenceParts;
  readonly #manner: SpeakingManner;
  readonly #signal: AbortSignal;
  readonly #sentences: AsyncIterator<SpokenSentence, void>;
  readonly #listener: Listener;
  /** Opened and not left; the signal cancels them, whoever reads them. */
  readonly #sounds = new Set<SoundSource>();
  #count = 0;

  constructor(
    parts: SentenceParts,
    text: string | AsyncIterable<string>,
    manner: SpeakingManner,
    signal: AbortSignal,
  ) {
    const { routing, limits, time = systemTime } = parts;
    this.#parts = parts;
    this.#manner = manner;
    this.#signal = signal;
    this.#listener = new Listener(time, manner.speed);
    signal.addEventListener('abort', () => this.#sounds.forEach((sound) => sound.cancel()), { once: true });
    const plan = new VoicePlan(routing, manner);
    this.#sentences =
      typeof text === 'string'
        ? inTurn(plan.whole(sentencesOf(text, limits)))
        : plan.arriving(sentencesFrom(text, { limits, time, signal, onPause: () => undefined }));
  }

  /** The next sentence once its sound has begun; undefined after the last. */
  async open(): Promise<SpokenSentenceSound | undefined> {
    refuseAborted(this.#signal);
    const { done, value: sentence } = await this.#sentences.next();
    refuseAborted(this.#signal);
    if (done === true) return undefined;
    const index = this.#count++;
    const request = this.#request(sentence, index);
    const found = this.#parts.speech.find(request);
    const sound = found === undefined ? await this.#opened(request) : wholeSound(found);
    return { index, text: sentence.text, sound };
  }

  /** From now on its listener hears it, and the next one is due after it. */
  handedOver({ text, sound }: SpokenSentenceSound): void {
    const lasted = this.#listener.hears(text);
    void sound.outcome.then((outcome) => {
      if (outcome !== undefined) lasted(outcome.durationMs);
    });
  }

  /** Nobody takes more of it. */
  leave({ sound }: SpokenSentenceSound): void {
    sound.cancel();
    this.#sounds.delete(sound);
  }

  /** Nobody reads on: the producer of the text is told. */
  close(): void {
    void this.#sentences.return?.().catch(() => undefined);
  }

  async #opened(request: CachedSpeechRequest): Promise<SoundSource> {
    const sound = await this.#parts.speech.openStream(request, this.#signal);
    this.#sounds.add(sound);
    if (!this.#signal.aborted) return sound;
    sound.cancel();
    throw givenUp();
  }

  #request({ text, voice }: SpokenSentence, index: number): CachedSpeechRequest {
    const { dueAtMs } = this.#listener;
    const manner = this.#manner;
    // What was stated is asked for again as it was; what the plan found out is stated. A voice that
    // comes with the text, or stands for one, has no name of its own.
    const name = manner.voice ?? (voice.reference === undefined ? voice.voice : undefined);
    return {
      ...manner,
      text,
      language: manner.language ?? voice.language,
      kind: 'interactive',
      ...(name === undefined ? {} : { voice: name }),
      ...(index === 0 ? {} : { leadMs: SENTENCE_PAUSE_MS }),
      ...(dueAtMs === undefined ? {} : { dueAtMs }),
    };
  }
}

async function* inTurn(
  sentences: readonly SpokenSentence[],
): AsyncGenerator<SpokenSentence, void, undefined> {
  yield* sentences;
}

function givenUp(): ParleyError {
  return new ParleyError('ABORTED', 'the text was given up');
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw givenUp();
}

/** What was rendered before, in pieces as if it were made now. */
function wholeSound({ contentType, bytes, outcome }: Sound): SoundSource {
  let left = false;
  return {
    contentType,
    outcome: Promise.resolve(outcome),
    cancel: () => void (left = true),
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
        if (left) throw givenUp();
        yield bytes.subarray(at, at + CHUNK_BYTES);
      }
    },
  };
}
