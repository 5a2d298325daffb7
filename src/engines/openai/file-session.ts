// The pieces of a file for a recogniser behind HTTP. With a finder of speech the pieces are cut at the pauses
// of the speech, and sound without speech is not sent: servers make text of silence.
import { ParleyError } from '../../errors.js';
import type { SpeechFinder, SpeechStretch } from '../recogniser.js';
import { OpenAiSession, type SessionParts } from './openai-session.js';
import { SoundPieces } from './sound-pieces.js';
import { TRANSCRIPTION_RATE as RATE } from './transcription-client.js';

const FILE_PIECE = 240; // seconds, unless the options name them
const MOST_REQUESTS = 4; // of one file at a time
/** A pause of so many seconds always ends a piece. */
const LONG_PAUSE = 2;
/** Seconds of a pause on either side of a piece that are sent with it: an onset may be found late. */
const MARGIN = 0.25;

/** The speech between two long pauses. Places are samples of the sound that waits. */
interface SpeechRun {
  readonly begin: number;
  readonly end: number;
  readonly stretches: readonly SpeechStretch[];
}

export class FileSession extends OpenAiSession {
  protected readonly everyMs = 0;
  readonly #finder: SpeechFinder | undefined;
  readonly #pieces: SoundPieces;
  readonly #pieceSamples: number;
  readonly #closed = new AbortController();
  #isCutting = false;
  /** Texts that were asked for. */
  readonly #asked = new Set<Promise<unknown>>();
  #part = 0;
  /** Samples before those that wait. */
  #passed = 0;

  constructor(parts: SessionParts) {
    super(parts);
    const { pieceSeconds = FILE_PIECE, speech } = parts.options;
    this.#finder = speech;
    this.#pieceSamples = pieceSeconds * RATE;
    this.#pieces = new SoundPieces(RATE, speech === undefined ? pieceSeconds : Infinity);
  }

  turn(): void {
    // A file has no turns.
  }

  protected take(samples: Float32Array): void {
    const piece = this.#pieces.add(samples);
    if (piece !== undefined) this.#ask(piece);
    else if (this.#finder !== undefined && this.#pieces.count >= this.#pieceSamples)
      this.orFail(this.#cutOnRead());
  }

  protected hasRoom(): boolean {
    return !this.#isCutting && this.waiting < MOST_REQUESTS;
  }

  protected async finish(): Promise<void> {
    if (this.taken === 0) return this.fail(new ParleyError('AUDIO_INVALID', 'the sound has no samples'));
    if (this.#pieces.count === 0) return undefined;
    if (this.#finder === undefined) return this.#ask(this.#pieces.take());
    await this.#cut(this.#finder, true);
    return undefined;
  }

  protected override closed(): void {
    this.#closed.abort();
  }

  /** Cuts while nothing more is read. */
  async #cutOnRead(): Promise<void> {
    if (this.#finder === undefined) return;
    this.#isCutting = true;
    await this.#cut(this.#finder, false);
    this.#isCutting = false;
    if (!this.isOver) this.reader?.look();
  }

  /** Passes on what is complete of the sound that waits; at the end of the sound all of it. */
  async #cut(finder: SpeechFinder, isLast: boolean): Promise<void> {
    let stretches: readonly SpeechStretch[];
    try {
      stretches = await finder.find(this.#pieces.copy(), RATE, this.#closed.signal);
    } catch (error) {
      return this.fail(
        error instanceof ParleyError ? error : new ParleyError('HEARING_FAILED', String(error)),
      );
    }
    if (this.isOver) return undefined;
    const count = this.#pieces.count;
    const from = this.#passed;
    const margin = Math.round(MARGIN * RATE);
    for (const { begin, end, stretches: own } of runsOf(stretches)) {
      const isComplete = isLast || end + LONG_PAUSE * RATE <= count;
      this.#skip(from + Math.max(0, begin - margin));
      const limit = from + Math.min(count, end + margin);
      if (isComplete) this.#askSpeech(limit, own, from);
      await this.#room();
      if (this.isOver) return undefined;
      // A run that began late goes on in the sound that follows.
      else if (this.#pieces.count >= this.#pieceSamples) this.#askSpeech(this.#pauseIn(own, from), own, from);
      if (!isComplete) return undefined;
    }
    this.#skip(from + (isLast ? count : Math.max(0, count - margin)));
    return undefined;
  }

  async #room(): Promise<void> {
    while (this.#asked.size >= MOST_REQUESTS) await Promise.race(this.#asked);
  }

  /** Tells an empty text for the sound before a place. */
  #skip(place: number): void {
    const count = place - this.#passed;
    if (count <= 0) return;
    this.#pieces.take(count);
    const [part, first] = [this.#part++, this.#passed];
    this.#passed = place;
    const silence = { text: '', language: undefined };
    this.tell(
      Promise.resolve({ ...this.text(part, first, place, silence), language: undefined, speech: [] }),
    );
  }

  /** Asks for the text of the sound before a place. Stretches count from `from`. */
  #askSpeech(place: number, stretches: readonly SpeechStretch[], from: number): void {
    const [begin, end] = [this.#passed / RATE, place / RATE];
    const speech = stretches
      .map(({ beginSeconds, endSeconds }) => ({
        beginSeconds: Math.max(begin, beginSeconds + from / RATE),
        endSeconds: Math.min(end, endSeconds + from / RATE),
      }))
      .filter(({ beginSeconds, endSeconds }) => beginSeconds < endSeconds);
    this.#ask(this.#pieces.take(place - this.#passed), speech);
  }

  /** The middle of the longest pause of a run in the later half of the sound that waits. */
  #pauseIn(stretches: readonly SpeechStretch[], from: number): number {
    const waiting = this.#passed - from;
    const least = waiting + this.#pieces.count / 2;
    let [longest, place] = [0, this.#passed + this.#pieces.quietest()];
    for (const [n, { endSeconds }] of stretches.entries()) {
      const next = stretches[n + 1]?.beginSeconds ?? endSeconds;
      const middle = Math.round(((endSeconds + next) / 2) * RATE);
      if (middle < least || next - endSeconds <= longest) continue;
      [longest, place] = [next - endSeconds, from + middle];
    }
    return place;
  }

  #ask(piece: Float32Array, speech?: readonly SpeechStretch[]): void {
    const [part, first] = [this.#part++, this.#passed];
    this.#passed += piece.length;
    const end = this.#passed;
    const { text } = this.ask(piece);
    const answered: Promise<unknown> = text
      .catch(() => undefined)
      .finally(() => void this.#asked.delete(answered));
    this.#asked.add(answered);
    this.tell(
      text.then((got) => ({
        ...this.text(part, first, end, got),
        ...(speech === undefined ? {} : { speech }),
      })),
    );
  }
}

/** Joins stretches with short pauses between them. */
function runsOf(stretches: readonly SpeechStretch[]): SpeechRun[] {
  const runs: { begin: number; end: number; stretches: SpeechStretch[] }[] = [];
  for (const stretch of stretches) {
    const begin = Math.round(stretch.beginSeconds * RATE);
    const end = Math.round(stretch.endSeconds * RATE);
    const last = runs.at(-1);
    if (last !== undefined && begin - last.end < LONG_PAUSE * RATE) {
      last.end = end;
      last.stretches.push(stretch);
    } else {
      runs.push({ begin, end, stretches: [stretch] });
    }
  }
  return runs;
}
