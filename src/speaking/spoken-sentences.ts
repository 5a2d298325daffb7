// Speaks a text, whole or in tokens, as one stream for each sentence. A sentence is made while the one before
// it is sent. If one generation speaks several sentences (sentence-run.ts), their streams are consecutive
// parts of its sound, and it gets each sentence as soon as its text is known.
//
//   sentence N    being sent by the reader
//   sentence N+1  opened as soon as the reader has N: it is made until its ring is full
//   sentence N+2  text
import { GIVEN_UP, ParleyError } from '../errors.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { Sound, SoundSource } from './sound.js';
import { systemTime, type Time } from '../time.js';
import type { CachedSpeech } from './cached-speech.js';
import type { Continuity } from './continuity.js';
import type { SpokenSentence } from './speech-piece.js';
import { Listener } from './pace.js';
import { RunPart, type SpeechPiece, type SpeechPieces } from './sentence-run.js';
import type { SpeechRequest, SpeechSettings } from './speech-request.js';
import { SENTENCE_PAUSE_MS } from './speech-pipeline.js';
import { type TextLimits, TextTurns } from './text-source.js';
import { arrivingSentences } from './voice-plan.js';
import { readPieces } from './whole-text.js';

export interface SpokenSentenceSound {
  /** Position in the text, from 0. */
  readonly index: number;
  readonly text: string;
  /** A whole container, which begins with the pause after the sentence before. */
  readonly sound: SoundSource;
  /** True if there is no such pause, because one generation speaks it with the sentence before. */
  readonly continues?: boolean;
}

/** Speech for the socket protocols. */
export interface SentenceSpeaker {
  /**
   * The sentences of a text in order, each as soon as its sound has begun. Throws the errors of the text, its
   * voice and its engine, TIMEOUT when tokens stop coming, and ABORTED with the signal. The work stops when
   * the loop ends.
   */
  speak(
    text: string | AsyncIterable<string>,
    settings: SpeechSettings,
    signal: AbortSignal,
  ): AsyncIterable<SpokenSentenceSound>;
}

interface SentenceParts {
  readonly speech: Pick<CachedSpeech, 'find' | 'has' | 'openStream' | 'openPart'>;
  readonly routing: SpeechRouting;
  readonly limits: TextLimits;
  readonly time?: Time;
  /** If absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity;
}

const CHUNK_BYTES = 16 * 1024; // chunk of a cached rendering; as large as those of a new one

export class SpokenSentences implements SentenceSpeaker {
  readonly #parts: SentenceParts;
  readonly #turns = new TextTurns();

  constructor(parts: SentenceParts) {
    this.#parts = parts;
  }

  async *speak(
    text: string | AsyncIterable<string>,
    settings: SpeechSettings,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenSentenceSound, void, undefined> {
    if (settings.markup === true && typeof text === 'string')
      return yield* this.#marked(text, settings, signal);
    const reader = { ...this.#parts, turns: this.#turns };
    const given = typeof text === 'string' ? await readPieces(text, settings, reader, signal) : text;
    const controller = new AbortController();
    const reading = new Reading(this.#parts, given, settings, AbortSignal.any([signal, controller.signal]));
    try {
      let next = reading.open();
      for (let sentence = await next; sentence !== undefined; sentence = await next) {
        refuseAborted(signal);
        reading.handedOver(sentence);
        next = reading.open();
        next.catch(() => undefined); // the error is thrown when the sentence's turn comes
        yield sentence;
        reading.leave(sentence);
      }
    } finally {
      controller.abort(GIVEN_UP);
      reading.close();
    }
  }

  /** Speaks an SSML document as one sound, with its pauses and changes of delivery inside. */
  async *#marked(
    text: string,
    settings: SpeechSettings,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenSentenceSound, void, undefined> {
    const request: SpeechRequest = { ...settings, text, kind: 'interactive' };
    const found = this.#parts.speech.find(request);
    const sound =
      found === undefined ? await this.#parts.speech.openStream(request, signal) : wholeSound(found);
    try {
      yield { index: 0, text, sound };
    } finally {
      sound.cancel();
    }
  }
}

/** The state of one text. */
class Reading {
  readonly #parts: SentenceParts;
  readonly #settings: SpeechSettings;
  readonly #signal: AbortSignal;
  readonly #pieces: AsyncIterator<SpeechPiece, void>;
  readonly #listener: Listener;
  /** Sounds that are open. The signal cancels them. */
  readonly #sounds = new Set<SoundSource>();
  #count = 0;

  constructor(
    parts: SentenceParts,
    text: readonly SpeechPiece[] | AsyncIterable<string>,
    settings: SpeechSettings,
    signal: AbortSignal,
  ) {
    const { time = systemTime, continuity, speech } = parts;
    this.#parts = parts;
    this.#settings = settings;
    this.#signal = signal;
    this.#listener = new Listener(time, settings.speed);
    signal.addEventListener('abort', () => this.#sounds.forEach((sound) => sound.cancel()), { once: true });
    const pieces: SpeechPieces =
      Symbol.iterator in text
        ? text
        : arrivingSentences(text, settings, parts, { time, signal, onPause: () => undefined });
    const isKept = (sentence: SpokenSentence, isFirst: boolean) =>
      speech.has(this.#request(sentence, isFirst ? undefined : SENTENCE_PAUSE_MS));
    const joined = continuity?.join(pieces, { options: settings.options, signal, isKept }) ?? pieces;
    this.#pieces = Symbol.iterator in joined ? inTurn(joined) : joined[Symbol.asyncIterator]();
  }

  /** Resolves with the next sentence once its sound has begun; with undefined after the last. */
  async open(): Promise<SpokenSentenceSound | undefined> {
    refuseAborted(this.#signal);
    const { done, value: piece } = await this.#pieces.next();
    refuseAborted(this.#signal);
    if (done === true) return undefined;
    const index = this.#count++;
    if (piece instanceof RunPart) return await this.#part(piece, index);
    if ('write' in piece) throw new TypeError('a text has no sound of its own');
    const request = this.#request(piece, index === 0 ? undefined : SENTENCE_PAUSE_MS);
    const found = this.#parts.speech.find(request);
    const sound =
      found === undefined
        ? await this.#opened(this.#parts.speech.openStream(request, this.#signal))
        : wholeSound(found);
    return { index, text: piece.text, sound };
  }

  /** Opens a sentence of a run. Only the first one has a pause before it. */
  async #part(part: RunPart, index: number): Promise<SpokenSentenceSound> {
    const { speech } = this.#parts;
    const continues = part.previous !== undefined;
    const leadMs = continues ? 0 : index === 0 ? undefined : SENTENCE_PAUSE_MS;
    const request = this.#request({ text: part.text, voice: part.run.voice }, leadMs);
    const sound = await this.#opened(speech.openPart(part, request, this.#signal));
    return { index, text: part.text, sound, continues };
  }

  /** The reader has this sentence: the next one is due when the listener will have heard it. */
  handedOver({ text, sound }: SpokenSentenceSound): void {
    const lasted = this.#listener.hears(text);
    void sound.outcome.then((outcome) => {
      if (outcome !== undefined) lasted(outcome.durationMs);
    });
  }

  /** Cancels a sentence that the reader has left. */
  leave({ sound }: SpokenSentenceSound): void {
    sound.cancel();
    this.#sounds.delete(sound);
  }

  /** Ends the source of the text. */
  close(): void {
    void this.#pieces.return?.().catch(() => undefined);
  }

  async #opened(opening: Promise<SoundSource>): Promise<SoundSource> {
    const sound = await opening;
    this.#sounds.add(sound);
    if (!this.#signal.aborted) return sound;
    sound.cancel();
    throw givenUp();
  }

  /** `leadMs` where it is not the settings' own. */
  #request({ text, voice }: SpokenSentence, leadMs: number | undefined): SpeechRequest {
    const { dueAtMs } = this.#listener;
    const settings = this.#settings;
    // Stated fields stay as they are, and the plan's voice and language are stated, too. A voice of a
    // reference has no name.
    const name = settings.voice ?? (voice.reference === undefined ? voice.voice : undefined);
    return {
      ...settings,
      text,
      language: settings.language ?? voice.language,
      kind: 'interactive',
      voice: name,
      leadMs: leadMs ?? settings.leadMs,
      dueAtMs: dueAtMs ?? settings.dueAtMs,
    };
  }
}

async function* inTurn(pieces: Iterable<SpeechPiece>): AsyncGenerator<SpeechPiece, void, undefined> {
  yield* pieces;
}

function givenUp(): ParleyError {
  return new ParleyError('ABORTED', 'the text was given up');
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw givenUp();
}

/** A stored rendering as a stream of chunks. */
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
