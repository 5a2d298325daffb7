// A recogniser that does all its work on the sound of scripted callers, and tells the true words in place of
// its own: Moonshine with random weights has the cost of a real model, and no sense. Each text comes when the
// model's text comes.
import type { PcmRing } from '../../../src/audio/pcm-ring.js';
import { MoonshineRecogniser } from '../../../src/engines/moonshine/moonshine-recogniser.js';
import type {
  RecognisedText,
  Recogniser,
  RecognitionListener,
  RecognitionOptions,
  RecognitionSession,
  TurnOrder,
} from '../../../src/engines/recogniser.js';
import { systemTime } from '../../../src/time.js';
import { closed, languageOf, PRE_ROLL_MS, type SaidWord } from './scripted-recogniser.js';

const MOST_SESSIONS = 100;
const STALL_MS = 60_000;
const PARTIAL_INTERVAL_MS = 480; // the server's own

interface WorkingOptions {
  /** Folder of a model of Moonshine. */
  readonly directory: string;
  readonly workers: number;
}

export class WorkingRecogniser implements Recogniser {
  readonly name = 'moonshine';
  readonly tellsPartials = true;
  readonly tellsPauses = true;
  readonly #inner: MoonshineRecogniser;
  readonly #words = new Map<string, SaidWord[]>();

  private constructor(inner: MoonshineRecogniser) {
    this.#inner = inner;
  }

  /** Rejects if the folder holds no model. */
  static async open({ directory, workers }: WorkingOptions): Promise<WorkingRecogniser> {
    const inner = await MoonshineRecogniser.open({
      models: [{ directory, language: 'en' }],
      workers,
      partialIntervalMs: PARTIAL_INTERVAL_MS,
      maxSessions: MOST_SESSIONS,
      stallMs: STALL_MS,
      workerFile: new URL('../moonshine-worker.js', import.meta.url),
    });
    await inner.load();
    return new WorkingRecogniser(inner);
  }

  get languages(): readonly string[] {
    return this.#inner.languages;
  }
  get usable(): boolean {
    return this.#inner.usable;
  }
  get loaded(): boolean {
    return this.#inner.loaded;
  }
  get sessions(): number {
    return this.#inner.sessions;
  }

  /** The caller says these words, in order. */
  says(caller: string, words: readonly SaidWord[]): void {
    this.#of(caller).push(...words);
  }

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    const { context = '' } = options;
    const told = new ToldTurns(this.#of(context), languageOf(context));
    const replaced = told.inPlaceOf(listener);
    return new WorkingSession(this.#inner.open({ ...options, language: 'en' }, replaced), told);
  }

  load(): Promise<void> {
    return this.#inner.load();
  }

  unload(): Promise<void> {
    return this.#inner.unload();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #of(caller: string): SaidWord[] {
    let words = this.#words.get(caller);
    if (words === undefined) this.#words.set(caller, (words = []));
    return words;
  }
}

/** The words that belong to each turn. */
class ToldTurns {
  readonly #words: readonly SaidWord[];
  readonly #language: string;
  /** For each turn: its first word, and the one behind its last. */
  readonly #turns: { readonly from: number; to: number | undefined }[] = [];

  constructor(words: readonly SaidWord[], language: string) {
    this.#words = words;
    this.#language = language;
  }

  take(order: TurnOrder): void {
    const turn = this.#turns.at(-1);
    if (order === 'end' && turn !== undefined) turn.to = this.#until(systemTime.now());
    if (order !== 'begin') return;
    const from = Math.max(turn?.to ?? 0, this.#until(systemTime.now() - PRE_ROLL_MS));
    this.#turns.push({ from, to: undefined });
  }

  inPlaceOf(listener: RecognitionListener): RecognitionListener {
    const { partial, pause, final } = listener;
    return {
      ...(partial && { partial: (text: RecognisedText) => partial(this.#replaced(text)) }),
      ...(pause && { pause: (text: RecognisedText) => pause(this.#replaced(text, closed)) }),
      final: (text) => {
        const replaced = this.#replaced(text, closed);
        final({ ...replaced, stable: replaced.text.length });
      },
    };
  }

  #replaced(told: RecognisedText, form = (text: string) => text): RecognisedText {
    const { from = 0, to = this.#until(systemTime.now()) } = this.#turns[told.part] ?? {};
    const words = this.#words.slice(from, to).map(({ word }) => word);
    return { ...told, text: form(words.join(' ')), stable: 0, language: this.#language };
  }

  /** Words whose end is before that time. */
  #until(atMs: number): number {
    const count = this.#words.findIndex((word) => word.atMs > atMs);
    return count < 0 ? this.#words.length : count;
  }
}

class WorkingSession implements RecognitionSession {
  readonly ended: Promise<void>;
  readonly #inner: RecognitionSession;
  readonly #told: ToldTurns;

  constructor(inner: RecognitionSession, told: ToldTurns) {
    this.ended = inner.ended;
    this.#inner = inner;
    this.#told = told;
  }

  push(ring: PcmRing): void {
    this.#inner.push(ring);
  }

  turn(order: TurnOrder): void {
    this.#told.take(order);
    this.#inner.turn(order);
  }

  end(): Promise<void> {
    return this.#inner.end();
  }

  close(): void {
    this.#inner.close();
  }
}
