// Caches sentences of calls as encoded payloads: a sentence that was spoken before costs a call neither an
// engine nor an encoder. The least recently used leave first.
//
// Every later call hears the first rendering, even if the engine would vary it. A call does not wait for a
// sentence that another call is making: its payloads are whole only when it has been played nearly to its
// end.
//
// Prepared sentences (prepared-speech.ts) are pinned. They take up to half of the cache, leave only when they
// are unpinned, and survive a clear, because the next call may need them.
import { ParleyError } from '../errors.js';
import type { Codec } from '../codecs/codec.js';
import type { OpusSettings } from '../codecs/opus.js';
import type { KeptFrames } from '../encoding/kept-frames.js';
import type { EncoderSettings } from '../encoding/encoder-messages.js';
import type { SpeechOptions, WordTime } from '../engines/engine.js';
import { keyFields, renderingKey } from '../engines/rendering-key.js';
import type { SoundPause } from './estimated-words.js';
import { wordsOf, type SpokenSentence } from './speech-piece.js';

const FORM = 1; // version of the payloads; raise it when they change in a way that no field of the key shows
// Bytes of an entry beside its payloads: measured, rounded up.
const ENTRY_BYTES = 1024;
const WORD_BYTES = 128;
const PAUSE_BYTES = 64;

export interface KeptSentence {
  readonly frames: KeptFrames;
  /** Length of the engine's sound in milliseconds, with its silence. */
  readonly soundMs: number;
  /**
   * Word times of the engine, for the words that it got. The same words may be written differently each time.
   */
  readonly words: readonly WordTime[];
  /** Pauses of the sound, if the engine reports no word times. */
  readonly pauses: readonly SoundPause[];
}

interface FrameCacheFigures {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** Everything that decides how a sentence sounds. */
export interface SentenceSettings extends SpokenSentence {
  readonly options: SpeechOptions | undefined;
  readonly trimSilence: boolean;
}

export class FrameCache {
  readonly #maxBytes: number;
  readonly #settings: EncoderSettings;
  readonly #kept = new Map<string, KeptSentence>(); // least recently used first
  #bytes = 0;
  readonly #pinned = new Map<string, KeptSentence>();
  #pinnedBytes = 0;
  #hits = 0;
  #misses = 0;

  /** `maxBytes` 0 turns the cache off; `settings` are those of the encoders. */
  constructor(maxBytes: number, settings: EncoderSettings) {
    this.#maxBytes = maxBytes;
    this.#settings = settings;
  }

  get figures(): FrameCacheFigures {
    return {
      entries: this.#kept.size + this.#pinned.size,
      bytes: this.#bytes + this.#pinnedBytes,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  /** Number of pinned entries. */
  get pinned(): number {
    return this.#pinned.size;
  }

  /** True if sentences are kept. */
  get enabled(): boolean {
    return this.#maxBytes > 0;
  }

  /** Settings of encoders that override none. */
  get opus(): OpusSettings {
    return this.#settings.opus;
  }

  /**
   * The cache for encoder sessions with this codec and these settings of Opus, by default those of all
   * encoders; undefined if nothing is kept.
   */
  of(codec: Codec, frameMs: number, opus = this.#settings.opus): CodecFrameCache | undefined {
    if (!this.enabled) return undefined;
    const own = renderingKey([FORM, codec.name, frameMs, ...keyFields({ ...this.#settings, opus })]);
    return new CodecFrameCache(this, own);
  }

  /** True if the sentence is there. It does not count as a use. */
  has(key: string): boolean {
    return this.#pinned.has(key) || this.#kept.has(key);
  }

  find(key: string): KeptSentence | undefined {
    const pinned = this.#pinned.get(key);
    if (pinned !== undefined) {
      this.#hits++;
      return pinned;
    }
    const sentence = this.#kept.get(key);
    if (sentence === undefined) {
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    this.#kept.delete(key);
    this.#kept.set(key, sentence);
    return sentence;
  }

  /** Keeps a sentence unless the key is taken. */
  keep(key: string, sentence: KeptSentence): void {
    // A sentence without sound may be an error of the engine, and costs little to make again.
    if (
      this.#kept.has(key) ||
      this.#pinned.has(key) ||
      sentence.frames.frames === 0 ||
      bytesOf(sentence) > this.#maxBytes
    )
      return;
    this.#kept.set(key, sentence);
    this.#bytes += bytesOf(sentence);
    this.#evict();
  }

  #evict(): void {
    for (const [oldest, leaving] of this.#kept) {
      if (this.#bytes + this.#pinnedBytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytesOf(leaving);
    }
  }

  /**
   * Pins the sentence under the key, or else `made`, until it is unpinned; false if there is neither. Throws
   * TOO_LARGE if pinned ones would take more than half of the cache.
   */
  pin(key: string, made?: KeptSentence): boolean {
    if (this.#pinned.has(key)) return true;
    const there = this.#kept.get(key);
    const sentence = there ?? made;
    if (sentence === undefined || sentence.frames.frames === 0) return false;
    const bytes = bytesOf(sentence);
    if (this.#pinnedBytes + bytes > this.#maxBytes / 2) {
      const message = `prepared speech takes at most half of the frame cache, ${this.#maxBytes / 2} bytes of FRAME_CACHE_BYTES`;
      throw new ParleyError('TOO_LARGE', message, { field: 'text' });
    }
    if (there !== undefined) this.#bytes -= bytes;
    this.#kept.delete(key);
    this.#pinned.set(key, sentence);
    this.#pinnedBytes += bytes;
    this.#evict();
    return true;
  }

  /** Lets a pinned sentence leave again. It counts as just used. */
  unpin(key: string): void {
    const sentence = this.#pinned.get(key);
    if (sentence === undefined) return;
    this.#pinned.delete(key);
    this.#pinnedBytes -= bytesOf(sentence);
    this.keep(key, sentence);
  }

  /** Returns how many sentences left; pinned ones stay. Calls that speak one now go on. */
  clear(): number {
    const { size } = this.#kept;
    this.#kept.clear();
    this.#bytes = 0;
    return size;
  }
}

/** The cache for encoder sessions of one codec and frame length. */
export class CodecFrameCache {
  readonly #cache: FrameCache;
  /** Hash of the fields that are the same in every session of this codec. */
  readonly #own: string;

  /** Use `FrameCache.of`. */
  constructor(cache: FrameCache, own: string) {
    this.#cache = cache;
    this.#own = own;
  }

  // A reference here belongs to a voice that the server knows by name: requests for calls bring none.
  // "$5" and "five dollars" have the same key, because they sound the same.
  keyOf({ options = {}, trimSilence, ...sentence }: SentenceSettings): string {
    const { engine, voice: name, language, reference } = sentence.voice;
    const said = [wordsOf(sentence), engine.name, name, language, reference?.kind, reference?.hash];
    const { speed, gain } = sentence.delivery ?? {};
    const delivered = speed === undefined && gain === undefined ? [] : ['delivered', speed, gain];
    const hinted = (sentence.hints ?? []).flatMap((hint) => ['hint', ...keyFields(hint)]);
    return renderingKey([this.#own, ...said, ...delivered, ...hinted, trimSilence, ...keyFields(options)]);
  }

  has(key: string): boolean {
    return this.#cache.has(key);
  }

  find(key: string): KeptSentence | undefined {
    return this.#cache.find(key);
  }

  keep(key: string, sentence: KeptSentence): void {
    this.#cache.keep(key, sentence);
  }
}

function bytesOf({ frames, words, pauses }: KeptSentence): number {
  const { byteLength } = frames.packed;
  return byteLength + ENTRY_BYTES + words.length * WORD_BYTES + pauses.length * PAUSE_BYTES;
}
