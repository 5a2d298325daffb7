// One call's way onto the wire, whatever door made it.
import type { Codec } from '../codecs/codec.js';
import type { Playout } from '../media/playout.js';

/** The door that made it hands it over; the call closes it. */
export interface MediaPort {
  readonly codec: Codec;
  readonly frameMs: number;
  readonly playout: Playout;
  /** How packets travel, in words for the log: `udp host`, `carried by JavaScript: relay`. */
  readonly path: string;
  close(): Promise<void>;
}
