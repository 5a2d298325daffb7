// Whole renderings in memory, by everything that changes their bytes; the least
// recently used leave first. What is asked for while it is being made is made
// once. A failure is never kept. What is not there may be in a tier behind it,
// which is asked before an engine is, and left what was rendered whole.
//
//   absent ──▶ being made (shared-rendering.ts) ──▶ stored ──▶ evicted
//                    └──▶ failed, given up, too large
import { ParleyError } from '../errors.js';
import { SharedRendering, type RenderingReader } from './shared-rendering.js';
import type { Sound, SoundSource } from './sound.js';

export interface AudioCacheLimits {
  /** Renderings kept; 0 keeps none. */
  readonly maxEntries: number;
  /** Bytes of sound that is kept, is being made to be kept, or was evicted while a request still follows it. */
  readonly maxBytes: number;
}

export interface AudioCacheFigures {
  readonly entries: number;
  readonly maxEntries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** A rendering on its way to one who asked; `hit` costs no engine. */
export interface CachedStream extends SoundSource {
  readonly cache: 'hit' | 'miss';
  /** It came from the tier behind, and was not in memory. */
  readonly shared: boolean;
}

/** What a tier knows of a key: the sound, or else how to leave one there, if it takes any. */
export interface LookedUp {
  readonly sound?: Sound;
  readonly leave?: (sound: Sound) => void;
}

export interface RenderingTier {
  /** Never rejects, and takes no longer than is worth waiting for. */
  look(key: string): Promise<LookedUp>;
  clear(): void;
}

/** A rendering that is being made, or fetched. */
interface Making {
  readonly rendering: SharedRendering;
  readonly origin: Origin;
}

interface Stored {
  readonly sound: Sound;
  /** Undefined once no request follows it any more. */
  followed: SharedRendering | undefined;
}

/** Where it comes from, known once that is found out. */
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

  /** Whether `find` would find it; does not count as asked for. */
  has(key: string): boolean {
    return this.#stored.has(key);
  }

  /** A rendering that is there whole. */
  find(key: string): Sound | undefined {
    const stored = this.#stored.get(key);
    if (stored === undefined) return undefined;
    this.#stored.delete(key);
    this.#stored.set(key, stored);
    this.#hits++;
    return stored.sound;
  }

  /**
   * Follows the rendering of this key, starting it unless it is being made. Rejects as `start` does, or with
   * ABORTED when the signal is aborted; `start`'s own signal is aborted when nobody follows any more.
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

  /** Forgets everything; what is being made now is not kept either. Answers how many renderings went from memory. */
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

  /** The tier behind where it has the sound, otherwise `start`. */
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

  /** Its bytes were counted while it was made. */
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
