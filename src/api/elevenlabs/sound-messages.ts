// Sentences that sound, as messages of sound and character times: each piece
// goes out as soon as there is enough of it, and waits for a peer that reads
// slowly.
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import { type Alignment, ChunkAlignment } from './chunk-alignment.js';
import type { Peer } from '../http/socket-dialect.js';
import type { SocketFormat } from './elevenlabs-format.js';
import { openCutter, type SoundPiece } from './sound-cutter.js';

const FIRST_MS = 100; // of sound, at least: the listener waits for it
const LEAST_MS = 200; // of the others: few messages, and a word in nearly each

const USUAL_MS_PER_CHAR = 65; // of English at its usual pace
const USUAL_CHARS = 40; // as many as the guess counts for beside what was heard

/** How long a character sounds, as far as a socket has heard its voice. */
export class SpeechRate {
  #ms: number;
  #chars = USUAL_CHARS;

  constructor(speed = 1) {
    this.#ms = (USUAL_CHARS * USUAL_MS_PER_CHAR) / speed;
  }

  get msPerChar(): number {
    return this.#ms / this.#chars;
  }

  heard(ms: number, chars: number): void {
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
    rate.heard(Math.max(0, alignment.positionMs - lead), text.length);
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
