// A bridge of two calls whose far ends understand each other's packets: what one sends leaves to the other,
// without decoding, under the numbers, timestamps and keys of the other call's own stream.
//
//   a.socket ─▶ native relay ─▶ b.playout        and the same from b to a
//
// A playout sends its own voice and keys first, and meanwhile drops what the other far end says. Keys of a
// far end are reported by its socket and are not relayed. Everything that hears a call hears it as before:
// the rings and ears of a socket get both sides, and listeners of a playout get what is relayed.
import { ParleyError } from '../errors.js';
import { mediaAddon, type RelayFigures } from './media-addon.js';
import type { MediaPlane } from './media-plane.js';
import type { MediaSocket } from './media-socket.js';
import type { Playout } from './playout.js';

/** One call of a bridge. */
export interface JoinedLeg {
  readonly socket: Pick<MediaSocket, 'handle'>;
  readonly playout: Pick<Playout, 'handle'>;
}

export type RelayDirection = 'a-to-b' | 'b-to-a';

/** The part of a call's media port that decides whether its packets can be relayed. */
interface RelayForm {
  readonly codec: { readonly name: string; readonly clockRate: number };
  readonly frameMs: number;
  readonly socket?: Pick<MediaSocket, 'port'>;
}

/**
 * True if each of two far ends understands what the other one sends, so that nothing has to be decoded. A
 * call without RTP (its socket has no port) needs a frame every 20 ms, also where one was lost: it cannot be
 * relayed to.
 */
export function canRelay(a: RelayForm, b: RelayForm): boolean {
  return (
    isRtp(a) &&
    isRtp(b) &&
    a.codec.name === b.codec.name &&
    a.codec.clockRate === b.codec.clockRate &&
    a.frameMs === b.frameMs
  );
}

const isRtp = ({ socket }: RelayForm) => socket !== undefined && socket.port > 0;

const REFUSALS = {
  closed: 'one side of the bridge is closed, or of another media plane',
  opaque: 'the media plane does not know the codec of one side of the bridge',
  taken: 'one side of the bridge is bridged already',
} as const;
const NOTHING: RelayFigures = { packets: 0, octets: 0, paused: 0, refused: 0, repeated: 0, dropped: 0 };

export class MediaRelay {
  readonly #ways: Readonly<Record<RelayDirection, number>>;
  #last: Readonly<Record<RelayDirection, RelayFigures>> | undefined;

  private constructor(ways: Readonly<Record<RelayDirection, number>>) {
    this.#ways = ways;
  }

  /**
   * Relays both ways from now on, until it is closed or a side is closed. Whoever opens it closes it. A
   * playout that takes the place of another one needs a new relay. Throws WRONG_STATE if a side is closed, of
   * another plane or relayed already.
   */
  static open(plane: Pick<MediaPlane, 'handle'>, a: JoinedLeg, b: JoinedLeg): MediaRelay {
    if (a.socket.handle === b.socket.handle || a.playout.handle === b.playout.handle) {
      throw new ParleyError('WRONG_STATE', 'a call cannot be bridged to itself');
    }
    const there = openWay(plane.handle, a, b);
    try {
      return new MediaRelay({ 'a-to-b': there, 'b-to-a': openWay(plane.handle, b, a) });
    } catch (error) {
      mediaAddon().relayClose(there);
      throw error;
    }
  }

  /**
   * False drops what comes in this direction from now on, and the playout sends the pause of its own: for
   * hold and mute.
   */
  flow(direction: RelayDirection, isOpen: boolean): void {
    mediaAddon().relayFlow(this.#ways[direction], isOpen);
  }

  /** Once closed, as they were at the end. */
  stats(): Readonly<Record<RelayDirection, RelayFigures>> {
    const figures = (direction: RelayDirection) => mediaAddon().relayStats(this.#ways[direction]) ?? NOTHING;
    return this.#last ?? { 'a-to-b': figures('a-to-b'), 'b-to-a': figures('b-to-a') };
  }

  /** Sockets and playouts go on; nothing is relayed any more when it returns. Idempotent. */
  close(): void {
    if (this.#last !== undefined) return;
    const end = (direction: RelayDirection) => mediaAddon().relayClose(this.#ways[direction]) ?? NOTHING;
    this.#last = { 'a-to-b': end('a-to-b'), 'b-to-a': end('b-to-a') };
  }
}

function openWay(plane: number, from: JoinedLeg, to: JoinedLeg): number {
  const handle = mediaAddon().relayOpen(plane, from.socket.handle, to.playout.handle);
  if (typeof handle === 'string') throw new ParleyError('WRONG_STATE', REFUSALS[handle]);
  return handle;
}
