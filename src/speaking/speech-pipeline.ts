// Speaks sentences into a sink. Each one is synthesised into a ring of its own while the one before it is
// encoded and the one before that plays.
//
//   sentence N+1 ──▶ engine ──▶ ring ─┐
//   sentence N   ────────────▶ ring ──┴─▶ encoder session ──▶ playout of a call, or bytes of a container
//
// A sentence with cached payloads (frame-cache.ts) goes to the encoder session at once, without engine and
// ring.
//
// Sentences of a run (sentence-run.ts) share a ring, without a pause between them, and the pipeline does not
// wait for the engine between them.
//
// At most two rings live at once. The pipeline records the place of each sentence in the sound, from which
// the text that was spoken is computed.
import { PcmRing } from '../audio/pcm-ring.js';
import { SPEEDS } from '../audio/time-stretch.js';
import type { TrimOptions } from '../audio/trimmer.js';
import type { FileHeader } from '../codecs/container.js';
import type { EncoderSession } from '../encoding/encoder-session.js';
import type { EncoderOptions } from '../encoding/encoder-pool.js';
import type { EngineTiming, SpeechEnd } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Continuity } from './continuity.js';
import type { KeptSentence, SentenceSettings } from './frame-cache.js';
import {
  type Delivery,
  type SoundPiece,
  type SpokenSentence,
  wordsOf,
  type WrittenSentence,
} from './speech-piece.js';
import { SpeechSegment, ringSound } from './speech-segment.js';
import type { Pace } from './pace.js';
import type { SpeechSettings } from './speech-request.js';
import { RING_SECONDS, RunPart, synthesisOf, type SpeechPiece, type SpeechPieces } from './sentence-run.js';
import { NO_TIME, type SoundTiming } from './sound.js';

const LIVE_RINGS = 2;

// Silence between two sentences, whose own leading and trailing silence is cut.
export const SENTENCE_PAUSE_MS = 160;
/** The same between the first clause of a sentence and its rest. */
const CLAUSE_PAUSE_MS = 80;

/** A sentence of the cache. */
export interface FoundSentence {
  readonly kept: KeptSentence;
  /** Its payloads have other settings than the encoder session: they are decoded and encoded again. */
  readonly reencode: boolean;
}

/** The view that one pipeline has of the cache of sentences. */
export interface SentenceFrames {
  /** True if `find` would find it. It does not count as a use. */
  has(sentence: SentenceSettings): boolean;
  find(sentence: SentenceSettings): FoundSentence | undefined;
  /**
   * Called when the payloads of a sentence have been reported. Returns a function that keeps it under the
   * settings that the encoder session has now.
   */
  keeper(sentence: SentenceSettings): (kept: KeptSentence) => void;
}

/** Opens the encoder session of a pipeline. */
export interface EncoderOpener {
  /**
   * Undefined if a session may be opened now; otherwise the pipeline waits for it and calls again. It never
   * rejects.
   */
  ready?(): Promise<unknown> | undefined;
  /** Called once, when the turn of the pipeline to push has come. */
  open(options: EncoderOptions): EncoderSession;
}

/** Options of a pipeline. */
export interface SpeechPipelineOptions extends SpeechTempo, Pick<SpeechSettings, 'options' | 'trimSilence'> {
  /** Joins sentences into runs; if absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity | undefined;
  /** The sound is taken whole, once all of it is made. */
  readonly whole?: boolean | undefined;
}

interface RenderOptions {
  readonly pauseBeforeMs: number;
  /** Absent if the sound is not cached. */
  readonly settings?: SentenceSettings | undefined;
  readonly reportPauses?: boolean;
}

const UNTRIMMED: TrimOptions = { thresholdDb: -Infinity };

/** The progress of one sentence. */
interface Work {
  /** Resolves when the engine has made all of it. */
  readonly synthesized: Promise<void>;
  /** Resolves when the sink has taken all of it. */
  readonly encoded: Promise<void>;
}

export class SpeechPipeline {
  readonly #opener: EncoderOpener;
  readonly #pace: Pace;
  readonly #options: SpeechPipelineOptions;
  #timing: SoundTiming = NO_TIME;
  readonly #frames: SentenceFrames | undefined;
  readonly #segments: SpeechSegment[] = [];
  #session: EncoderSession | undefined;
  #over = false;
  #flushed = false;
  #failure: ParleyError | undefined;
  /** True if the encoder knows that the text pauses, and no sentence has come since. */
  #textPaused = false;

  /** `frames` is the cache for the codec of the encoder session, if that is a call's. */
  constructor(
    opener: EncoderOpener,
    pace: Pace,
    options: SpeechPipelineOptions = {},
    frames?: SentenceFrames,
  ) {
    this.#opener = opener;
    this.#pace = pace;
    this.#options = options;
    this.#frames = frames;
  }

  get segments(): readonly SpeechSegment[] {
    return this.#segments;
  }

  /** Milliseconds of work. The encoder's part is known when `run` has resolved. */
  get timing(): SoundTiming {
    return { ...this.#timing, encodeMs: this.#session?.workMs ?? 0 };
  }

  /** Header of a container, see EncoderSession. Known when `run` has resolved. */
  get fileHeader(): FileHeader | undefined {
    return this.#session?.fileHeader;
  }

  /** True once its turn has come. Before that nothing is in the sink. */
  get begun(): boolean {
    return this.#session !== undefined;
  }

  /** True once the sink knows the end. A playout then reports when it is reached. */
  get flushed(): boolean {
    return this.#flushed;
  }

  /**
   * The error with which `run` rejects after the sink has taken the sound before it. The sink may report its
   * end first.
   */
  get failure(): ParleyError | undefined {
    return this.#failure;
  }

  /** Time at which the first payload of the first sentence was queued. */
  get queuedAtMs(): number | undefined {
    return this.#segments[0]?.queuedAtMs;
  }

  /** The pipeline goes on into another sink: payloads of unfinished sentences are not cached. */
  moved(): void {
    if (this.begun) for (const segment of this.#segments) segment.onKept = undefined;
  }

  /** The producer of the text pauses: all sound made so far is handed over to the last sample. */
  textPauses(): void {
    if (this.#textPaused || this.#over) return;
    this.#textPaused = true;
    this.#session?.pauseInput();
  }

  /**
   * Speaks the sentences in order into the sink, and pushes nothing before `turn` has resolved. Settles when
   * the sink has taken everything that was made. Rejects with the error of the engine or encoder, or ABORTED
   * with the signal.
   */
  async run(sentences: SpeechPieces, turn: Promise<void>, signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#session?.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    const opened = this.#openInTurn(turn, signal);
    opened.catch(() => undefined);
    try {
      await this.#speakPieces(this.#joined(sentences, signal), opened, signal);
    } catch (error) {
      this.#failure = asParleyError(error, 'ENGINE_FAILED');
      await this.#endEarly(signal);
      throw this.#failure;
    } finally {
      this.#over = true;
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #openInTurn(turn: Promise<void>, signal: AbortSignal): Promise<EncoderSession> {
    await turn;
    for (let busy = this.#opener.ready?.(); busy !== undefined; busy = this.#opener.ready?.()) await busy;
    return this.#open(signal);
  }

  #open(signal: AbortSignal): EncoderSession {
    if (signal.aborted || this.#over)
      throw new ParleyError('ABORTED', 'the speech was given up before its turn');
    const trim = this.#options.trimSilence === false ? { trim: UNTRIMMED } : {};
    const session = this.#opener.open(trim);
    session.onSegmentStarted = (index, firstFrame, trimmedStartMs, queuedAtMs) => {
      const segment = this.#segments[index];
      if (segment !== undefined) Object.assign(segment, { firstFrame, trimmedStartMs, queuedAtMs });
    };
    session.onSegmentPause = ({ index, ...pause }) => this.#segments[index]?.paused(pause);
    session.onSegmentKept = (index, frames) => this.#segments[index]?.onKept?.(frames);
    this.#session = session;
    if (this.#textPaused) session.pauseInput();
    return session;
  }

  #joined(pieces: SpeechPieces, signal: AbortSignal): SpeechPieces {
    const { continuity, options } = this.#options;
    const isKept = (sentence: SpokenSentence) => this.#frames?.has(this.#settingsOf(sentence)) === true;
    const onRead = () => void (this.#textPaused = false);
    return continuity?.join(pieces, { options, signal, isKept, onRead }) ?? pieces;
  }

  async #speakPieces(
    pieces: SpeechPieces,
    opened: Promise<EncoderSession>,
    signal: AbortSignal,
  ): Promise<void> {
    let encoding: Promise<void> = Promise.resolve();
    /** Resolves when the next sentence or run may be made. */
    let made: Promise<unknown> = encoding;
    let last: SpeechPiece | undefined;
    try {
      for await (const piece of pieces) {
        last = piece;
        const before = encoding;
        const continues = piece instanceof RunPart && piece.previous !== undefined;
        if (!continues) await made;
        const work = this.#speak(piece, opened, signal);
        encoding = work.encoded;
        if (continues) continue;
        made = Promise.all([work.synthesized, before]);
        made.catch(() => undefined);
        if (!(piece instanceof RunPart)) await made;
      }
      // If the run goes on in another pipeline, its sound ends only when that pipeline reads.
      if (!(last instanceof RunPart) || last.endsRun) await made;
    } catch (error) {
      // Sound from before the failure is still heard. If the encoder failed, the engine only saw its ring
      // aborted.
      const cause: unknown = await encoding.then(
        () => error,
        (encoderError: unknown) => (isAborted(error) ? encoderError : error),
      );
      throw cause;
    }
    await encoding;
    await this.#end(await opened);
  }

  #speak(piece: SpeechPiece, opened: Promise<EncoderSession>, signal: AbortSignal): Work {
    const withinMs = 'continues' in piece && piece.continues ? CLAUSE_PAUSE_MS : SENTENCE_PAUSE_MS;
    const usualMs = this.#segments.length === 0 ? undefined : withinMs;
    const pauseBeforeMs = pauseBefore(piece.delivery, this.#options, usualMs);
    if (piece instanceof RunPart) return this.#sayPart(piece, pauseBeforeMs, opened);
    this.#textPaused = false;
    if ('write' in piece) {
      const { delivery } = piece;
      return this.#render({ text: '', delivery }, piece, { pauseBeforeMs }, opened, signal);
    }
    const settings = this.#settingsOf(piece);
    const found = this.#frames?.find(settings);
    if (found !== undefined) return this.#repeat(piece, found, { pauseBeforeMs, settings }, opened);
    const sound = this.#synthesis(piece);
    const toKeep = this.#frames === undefined ? undefined : settings;
    const reportPauses = reportsPauses(piece.voice);
    return this.#render(piece, sound, { pauseBeforeMs, settings: toKeep, reportPauses }, opened, signal);
  }

  #settingsOf(sentence: SpokenSentence): SentenceSettings {
    const { options, trimSilence = true } = this.#options;
    return { ...sentence, options, trimSilence };
  }

  /** Speaks one sentence of a run; the first one starts the engine. */
  #sayPart(part: RunPart, pauseBeforeMs: number, opened: Promise<EncoderSession>): Work {
    const { run, previous } = part;
    const isFirst = previous === undefined;
    run.begin(() => this.#pace(this.#progress()));
    const segment = new SpeechSegment(part, part);
    const index = this.#segments.push(segment) - 1;
    // Another pipeline speaks the sentence before. In one pipeline they are in order already.
    const turn = index > 0 || isFirst ? opened : previous.encoded.then(() => opened);
    const encoded = turn
      .then((session) => {
        part.onEndAt = (endAt) => session.cut(index, endAt);
        const encoding = session.segment({
          ring: run.ring.handle,
          rate: run.rate,
          pauseBeforeMs: isFirst ? pauseBeforeMs : 0,
          part: { first: isFirst, endAt: part.endAt },
          reportPauses: reportsPauses(run.voice),
        });
        // The part was read ahead, and the text has paused since.
        if (this.#textPaused && run.open) session.pauseInput();
        return encoding;
      })
      .then((place) => {
        part.done(place);
        segment.encoded(place);
      })
      .catch((error: unknown) => {
        part.failed(error);
        throw error;
      });
    encoded.catch(() => undefined);
    const synthesized = run.synthesized.then(({ timing }) => {
      if (isFirst) this.#took(timing);
    });
    synthesized.catch(() => undefined);
    return { synthesized, encoded };
  }

  /** Speaks a sentence from the cache. */
  #repeat(
    sentence: WrittenSentence,
    { kept, reencode }: FoundSentence,
    { pauseBeforeMs, settings }: { readonly pauseBeforeMs: number; readonly settings: SentenceSettings },
    opened: Promise<EncoderSession>,
  ): Work {
    const segment = new SpeechSegment(
      sentence,
      undefined,
      soundingOf(sentence.delivery, this.#options).speed,
    );
    segment.made(kept.soundMs, kept.words);
    segment.madePauses = kept.pauses;
    if (reencode) segment.onKept = (frames) => this.#frames?.keeper(settings)({ ...kept, frames });
    this.#segments.push(segment);
    const again = reencode ? ({ reencode } as const) : {};
    const encoded = opened
      .then((session) => session.segment({ kept: kept.frames, pauseBeforeMs, ...again }))
      .then((place) => segment.encoded(place));
    encoded.catch(() => undefined);
    return { synthesized: Promise.resolve(), encoded };
  }

  /** A sentence as a piece that the engine writes. */
  #synthesis(sentence: SpokenSentence): SoundPiece {
    const { engine, voice } = sentence.voice;
    const { options, whole } = this.#options;
    const urgency = this.#pace(this.#progress());
    const { hints } = sentence;
    const request = { ...synthesisOf(wordsOf(sentence), sentence.voice, options, urgency), hints, whole };
    const write: SoundPiece['write'] = (out, signal, onRendered) =>
      engine.synthesize({ ...request, onRendered }, out, signal);
    return { sampleRate: engine.sampleRate(voice), write };
  }

  #render(
    sentence: WrittenSentence,
    piece: SoundPiece,
    { pauseBeforeMs, settings, reportPauses = false }: RenderOptions,
    opened: Promise<EncoderSession>,
    signal: AbortSignal,
  ): Work {
    const { sampleRate: rate } = piece;
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const sounding = soundingOf(sentence.delivery, this.#options);
    const segment = new SpeechSegment(sentence, ringSound(ring), sounding.speed);
    this.#segments.push(segment);
    const made = ({ samples, words }: Pick<SpeechEnd, 'samples' | 'words'>) =>
      segment.made((samples * 1000) / rate, words);
    const synthesized = piece.write(ring, signal, made).then((end) => {
      made(end);
      this.#took(end.timing);
    });
    if (settings !== undefined) this.#keepOf(segment, settings, synthesized);
    const encoded = opened
      .then((session) =>
        session.segment({
          ring: ring.handle,
          rate,
          pauseBeforeMs,
          keep: settings !== undefined,
          reportPauses,
          ...sounding,
        }),
      )
      .then((place) => segment.encoded(place))
      .catch((error: unknown) => {
        ring.abort();
        throw error;
      });
    encoded.catch(() => undefined);
    void Promise.allSettled([synthesized, encoded]).then(() => ring.close());
    return { synthesized, encoded };
  }

  /** Caches the sentence once engine and encoder have both finished it. */
  #keepOf(segment: SpeechSegment, settings: SentenceSettings, synthesized: Promise<void>): void {
    segment.onKept = (frames) => {
      const keep = this.#frames?.keeper(settings);
      synthesized.then(
        () => keep?.({ frames, ...segment.asMade }),
        () => undefined,
      );
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

  #progress(): Parameters<Pace>[0] {
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    return {
      begun: this.#segments.length > 0,
      madeMs: sum(this.#segments.map(({ madeMs }) => madeMs)),
      waitingMs: sum(this.#segments.slice(-LIVE_RINGS).map(({ waitingMs }) => waitingMs)),
      queuedAtMs: this.queuedAtMs,
    };
  }

  async #end(session: EncoderSession): Promise<void> {
    await session.end();
    this.#flushed = true;
  }

  /** After a failure: flushes the queued sound, or drops the session if that fails, too. */
  async #endEarly(signal: AbortSignal): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    if (!signal.aborted) {
      try {
        return await this.#end(session);
      } catch {
        // The encoder has failed, so nothing is left to flush.
      }
    }
    session.abort();
  }
}

/** True if the times of words are estimated, for which the pauses of the sound are needed. */
function reportsPauses({ engine }: ResolvedVoice): boolean {
  return !engine.capabilities.wordTimes;
}

/** Pause and speed of a pipeline. The sink of bytes itself changes the speed. */
type SpeechTempo = Pick<SpeechSettings, 'leadMs' | 'speed'>;

/**
 * Milliseconds of silence before a piece, at the speed of the pipeline. A stated pause keeps its length at
 * any speed; the usual pause, which is absent before the first piece, changes with the speed.
 */
function pauseBefore(
  delivery: Delivery | undefined,
  { leadMs = 0, speed = 1 }: SpeechTempo,
  usualMs: number | undefined,
): number {
  const stated = delivery?.pauseBeforeMs;
  if (usualMs === undefined) return leadMs + (stated ?? 0) * speed;
  return stated === undefined ? usualMs : stated * speed;
}

/** Speed and gain of a segment. Its speed together with that of the pipeline stays within SPEEDS. */
function soundingOf(
  { speed, gain }: Delivery = {},
  { speed: own = 1 }: SpeechTempo,
): { readonly speed: number | undefined; readonly gain: number | undefined } {
  const [least, most] = SPEEDS;
  const within = speed === undefined ? undefined : Math.min(Math.max(own * speed, least), most) / own;
  return { speed: within, gain };
}
