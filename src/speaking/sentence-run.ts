// A run of sentences that one generation of an engine speaks, so that the voice does not change between them. Their text
// goes in as it arrives, and their sound comes out in one ring.
//
//   text   First.   Second one.   Third …
//   ring   [ first │ second      │ third …
//
// No engine reports where in the sound a sentence ends, so the places are estimates: a sentence gets the share of the
// sound that it has of the characters. While the sound is not whole, its length is estimated from the voice's pace.
// Samples that were read as part of a sentence stay part of it.
import { PcmRing } from '../audio/pcm-ring.js';
import type { SegmentEncoded } from '../encoding/line-messages.js';
import type { SpeechEnd, SpeechOptions, SynthesisRequest, Urgency, WordTime } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import { asParleyError } from '../errors.js';
import { type SoundPiece, type SpokenSentence, wordsOf, type WrittenSentence } from './line-piece.js';
import { TokenStream } from './text-source.js';
import { placedWord } from './spoken-text.js';

// An engine that delivers a sentence at once seldom waits for a ring of this size, and an interrupted sentence wastes no
// more than this.
export const RING_SECONDS = 2;

// Fewer than an encoder line takes at once, so that there is room for others.
const MOST_SENTENCES = 32;

const UNSPACED_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？｡…」』）】]$/u;

/** The request to an engine for a sentence or a run. */
export function synthesisOf(
  text: string,
  { voice, language, reference }: ResolvedVoice,
  options: SpeechOptions | undefined,
  urgency: Urgency,
): SynthesisRequest {
  return {
    text,
    voice,
    language,
    urgency,
    ...(options === undefined ? {} : { options }),
    ...(reference === undefined ? {} : { reference }),
  };
}

interface RunParts {
  readonly voice: ResolvedVoice;
  readonly options: SpeechOptions | undefined;
  readonly pace: SpeechPace;
  /** Aborts all sentences of the run. */
  readonly signal: AbortSignal;
}

export class SentenceRun {
  readonly #parts: RunParts;
  readonly #sentences: RunPart[] = [];
  #text = '';
  /** The text after that with which the engine began. */
  #more: TokenStream | undefined;
  #open = true;
  #ring: PcmRing | undefined;
  /** Known once all of the sound is made. */
  #end: SpeechEnd | undefined;
  #resolve!: (end: SpeechEnd | Promise<SpeechEnd>) => void;
  /** Settles as the synthesis does, which begins at the turn of the first sentence. */
  readonly synthesized: Promise<SpeechEnd>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.synthesized = new Promise((resolve) => (this.#resolve = resolve));
    this.synthesized.then(
      (end) => this.#made(end),
      () => this.end(),
    );
  }

  get voice(): ResolvedVoice {
    return this.#parts.voice;
  }

  /** Hz. */
  get rate(): number {
    const { engine, voice } = this.#parts.voice;
    return engine.sampleRate(voice);
  }

  /** True while text may still follow. */
  get open(): boolean {
    return this.#open;
  }

  /** True if this generation can speak the sentence: same voice and language, no pause of its own, and enough room. */
  takes(sentence: SpokenSentence): boolean {
    const { engine } = this.#parts.voice;
    const bytes = Buffer.byteLength(this.#text + this.#joint() + wordsOf(sentence));
    return (
      this.#open &&
      sentence.delivery?.pauseBeforeMs === undefined &&
      isSameVoice(sentence.voice, this.#parts.voice) &&
      bytes <= (engine.mostText ?? 0) &&
      this.#sentences.length < MOST_SENTENCES
    );
  }

  /** Adds the first sentence, or one for which `takes` is true. */
  add(sentence: WrittenSentence): RunPart {
    const joint = this.#joint();
    const place = { index: this.#sentences.length, offset: this.#text.length + joint.length };
    const part = new RunPart(this, sentence, place, this.#sentences.at(-1)?.encoded);
    const words = wordsOf(sentence);
    this.#text += joint + words;
    this.#sentences.push(part);
    this.#share(); // before its sound is made
    this.#more?.push(joint + words);
    return part;
  }

  /** No text follows. Idempotent. */
  end(): void {
    this.#open = false;
    this.#more?.end();
  }

  /** Starts the engine, unless it has started. A text that is complete by then is passed as a whole. */
  begin(urgency: () => Urgency): void {
    if (this.#ring !== undefined) return;
    const { voice, options, signal } = this.#parts;
    const ring = PcmRing.open(this.rate, this.rate * RING_SECONDS);
    this.#ring = ring;
    const request = synthesisOf(this.#text, voice, options, urgency());
    if (this.#open) this.#more = new TokenStream();
    const more = this.#more === undefined ? {} : { more: this.#more };
    this.#resolve(voice.engine.synthesize({ ...request, ...more }, ring, signal));
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

  /** Sample of the ring at which a sentence ends, as far as is known. */
  endOf(index: number): number {
    const part = this.#sentences[index];
    if (part === undefined) return 0;
    if (part.endedAt !== undefined) return part.endedAt;
    const units = part.offset + part.length;
    if (this.#end !== undefined) return Math.round((this.#end.samples * units) / this.#text.length);
    return Math.round((units * this.#parts.pace.msPerCharacter * this.rate) / 1000);
  }

  isLast({ index }: RunPart): boolean {
    return index === this.#sentences.length - 1;
  }

  /** Milliseconds of sound that no encoder has taken yet. */
  get waitingMs(): number {
    return ((this.#ring?.status()?.readable ?? 0) * 1000) / this.rate;
  }

  /** Words of the whole text, timed from the first sample; undefined while the engine may still report them. */
  get words(): readonly WordTime[] | undefined {
    return this.#end?.words ?? (this.#parts.voice.engine.capabilities.wordTimes ? undefined : []);
  }

  #joint(): string {
    return this.#text === '' || UNSPACED_END.test(this.#text) ? '' : ' ';
  }

  #made(end: SpeechEnd): void {
    this.end();
    this.#end = end;
    this.#parts.pace.spoke((end.samples * 1000) / this.rate, this.#text.length);
    this.#share();
  }

  /** Sets the end of each sentence but the last, which ends with the ring. */
  #share(): void {
    for (const part of this.#sentences.slice(0, -1)) part.endsAt(this.endOf(part.index));
  }

  /** Closes the ring when all of its sound is encoded, or when the run was aborted. */
  async #closeAtEnd(ring: PcmRing, signal: AbortSignal): Promise<void> {
    await this.synthesized.catch(() => undefined);
    const gone = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([Promise.allSettled(this.#sentences.map(({ encoded }) => encoded)), gone]);
    ring.close();
  }
}

/** Everything that a line makes sound of. A RunPart is a sentence that one generation speaks together with others. */
export type LinePiece = SpokenSentence | SoundPiece | RunPart;

export type LinePieces = AsyncIterable<LinePiece> | Iterable<LinePiece>;

/** One sentence of a run: a piece for a line. */
export class RunPart implements WrittenSentence {
  readonly run: SentenceRun;
  /** Position in the run, from 0. */
  readonly index: number;
  readonly text: string;
  readonly spoken: WrittenSentence['spoken'];
  readonly delivery: WrittenSentence['delivery'];
  /** Its length in the run's text, in UTF-16 units. */
  readonly length: number;
  /** Its beginning in the run's text, in UTF-16 units. */
  readonly offset: number;
  /** Resolves when the sentence before it is encoded, rejects if that failed. */
  readonly before: Promise<void>;
  /** Resolves when its encoder has all of it, rejects if it failed. */
  readonly encoded: Promise<void>;
  /** Sample of the ring at which it ended. */
  endedAt: number | undefined;
  /** Called with the sample at which it ends, each time a better estimate is known. */
  onEndsAt: ((endAt: number) => void) | undefined;
  #endAt: number | undefined;
  #settle!: { readonly resolve: () => void; readonly reject: (error: unknown) => void };

  /** Use `SentenceRun.add`. */
  constructor(
    run: SentenceRun,
    sentence: WrittenSentence,
    { index, offset }: { readonly index: number; readonly offset: number },
    before: Promise<void> = Promise.resolve(),
  ) {
    this.run = run;
    this.index = index;
    this.text = sentence.text;
    this.spoken = sentence.spoken;
    this.delivery = sentence.delivery;
    this.length = wordsOf(sentence).length;
    this.offset = offset;
    this.before = before;
    this.encoded = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.encoded.catch(() => undefined);
  }

  get isFirst(): boolean {
    return this.index === 0;
  }

  /** True if no sentence follows it. */
  get endsRun(): boolean {
    return !this.run.open && this.run.isLast(this);
  }

  /** Sample of the ring at which it ends; undefined while no sentence follows it. */
  get endAt(): number | undefined {
    return this.#endAt;
  }

  // The next members implement SoundInMaking.

  /** An estimate until it is encoded. */
  get madeMs(): number {
    return this.#ms(Math.max(0, (this.endedAt ?? this.run.endOf(this.index)) - this.#begin));
  }

  get shareMs(): number {
    return this.madeMs;
  }

  /** The last sentence reports the waiting sound of the whole run. */
  get waitingMs(): number {
    return this.run.isLast(this) ? this.run.waitingMs : 0;
  }

  get soundMs(): number | undefined {
    return this.endedAt === undefined || this.run.words === undefined ? undefined : this.madeMs;
  }

  get words(): readonly WordTime[] {
    const end = this.offset + this.length;
    const beginMs = this.#ms(this.#begin);
    const own = (this.run.words ?? []).filter(
      ({ textOffset }) => textOffset >= this.offset && textOffset < end,
    );
    return own.map((word) => ({
      ...placedWord(word, (ms) => Math.max(0, ms - beginMs)),
      textOffset: word.textOffset - this.offset,
    }));
  }

  get #begin(): number {
    return this.isFirst ? 0 : this.run.endOf(this.index - 1);
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.run.rate;
  }

  endsAt(sample: number): void {
    this.#endAt = sample;
    this.onEndsAt?.(sample);
  }

  done({ samplesIn }: SegmentEncoded): void {
    this.endedAt = this.#begin + samplesIn;
    this.#settle.resolve();
  }

  failed(error: unknown): void {
    this.run.giveUp();
    this.#settle.reject(asParleyError(error, 'ENGINE_FAILED'));
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

const MOST_VOICES = 1000; // the oldest one is forgotten first

/** The paces of a server's voices. */
export class SpeechPaces {
  readonly #paces = new Map<string, SpeechPace>();

  of({ engine, voice, language, reference }: ResolvedVoice): SpeechPace {
    const key = JSON.stringify([engine.name, voice, language, reference?.hash]);
    const known = this.#paces.get(key);
    if (known !== undefined) return known;
    const pace = new SpeechPace(language);
    this.#paces.set(key, pace);
    for (const oldest of this.#paces.keys()) {
      if (this.#paces.size <= MOST_VOICES) break;
      this.#paces.delete(oldest);
    }
    return pace;
  }
}
