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
import type { EngineTiming, SpeechEnd, SpeechOptions } from '../speech/engine.js';
import type { ResolvedVoice } from '../speech/routing.js';
import { NO_TIME, type SoundTiming } from '../speech/sound.js';
import type { KeptSentence, LineFrames, SentenceManner } from './frame-cache.js';
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

/** Sound that is not made of a text. */
export interface SoundPiece {
  /** Hz. */
  readonly sampleRate: number;
  /** Writes all of it, in order; as SpeechEngine.synthesize keeps the ring. */
  write(out: PcmRing, signal: AbortSignal): Promise<SpeechEnd>;
}

export type LinePiece = SpokenSentence | SoundPiece;

export type SentenceFrames = Pick<LineFrames, 'keyOf' | 'find' | 'keep'>;

interface EncoderOptions {
  readonly trim?: TrimOptions;
}

export interface EncoderSource {
  open(sink: LineSink, options?: EncoderOptions): EncoderLine;
}

/** Where a line's sound goes. */
export interface LineOutlet {
  /** Undefined where a line may be opened now; else asked again when it has resolved. It never rejects. */
  ready?(): Promise<unknown> | undefined;
  /** Asked once, when the line's turn to push has come. */
  open(options: EncoderOptions): EncoderLine;
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
  readonly #outlet: LineOutlet;
  readonly #pace: Pace;
  readonly #manner: LineManner;
  #timing: SoundTiming = NO_TIME;
  readonly #frames: SentenceFrames | undefined;
  readonly #segments: LineSegment[] = [];
  #line: EncoderLine | undefined;
  #over = false;
  #flushed = false;
  /** The encoder was told that the text pauses, and no sentence has come since. */
  #pauseTold = false;

  /** `frames` are of the outlet's codec, where it is a call's and sentences are kept. */
  constructor(outlet: LineOutlet, pace: Pace, manner: LineManner = {}, frames?: SentenceFrames) {
    this.#outlet = outlet;
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

  /** It goes on into another sink: what is half made there is not kept. */
  moved(): void {
    if (this.begun) for (const segment of this.#segments) segment.onKept = undefined;
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
    sentences: AsyncIterable<LinePiece> | Iterable<LinePiece>,
    turn: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const giveUp = () => this.#line?.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const opened = this.#openInTurn(turn, signal);
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

  async #openInTurn(turn: Promise<void>, signal: AbortSignal): Promise<EncoderLine> {
    await turn;
    for (let busy = this.#outlet.ready?.(); busy !== undefined; busy = this.#outlet.ready?.()) await busy;
    return this.#open(signal);
  }

  #open(signal: AbortSignal): EncoderLine {
    if (signal.aborted || this.#over)
      throw new ParleyError('ABORTED', 'the speech was given up before its turn');
    const trim = this.#manner.trimSilence === false ? { trim: UNTRIMMED } : {};
    const line = this.#outlet.open(trim);
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
    sentences: AsyncIterable<LinePiece> | Iterable<LinePiece>,
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

  #speak(piece: LinePiece, opened: Promise<EncoderLine>, signal: AbortSignal): Work {
    const { options, leadMs = 0, trimSilence = true } = this.#manner;
    this.#pauseTold = false;
    const pauseBeforeMs = this.#segments.length === 0 ? leadMs : SENTENCE_PAUSE_MS;
    if ('write' in piece) return this.#render('', piece, { pauseBeforeMs }, opened, signal);
    const manner = { ...piece, options, trimSilence };
    const kept = this.#frames?.find(this.#frames.keyOf(manner));
    if (kept !== undefined) return this.#repeat(piece.text, kept, pauseBeforeMs, opened);
    const sound = this.#synthesis(piece);
    const keep = this.#frames === undefined ? {} : { manner };
    return this.#render(piece.text, sound, { pauseBeforeMs, ...keep }, opened, signal);
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

  /** What the engine makes of a sentence. */
  #synthesis({ text, voice: { engine, voice, language, reference } }: SpokenSentence): SoundPiece {
    const { options } = this.#manner;
    const request = {
      text,
      voice,
      language,
      urgency: this.#pace(this.#progress()),
      ...(options === undefined ? {} : { options }),
      ...(reference === undefined ? {} : { reference }),
    };
    const write = (out: PcmRing, signal: AbortSignal) => engine.synthesize(request, out, signal);
    return { sampleRate: engine.sampleRate(voice), write };
  }

  #render(
    text: string,
    { sampleRate: rate, write }: SoundPiece,
    { pauseBeforeMs, manner }: { readonly pauseBeforeMs: number; readonly manner?: SentenceManner },
    opened: Promise<EncoderLine>,
    signal: AbortSignal,
  ): Work {
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const segment = new LineSegment(text, ring);
    this.#segments.push(segment);
    const synthesized = write(ring, signal).then((end) => {
      segment.soundMs = (end.samples * 1000) / rate;
      segment.words = end.words;
      this.#took(end.timing);
    });
    if (manner !== undefined) this.#keepOf(segment, manner, synthesized);
    const encoded = opened
      .then((line) => line.segment({ ring: ring.handle, rate, pauseBeforeMs, keep: manner !== undefined }))
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
  #keepOf(segment: LineSegment, manner: SentenceManner, synthesized: Promise<void>): void {
    segment.onKept = (frames) => {
      const keep = () => {
        const { soundMs = 0, words } = segment;
        this.#frames?.keep(this.#frames.keyOf(manner), { frames, soundMs, words });
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
