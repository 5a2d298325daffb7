// Caches whole renderings in memory. The key holds everything that changes their bytes, and the least
// recently used leave first. Requests for a rendering in progress share it (SharedRendering). A failure is
// never kept. On a miss the cache asks the tier behind it before it asks an engine, and it gives each whole
// rendering to that tier.
//
//   absent ──▶ in progress ──▶ stored ──▶ evicted
//                    └──▶ failed, given up, too large
import { asParleyError, GIVEN_UP, ParleyError } from '../errors.js';
import type { SentencePlace, Sound, SoundOutcome, SoundSource } from './sound.js';

interface AudioCacheLimits {
  /** Number of renderings kept; 0 turns the cache off. */
  readonly maxEntries: number;
  /** Bytes of sound that is kept, is made to be kept, or was evicted while a request still reads it. */
  readonly maxBytes: number;
}

interface AudioCacheFigures {
  readonly entries: number;
  readonly maxEntries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** A rendering on its way to one request; a `hit` costs no engine. */
interface CachedStream extends SoundSource {
  readonly cache: 'hit' | 'miss';
  /** The rendering came from the tier behind, because it was not in memory. */
  readonly shared: boolean;
}

/** The answer of a tier: the sound, or a function that stores one there if the tier takes any. */
export interface LookedUp {
  readonly sound?: Sound;
  readonly leave?: (sound: Sound) => void;
}

export interface RenderingTier {
  /** Never rejects, and answers within a time limit. */
  look(key: string): Promise<LookedUp>;
  clear(): void;
}

/** A rendering that an engine makes or a tier fetches. */
interface Making {
  readonly rendering: SharedRendering;
  readonly origin: Origin;
}

interface Stored {
  readonly sound: Sound;
  /** Undefined once no request reads it any more. */
  followed: SharedRendering | undefined;
}

/** The origin of a rendering; the tier's answer fills it in. */
interface Origin {
  shared: boolean;
  leave: LookedUp['leave'];
}

type Start = (signal: AbortSignal) => Promise<SoundSource>;

export class AudioCache {
  readonly #limits: AudioCacheLimits;
  readonly #stored = new Map<string, Stored>(); // least recently used first
  readonly #making = new Map<string, Making>();
  readonly #tier: RenderingTier | undefined;
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(limits: AudioCacheLimits, tier?: RenderingTier) {
    this.#limits = limits;
    this.#tier = tier;
  }

  get enabled(): boolean {
    return this.#limits.maxEntries > 0 && this.#limits.maxBytes > 0;
  }

  get figures(): AudioCacheFigures {
    const { maxEntries } = this.#limits;
    return {
      entries: this.#stored.size,
      maxEntries,
      bytes: this.#bytes,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  /** True if `find` would find it. It does not count as a use. */
  has(key: string): boolean {
    return this.#stored.has(key);
  }

  /** A rendering that is stored whole. */
  find(key: string): Sound | undefined {
    const stored = this.#stored.get(key);
    if (stored === undefined) return undefined;
    this.#stored.delete(key);
    this.#stored.set(key, stored);
    this.#hits++;
    return stored.sound;
  }

  /**
   * Reads the rendering of this key, and starts it unless it is in progress. Rejects as `start` does, or with
   * ABORTED when the signal is aborted. The signal that `start` gets is aborted when no request reads the
   * rendering any more.
   */
  async follow(key: string, start: Start, signal: AbortSignal): Promise<CachedStream> {
    if (signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
    const made = this.#making.get(key);
    const joins = made?.rendering.joinable === true;
    const { rendering, origin } = joins ? made : this.#start(key, start);
    if (joins) this.#hits++;
    const reader = rendering.join();
    const contentType = await openedFor(rendering, reader, signal);
    return {
      contentType,
      outcome: rendering.outcome,
      cache: joins || origin.shared ? 'hit' : 'miss',
      shared: origin.shared,
      placed: () => rendering.placed(),
      cancel: () => reader.cancel(),
      [Symbol.asyncIterator]: () => reader[Symbol.asyncIterator](),
    };
  }

  /** Forgets everything; renderings in progress are not kept either. Returns how many left memory. */
  clear(): number {
    this.#tier?.clear();
    const { size } = this.#stored;
    for (const key of this.#stored.keys()) this.#evict(key);
    this.#making.clear();
    return size;
  }

  #start(key: string, start: Start): Making {
    const origin: Origin = { shared: false, leave: undefined };
    const rendering: SharedRendering = new SharedRendering(this.#source(key, start, origin), {
      keep: (bytes) => this.#keep(bytes),
      letGo: (bytes) => void (this.#bytes -= bytes),
      ended: (sound) => {
        const current = this.#making.get(key)?.rendering === rendering;
        if (current) this.#making.delete(key);
        if (sound !== undefined && current) {
          this.#store(key, sound, rendering);
          origin.leave?.(sound);
        } else if (sound !== undefined) {
          rendering.whenUnread(() => (this.#bytes -= sound.bytes.byteLength));
        }
      },
    });
    const making = { rendering, origin };
    this.#making.set(key, making);
    return making;
  }

  /** Asks the tier behind first, and calls `start` if it does not have the sound. */
  #source(key: string, start: Start, origin: Origin): Start {
    const tier = this.#tier;
    if (tier === undefined) {
      this.#misses++;
      return start;
    }
    return async (signal) => {
      const { sound, leave } = await tier.look(key);
      if (signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
      if (sound === undefined) {
        this.#misses++;
        origin.leave = leave;
        return start(signal);
      }
      this.#hits++;
      origin.shared = true;
      return whole(sound);
    };
  }

  /** Stores a rendering whose bytes were already counted while it was made. */
  #store(key: string, sound: Sound, rendering: SharedRendering): void {
    this.#evict(key);
    const stored: Stored = { sound, followed: rendering };
    rendering.whenUnread(() => (stored.followed = undefined));
    this.#stored.set(key, stored);
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= this.#limits.maxEntries) break;
      this.#evict(oldest);
    }
  }

  #keep(bytes: number): boolean {
    for (const oldest of this.#stored.keys()) {
      if (this.#bytes + bytes <= this.#limits.maxBytes) break;
      this.#evict(oldest);
    }
    if (this.#bytes + bytes > this.#limits.maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  #evict(key: string): void {
    const stored = this.#stored.get(key);
    if (stored === undefined) return;
    this.#stored.delete(key);
    const letGo = () => void (this.#bytes -= stored.sound.bytes.byteLength);
    if (stored.followed === undefined) letGo();
    else stored.followed.whenUnread(letGo);
  }
}

function whole({ contentType, bytes, outcome }: Sound): SoundSource {
  return {
    contentType,
    outcome: Promise.resolve(outcome),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}

async function openedFor(
  rendering: SharedRendering,
  reader: RenderingReader,
  signal: AbortSignal,
): Promise<string> {
  let giveUp!: () => void;
  const gone = new Promise<never>((_, reject) => {
    giveUp = () => reject(new ParleyError('ABORTED', 'the request was given up'));
  });
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([rendering.opened(), gone]);
  } catch (error) {
    reader.cancel();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

interface RenderingOptions {
  /**
   * Asks for room to keep so many bytes more. If it is refused, only the bytes that a reader still needs are
   * kept.
   */
  readonly keep: (bytes: number) => boolean;
  /** Gives that room back, once no reader holds the bytes. */
  readonly letGo: (bytes: number) => void;
  /** Called once with the whole sound, whose room is already taken; undefined if there is nothing to keep. */
  readonly ended: (sound: Sound | undefined) => void;
}

interface RenderingEnd {
  readonly error?: ParleyError;
  readonly outcome?: SoundOutcome | undefined;
}

const MAX_LAG_BYTES = 4 * 1024 * 1024; // between two readers of a rendering that is not kept whole

/**
 * A rendering in progress, with any number of readers. The reader that is ahead pulls from the source, so the
 * fastest one sets the pace and no unread chunk is made. The others read the chunks that are kept. The
 * rendering is given up when its last reader leaves.
 */
export class SharedRendering {
  readonly #options: RenderingOptions;
  readonly #controller = new AbortController();
  readonly #readers = new Set<RenderingReader>();
  readonly #source: Promise<SoundSource>;
  /** See SoundSource. */
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #chunks: Uint8Array[] = [];
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #contentType = '';
  #opened: SoundSource | undefined;
  /** Number of chunks before the first one that is kept. */
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

  /** True if a reader that joins now gets all of it. */
  get joinable(): boolean {
    return this.#whole && this.#end === undefined;
  }

  /** Resolves with the content type once there is something to read. */
  async opened(): Promise<string> {
    return (await this.#source).contentType;
  }

  /** See SoundSource. */
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

  /** Runs the action once no reader is left, or now if there is none. */
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
    this.#finish({ error: new ParleyError('ABORTED', 'every client that requested it left') });
  }

  /** The chunk at a position; undefined if it is not made yet. */
  at(position: number): Uint8Array | undefined {
    return this.#chunks[position - this.#dropped];
  }

  get end(): RenderingEnd | undefined {
    return this.#end;
  }

  /** Pulls the next chunk from the source and wakes the readers when it has come. */
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

  /** Drops readers that are too far behind, because the kept chunks must stay bounded. */
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

  /** Copies all chunks into one array and makes them views of it, so that the bytes are held once. */
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

/** One reader of a rendering. Iterate it once; it leaves the readers when the loop ends or with `cancel`. */
class RenderingReader implements AsyncIterable<Uint8Array> {
  /** Number of chunks taken. */
  position = 0;
  readonly #rendering: SharedRendering;
  #cut: ParleyError | undefined;
  #wake: (() => void) | undefined;

  /** Use `SharedRendering.join`. */
  constructor(rendering: SharedRendering) {
    this.#rendering = rendering;
  }

  wake(): void {
    this.#wake?.();
  }

  /** Ends this reader with an error. */
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
