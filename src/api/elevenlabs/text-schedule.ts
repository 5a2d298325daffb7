// How much text must be there before it is spoken: ElevenLabs' schedule of chunk
// lengths. The first length holds for the first release, the last one for all
// that follow; a flush begins anew.
//
// Text goes out up to the end of a word, since the rest of the word may be in
// the next message.

export const DEFAULT_SCHEDULE: readonly number[] = [120, 160, 250, 290];

export interface TextScheduleOptions {
  /** Characters; not empty. */
  readonly schedule?: readonly number[];
  /** Every text goes out as it comes. */
  readonly autoMode: boolean;
  /** Tags of markup are left out. */
  readonly markup: boolean;
}

export interface Released {
  /** Empty: nothing is due. */
  readonly text: string;
  /** What was said so far is a whole sentence, whatever follows. */
  readonly complete: boolean;
}

const TAG = /<[^<>]{0,300}>/g;
const LONGEST_TAG = 300; // units; what is longer is no tag
const STOP = /[.!?…]["'”’»)\]}]*$/u;
const UNSPACED_STOP = /[。！？｡]["'”’»)\]}」』）】]*$/u;
const LONGEST_STOP = 8; // units of a mark and what closes after it

export class TextSchedule {
  readonly #options: TextScheduleOptions;
  readonly #lengths: readonly number[];
  #buffer = '';
  /** What went out before needs no space after it. */
  #spaced = true;
  #releases = 0;

  constructor(options: TextScheduleOptions) {
    this.#options = options;
    this.#lengths = options.schedule ?? DEFAULT_SCHEDULE;
  }

  /** Characters that wait. */
  get waiting(): number {
    return this.#buffer.length;
  }

  /** Takes more text; `now` asks for it to go out whatever the schedule says. */
  push(text: string, now: boolean): Released {
    // Clients open with a space and keep a socket open with more of them.
    if (this.#spaced && this.#buffer === '') this.#buffer = text.trimStart();
    else if (text.trim() !== '' || this.#buffer.trim() !== '' || this.#buffer === '') this.#buffer += text;
    if (this.#options.markup) this.#buffer = this.#buffer.replace(TAG, ' ');
    const { autoMode } = this.#options;
    const due = autoMode || now || this.#buffer.length >= this.#length;
    if (!due || this.#buffer.trim() === '') return { text: '', complete: false };
    const complete = autoMode && isSentence(text);
    this.#releases++;
    return { text: this.#take(autoMode ? this.#beforeTag() : this.#wordEnd()), complete };
  }

  /** Everything that waits. */
  flush(): string {
    this.#releases = 0;
    const text = this.#take(this.#buffer.length);
    this.#spaced = true;
    return text.trim() === '' ? '' : text;
  }

  get #length(): number {
    const last = this.#lengths.length - 1;
    return this.#lengths[Math.min(this.#releases, last)] ?? 0;
  }

  #take(units: number): string {
    const text = this.#buffer.slice(0, units);
    this.#buffer = this.#buffer.slice(units);
    this.#spaced = /\s$/u.test(text);
    return text;
  }

  /** A writing system without spaces has no word that could be cut. */
  #wordEnd(): number {
    const end = this.#beforeTag();
    for (let at = end; at > 0; at--) if (/\s/u.test(this.#buffer[at - 1] ?? '')) return at;
    return end;
  }

  /** A tag of which only the beginning is there waits for its end. */
  #beforeTag(): number {
    const { length } = this.#buffer;
    if (!this.#options.markup) return length;
    const open = this.#buffer.lastIndexOf('<');
    return open >= 0 && length - open <= LONGEST_TAG ? open : length;
  }
}

/** One word with a stop may be an abbreviation, or a token of something longer. */
function isSentence(message: string): boolean {
  const text = message.trim();
  const end = text.slice(-LONGEST_STOP);
  return UNSPACED_STOP.test(end) || (STOP.test(end) && /\s/u.test(text));
}
