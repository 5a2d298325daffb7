// A recogniser that gives the true words of scripted callers 150 ms after they were said: partial texts with
// each word, the text of each pause, and final ones. It tells callers apart by the context of its sessions.
//
// It puts a full stop behind each text of a pause, as recognisers of speech do.
import type { PcmRing } from '../../../src/audio/pcm-ring.js';
import { RingReader } from '../../../src/engines/openai/ring-reader.js';
import type {
  RecognisedText,
  Recogniser,
  RecognitionListener,
  RecognitionOptions,
  RecognitionSession,
  TurnOrder,
} from '../../../src/engines/recogniser.js';
import { systemTime } from '../../../src/time.js';

export interface SaidWord {
  readonly word: string;
  /** End of the word on the monotonic clock. */
  readonly atMs: number;
}

export const KNOWN_AFTER_MS = 150;
const LOOK_MS = 200; // between two looks into a ring whose sound means nothing here
/** Sound that long before the order that begins a turn belongs to it. */
export const PRE_ROLL_MS = 800;

export class ScriptedRecogniser implements Recogniser {
  readonly name = 'scripted';
  readonly languages = ['en'];
  readonly tellsPartials = true;
  readonly tellsPauses = true;
  readonly usable = true;
  readonly loaded = true;
  readonly #words = new Map<string, SaidWord[]>();
  readonly #open = new Set<ScriptedSession>();

  get sessions(): number {
    return this.#open.size;
  }

  /** The caller says these words, in order. */
  says(caller: string, words: readonly SaidWord[]): void {
    this.#of(caller).push(...words);
    for (const session of this.#open) session.look();
  }

  open({ context = '', sampleRate }: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    const session: ScriptedSession = new ScriptedSession({
      words: this.#of(context),
      language: languageOf(context),
      sampleRate,
      listener,
      onOver: () => this.#open.delete(session),
    });
    this.#open.add(session);
    return session;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  unload(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    for (const session of this.#open) session.close();
    return Promise.resolve();
  }

  #of(caller: string): SaidWord[] {
    let words = this.#words.get(caller);
    if (words === undefined) this.#words.set(caller, (words = []));
    return words;
  }
}

interface SessionParts {
  /** All words of the caller, which grow. */
  readonly words: readonly SaidWord[];
  readonly language: string;
  readonly sampleRate: number;
  readonly listener: RecognitionListener;
  readonly onOver: () => void;
}

class ScriptedSession implements RecognitionSession {
  readonly ended: Promise<void>;
  readonly #parts: SessionParts;
  readonly #openedMs = systemTime.now();
  #reader: RingReader | undefined;
  #resolve!: () => void;
  #part = -1;
  #isTurn = false;
  /** The first word of the turn, among all. */
  #first = 0;
  /** Words of the turn that were told. */
  #told = 0;
  #cancelWord: () => void = () => undefined;
  #cancelPause: () => void = () => undefined;
  #isOver = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  push(ring: PcmRing): void {
    this.#reader = new RingReader(ring, {
      rate: this.#parts.sampleRate,
      everyMs: LOOK_MS,
      time: systemTime,
      take: () => undefined,
      hasRoom: () => true,
      over: () => this.close(),
    });
  }

  turn(order: TurnOrder): void {
    if (this.#isOver) return;
    this.#cancelPause();
    if (order === 'begin') this.#begin();
    else if (order === 'pause') this.#cancelPause = this.#known((text) => this.#tell('pause', text));
    else if (order === 'end') this.#end();
  }

  end(): Promise<void> {
    this.close();
    return this.ended;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelWord();
    this.#cancelPause();
    this.#reader?.stop();
    this.#parts.onOver();
    this.#resolve();
  }

  /** The caller may say more words. */
  look(): void {
    this.#cancelWord();
    const next = this.#parts.words[this.#first + this.#told];
    if (!this.#isTurn || next === undefined || this.#isOver) return;
    const waitMs = next.atMs + KNOWN_AFTER_MS - systemTime.now();
    this.#cancelWord = systemTime.after(Math.max(0, waitMs), () => {
      this.#told++;
      this.#tell('partial', this.#text(this.#told));
      this.look();
    });
  }

  #begin(): void {
    const { words } = this.#parts;
    const fromMs = systemTime.now() - PRE_ROLL_MS;
    while ((words[this.#first]?.atMs ?? Infinity) < fromMs) this.#first++; // no turn has heard them
    this.#part++;
    this.#isTurn = true;
    this.#told = 0;
    this.look();
  }

  #end(): void {
    const [part, count] = [this.#part, this.#said];
    this.#cancelWord();
    this.#isTurn = false;
    this.#known((text) => this.#tell('final', text, part));
    this.#first += count;
  }

  /** Words of the turn that have been said by now. */
  get #said(): number {
    const { words } = this.#parts;
    const nowMs = systemTime.now();
    let count = 0;
    while ((words[this.#first + count]?.atMs ?? Infinity) <= nowMs) count++;
    return count;
  }

  /** Calls back when all words that have been said by now are known. */
  #known(then: (text: string) => void): () => void {
    const count = this.#said;
    const text = closed(this.#text(count));
    const lastMs = count === 0 ? -Infinity : (this.#parts.words[this.#first + count - 1]?.atMs ?? -Infinity);
    const waitMs = lastMs + KNOWN_AFTER_MS - systemTime.now();
    return systemTime.after(Math.max(0, waitMs), () => then(text));
  }

  #text(count: number): string {
    const words = this.#parts.words.slice(this.#first, this.#first + count);
    return words.map(({ word }) => word).join(' ');
  }

  #tell(kind: 'partial' | 'pause' | 'final', text: string, part = this.#part): void {
    if (this.#isOver) return;
    const { language, listener } = this.#parts;
    const told: RecognisedText = {
      part,
      text,
      stable: kind === 'final' ? text.length : 0,
      language,
      beginSeconds: 0,
      endSeconds: (systemTime.now() - this.#openedMs) / 1000,
    };
    listener[kind]?.(told);
  }
}

/** The language of a caller's texts names the caller, for the turn model. */
export const languageOf = (caller: string): string => `en-x-${caller}`;

/** With a mark at its end. */
export function closed(text: string): string {
  if (text === '' || /[.?!]$/.test(text)) return text;
  return `${text.replace(/[,;:]$/, '')}.`;
}
