// The sockets of browser calls: a port of the configured range for each call, and the addresses under which
// browsers reach it.
import type { MediaPlane } from '../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../src/media/media-socket.js';
import type { HostAddress } from './answer.js';
import { machineAddresses } from './host-addresses.js';
import type { BrowserSockets } from './peer-connection.js';

interface SocketConfig {
  /** Offered instead of the machine's own addresses, unless there are none. */
  readonly hostAddresses: readonly string[];
  /** First and last UDP port; any when undefined. */
  readonly udpPorts: readonly [number, number] | undefined;
}

const ANY_PORT = [32_768, 60_999] as const; // the ports that Linux gives to sockets that ask for none
const DRAIN_MS = 2000;
const EXPEDITED_FORWARDING = 46; // RFC 3246

export class OwnPortSockets implements BrowserSockets {
  readonly #plane: Pick<MediaPlane, 'openSocket'>;
  readonly #ports: RtpPorts;
  readonly #hostAddresses: readonly string[];

  constructor(plane: Pick<MediaPlane, 'openSocket'>, { hostAddresses, udpPorts }: SocketConfig) {
    this.#plane = plane;
    this.#hostAddresses = hostAddresses;
    const [portMin, portMax] = udpPorts ?? ANY_PORT;
    const address = this.#addresses().some((one) => one.includes(':')) ? '::' : '0.0.0.0';
    this.#ports = RtpPorts.open({ address, portMin, portMax, drainMs: DRAIN_MS, dscp: EXPEDITED_FORWARDING });
  }

  open(): MediaSocket {
    return this.#plane.openSocket({ ports: this.#ports, mux: true });
  }

  hosts({ port }: MediaSocket): readonly HostAddress[] {
    return this.#addresses().map((address) => ({ address, port, transport: 'udp' }));
  }

  close(): void {
    this.#ports.close();
  }

  #addresses(): readonly string[] {
    return this.#hostAddresses.length > 0 ? this.#hostAddresses : machineAddresses();
  }
}
