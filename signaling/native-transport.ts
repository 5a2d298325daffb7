// The hand-over of one call's outgoing media from werift to the native plane.
//
//   werift   ICE, DTLS, data channel, everything that comes in
//   native   every RTP and RTCP packet that goes out, on werift's own socket
//
// One side encrypts: werift's senders are taken away before the handshake, and
// RTCP that it still writes goes to the native stream in plain. The stream
// follows the nominated pair and has let go of the socket before it closes,
// because werift unsets the pair first.
import { asParleyError, ParleyError } from '../src/errors.js';
import type { SrtpKeys } from '../src/media/media-addon.js';
import type { Playout } from '../src/media/playout.js';
import {
  descriptor,
  dtlsOf,
  forbidEncryption,
  iceOf,
  pathOf,
  socketsOf,
  srtpKeysOf,
  type DtlsInternals,
  type IceInternals,
} from './werift-internals.js';
import type { RTCPeerConnection } from 'werift';

export class NativeTransport {
  /** Called when the path in use can no longer be served. */
  onBroken: ((error: ParleyError) => void) | undefined;
  /** Called for every path after the first. */
  onPath: ((path: string) => void) | undefined;
  readonly #dtls: DtlsInternals;
  readonly #ice: IceInternals;
  #playout: Playout | undefined;
  #path = 'none';

  /** Before the handshake, on a peer that has its transport. Throws TRANSPORT_UNSUPPORTED. */
  constructor(peer: RTCPeerConnection) {
    this.#dtls = dtlsOf(peer);
    this.#ice = iceOf(this.#dtls);
    this.#silenceWerift();
    this.#followNominated();
  }

  /** In words: `udp`, or who carries the packets instead. */
  get path(): string {
    return this.#path;
  }

  /**
   * Once candidates are gathered: throws CALL_LIMIT when there was no port for any, TRANSPORT_UNSUPPORTED
   * when a socket cannot be written.
   */
  proveSockets(): void {
    const sockets = socketsOf(this.#ice);
    if (sockets.length === 0) {
      throw new ParleyError('CALL_LIMIT', 'no UDP port is free for this call', { retryAfterSeconds: 5 });
    }
    for (const socket of sockets) descriptor(socket);
  }

  /** Once the handshake is done: `open` gets the keys, and its stream is sent to the browser. */
  connect(open: (srtp: SrtpKeys) => Playout): Playout {
    const keys = srtpKeysOf(this.#dtls);
    forbidEncryption(this.#dtls);
    const playout = open(keys);
    this.#playout = playout;
    try {
      this.#aim(this.#ice.nominated);
    } catch (error) {
      this.close();
      throw error;
    }
    return playout;
  }

  /** Says BYE and lets go of the socket. Idempotent. */
  close(): void {
    this.#playout?.close();
    this.#playout = undefined;
  }

  #silenceWerift(): void {
    this.#dtls.sendRtp = () => Promise.resolve(0);
    this.#dtls.sendRtcp = (packets) => {
      this.#playout?.sendRtcp(Buffer.concat(packets.map((packet) => packet.serialize())));
      return Promise.resolve();
    };
  }

  #followNominated(): void {
    let pair = this.#ice.nominated;
    Object.defineProperty(this.#ice, 'nominated', {
      configurable: true,
      enumerable: true,
      get: () => pair,
      set: (next: unknown) => {
        if (next === pair) return;
        pair = next;
        this.#moved(next);
      },
    });
  }

  /** Called in the middle of werift's own work: must not throw. */
  #moved(pair: unknown): void {
    if (this.#playout === undefined) return;
    try {
      this.#aim(pair);
      this.onPath?.(this.#path);
    } catch (error) {
      this.#playout.target(null);
      this.onBroken?.(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
    }
  }

  #aim(pair: unknown): void {
    const playout = this.#playout;
    if (playout === undefined) return;
    if (pair === undefined || pair === null) {
      this.#path = 'none';
      playout.target(null);
      return;
    }
    const path = pathOf(pair);
    if (path.kind === 'udp') {
      const { fd, address, port } = path;
      this.#path = 'udp';
      playout.target({ fd, address, port });
    } else {
      this.#path = `carried by JavaScript: ${path.by}`;
      playout.onPacket = ({ data }) => void this.#ice.send(data).catch(() => undefined);
      playout.target({ capture: true });
    }
  }
}
