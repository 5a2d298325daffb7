// Sends the sound of sentences as messages with the times of characters. Each message goes out as soon as
// there is enough sound for it, and waits for a peer that reads slowly.
import { ParleyError } from '../../errors.js';
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import type { Peer } from '../http/socket-dialect.js';
import type { SocketFormat } from './elevenlabs-request.js';
import { ascending, timeAt } from './timed-sound.js';

const FIRST_MS = 100; // least audio of the first message: the listener waits for it
const LEAST_MS = 200; // least audio of later messages: few messages, and a word in nearly each

const USUAL_MS_PER_CHAR = 65; // English at its usual pace
const USUAL_CHARS = 40; // weight of the usual pace, in characters, against measured audio

/** Estimated milliseconds per character: the usual pace at first, then the pace measured on the socket. */
export class SpeechRate {
  #ms: number;
  #chars = USUAL_CHARS;

  constructor(speed = 1) {
    this.#ms = (USUAL_CHARS * USUAL_MS_PER_CHAR) / speed;
  }

  get msPerChar(): number {
    return this.#ms / this.#chars;
  }

  sent(ms: number, chars: number): void {
    this.#ms += ms;
    this.#chars += chars;
  }
}

export interface SoundMessagesParts {
  readonly peer: Peer;
  readonly format: SocketFormat;
  readonly rate: SpeechRate;
  /** The message as the dialect has it. */
  readonly message: (audio: string, alignment: Alignment | null) => object;
  /** Called with every message. */
  readonly sent: () => void;
}

export class SoundMessages {
  readonly #parts: SoundMessagesParts;
  #owesSpace = false;
  #begun = false;
  #current: SpokenSentenceSound['sound'] | undefined;
  #stopped = false;

  constructor(parts: SoundMessagesParts) {
    this.#parts = parts;
  }

  /** The last sentence was sent, but not the space after it. */
  get owesSpace(): boolean {
    return this.#owesSpace;
  }

  /** Resolves when all of it was sent, or with a stop. `leadMs` is the pause that the sound begins with. */
  async send({ text, sound }: SpokenSentenceSound, leadMs: number): Promise<void> {
    const { format, rate } = this.#parts;
    const separated = this.#owesSpace;
    const lead = separated ? leadMs : 0;
    const { msPerChar } = rate;
    const soon = this.#begun ? {} : { firstMs: FIRST_MS };
    const alignment = new ChunkAlignment(text, { separated, leadMs: lead, msPerChar, ...soon });
    const cutter = openCutter(format);
    this.#current = sound;
    void sound.outcome.then((outcome) => outcome !== undefined && alignment.learn(outcome));
    this.#owesSpace = true;
    for await (const bytes of sound) {
      if (this.#stopped) return;
      cutter.push(bytes);
      await this.#deliver(() => cutter.take(this.#wantedMs(alignment)), alignment);
    }
    cutter.end();
    await this.#deliver(() => cutter.take(this.#wantedMs(alignment)), alignment);
    rate.sent(Math.max(0, alignment.positionMs - lead), text.length);
    this.#current = undefined;
  }

  /** A word ends with the space after it, so the last one needs one, too. */
  space(): void {
    if (!this.#owesSpace || this.#stopped) return;
    this.#owesSpace = false;
    this.#send('', { chars: [' '], charStartTimesMs: [0], charDurationsMs: [0] });
  }

  /** Nothing more is sent; idempotent. */
  stop(): void {
    this.#stopped = true;
    this.#current?.cancel();
  }

  #wantedMs(alignment: ChunkAlignment): number {
    return alignment.wantedMs(this.#begun ? LEAST_MS : FIRST_MS);
  }

  async #deliver(next: () => SoundPiece | undefined, alignment: ChunkAlignment): Promise<void> {
    for (let piece = next(); piece !== undefined; piece = next()) {
      const { bytes, ms, last } = piece;
      this.#begun = true;
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      this.#send(audio, alignment.take(ms, last));
      await this.#parts.peer.drained();
      if (this.#stopped) return;
    }
  }

  #send(audio: string, alignment: Alignment | null): void {
    const { peer, message, sent } = this.#parts;
    peer.send(JSON.stringify(message(audio, alignment)));
    sent();
  }
}

// Cuts sound into pieces of a wanted length in time. The last piece must be known as the last one when it
// goes out, so a piece is cut only if at least one byte (or page) exists beyond it.

export interface SoundPiece {
  readonly bytes: Uint8Array;
  readonly ms: number;
  readonly last: boolean;
}

export interface SoundCutter {
  push(bytes: Uint8Array): void;
  /** Nothing follows. */
  end(): void;
  /**
   * A piece of at most `ms` (one page of Ogg at least); undefined until as much is there, and after the last.
   */
  take(ms: number): SoundPiece | undefined;
}

export function openCutter({ bytesPerMs, sampleBytes }: SocketFormat): SoundCutter {
  return bytesPerMs === undefined ? new OggCutter() : new RateCutter(bytesPerMs, sampleBytes);
}

const NOTHING = new Uint8Array(0);

/** For formats whose bytes have a fixed duration. */
class RateCutter implements SoundCutter {
  readonly #bytesPerMs: number;
  readonly #sampleBytes: number;
  #waiting: Uint8Array = NOTHING;
  #state: 'open' | 'ended' | 'over' = 'open';

  constructor(bytesPerMs: number, sampleBytes: number) {
    this.#bytesPerMs = bytesPerMs;
    this.#sampleBytes = sampleBytes;
  }

  push(bytes: Uint8Array): void {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
  }

  end(): void {
    this.#state = 'ended';
  }

  take(ms: number): SoundPiece | undefined {
    const samples = Math.max(1, Math.floor((ms * this.#bytesPerMs) / this.#sampleBytes));
    const length = samples * this.#sampleBytes;
    if (this.#waiting.length > length) return this.#piece(length, false);
    if (this.#state !== 'ended') return undefined;
    this.#state = 'over';
    return this.#piece(this.#waiting.length, true);
  }

  #piece(length: number, last: boolean): SoundPiece {
    const bytes = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return { bytes, ms: length / this.#bytesPerMs, last };
  }
}

const PAGE_HEADER_BYTES = 27; // RFC 3533, section 6, without the table of segments
const GRANULES_PER_MS = 48; // Opus granule positions count at 48 kHz (RFC 7845, section 4)

/** Opus in Ogg, page by page: a page tells where it ends. */
class OggCutter implements SoundCutter {
  #waiting: Uint8Array = NOTHING;
  readonly #pages: { readonly bytes: Uint8Array; readonly ms: number }[] = [];
  /** Granule at which the pages so far end; those before the pre-skip are never heard. */
  #endGranule = 0;
  #state: 'open' | 'ended' | 'over' = 'open';

  push(bytes: Uint8Array): void {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    for (let page = this.#nextPage(); page !== undefined; page = this.#nextPage()) {
      this.#pages.push({ bytes: page, ms: this.#lengthOf(page) });
    }
  }

  end(): void {
    this.#state = 'ended';
  }

  take(ms: number): SoundPiece | undefined {
    if (this.#state === 'over') return undefined;
    const ended = this.#state === 'ended';
    let count = 0;
    let totalMs = 0;
    for (const page of this.#pages) {
      if (totalMs > 0 && totalMs + page.ms > ms) break;
      totalMs += page.ms;
      count++;
    }
    const last = count === this.#pages.length;
    if (last && !ended) return undefined;
    if (last) this.#state = 'over';
    const bytes = Buffer.concat(this.#pages.splice(0, count).map((page) => page.bytes));
    return { bytes, ms: totalMs, last };
  }

  #nextPage(): Uint8Array | undefined {
    const waiting = this.#waiting;
    if (waiting.length < PAGE_HEADER_BYTES) return undefined;
    if (Buffer.from(waiting.subarray(0, 4)).toString('latin1') !== 'OggS') {
      throw new ParleyError('ENCODER_FAILED', 'the sound is no sequence of Ogg pages');
    }
    const segments = waiting[26] ?? 0;
    const table = waiting.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + segments);
    const length = PAGE_HEADER_BYTES + segments + table.reduce((sum, bytes) => sum + bytes, 0);
    if (table.length < segments || waiting.length < length) return undefined;
    this.#waiting = waiting.subarray(length);
    return waiting.subarray(0, length);
  }

  #lengthOf(page: Uint8Array): number {
    const view = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
    const body = view.subarray(PAGE_HEADER_BYTES + (view[26] ?? 0));
    if (body.subarray(0, 8).toString('latin1') === 'OpusHead') {
      this.#endGranule = body.readUInt16LE(10); // pre-skip: samples that a decoder discards
      return 0;
    }
    const granule = Number(view.readBigInt64LE(6));
    const ms = Math.max(0, granule - this.#endGranule) / GRANULES_PER_MS;
    this.#endGranule = Math.max(this.#endGranule, granule);
    return ms;
  }
}

// Assigns the characters of a sentence to the pieces of its sound, with the time at which each begins in its
// piece.
//
// A piece goes out before the length of the sentence is known. Until the engine has ended the times are an
// estimate; from then on they are those of the engine. Words stay together: a piece has the words that begin
// in it, the last one has the rest, and every character is in exactly one piece.
//
// Pipecat's clock counts only pieces in which a word has ended, and a word ends with the space after it. So
// that space begins the next piece, and pieces are best cut before one.

/** Lists of one length; times in whole milliseconds from the beginning of the piece. */
export interface Alignment {
  /** Code points. */
  readonly chars: readonly string[];
  readonly charStartTimesMs: readonly number[];
  /** They add up to the length of the piece. */
  readonly charDurationsMs: readonly number[];
}

type SoundOutcome = NonNullable<Awaited<SpokenSentenceSound['sound']['outcome']>>;

export interface AlignmentOptions {
  /** A space goes before the text: it covers the pause. */
  readonly separated: boolean;
  /** Milliseconds of the pause, used until the real times are known. */
  readonly leadMs: number;
  readonly msPerChar: number;
  /** The first piece need not wait for the end of a word, only for as much sound. */
  readonly firstMs?: number;
}

const MOST_MS = 500; // longest piece: the precision at which an interruption can be placed
const LONGEST_WORD = 20; // characters; of a longer run each character counts as a word
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const NEARLY_MS = 0.5; // the pieces of a rate need not be whole samples of the estimate

export class ChunkAlignment {
  readonly #chars: readonly string[];
  /** Start of each character in the audio, in milliseconds, ascending. */
  #startsMs: number[];
  /** Indexes at which a word begins. */
  readonly #words: readonly number[];
  readonly #separators: number;
  #given = 0;
  #positionMs = 0;

  constructor(text: string, { separated, leadMs, msPerChar, firstMs }: AlignmentOptions) {
    this.#chars = Array.from(separated ? ` ${text}` : text);
    this.#separators = separated ? 1 : 0;
    const beginMs = separated ? leadMs : 0;
    this.#startsMs = this.#chars.map((_, index) =>
      index < this.#separators ? 0 : beginMs + (index - this.#separators) * msPerChar,
    );
    const words = wordsOf(this.#chars);
    const soon = firstMs === undefined ? 0 : this.#startsMs.findIndex((ms) => ms >= firstMs);
    this.#words = soon > 0 && soon < (words[1] ?? Infinity) ? [0, soon, ...words.slice(1)] : words;
  }

  /** Sound that pieces were made of, in milliseconds. */
  get positionMs(): number {
    return this.#positionMs;
  }

  /** Replaces the estimated times with those that the engine reports at its end. */
  learn({ sentences }: SoundOutcome): void {
    const [first] = sentences;
    const last = sentences.at(-1);
    if (first === undefined || last === undefined) return;
    const length = this.#chars.slice(this.#separators).reduce((sum, char) => sum + char.length, 0);
    const words = sentences.length === 1 ? first.words : [];
    const clamped = (offset: number, ms: number) => ({
      offset: Math.min(offset, length),
      ms: Math.min(ms, last.endMs),
    });
    const pins = ascending([
      clamped(0, first.startMs),
      ...words.map(({ textOffset, startMs }) => clamped(textOffset, startMs)),
      clamped(length, last.endMs),
    ]);
    let offset = 0;
    this.#startsMs = this.#chars.map((char, index) => {
      if (index < this.#separators) return 0;
      const pinIndex = pins.findLastIndex((pin) => pin.offset <= offset);
      const startMs = timeAt(pins, pinIndex, offset);
      offset += char.length;
      return startMs;
    });
  }

  /** Returns the wanted length of the next piece: up to the start of a word, after `leastMs` if possible. */
  wantedMs(leastMs: number): number {
    for (const index of this.#words) {
      if (index <= this.#given) continue;
      const ms = this.#startOf(index) - this.#positionMs;
      if (ms > MOST_MS) break;
      if (ms >= leastMs) return ms;
    }
    return MOST_MS;
  }

  /** The characters of the next `ms` of sound; null where it has none. */
  take(ms: number, last: boolean): Alignment | null {
    const from = this.#given;
    const fromMs = Math.round(this.#positionMs);
    this.#positionMs += ms;
    const lengthMs = Math.round(this.#positionMs) - fromMs;
    this.#given = last ? this.#chars.length : this.#upTo(this.#positionMs - NEARLY_MS);
    if (this.#given === from) return null;
    const starts: number[] = [];
    for (let index = from; index < this.#given; index++) {
      const start = index === from ? 0 : Math.round(this.#startOf(index)) - fromMs;
      starts.push(Math.min(lengthMs, Math.max(starts.at(-1) ?? 0, start)));
    }
    return {
      chars: this.#chars.slice(from, this.#given),
      charStartTimesMs: starts,
      charDurationsMs: starts.map((start, index) => (starts[index + 1] ?? lengthMs) - start),
    };
  }

  #startOf(index: number): number {
    return this.#startsMs[index] ?? Infinity;
  }

  /** The first word that begins no earlier; one character at least is left for the last piece. */
  #upTo(ms: number): number {
    const most = this.#chars.length - 1;
    const next = this.#words.find((index) => index >= this.#given && this.#startOf(index) >= ms) ?? most;
    return Math.max(this.#given, Math.min(most, next));
  }
}

/** White space belongs to the word after it. */
function wordsOf(chars: readonly string[]): number[] {
  const words: number[] = [];
  let run = 0; // characters since the last beginning
  for (const [index, char] of chars.entries()) {
    const before = chars[index - 1] ?? '';
    const [isSpace, afterSpace] = [/\s/u.test(char), /\s/u.test(before)];
    const unspaced = !afterSpace && (UNSPACED.test(char) || UNSPACED.test(before));
    const begins = index === 0 || (isSpace && !afterSpace) || unspaced || run >= LONGEST_WORD;
    if (begins) words.push(index);
    run = begins ? 1 : run + 1;
  }
  return words;
}
