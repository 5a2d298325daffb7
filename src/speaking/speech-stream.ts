// Speech for HTTP: turns a text into the bytes of a container. It uses the same pipeline as calls, with
// another sink. Bytes wait in a bounded ring, so a client that reads slowly delays only its own pipeline.
import { ByteRing } from '../audio/pcm-ring.js';
import { asParleyError, GIVEN_UP, type ParleyError } from '../errors.js';
import type { Voice, WordTime } from '../engines/engine.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { SentencePlace, SoundOutcome, SoundSource } from './sound.js';
import { contentTypeOf } from './audio-format.js';
import type { Continuity } from './continuity.js';
import type { SpeechSegment } from './speech-segment.js';
import { replyPace } from './pace.js';
import type { RunPart, SpeechPieces } from './sentence-run.js';
import type { EncoderPool } from '../encoding/encoder-pool.js';
import { SpeechPipeline, type SpeechPipelineOptions, type EncoderOpener } from './speech-pipeline.js';
import { type TextLimits, TextTurns } from './text-source.js';
import type { SpeechRequest } from './speech-request.js';
import { systemTime, type Time } from '../time.js';
import { readPieces } from './whole-text.js';
import { placedWord } from './spoken-text.js';

const RING_BYTES = 256 * 1024; // 5 s of 24 kHz PCM: a network's stutter does not stop the engine
const CHUNK_BYTES = 16 * 1024;

/**
 * The bytes of one rendering, in order. Iterate it once; the work stops when the loop ends or with `cancel`.
 */
export class SpeechStream implements SoundSource {
  readonly contentType: string;
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #ring: ByteRing;
  readonly #controller: AbortController;
  readonly #finished: Promise<ParleyError | undefined>;

  readonly #placed: () => readonly SentencePlace[];

  constructor(
    contentType: string,
    ring: ByteRing,
    controller: AbortController,
    run: Promise<SoundOutcome>,
    placed: () => readonly SentencePlace[] = () => [],
  ) {
    this.contentType = contentType;
    this.#placed = placed;
    this.#ring = ring;
    this.#controller = controller;
    this.outcome = run.catch(() => undefined);
    this.#finished = run.then(
      () => undefined,
      (error: unknown) => asParleyError(error, 'ENGINE_FAILED'),
    );
    void this.#finished.then((error) => ring.end(error?.code ?? ''));
  }

  /** Resolves when the first bytes are ready; rejects if the speech failed before any. */
  async begun(): Promise<void> {
    await this.#ring.readable();
    const status = this.#ring.status();
    if (status !== null && status.readable > 0) return;
    const error = await this.#finished;
    this.cancel();
    if (error !== undefined) throw error;
  }

  placed(): readonly SentencePlace[] {
    return this.#placed();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    try {
      for (;;) {
        const taken = this.#ring.read(chunk);
        // A copy, because a reader that keeps a view would keep the whole buffer.
        if (taken > 0) yield chunk.slice(0, taken);
        else if (taken < 0 || this.#isDone()) break;
        else await this.#ring.readable();
      }
      const error = await this.#finished;
      if (error !== undefined) throw error;
    } finally {
      this.cancel();
    }
  }

  /** True if the ring has ended and is empty. Bytes may come between a read that found none and the end. */
  #isDone(): boolean {
    const status = this.#ring.status();
    return status === null || (status.ended && status.readable === 0);
  }

  /** Stops the work and frees it; idempotent. */
  cancel(): void {
    this.#controller.abort(GIVEN_UP);
    this.#ring.abort();
    void this.#finished.then(() => this.#ring.close());
  }
}

interface SpeechServiceOptions {
  readonly time?: Time;
  /** If absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity;
}

export class SpeechService {
  readonly #routing: SpeechRouting;
  readonly #encoders: Pick<EncoderPool, 'open'>;
  readonly #limits: TextLimits;
  readonly #time: Time;
  readonly #turns = new TextTurns();
  readonly #continuity: Continuity | undefined;

  constructor(
    routing: SpeechRouting,
    encoders: Pick<EncoderPool, 'open'>,
    limits: TextLimits,
    { time = systemTime, continuity }: SpeechServiceOptions = {},
  ) {
    this.#routing = routing;
    this.#encoders = encoders;
    this.#limits = limits;
    this.#time = time;
    this.#continuity = continuity;
  }

  voices(): Promise<readonly Voice[]> {
    return this.#routing.voices();
  }

  /**
   * Rejects with errors that come before the first byte: limits, voice, language, an engine that fails at
   * once.
   */
  async openStream(request: SpeechRequest, signal: AbortSignal): Promise<SpeechStream> {
    const reader = { routing: this.#routing, limits: this.#limits, turns: this.#turns };
    const sentences = await readPieces(request.text, request, reader, signal);
    const whole = request.delivery === 'whole';
    return await this.#open(sentences, { ...request, continuity: this.#continuity, whole }, request, signal);
  }

  /** Opens a sentence of a run as a stream of its own, with the settings of the request. */
  async openPart(part: RunPart, request: SpeechRequest, signal: AbortSignal): Promise<SpeechStream> {
    return await this.#open([part], request, request, signal);
  }

  async #open(
    pieces: SpeechPieces,
    options: SpeechPipelineOptions,
    request: SpeechRequest,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const ring = ByteRing.open(RING_BYTES);
    const { format, sampleRate: rate, speed = 1, client = '' } = request;
    const { container } = format;
    const sink = { kind: 'bytes', ring: ring.handle, container, rate, speed } as const;
    const opener: EncoderOpener = { open: (options) => this.#encoders.open(sink, options) };
    const pipeline = new SpeechPipeline(opener, replyPace(client, this.#time, request), options);
    const controller = new AbortController();
    const run = pipeline
      .run(pieces, Promise.resolve(), AbortSignal.any([signal, controller.signal]))
      .then(() => outcomeOf(pipeline, speed));
    const placed = () => placedSentences(pipeline, speed);
    const stream = new SpeechStream(contentTypeOf(container), ring, controller, run, placed);
    await stream.begun();
    return stream;
  }
}

function outcomeOf({ segments, timing, fileHeader }: SpeechPipeline, speed: number): SoundOutcome {
  const sentences = segments.map((segment) => sentencePlace(segment, speed));
  return { durationMs: sentences.at(-1)?.endMs ?? 0, sentences, timing, header: fileHeader };
}

/** The places of the sentences before the first one that is not encoded whole or has no word times yet. */
function placedSentences({ segments }: SpeechPipeline, speed: number): SentencePlace[] {
  const open = segments.findIndex(({ place, soundMs }) => place === undefined || soundMs === undefined);
  return segments.slice(0, open < 0 ? segments.length : open).map((segment) => sentencePlace(segment, speed));
}

/** Maps word times: the engine counts them from its own first sample and at its own speed. */
function sentencePlace(segment: SpeechSegment, speed: number): SentencePlace {
  const { text, spoken, place, trimmedStartMs, words, engineWords } = segment;
  const { startMs = 0, endMs = 0 } = place ?? {};
  const heard = (times: readonly WordTime[]) =>
    times.map((word) => placedWord(word, (ms) => startMs + Math.max(0, ms - trimmedStartMs) / speed));
  const said = spoken === undefined ? {} : { spoken: { text: spoken.text, words: heard(engineWords) } };
  return { text, startMs, endMs, words: heard(words), ...said };
}
