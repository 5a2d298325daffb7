// Makes text of a whole sound: decodes it, lets the recogniser read it piece by piece, and times the words of
// each piece: by the aligner, or by sharing the text out over the speech of the piece. Pieces are told in
// order, each as soon as it is known.
import { PcmRing } from '../audio/pcm-ring.js';
import type { Urgency } from '../engines/engine.js';
import type {
  Aligner,
  RecognisedText,
  Recogniser,
  SpeechFinder,
  SpeechStretch,
} from '../engines/recogniser.js';
import type { Scheduler } from '../engines/scheduler.js';
import { asParleyError, ParleyError } from '../errors.js';
import { ReplayBuffer } from './replay-buffer.js';
import type { DecodedSound } from './decoded-sound.js';
import type { SoundDecoders } from './sound-decoders.js';
import { placeWords, shareTime, type TimedText } from './timed-text.js';

export interface TranscriptionRequest {
  /** The bytes of a sound file, read no faster than they are recognised. */
  readonly upload: AsyncIterable<Uint8Array>;
  /** One channel of a mono or stereo file, from 0; absent: all channels are averaged. */
  readonly channel?: number | undefined;
  /** BCP 47 tag; absent: it is found. */
  readonly language?: string | undefined;
  readonly context?: string | undefined;
  /**
   * `aligned`: by the aligner, where there is one. `shared`: the speech of a piece, shared out by length.
   */
  readonly times: 'aligned' | 'shared';
  /** False: nobody reads the times, so that no speech is looked for to share them. */
  readonly isTimed?: boolean | undefined;
  /** About the seconds of a piece; by default it follows from `times`. */
  readonly pieceSeconds?: number | undefined;
  readonly urgency: Urgency;
  /** A place of `enter`, which the caller gives back; absent: one is taken for this request. */
  readonly place?: TranscriptionPlace | undefined;
}

/** A place in the queue, for one sound or for several in a row. */
export interface TranscriptionPlace {
  /** Milliseconds that it was waited for. */
  readonly queuedMs: number;
  release(): void;
}

export interface TranscribedPiece extends TimedText {
  /** BCP 47 tag; undefined if none was found. */
  readonly language: string | undefined;
  /** The times are the aligner's. */
  readonly isAligned: boolean;
  /** The words as they were heard; absent where the text has them. */
  readonly heard?: TimedText;
}

export interface TranscriptionEnd {
  /** Length of the sound. */
  readonly seconds: number;
  /** Of a request with a channel: 1 if the file is mono, or if both are the same. Else undefined. */
  readonly channels?: number | undefined;
  /** Milliseconds that the request waited for its turn. */
  readonly queuedMs: number;
  /** Milliseconds from its turn to the first text; undefined if there was none. */
  readonly firstTextMs: number | undefined;
  /** Milliseconds from its turn to the end. */
  readonly workMs: number;
}

interface TranscriberParts {
  readonly recogniser: Recogniser;
  readonly aligner: Aligner | undefined;
  readonly decoders: SoundDecoders;
  readonly queue: Scheduler;
  readonly now: () => number;
  /** Longer sounds are refused. */
  readonly maxSeconds: number;
  /** Absent: every sound counts as speech. */
  readonly speech?: SpeechFinder | undefined;
  /** An alignment failed; the piece has shared times. */
  readonly onUnaligned?: (error: ParleyError) => void;
  /** The speech of a piece was not found; its words share the time of all of it. */
  readonly onSpeechUnknown?: (error: ParleyError) => void;
}

/** The refusal of a server without a recogniser; it tells operators what to set. */
export const NO_RECOGNISER =
  'this server recognises no speech: its operator must set ASR_MODEL_ID or ASR_BASE_URL';

/** The longest background of a speech that a client may give; lengths in characters. */
export const CONTEXT_LIMITS = { prompt: 4096, keywords: 200, keyword: 100 } as const;

/** Shared times are the more exact the shorter the pieces are. */
const PIECE_SECONDS = { aligned: 60, shared: 20 } as const;
/** Failed searches for speech, each of up to 20 s, after which the rest of a sound is not searched. */
const MOST_FAILED_SEARCHES = 3;

export class Transcriber {
  readonly #parts: TranscriberParts;

  constructor(parts: TranscriberParts) {
    this.#parts = parts;
  }

  /** Its name, and the languages that it knows. */
  get recogniser(): Pick<Recogniser, 'name' | 'languages'> {
    return this.#parts.recogniser;
  }

  /** The recogniser has no use for a prompt and keywords. */
  get ignoresContext(): boolean {
    return this.#parts.recogniser.ignoresContext === true;
  }

  /** BCP 47 primary tags of the languages that the aligner knows. */
  get alignedLanguages(): readonly string[] {
    return this.#parts.aligner?.languages ?? [];
  }

  /** The aligner can be used. */
  get canAlign(): boolean {
    return this.#parts.aligner?.usable === true;
  }

  /** Sounds that wait for their turn. */
  get waiting(): number {
    return this.#parts.queue.waiting;
  }

  /** Sounds that are being transcribed. */
  get active(): number {
    return this.#parts.queue.active;
  }

  /** Rejects with the refusal of the queue, or ABORTED. */
  async enter(signal: AbortSignal, urgency: Urgency): Promise<TranscriptionPlace> {
    const { queue, now } = this.#parts;
    const came = now();
    const release = await queue.enter(signal, urgency);
    return { queuedMs: now() - came, release };
  }

  /**
   * Resolves when every piece was told. Rejects with what is wrong with the sound, the refusal of the queue,
   * ENGINE_… of the recogniser, or ABORTED.
   */
  async transcribe(
    request: TranscriptionRequest,
    signal: AbortSignal,
    onPiece: (piece: TranscribedPiece) => void,
  ): Promise<TranscriptionEnd> {
    const { decoders, now } = this.#parts;
    const own = request.place === undefined ? await this.enter(signal, request.urgency) : undefined;
    const queuedMs = own?.queuedMs ?? 0;
    const began = now();
    let firstTextMs: number | undefined;
    const take = (piece: TranscribedPiece) => {
      if (piece.text !== '') firstTextMs ??= now() - began;
      onPiece(piece);
    };
    // Ends the decoder, the recogniser and the aligner.
    const given = new AbortController();
    const giveUp = () => given.abort();
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const { recogniser, speech } = this.#parts;
      const aligner = request.times === 'aligned' && this.canAlign ? this.#parts.aligner : undefined;
      const isSearched = request.isTimed !== false && speech !== undefined && recogniser.needsSpeech !== true;
      const isKept = aligner !== undefined || isSearched;
      const sound = await decoders.open(request.upload, given.signal, isKept, request.channel);
      const run = new Transcribing(this.#parts, request, {
        sound,
        aligner,
        given: given.signal,
        onPiece: take,
      });
      try {
        const seconds = await run.finish();
        const channels = sound.channels();
        return { seconds, channels, queuedMs, firstTextMs, workMs: now() - began };
      } finally {
        giveUp();
        await run.close();
      }
    } finally {
      signal.removeEventListener('abort', giveUp);
      own?.release();
    }
  }
}

interface Run {
  readonly sound: DecodedSound;
  readonly aligner: Aligner | undefined;
  readonly given: AbortSignal;
  readonly onPiece: (piece: TranscribedPiece) => void;
}

class Transcribing {
  readonly #parts: TranscriberParts;
  readonly #request: TranscriptionRequest;
  readonly #run: Run;
  readonly #kept: ReplayBuffer | undefined;
  #failedSearches = 0;
  #told: Promise<void> = Promise.resolve();
  #fail: (error: unknown) => void = () => undefined;
  readonly #failed: Promise<never>;

  constructor(parts: TranscriberParts, request: TranscriptionRequest, run: Run) {
    this.#parts = parts;
    this.#request = request;
    this.#run = run;
    this.#kept = run.sound.copy === undefined ? undefined : new ReplayBuffer(run.sound.copy);
    this.#failed = new Promise((_, reject) => (this.#fail = reject));
    this.#failed.catch(() => undefined); // `finish` awaits it
  }

  /** Returns the seconds of the sound. */
  async finish(): Promise<number> {
    const { given, sound } = this.#run;
    const { ring, done } = sound;
    const { language, context, times, pieceSeconds = PIECE_SECONDS[times] } = this.#request;
    const giveUp = () => this.#fail(new ParleyError('ABORTED', 'the transcription was given up'));
    given.addEventListener('abort', giveUp, { once: true });
    if (given.aborted) giveUp();
    const { recogniser, speech } = this.#parts;
    const session = recogniser.open(
      {
        use: 'file',
        language,
        context,
        sampleRate: ring.rate,
        pieceSeconds,
        speech: recogniser.needsSpeech === true ? speech : undefined,
      },
      { final: (text) => this.#take(text) },
    );
    given.addEventListener('abort', () => session.close(), { once: true });
    session.push(ring);
    await Promise.race([session.ended.catch((error: unknown) => this.#whyEnded(error)), this.#failed]);
    await done;
    await Promise.race([this.#told, this.#failed]);
    return (ring.status()?.written ?? 0) / ring.rate;
  }

  /** Closes the rings, after the decoder has ended. */
  async close(): Promise<void> {
    const { ring, copy, done } = this.#run.sound;
    ring.abort();
    copy?.abort();
    await done.catch(() => undefined);
    ring.close();
    copy?.close();
  }

  /** Throws: what is wrong with the file says more than what that did to the recogniser. */
  async #whyEnded(error: unknown): Promise<never> {
    this.#run.sound.ring.abort(); // nobody reads it any more
    this.#run.sound.copy?.abort();
    const reason = await this.#run.sound.done.then(
      () => undefined,
      (why: unknown) => why,
    );
    throw reason instanceof ParleyError && reason.code !== 'ABORTED' ? reason : error;
  }

  #take(recognised: RecognisedText): undefined {
    const { maxSeconds } = this.#parts;
    if (recognised.endSeconds > maxSeconds) {
      const message = `the sound is longer than ${maxSeconds} s, which is what MAX_TRANSCRIPTION_SECONDS allows`;
      this.#fail(new ParleyError('TOO_LARGE', message, { field: 'file' }));
      return undefined;
    }
    // One piece is aligned while the next is recognised. The sound of later ones waits where it is bounded.
    this.#told = this.#told.then(async () => this.#run.onPiece(await this.#timed(recognised)));
    this.#told.catch((error: unknown) => this.#fail(error));
    return undefined;
  }

  async #timed({
    text,
    language,
    beginSeconds,
    endSeconds,
    speech,
  }: RecognisedText): Promise<TranscribedPiece> {
    const piece = { text, language, beginSeconds, endSeconds };
    const samples = await this.#kept?.take(beginSeconds, endSeconds); // also of silence, which is dropped so
    if (text === '') return { ...piece, words: [], isAligned: false };
    const { aligner } = this.#run;
    if (aligner !== undefined && samples !== undefined) {
      try {
        const words = await this.#align(aligner, samples, piece);
        if (words !== undefined) return { ...piece, words, isAligned: true };
      } catch (error) {
        if (this.#run.given.aborted) throw error;
        this.#parts.onUnaligned?.(asParleyError(error, 'ENGINE_FAILED'));
      }
    }
    const stretches = speech ?? (await this.#speechIn(samples, beginSeconds));
    return { ...piece, words: shareTime(text, beginSeconds, endSeconds, stretches), isAligned: false };
  }

  /** The speech of a piece, in seconds of the sound; undefined if it is not known. */
  async #speechIn(
    samples: Float32Array | undefined,
    beginSeconds: number,
  ): Promise<SpeechStretch[] | undefined> {
    if (samples === undefined || this.#failedSearches >= MOST_FAILED_SEARCHES) return undefined;
    const { given, sound } = this.#run;
    try {
      const found = await this.#parts.speech?.find(samples, sound.ring.rate, given);
      return found?.map((one) => ({
        beginSeconds: beginSeconds + one.beginSeconds,
        endSeconds: beginSeconds + one.endSeconds,
      }));
    } catch (error) {
      if (given.aborted) throw error;
      this.#failedSearches++;
      this.#parts.onSpeechUnknown?.(asParleyError(error, 'HEARING_FAILED'));
      return undefined;
    }
  }

  async #align(
    aligner: Aligner,
    samples: Float32Array,
    piece: Pick<RecognisedText, 'text' | 'language' | 'beginSeconds' | 'endSeconds'>,
  ) {
    const { text, language, beginSeconds, endSeconds } = piece;
    const { rate } = this.#run.sound.ring;
    const ring = PcmRing.open(rate, Math.max(1, samples.length));
    try {
      ring.write(samples);
      ring.end();
      const aligned = await aligner.align({ text, language, sampleRate: rate }, ring, this.#run.given);
      // The aligner's last time may lie up to 80 ms behind the sound.
      const at = (seconds: number) => Math.min(beginSeconds + seconds, endSeconds);
      return placeWords(text, aligned)?.map((word) => ({
        ...word,
        beginSeconds: at(word.beginSeconds),
        endSeconds: at(word.endSeconds),
      }));
    } finally {
      ring.close();
    }
  }
}
