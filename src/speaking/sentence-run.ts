// A run of sentences that one generation of an engine speaks, so that the voice does not change between them.
// Their text goes in as it arrives, and their sound comes out in one ring.
//
//   text   First.   Second one.   Third …
//   ring   [ first │ second      │ third …
//
// No engine reports where in the sound a sentence ends, so the places are estimates: a sentence gets the
// share of the sound that it has of the characters. While the sound is not whole, its length is estimated
// from the voice's pace. Samples that were read as part of a sentence stay part of it.
import { PcmRing } from '../audio/pcm-ring.js';
import type { SegmentEncoded } from '../encoding/encoder-messages.js';
import type { SpeechEnd, SpeechOptions, SynthesisRequest, Urgency, WordTime } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import { asParleyError } from '../errors.js';
import { type SoundPiece, type SpokenSentence, wordsOf, type WrittenSentence } from './speech-piece.js';
import { TokenStream } from './text-source.js';
import { placedWord } from './spoken-text.js';

// An engine that delivers a sentence at once seldom waits for a ring of this size, and an interrupted
// sentence wastes no more than this.
export const RING_SECONDS = 2;

// Fewer than an encoder session takes at once, so that there is room for others.
const MOST_SENTENCES = 32;

const UNSPACED_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？｡…」』）】，、；：]$/u;

/** The request to an engine for a sentence or a run. */
export function synthesisOf(
  text: string,
  { voice, language, reference }: ResolvedVoice,
  options: SpeechOptions | undefined,
  urgency: Urgency,
): SynthesisRequest {
  return { text, voice, language, urgency, options, reference };
}

interface RunOptions {
  readonly voice: ResolvedVoice;
  readonly options: SpeechOptions | undefined;
  readonly pace: SpeechPace;
  /** Aborts all sentences of the run. */
  readonly signal: AbortSignal;
}

export class SentenceRun {
  readonly #options: RunOptions;
  readonly #parts: RunPart[] = [];
  #text = '';
  /** The text after that with which the engine began. */
  #more: TokenStream | undefined;
  #open = true;
  #wakeReader: (() => void) | undefined;
  #ring: PcmRing | undefined;
  /** Known once all of the sound is made. */
  #end: SpeechEnd | undefined;
  #resolve!: (end: SpeechEnd | Promise<SpeechEnd>) => void;
  /** Settles as the synthesis does, which begins at the turn of the first sentence. */
  readonly synthesized: Promise<SpeechEnd>;

  constructor(options: RunOptions) {
    this.#options = options;
    this.synthesized = new Promise((resolve) => (this.#resolve = resolve));
    this.synthesized.then(
      (end) => this.#made(end),
      () => this.end(),
    );
  }

  get voice(): ResolvedVoice {
    return this.#options.voice;
  }

  /** Hz. */
  get rate(): number {
    const { engine, voice } = this.voice;
    return engine.sampleRate(voice);
  }

  /** True while text may still follow. */
  get open(): boolean {
    return this.#open;
  }

  /** Number of sentences so far. */
  get size(): number {
    return this.#parts.length;
  }

  /**
   * True if this generation can speak the sentence: same voice and language, no pause of its own, and enough
   * room.
   */
  takes(sentence: SpokenSentence): boolean {
    const bytes = Buffer.byteLength(this.#text + this.#joint() + wordsOf(sentence));
    return (
      this.#open &&
      sentence.delivery?.pauseBeforeMs === undefined &&
      isSameVoice(sentence.voice, this.voice) &&
      bytes <= (this.voice.engine.mostText ?? 0) &&
      this.size < MOST_SENTENCES
    );
  }

  /** Adds the first sentence, or one for which `takes` is true. */
  add(sentence: WrittenSentence): RunPart {
    const text = this.#joint() + wordsOf(sentence);
    this.#text += text;
    const part = new RunPart(this, sentence, this.#text.length, this.#parts.at(-1));
    this.#parts.push(part);
    this.#reportEnds(); // before its sound is made
    this.#more?.push(text);
    this.#wakeReader?.();
    return part;
  }

  /** No text follows. Idempotent. */
  end(): void {
    this.#open = false;
    this.#more?.end();
    this.#wakeReader?.();
  }

  /** The sentences as they are added, for one reader. */
  async *parts(): AsyncGenerator<RunPart, void, undefined> {
    for (let next = 0; ; next++) {
      while (next >= this.size && this.#open) {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      }
      const part = this.#parts[next];
      if (part === undefined) return;
      yield part;
    }
  }

  /** Starts the engine, unless it has started. A text that is complete by then is passed as a whole. */
  begin(urgency: () => Urgency): void {
    if (this.#ring !== undefined) return;
    const { voice, options, signal } = this.#options;
    const ring = PcmRing.open(this.rate, this.rate * RING_SECONDS);
    this.#ring = ring;
    if (this.#open) this.#more = new TokenStream();
    const request = { ...synthesisOf(this.#text, voice, options, urgency()), more: this.#more };
    this.#resolve(voice.engine.synthesize(request, ring, signal));
    void this.#closeAtEnd(ring, signal);
  }

  get ring(): PcmRing {
    if (this.#ring === undefined) throw new TypeError('the run has not begun');
    return this.#ring;
  }

  /** Stops the engine, because no more of the run can be heard. */
  giveUp(): void {
    this.#ring?.abort();
  }

  /** The estimated sample of the ring at which so many characters of the text have been spoken. */
  sampleAt(characters: number): number {
    if (this.#end !== undefined) return Math.round((this.#end.samples * characters) / this.#text.length);
    return Math.round((characters * this.#options.pace.msPerCharacter * this.rate) / 1000);
  }

  isLast(part: RunPart): boolean {
    return part === this.#parts.at(-1);
  }

  /** Milliseconds of sound that no encoder has taken yet. */
  get waitingMs(): number {
    return ((this.#ring?.status()?.readable ?? 0) * 1000) / this.rate;
  }

  /**
   * Words of the whole text, timed from the first sample; undefined while the engine may still report them.
   */
  get words(): readonly WordTime[] | undefined {
    return this.#end?.words ?? (this.voice.engine.capabilities.wordTimes ? undefined : []);
  }

  #joint(): string {
    return this.#text === '' || UNSPACED_END.test(this.#text) ? '' : ' ';
  }

  #made(end: SpeechEnd): void {
    this.end();
    this.#end = end;
    this.#options.pace.spoke((end.samples * 1000) / this.rate, this.#text.length);
    this.#reportEnds();
  }

  #reportEnds(): void {
    for (const part of this.#parts) if (part.endAt !== undefined) part.onEndAt?.(part.endAt);
  }

  /** Closes the ring when all of its sound is encoded, or when the run was aborted. */
  async #closeAtEnd(ring: PcmRing, signal: AbortSignal): Promise<void> {
    await this.synthesized.catch(() => undefined);
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([Promise.allSettled(this.#parts.map(({ encoded }) => encoded)), aborted]);
    ring.close();
  }
}

/**
 * Everything that a pipeline makes sound of. A RunPart is a sentence that one generation speaks together with
 * others.
 */
export type SpeechPiece = SpokenSentence | SoundPiece | RunPart;

export type SpeechPieces = AsyncIterable<SpeechPiece> | Iterable<SpeechPiece>;

/** One sentence of a run: a piece for a pipeline. */
export class RunPart implements WrittenSentence {
  readonly run: SentenceRun;
  /** The sentence before it in the run. */
  readonly previous: RunPart | undefined;
  readonly text: string;
  readonly spoken: WrittenSentence['spoken'];
  readonly delivery: WrittenSentence['delivery'];
  readonly continues: boolean;
  /** Its beginning and end in the run's text, in UTF-16 units. */
  readonly #span: { readonly start: number; readonly end: number };
  /** Resolves when its encoder has all of it, rejects if it failed. */
  readonly encoded: Promise<void>;
  #settle!: (encoded?: Promise<never>) => void;
  /** Called with `endAt` each time a better estimate is known. */
  onEndAt: ((sample: number) => void) | undefined;
  /** Sample of the ring at which it ended. */
  #endedAt: number | undefined;

  /** Use `SentenceRun.add`. */
  constructor(run: SentenceRun, sentence: WrittenSentence, end: number, previous: RunPart | undefined) {
    this.run = run;
    this.previous = previous;
    this.text = sentence.text;
    this.spoken = sentence.spoken;
    this.delivery = sentence.delivery;
    this.continues = sentence.continues === true;
    this.#span = { start: end - wordsOf(sentence).length, end };
    this.encoded = new Promise((resolve) => (this.#settle = resolve));
    this.encoded.catch(() => undefined);
  }

  /** True if no sentence follows it. */
  get endsRun(): boolean {
    return !this.run.open && this.run.isLast(this);
  }

  /** Sample of the ring at which it ends; undefined while no sentence follows it. */
  get endAt(): number | undefined {
    return this.run.isLast(this) ? undefined : this.#end;
  }

  // The next members implement SoundInMaking.

  /** An estimate until it is encoded. */
  get madeMs(): number {
    return this.#ms(Math.max(0, this.#end - this.#begin));
  }

  get shareMs(): number {
    return this.madeMs;
  }

  /** The last sentence reports the waiting sound of the whole run. */
  get waitingMs(): number {
    return this.run.isLast(this) ? this.run.waitingMs : 0;
  }

  get soundMs(): number | undefined {
    return this.#endedAt === undefined || this.run.words === undefined ? undefined : this.madeMs;
  }

  get words(): readonly WordTime[] {
    const { start, end } = this.#span;
    const beginMs = this.#ms(this.#begin);
    const own = (this.run.words ?? []).filter(({ textOffset }) => textOffset >= start && textOffset < end);
    return own.map((word) => ({
      ...placedWord(word, (ms) => Math.max(0, ms - beginMs)),
      textOffset: word.textOffset - start,
    }));
  }

  get #begin(): number {
    return this.previous === undefined ? 0 : this.previous.#end;
  }

  get #end(): number {
    return this.#endedAt ?? this.run.sampleAt(this.#span.end);
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.run.rate;
  }

  done({ samplesIn }: Pick<SegmentEncoded, 'samplesIn'>): void {
    this.#endedAt = this.#begin + samplesIn;
    this.#settle();
  }

  failed(error: unknown): void {
    this.run.giveUp();
    this.#settle(Promise.reject(asParleyError(error, 'ENGINE_FAILED')));
  }
}

function isSameVoice(a: ResolvedVoice, b: ResolvedVoice): boolean {
  return (
    a.engine === b.engine &&
    a.voice === b.voice &&
    a.language === b.language &&
    a.reference?.kind === b.reference?.kind &&
    a.reference?.hash === b.reference?.hash
  );
}

// Milliseconds per character of an unhurried speaker, for languages whose characters are more than a letter.
const MS_PER_CHARACTER: Readonly<Record<string, number>> = { zh: 220, ja: 130, ko: 140 };
const USUAL_MS = 65;

const USUAL_CHARACTERS = 40; // weight of the usual pace against measured ones
const MOST_CHARACTERS = 4000; // measured characters; beyond that all weights are halved

/** The milliseconds that a voice takes for a character: a usual figure at first, then measured. */
export class SpeechPace {
  #ms: number;
  #characters = USUAL_CHARACTERS;

  constructor(language: string) {
    this.#ms = USUAL_CHARACTERS * (MS_PER_CHARACTER[language] ?? USUAL_MS);
  }

  get msPerCharacter(): number {
    return this.#ms / this.#characters;
  }

  spoke(ms: number, characters: number): void {
    this.#ms += ms;
    this.#characters += characters;
    if (this.#characters <= MOST_CHARACTERS) return;
    this.#ms /= 2;
    this.#characters /= 2;
  }
}
