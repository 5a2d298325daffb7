// Sentences to a sink: each is synthesised into a ring of its own while the one
// before it is encoded and the one before that plays.
//
//   sentence N+1 ──▶ engine ──▶ ring ─┐
//   sentence N   ────────────▶ ring ──┴─▶ encoder line ──▶ playout of a call, or bytes of a container
//
// At most two rings live at once. The line keeps a record of each sentence's
// place in the sound: what was spoken of it is computed from that.
import { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { EncoderLine, LineSink } from '../rtp/encoder-line.js';
import type { TrimOptions } from '../audio/trimmer.js';
import type { EngineTiming, SpeechOptions, WordTime } from '../speech/engine.js';
import type { ResolvedVoice } from '../speech/routing.js';
import { NO_TIME, type SoundTiming } from '../speech/sound.js';
import type { LineProgress, Pace } from './pace.js';
import type { SpokenSegment } from './spoken-text.js';

// Two seconds: an engine that delivers a sentence at once is not held up by
// the next ring, and an interrupted sentence costs no more than this.
const RING_SECONDS = 2;
const LIVE_RINGS = 2;

// Heard between two sentences; their own leading and trailing silence is cut.
export const SENTENCE_PAUSE_MS = 160;

export interface SpokenSentence {
  readonly text: string;
  readonly voice: ResolvedVoice;
}

export interface EncoderSource {
  open(sink: LineSink, options?: { readonly trim?: TrimOptions }): EncoderLine;
}

/** What a line does differently. */
export interface LineManner {
  readonly options?: SpeechOptions;
  /** False: the silence around each sentence stays. */
  readonly trimSilence?: boolean;
  /** Silence before the first sound. */
  readonly leadMs?: number;
}

const UNTRIMMED: TrimOptions = { thresholdDb: -Infinity };

/** A sentence whose place in the sound of its line is known once it is encoded. */
export interface PlacedSegment extends SpokenSegment {
  readonly place: { readonly startMs: number; readonly endMs: number } | undefined;
}

/** One sentence's place in the sound, filled in while it is made. */
class Segment implements PlacedSegment {
  readonly text: string;
  firstFrame: number | undefined;
  frames: number | undefined;
  soundMs: number | undefined;
  trimmedStartMs = 0;
  words: readonly WordTime[] = [];
  /** When its first payload was queued, in milliseconds of the monotonic clock. */
  queuedAtMs: number | undefined;
  /** Its place in the sound of the line, in milliseconds; undefined until it is encoded whole. */
  place: { readonly startMs: number; readonly endMs: number } | undefined;
  readonly #ring: PcmRing;

  constructor(text: string, ring: PcmRing) {
    this.text = text;
    this.#ring = ring;
  }

  get madeMs(): number {
    return this.soundMs ?? ((this.#ring.status()?.written ?? 0) * 1000) / this.#ring.rate;
  }

  /** Made and not yet taken by the encoder. */
  get waitingMs(): number {
    return ((this.#ring.status()?.readable ?? 0) * 1000) / this.#ring.rate;
  }
}

export class SpeechLine {
  readonly #encoders: EncoderSource;
  readonly #sink: () => LineSink;
  readonly #pace: Pace;
  readonly #manner: LineManner;
  #timing: SoundTiming = NO_TIME;
  readonly #segments: Segment[] = [];
  #line: EncoderLine | undefined;
  #over = false;
  #flushed = false;
  /** The encoder was told that the text pauses, and no sentence has come since. */
  #pauseTold = false;

  /** `sink` is asked once, when the line's turn to push has come. */
  constructor(encoders: EncoderSource, sink: () => LineSink, pace: Pace, manner: LineManner = {}) {
    this.#encoders = encoders;
    this.#sink = sink;
    this.#pace = pace;
    this.#manner = manner;
  }

  get segments(): readonly PlacedSegment[] {
    return this.#segments;
  }

  /** What it took; that of the encoder is known when `run` has resolved. */
  get timing(): SoundTiming {
    return { ...this.#timing, encodeMs: this.#line?.workMs ?? 0 };
  }

  /** Whether its turn has come: before it nothing is in the sink. */
  get begun(): boolean {
    return this.#line !== undefined;
  }

  /** Whether the sink was told the end: a playout then reports when it is reached. */
  get flushed(): boolean {
    return this.#flushed;
  }

  /** When the first payload of the first sentence was queued. */
  get queuedAtMs(): number | undefined {
    return this.#segments[0]?.queuedAtMs;
  }

  /** The text's producer has nothing more for now: what was made of it is handed over to the last sample. */
  textPauses(): void {
    if (this.#pauseTold || this.#over) return;
    this.#pauseTold = true;
    this.#line?.rest();
  }

  /**
   * Speaks the sentences in order into the sink, pushing nothing before `turn` has resolved. Resolves when the
   * sink has taken everything; after a failure, when it has taken what came before it. Rejects with the
   * engine's or encoder's error, or ABORTED with the signal.
   */
  async run(
    sentences: AsyncIterable<SpokenSentence> | Iterable<SpokenSentence>,
    turn: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const giveUp = () => this.#line?.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const opened = turn.then(() => this.#open(signal));
    opened.catch(() => undefined);
    try {
      await this.#pipeline(sentences, opened, signal);
    } catch (error) {
      await this.#endEarly(signal);
      throw asParleyError(error, 'ENGINE_FAILED');
    } finally {
      this.#over = true;
      signal.removeEventListener('abort', giveUp);
    }
  }

  #open(signal: AbortSignal): EncoderLine {
    if (signal.aborted || this.#over)
      throw new ParleyError('ABORTED', 'the speech was given up before its turn');
    const trim = this.#manner.trimSilence === false ? { trim: UNTRIMMED } : {};
    const line = this.#encoders.open(this.#sink(), trim);
    line.onSegmentStarted = (index, firstFrame, trimmedStartMs, queuedAtMs) => {
      const segment = this.#segments[index];
      if (segment !== undefined) Object.assign(segment, { firstFrame, trimmedStartMs, queuedAtMs });
    };
    this.#line = line;
    if (this.#pauseTold) line.rest();
    return line;
  }

  async #pipeline(
    sentences: AsyncIterable<SpokenSentence> | Iterable<SpokenSentence>,
    opened: Promise<EncoderLine>,
    signal: AbortSignal,
  ): Promise<void> {
    let encoding: Promise<void> = Promise.resolve();
    try {
      for await (const sentence of sentences) {
        const before = encoding;
        const work = this.#speak(sentence, opened, signal);
        encoding = work.encoded;
        await Promise.all([work.synthesized, before]);
      }
    } catch (error) {
      // What was made before the failure is still heard. Where the encoder is
      // the cause, the engine only saw its ring aborted.
      const cause: unknown = await encoding.then(
        () => error,
        (encoderError: unknown) => (isAborted(error) ? encoderError : error),
      );
      throw cause;
    }
    await encoding;
    await this.#end(await opened);
  }

  #speak(sentence: SpokenSentence, opened: Promise<EncoderLine>, signal: AbortSignal) {
    const { engine, voice, language, reference } = sentence.voice;
    const { options, leadMs = 0 } = this.#manner;
    this.#pauseTold = false;
    const urgency = this.#pace(this.#progress());
    const rate = engine.sampleRate(voice);
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const segment = new Segment(sentence.text, ring);
    const pauseBeforeMs = this.#segments.length === 0 ? leadMs : SENTENCE_PAUSE_MS;
    this.#segments.push(segment);
    const synthesized = engine
      .synthesize(
        {
          text: sentence.text,
          voice,
          language,
          urgency,
          ...(options === undefined ? {} : { options }),
          ...(reference === undefined ? {} : { reference }),
        },
        ring,
        signal,
      )
      .then((end) => {
        segment.soundMs = (end.samples * 1000) / rate;
        segment.words = end.words;
        this.#took(end.timing);
      });
    const encoded = opened
      .then((line) => line.segment({ ring: ring.handle, rate, pauseBeforeMs }))
      .then((done) => {
        segment.firstFrame = done.firstFrame;
        segment.frames = done.frames;
        segment.trimmedStartMs = done.trimmedStartMs;
        segment.place = { startMs: done.startMs, endMs: done.endMs };
      })
      .catch((error: unknown) => {
        ring.abort();
        throw error;
      });
    encoded.catch(() => undefined);
    void Promise.allSettled([synthesized, encoded]).then(() => ring.close());
    return { synthesized, encoded };
  }

  #took(timing: EngineTiming | undefined): void {
    if (timing === undefined) return;
    const { queueMs, loadMs, inferMs } = this.#timing;
    this.#timing = {
      ...this.#timing,
      queueMs: queueMs + timing.queueMs,
      loadMs: loadMs + timing.loadMs,
      inferMs: inferMs + timing.inferMs,
    };
  }

  #progress(): LineProgress {
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return {
      begun: this.#segments.length > 0,
      madeMs: sum(this.#segments.map(({ madeMs }) => madeMs)),
      waitingMs: sum(this.#segments.slice(-LIVE_RINGS).map(({ waitingMs }) => waitingMs)),
      queuedAtMs: this.queuedAtMs,
    };
  }

  async #end(line: EncoderLine): Promise<void> {
    await line.end();
    this.#flushed = true;
  }

  /** After a failure: flushes what was queued, or drops the line where even that is impossible. */
  async #endEarly(signal: AbortSignal): Promise<void> {
    const line = this.#line;
    if (line === undefined) return;
    if (!signal.aborted) {
      try {
        return await this.#end(line);
      } catch {
        // The encoder itself is gone: nothing is left to flush.
      }
    }
    line.abort();
  }
}
