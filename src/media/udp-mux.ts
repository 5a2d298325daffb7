// One UDP port that all calls of a media plane share. Each call is found by the user fragment of its ICE
// checks, and by the addresses that have passed one.
//
//   const udpMux = UdpMux.open({ addresses: ['0.0.0.0', '::'], port: 3478, dscp: 46 })
//   const socket = plane.openSocket({ mux: true, udpMux })
//   socket.ice(credentials)                       from now on its datagrams arrive
import { ParleyError } from '../errors.js';
import { mediaAddon, type UdpMuxStats } from './media-addon.js';

interface UdpMuxOptions {
  /** One to seven IP addresses to listen on; `0.0.0.0` and `::` are every one of the machine. */
  readonly addresses: readonly string[];
  /** The port of all addresses; 0 lets the system choose one. */
  readonly port: number;
  /**
   * TCP port of the same addresses, for far ends whose networks let no UDP through (RFC 6544, passive); 0 as
   * above. Absent: none.
   */
  readonly tcpPort?: number;
  /** Marks of the packets (RFC 2474), 0 to 63; 46 is Expedited Forwarding. */
  readonly dscp: number;
}

export class UdpMux {
  readonly handle: number;
  readonly port: number;
  /** Undefined: no TCP. */
  readonly tcpPort: number | undefined;
  #closed = false;

  private constructor(handle: number) {
    this.handle = handle;
    this.port = mediaAddon().muxPort(handle);
    this.tcpPort = mediaAddon().muxTcpPort(handle) || undefined;
  }

  /** Throws CONFIG_INVALID if an address or the port cannot be opened. */
  static open(options: UdpMuxOptions): UdpMux {
    const handle = mediaAddon().muxOpen(options);
    if (typeof handle === 'string') throw new ParleyError('CONFIG_INVALID', handle);
    return new UdpMux(handle);
  }

  stats(): UdpMuxStats {
    const stats = mediaAddon().muxStats(this.handle);
    if (stats === null) throw new ParleyError('WRONG_STATE', 'the shared UDP port is closed');
    return stats;
  }

  /** No call takes the port any more; those that have it keep it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    mediaAddon().muxClose(this.handle);
  }
}
