// Where a call's lines push to, and what is on its way from one port to the next.
//
//   old playout ──take──▶ carry ──▶ new playout      at most one line pushes; a line that
//                 line ────┘                         begins waits until all is carried
import type { TrimOptions } from '../audio/trimmer.js';
import type { ParleyError } from '../errors.js';
import type { Carry } from '../encoding/carry.js';
import type { EncoderLine } from '../encoding/encoder-line.js';
import type { CarriedSound } from '../encoding/encoder-pool.js';
import type { Cleared } from '../media/media-addon.js';
import { NOTHING_TAKEN } from '../media/taken-queue.js';
import type { PayloadForm } from '../encoding/transcoder.js';
import type { MediaPort } from './media-port.js';
import type { EncoderSource } from '../speaking/speech-line.js';

/** What is encoded, and what is carried from playout to playout. */
export interface CallEncoders extends EncoderSource {
  carry(sound: CarriedSound, after: readonly { readonly number: number }[]): Carry;
}

/** What became of the tracks at a move. */
export interface Moved extends Cleared {
  readonly from: MediaPort;
  /** Resolves when the new playout has all that the old one had; rejects when it will never have it. */
  readonly carried: Promise<void>;
}

export class CallRoute {
  /** A track's sound in the playout of `port` is longer than its line knows, from `frames` frames on. */
  onPadded: ((track: number, port: MediaPort, frames: number, padMs: number) => void) | undefined;
  readonly #encoders: CallEncoders;
  #port: MediaPort;
  /** The line that began last: the only one that may push. */
  #line: EncoderLine | undefined;
  /** On their way, oldest first. */
  readonly #carries = new Set<Carry>();

  constructor(port: MediaPort, encoders: CallEncoders) {
    this.#port = port;
    this.#encoders = encoders;
  }

  get port(): MediaPort {
    return this.#port;
  }

  /** As EncoderSource: a line may begin once what was spoken before it is in the playout. */
  ready(): Promise<unknown> | undefined {
    if (this.#carries.size === 0) return undefined;
    return Promise.allSettled([...this.#carries].map(({ done }) => done));
  }

  /** A line of a track, in its own form: where the port has another, it is made anew on its way. */
  open(track: number, form: Pick<MediaPort, 'codec' | 'frameMs'>, trim?: TrimOptions): EncoderLine {
    const { handle: playout, generation } = this.#port.playout;
    const { codec, frameMs } = form;
    const line = this.#encoders.open(
      { kind: 'playout', playout, generation, track, codec, frameMs, movable: true },
      trim === undefined ? {} : { trim },
    );
    this.#line = line;
    if (!isSame(form, this.#port)) this.#carry(form, NOTHING_TAKEN, [line]);
    return line;
  }

  /** Queues the end of a track whose line cannot; false where there is no queue for it. */
  queueEnd(track: number, mark: number): boolean {
    const { playout } = this.#port;
    return this.#carries.size === 0 && playout.mark(playout.generation, track, mark, true) === 1;
  }

  /** Goes on through another port from where the one before stops now. */
  moveTo(port: MediaPort): Moved {
    const from = this.#port;
    const { entries, ...cleared } = from.playout.take();
    this.#port = port;
    const after = [...(this.#line === undefined ? [] : [this.#line]), ...[...this.#carries].toReversed()];
    try {
      const { done } = this.#carry(from, entries, after);
      return { ...cleared, from, carried: done };
    } catch (error) {
      return { ...cleared, from, carried: Promise.reject(error as ParleyError) };
    }
  }

  /** Drops what waits, wherever it is. */
  clear(): Cleared {
    for (const carry of this.#carries) carry.abort();
    return this.#port.playout.clear();
  }

  #carry(
    from: Pick<MediaPort, 'codec' | 'frameMs'>,
    entries: Uint8Array,
    after: readonly { readonly number: number }[],
  ): Carry {
    const port = this.#port;
    const { handle: playout, generation } = port.playout;
    const to = { ...formOf(port), playout, generation };
    const carry = this.#encoders.carry({ from: formOf(from), to, entries }, after);
    carry.onPadded = (track, frames, padMs) => this.onPadded?.(track, port, frames, padMs);
    this.#carries.add(carry);
    const gone = () => void this.#carries.delete(carry);
    carry.done.then(gone, () => {
      gone();
      // What goes into it, or waits behind it, has nowhere to go any more.
      for (const other of this.#carries) other.abort();
    });
    return carry;
  }
}

function formOf({ codec, frameMs }: Pick<MediaPort, 'codec' | 'frameMs'>): PayloadForm {
  return { codec: codec.name, frameMs };
}

export function isSame(
  a: Pick<MediaPort, 'codec' | 'frameMs'>,
  b: Pick<MediaPort, 'codec' | 'frameMs'>,
): boolean {
  return a.codec.name === b.codec.name && a.frameMs === b.frameMs;
}
