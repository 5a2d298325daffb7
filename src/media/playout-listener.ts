// A listener to a running call: an RTP stream of its own that sends what a playout sends, frame by frame, so
// that several browsers hear one encoder. The plane's clock copies the frames.
import { ParleyError } from '../errors.js';
import {
  type CapturedPacket,
  type ListenerOptions,
  mediaAddon,
  type PlayoutStats,
  type StreamTarget,
} from './media-addon.js';
import { CLOSED_WITH_PLANE, type Playout } from './playout.js';

/** Listeners that one playout can have; the native plane's limit. */
const MAX_LISTENERS = 64;

export class PlayoutListener {
  readonly handle: number;
  /** Packets of a capturing target, as for a playout. */
  onPacket: ((packet: CapturedPacket) => void) | undefined;
  readonly #onClose: (listener: PlayoutListener) => void;
  #last: PlayoutStats | undefined;

  /** Made by MediaPlane.openListener. */
  constructor(playout: Playout, options: ListenerOptions, onClose: (listener: PlayoutListener) => void) {
    const handle = mediaAddon().listenerOpen(playout.handle, options);
    if (typeof handle === 'string') throw refusal(handle);
    this.handle = handle;
    this.#onClose = onClose;
  }

  /** As for a playout. Without a target the listener sends nothing and costs nothing. */
  target(target: StreamTarget | null): boolean {
    return mediaAddon().streamTarget(this.handle, target);
  }

  /**
   * Sends what this playout sends, from its next tick on; the timestamps go on by the time that passed since
   * the last tick. Throws CALL_LIMIT if the playout has its listeners, INVALID_FIELD if its clock rate, frame
   * length or silence is another, and WRONG_STATE if either is closed; the listener then stays where it was.
   * A listener of a closed playout sends nothing until it follows another one.
   */
  follow(playout: Playout): void {
    const result = mediaAddon().listenerFollow(this.handle, playout.handle);
    if (result !== 'follows') throw refusal(result);
  }

  /** As for a playout. */
  framesPerPacket(frames: number): void {
    mediaAddon().streamFramesPerPacket(this.handle, frames);
  }

  /** As for a playout. */
  redundancy(frames: 0 | 1 | 2): void {
    mediaAddon().streamRedundancy(this.handle, frames);
  }

  /** As for a playout. */
  sendRtcp(compound: Uint8Array): boolean {
    return mediaAddon().streamSendRtcp(this.handle, compound);
  }

  /** Once closed, as they were at the end. */
  stats(): PlayoutStats {
    return this.#last ?? mediaAddon().streamStats(this.handle) ?? CLOSED_WITH_PLANE;
  }

  /** Says BYE. When it returns nothing leaves any more and the descriptor is let go. Idempotent. */
  close(): void {
    if (this.#last !== undefined) return;
    this.#last = mediaAddon().streamClose(this.handle) ?? CLOSED_WITH_PLANE;
    this.#onClose(this);
  }
}

function refusal(result: 'closed' | 'full' | 'differs'): ParleyError {
  switch (result) {
    case 'closed':
      return new ParleyError('WRONG_STATE', 'the listener or the playout to follow is closed');
    case 'full':
      return new ParleyError('CALL_LIMIT', `the playout has its ${MAX_LISTENERS} listeners`);
    case 'differs':
      return new ParleyError(
        'INVALID_FIELD',
        'the playout to follow must have the clock rate, frame length and silence of the one before',
        { field: 'playout' },
      );
  }
}
