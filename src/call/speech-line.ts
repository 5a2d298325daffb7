// Sentences to a sink: each is synthesised into a ring of its own while the one
// before it is encoded and the one before that plays.
//
//   sentence N+1 ──▶ engine ──▶ ring ─┐
//   sentence N   ────────────▶ ring ──┴─▶ encoder line ──▶ playout of a call, or bytes of a container
//
// A sentence whose payloads were kept (frame-cache.ts) goes to the encoder line
// as it is, past engine and ring.
//
// At most two rings live at once. The line keeps a record of each sentence's
// place in the sound: what was spoken of it is computed from that.
import { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { EncoderLine, LineSink } from '../rtp/encoder-line.js';
import type { TrimOptions } from '../audio/trimmer.js';
import type { EngineTiming, SpeechOptions } from '../speech/engine.js';
import type { ResolvedVoice } from '../speech/routing.js';
import { NO_TIME, type SoundTiming } from '../speech/sound.js';
import type { KeptSentence, LineFrames } from './frame-cache.js';
import { LineSegment, type PlacedSegment } from './line-segment.js';
import type { LineProgress, Pace } from './pace.js';

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

/** Of one sentence. */
interface Work {
  /** The engine has made all of it. */
  readonly synthesized: Promise<void>;
  /** The sink has taken all of it. */
  readonly encoded: Promise<void>;
}

export class SpeechLine {
  readonly #encoders: EncoderSource;
  readonly #sink: () => LineSink;
  readonly #pace: Pace;
  readonly #manner: LineManner;
  #timing: SoundTiming = NO_TIME;
  readonly #frames: LineFrames | undefined;
  readonly #segments: LineSegment[] = [];
  #line: EncoderLine | undefined;
  #over = false;
  #flushed = false;
  /** The encoder was told that the text pauses, and no sentence has come since. */
  #pauseTold = false;

  /**
   * `sink` is asked once, when the line's turn to push has come; `frames` are of its codec, where it is a call's
   * and sentences are kept.
   */
  constructor(
    encoders: EncoderSource,
    sink: () => LineSink,
    pace: Pace,
    manner: LineManner = {},
    frames?: LineFrames,
  ) {
    this.#encoders = encoders;
    this.#sink = sink;
    this.#pace = pace;
    this.#manner = manner;
    this.#frames = frames;
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
    line.onSegmentKept = (index, frames) => this.#segments[index]?.onKept?.(frames);
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

  #speak(sentence: SpokenSentence, opened: Promise<EncoderLine>, signal: AbortSignal): Work {
    const { options, leadMs = 0, trimSilence = true } = this.#manner;
    this.#pauseTold = false;
    const pauseBeforeMs = this.#segments.length === 0 ? leadMs : SENTENCE_PAUSE_MS;
    const key = this.#frames?.keyOf({ ...sentence, options, trimSilence });
    const kept = key === undefined ? undefined : this.#frames?.find(key);
    if (kept !== undefined) return this.#repeat(sentence.text, kept, pauseBeforeMs, opened);
    return this.#render(sentence, { pauseBeforeMs, key }, opened, signal);
  }

  /** Says what was said before. */
  #repeat(text: string, kept: KeptSentence, pauseBeforeMs: number, opened: Promise<EncoderLine>): Work {
    const segment = new LineSegment(text, undefined);
    segment.soundMs = kept.soundMs;
    segment.words = kept.words;
    this.#segments.push(segment);
    const encoded = opened
      .then((line) => line.segment({ kept: kept.frames, pauseBeforeMs }))
      .then((place) => segment.encoded(place));
    encoded.catch(() => undefined);
    return { synthesized: Promise.resolve(), encoded };
  }

  #render(
    { text, voice: { engine, voice, language, reference } }: SpokenSentence,
    { pauseBeforeMs, key }: { readonly pauseBeforeMs: number; readonly key: string | undefined },
    opened: Promise<EncoderLine>,
    signal: AbortSignal,
  ): Work {
    const { options } = this.#manner;
    const urgency = this.#pace(this.#progress());
    const rate = engine.sampleRate(voice);
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const segment = new LineSegment(text, ring);
    this.#segments.push(segment);
    const request = {
      text,
      voice,
      language,
      urgency,
      ...(options === undefined ? {} : { options }),
      ...(reference === undefined ? {} : { reference }),
    };
    const synthesized = engine.synthesize(request, ring, signal).then((end) => {
      segment.soundMs = (end.samples * 1000) / rate;
      segment.words = end.words;
      this.#took(end.timing);
    });
    if (key !== undefined) this.#keepOf(segment, key, synthesized);
    const encoded = opened
      .then((line) => line.segment({ ring: ring.handle, rate, pauseBeforeMs, keep: key !== undefined }))
      .then((place) => segment.encoded(place))
      .catch((error: unknown) => {
        ring.abort();
        throw error;
      });
    encoded.catch(() => undefined);
    void Promise.allSettled([synthesized, encoded]).then(() => ring.close());
    return { synthesized, encoded };
  }

  /** The sentence is kept when engine and encoder have both said that it is whole. */
  #keepOf(segment: LineSegment, key: string, synthesized: Promise<void>): void {
    segment.onKept = (frames) => {
      const keep = () => {
        const { soundMs = 0, words } = segment;
        this.#frames?.keep(key, { frames, soundMs, words });
      };
      synthesized.then(keep, () => undefined);
    };
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
