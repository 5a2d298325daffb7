// A rendering that is being made, with any number of readers. Whoever is ahead
// pulls from the source, so the fastest reader sets the pace and nothing is made
// that nobody asks for; the others follow what is kept. It is given up when the
// last reader leaves, whoever was first.
import { asParleyError, GIVEN_UP, ParleyError } from '../errors.js';
import type { SentencePlace, Sound, SoundOutcome, SoundSource } from './sound.js';

export interface RenderingOptions {
  /** Asks for room to keep so many bytes more; where there is none, only what a reader still needs is kept. */
  readonly keep: (bytes: number) => boolean;
  /** Gives that room back, once no reader holds the bytes. */
  readonly letGo: (bytes: number) => void;
  /** Told once: the whole sound, kept in the room taken; undefined when there is none to keep. */
  readonly ended: (sound: Sound | undefined) => void;
}

interface RenderingEnd {
  readonly error?: ParleyError;
  readonly outcome?: SoundOutcome | undefined;
}

const MAX_LAG_BYTES = 4 * 1024 * 1024; // between two readers, where the whole is not kept

export class SharedRendering {
  readonly #options: RenderingOptions;
  readonly #controller = new AbortController();
  readonly #readers = new Set<RenderingReader>();
  readonly #source: Promise<SoundSource>;
  /** As a source's own. */
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #chunks: Uint8Array[] = [];
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #contentType = '';
  #opened: SoundSource | undefined;
  /** Chunks before the first one that is kept. */
  #dropped = 0;
  #keptBytes = 0;
  #whole = true;
  #pulling = false;
  #end: RenderingEnd | undefined;
  readonly #unread: (() => void)[] = [];

  constructor(start: (signal: AbortSignal) => Promise<SoundSource>, options: RenderingOptions) {
    this.#options = options;
    this.#source = start(this.#controller.signal);
    this.outcome = this.#source.then(({ outcome }) => outcome).catch(() => undefined);
    this.#source.then(
      (source) => {
        this.#contentType = source.contentType;
        this.#opened = source;
        this.#iterator = source[Symbol.asyncIterator]();
        if (this.#end !== undefined) source.cancel();
      },
      (error: unknown) => this.#finish({ error: asParleyError(error, 'ENGINE_FAILED') }),
    );
  }

  /** Whether a reader that comes now still gets all of it. */
  get joinable(): boolean {
    return this.#whole && this.#end === undefined;
  }

  /** Resolves with the content type once there is something to read. */
  async opened(): Promise<string> {
    return (await this.#source).contentType;
  }

  /** As a source's own. */
  placed(): readonly SentencePlace[] {
    return this.#opened?.placed?.() ?? [];
  }

  join(): RenderingReader {
    const reader = new RenderingReader(this);
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: RenderingReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    if (this.#end === undefined) this.#giveUp();
    this.#chunks.length = 0;
    for (const action of this.#unread.splice(0)) action();
  }

  /** Runs the action once no reader is left, which may be now. */
  whenUnread(action: () => void): void {
    if (this.#readers.size === 0) action();
    else this.#unread.push(action);
  }

  #giveUp(): void {
    this.#controller.abort(GIVEN_UP);
    void this.#source.then(
      (source) => source.cancel(),
      () => undefined,
    );
    this.#finish({ error: new ParleyError('ABORTED', 'everybody who asked for it left') });
  }

  /** The chunk at a position; undefined where it is not made yet. */
  at(position: number): Uint8Array | undefined {
    return this.#chunks[position - this.#dropped];
  }

  get end(): RenderingEnd | undefined {
    return this.#end;
  }

  /** Has the next chunk made; readers are woken when it is there. */
  pull(): void {
    if (this.#pulling || this.#iterator === undefined || this.#end !== undefined) return;
    this.#pulling = true;
    this.#iterator.next().then(
      (next) => {
        this.#pulling = false;
        if (this.#end !== undefined) return;
        if (next.done === true) void this.outcome.then((outcome) => this.#finish({ outcome }));
        else this.#take(next.value);
      },
      (error: unknown) => this.#finish({ error: asParleyError(error, 'ENGINE_FAILED') }),
    );
  }

  #take(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#whole && this.#options.keep(chunk.byteLength)) this.#keptBytes += chunk.byteLength;
    else this.#stopKeeping();
    for (const reader of this.#readers) reader.wake();
  }

  #stopKeeping(): void {
    if (this.#whole) {
      this.#whole = false;
      this.#options.letGo(this.#keptBytes);
      this.#options.ended(undefined);
    }
    this.#cutLaggards();
    const needed = Math.min(...[...this.#readers].map(({ position }) => position));
    this.#dropped += this.#chunks.splice(0, needed - this.#dropped).length;
  }

  /** Nobody is waited for, and nothing is kept without bound. */
  #cutLaggards(): void {
    let bytes = 0;
    for (let index = this.#chunks.length - 1; index >= 0; index--) {
      bytes += this.#chunks[index]?.byteLength ?? 0;
      if (bytes <= MAX_LAG_BYTES) continue;
      const error = new ParleyError('QUEUE_FULL', `more than ${MAX_LAG_BYTES} bytes behind another reader`);
      for (const reader of this.#readers) if (reader.position <= index + this.#dropped) reader.cut(error);
      return;
    }
  }

  #finish(end: RenderingEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (this.#whole) {
      if (end.outcome !== undefined) {
        const { outcome } = end;
        this.#options.ended({ contentType: this.#contentType, bytes: this.#joined(), outcome });
      } else {
        this.whenUnread(() => this.#options.letGo(this.#keptBytes));
        this.#options.ended(undefined);
      }
    }
    for (const reader of this.#readers) reader.wake();
  }

  /** One array of all chunks, which become parts of it, so that the bytes are held once. */
  #joined(): Uint8Array {
    const bytes = new Uint8Array(this.#keptBytes);
    let at = 0;
    for (const [index, chunk] of this.#chunks.entries()) {
      bytes.set(chunk, at);
      this.#chunks[index] = bytes.subarray(at, (at += chunk.byteLength));
    }
    return bytes;
  }
}

/** One reader's way through it; iterate once. Leaving the loop or `cancel` takes it away from the readers. */
export class RenderingReader implements AsyncIterable<Uint8Array> {
  /** Chunks taken. */
  position = 0;
  readonly #rendering: SharedRendering;
  #cut: ParleyError | undefined;
  #wake: (() => void) | undefined;

  /** Made by `join` only. */
  constructor(rendering: SharedRendering) {
    this.#rendering = rendering;
  }

  wake(): void {
    this.#wake?.();
  }

  /** It gets no more. */
  cut(error: ParleyError): void {
    this.#cut ??= error;
    this.#rendering.leave(this);
    this.wake();
  }

  cancel(): void {
    this.cut(new ParleyError('ABORTED', 'the reader left'));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#cut !== undefined) throw this.#cut;
        const chunk = this.#rendering.at(this.position);
        if (chunk !== undefined) {
          this.position++;
          yield chunk;
        } else if (this.#rendering.end !== undefined) {
          if (this.#rendering.end.error !== undefined) throw this.#rendering.end.error;
          return;
        } else {
          await this.#more();
        }
      }
    } finally {
      this.cancel();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#rendering.pull();
    });
  }
}
