// One call's outgoing sound. Payloads and marks wait in the playout until the plane's clock sends them, each
// when it is due. PlayoutWriter is its face in a producer's thread, TakenEntries reads a queue that was taken
// out of it.
//
// Everything pushed belongs to a track, one per utterance, and carries the
// generation of the queue. `clear` drops what waits and begins a new generation,
// so that nothing late of an interrupted utterance can reach the next one.
import { attempt } from '../errors.js';
import { unwatchReady, watchReady } from '../audio/ready.js';
import {
  type CapturedPacket,
  type Cleared,
  type DigitTone,
  mediaAddon,
  type PlayoutStats,
  type PushAnswer,
  type StreamOptions,
  type StreamTarget,
  type TakenQueue,
} from './media-addon.js';

/** Called on the thread that opened the plane. */
type MarkReached = (track: number, mark: number, sentAtMs: number) => void;

export class Playout {
  readonly handle: number;
  readonly frameMs: number;
  /** A mark is reached when everything before it was sent; `sentAtMs` is when the packet before it left. */
  onMark: MarkReached | undefined;
  /**
   * Packets of a capturing target, to be carried by JavaScript. Without it they wait for the plane's
   * `takePackets`.
   */
  onPacket: ((packet: CapturedPacket) => void) | undefined;
  readonly #onClose: (playout: Playout) => void;
  /** The playout that this one replaced: it sends nothing more, but its queue can still be read. */
  readonly #before: Playout | undefined;
  #last: PlayoutStats | undefined;

  /** Made by MediaPlane.openStream. */
  constructor(
    plane: number,
    options: StreamOptions,
    onClose: (playout: Playout) => void,
    continues: Playout | undefined,
  ) {
    this.handle = mediaAddon().streamOpen(
      plane,
      continues === undefined ? options : { ...options, continues: continues.handle },
    );
    this.#before = continues;
    this.frameMs = options.frameMs;
    this.#onClose = onClose;
  }

  /** Generation that pushes must pass; 0 once closed. */
  get generation(): number {
    return mediaAddon().streamGeneration(this.handle);
  }

  /**
   * Sets the target of packets. With null, no packet leaves after this call returns: the descriptor is
   * released and the queue keeps its entries. Returns false once closed.
   */
  target(target: StreamTarget | null): boolean {
    return mediaAddon().streamTarget(this.handle, target);
  }

  /** One frame, at most 1500 bytes; copied. */
  push(generation: number, track: number, payload: Uint8Array): PushAnswer {
    return mediaAddon().streamPush(this.handle, generation, track, payload);
  }

  /** An `endOfTrack` mark ends the track: an empty queue after it is no underrun. */
  mark(generation: number, track: number, mark: number, endOfTrack: boolean): PushAnswer {
    return mediaAddon().streamMark(this.handle, generation, track, mark, endOfTrack);
  }

  /** Announces a pause of the input: an empty queue after this is no underrun. */
  pauseInput(generation: number, track: number): PushAnswer {
    return mediaAddon().streamRest(this.handle, generation, track);
  }

  /**
   * Drops all waiting entries in one step. The counts are exact, and the call does not wait for the clock.
   */
  clear(): Cleared {
    return mediaAddon().streamClear(this.handle) ?? { generation: 0, tracks: [] };
  }

  /**
   * Clears, and returns the dropped entries with the last frames sent. Works also after another playout has
   * replaced this one.
   */
  take(): TakenQueue {
    return mediaAddon().streamTake(this.handle) ?? { generation: 0, tracks: [], entries: NOTHING_TAKEN };
  }

  /**
   * The far end has received nothing after this RTP timestamp: the frames sent since, unless they were
   * cleared, are sent once more, before those that wait. Frames of half a second or more are kept. Call
   * it while nothing can leave. Returns the number of the frames; 0 once closed.
   */
  rewind(receivedTimestamp: number): number {
    return mediaAddon().streamRewind(this.handle, receivedTimestamp);
  }

  /**
   * Fades the voice out within its next frame and pauses, if that frame belongs to `track`. Marks behind the
   * frame wait. `clear`, `take` and `resumeFade` end the pause; `resume` does not. A playout that continues
   * this one begins paused as well. Without a codec in the options the voice stops at the end of a frame
   * without a fade. Returns false if the next frame is of another track, no frame waits, or the playout is
   * paused or closed. Takes up to 2 ms: workers call `fadePlayout`.
   */
  fade(track: number): boolean {
    return fadePlayout(this.handle, track);
  }

  /**
   * Ends the pause of a fade of this track. The last `backFrames` frames that `sent` counts leave once more
   * before those that wait, as far as they are kept. A frame that faded out is repeated in any case. Repeated
   * frames count once in `sent`. Returns false if this track is not faded: then nothing changes.
   */
  resumeFade(track: number, backFrames: number): boolean {
    return mediaAddon().streamResumeFade(this.handle, track, backFrames);
  }

  /** From the next tick on silence is sent and the queue stands still. */
  pause(): void {
    mediaAddon().streamPause(this.handle);
  }

  resume(): void {
    mediaAddon().streamResume(this.handle);
  }

  /** Frames of a track that have left; known for the last 64 tracks, 0 once closed. */
  sent(track: number): number {
    return mediaAddon().streamSent(this.handle, track);
  }

  /** Once closed, as they were at the end. */
  stats(): PlayoutStats {
    return this.#last ?? mediaAddon().streamStats(this.handle) ?? CLOSED_WITH_PLANE;
  }

  /**
   * Presses a key at the far end after those that wait; the voice stands still meanwhile, its time goes on.
   * False when 64 wait already or the playout is closed.
   */
  pressDigit(digit: DigitTone): boolean {
    return mediaAddon().streamDigit(this.handle, digit);
  }

  /**
   * Sends a plain compound of at most 1400 bytes with the next tick, encrypted by the same sender as the
   * reports. False when its sender is not the stream's SSRC, it is too long, four wait already, or the
   * playout is closed.
   */
  sendRtcp(compound: Uint8Array): boolean {
    return mediaAddon().streamSendRtcp(this.handle, compound);
  }

  /**
   * Joins so many frames of Opus in each packet from the next tick on (RFC 6716, section 3.2.5): 1 to 6, at
   * most 120 ms. A frame leaves with the last one of its packet. No packet reaches over a mark or into a
   * pause.
   */
  framesPerPacket(frames: number): void {
    mediaAddon().streamFramesPerPacket(this.handle, frames);
  }

  /**
   * Repeats so many earlier voice frames in each packet from the next tick on: 0, 1 or 2, at most the
   * distance of `red` in the options. Packets without redundancy keep the codec's own payload type.
   */
  redundancy(frames: 0 | 1 | 2): void {
    mediaAddon().streamRedundancy(this.handle, frames);
  }

  /** Says BYE. When it returns nothing leaves any more and the descriptor is let go. Idempotent. */
  close(): void {
    this.#before?.close();
    if (this.#last !== undefined) return;
    this.#last = mediaAddon().streamClose(this.handle) ?? CLOSED_WITH_PLANE;
    this.#onClose(this);
  }
}

/** `Playout.fade` for a worker, which knows the playout by its handle. */
export function fadePlayout(handle: number, track: number): boolean {
  return mediaAddon().streamFade(handle, track);
}

export const CLOSED_WITH_PLANE: PlayoutStats = {
  packets: 0,
  octets: 0,
  silencePackets: 0,
  underruns: 0,
  lateTicks: 0,
  skippedTicks: 0,
  sendErrors: 0,
  carried: 0,
  queuedMs: 0,
  sequence: 0,
  timestamp: 0,
  digitsWaiting: 0,
};

/** A playout in a producer's thread: push until it is full, then wait for `onRoom`. */
export class PlayoutWriter {
  readonly handle: number;
  readonly #waiting = new Set<() => void>();
  readonly #look = () => this.#callIfRoom();

  /**
   * Wraps the handle of a playout that any thread owns. A writer owns nothing: `forget` is its only clean-up.
   */
  constructor(handle: number) {
    this.handle = handle;
  }

  /** One frame, at most 1500 bytes; copied. */
  push(generation: number, track: number, payload: Uint8Array): PushAnswer {
    return mediaAddon().streamPush(this.handle, generation, track, payload);
  }

  mark(generation: number, track: number, mark: number, endOfTrack: boolean): PushAnswer {
    return mediaAddon().streamMark(this.handle, generation, track, mark, endOfTrack);
  }

  /** Announces a pause of the input: an empty queue after this is no underrun. */
  pauseInput(generation: number, track: number): PushAnswer {
    return mediaAddon().streamRest(this.handle, generation, track);
  }

  /** No frame waits to be sent. */
  isEmpty(): boolean {
    return (mediaAddon().streamStats(this.handle)?.queuedMs ?? 0) === 0;
  }

  /**
   * Called once, never before this returns: when less than the low mark is queued, or the playout was cleared
   * or closed. One thread at a time may wait for one playout.
   */
  onRoom(callback: () => void): void {
    this.#waiting.add(callback);
    watchReady(this.handle, this.#look);
    if (mediaAddon().streamWatchRoom(this.handle)) queueMicrotask(this.#look);
  }

  /** Takes a callback back. */
  forget(callback: () => void): void {
    this.#waiting.delete(callback);
    this.#unwatchIfIdle();
  }

  #callIfRoom(): void {
    if (this.#waiting.size === 0 || !mediaAddon().streamWatchRoom(this.handle)) return;
    const callbacks = [...this.#waiting];
    this.#waiting.clear();
    this.#unwatchIfIdle();
    for (const callback of callbacks) attempt({ work: 'playout' }, callback);
  }

  #unwatchIfIdle(): void {
    if (this.#waiting.size === 0) unwatchReady(this.handle, this.#look);
  }
}

// An entry as streamTake writes it: kind (8 bits), track (32), mark or length of the payload (32), payload;
// little-endian.
const HEAD_BYTES = 9;
const KINDS = ['frame', 'mark', 'track-end', 'rest', 'sent'] as const;

export interface TakenEntry {
  /** `sent`: a frame that left just before the queue was taken. */
  readonly kind: (typeof KINDS)[number];
  readonly track: number;
  readonly mark: number;
  /** A view. */
  readonly payload: Uint8Array;
}

export const NOTHING_TAKEN = new Uint8Array(0);

/** Reads the payloads and marks that were taken out of a playout. */
export class TakenEntries {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next one; undefined after the last. */
  next(): TakenEntry | undefined {
    if (this.isEmpty) return undefined;
    const kind = KINDS[this.#view.getUint8(this.#at)] ?? 'rest';
    const track = this.#view.getUint32(this.#at + 1, true);
    const value = this.#view.getUint32(this.#at + 5, true);
    const start = this.#at + HEAD_BYTES;
    const bytes = kind === 'frame' || kind === 'sent' ? value : 0;
    this.#at = start + bytes;
    return { kind, track, mark: value, payload: this.#bytes.subarray(start, this.#at) };
  }
}
