// The range of ports that calls receive on: even ones for RTP, the odd one
// after each for RTCP. A pair that a call gave back rests for `drainMs`, because
// the far end may still send to it.
import { ParleyError } from '../errors.js';
import { socketAddon, type PortCounts } from './socket-addon.js';

export interface PortOptions {
  /** IP address to listen on; `::` and `0.0.0.0` are every one of the machine. */
  readonly address: string;
  /** Rounded up to an even port. */
  readonly portMin: number;
  readonly portMax: number;
  readonly drainMs: number;
  /** Marks of the packets (RFC 2474), 0 to 63; 46 is Expedited Forwarding. */
  readonly dscp: number;
}

export class RtpPorts {
  readonly handle: number;
  #closed = false;

  private constructor(handle: number) {
    this.handle = handle;
  }

  static open(options: PortOptions): RtpPorts {
    return new RtpPorts(socketAddon().portsOpen(options));
  }

  /** `nowMs` is the clock of the plane whose sockets take the ports. */
  counts(nowMs: number): PortCounts {
    const counts = socketAddon().portsCount(this.handle, nowMs);
    if (counts === null) throw new ParleyError('WRONG_STATE', 'the RTP ports are closed');
    return counts;
  }

  /** No socket takes a port any more; those that have one keep it. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    socketAddon().portsClose(this.handle);
  }
}
