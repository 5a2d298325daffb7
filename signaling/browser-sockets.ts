// The sockets of browser calls, on one UDP port for all of them or on a port of a range for each, and the
// addresses under which browsers reach them.
import type { WebRtcConfig } from '../src/config/webrtc-config.js';
import { ParleyError } from '../src/errors.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import { type MediaSocket, RtpPorts, type SocketOptions } from '../src/media/media-socket.js';
import { UdpMux } from '../src/media/udp-mux.js';
import type { HostAddress } from './answer.js';
import { isReachable, machineAddresses } from './host-addresses.js';

type Plane = Pick<MediaPlane, 'openSocket'>;

export type SocketConfig = Pick<
  WebRtcConfig,
  'hostAddresses' | 'announcedAddresses' | 'udpPort' | 'udpPorts' | 'tcpPort' | 'iceServers'
>;

const DRAIN_MS = 2000;
const EXPEDITED_FORWARDING = 46; // RFC 3246
const EVERY_ADDRESS = { v4: '0.0.0.0', v6: '::' };

export class BrowserSockets {
  /** The UDP port that all calls share; undefined if each has its own. */
  readonly port: number | undefined;
  readonly #plane: Plane;
  readonly #config: SocketConfig;
  readonly #options: SocketOptions;
  readonly #closePorts: () => void;

  /** Throws CONFIG_INVALID if a port cannot be opened. */
  constructor(plane: Plane, config: SocketConfig) {
    this.#plane = plane;
    this.#config = config;
    if (config.tcpPort !== undefined) {
      throw new ParleyError('CONFIG_INVALID', 'WEBRTC_TCP_PORT: this server has no ICE-TCP yet', {
        field: 'WEBRTC_TCP_PORT',
      });
    }
    if (config.udpPorts === undefined) {
      const addresses = this.#listening();
      const udpMux = UdpMux.open({ addresses, port: config.udpPort, dscp: EXPEDITED_FORWARDING });
      this.port = udpMux.port;
      this.#options = { udpMux, mux: true };
      this.#closePorts = () => udpMux.close();
    } else {
      const [own, ...others] = config.hostAddresses;
      const isAnyV6 = machineAddresses().some((address) => address.includes(':'));
      const every = isAnyV6 ? EVERY_ADDRESS.v6 : EVERY_ADDRESS.v4; // the former takes both families
      const ports = openRange(config.udpPorts, own !== undefined && others.length === 0 ? own : every);
      this.#options = { ports, mux: true };
      this.#closePorts = () => ports.close();
    }
  }

  /** Throws CALL_LIMIT. */
  open(): MediaSocket {
    return this.#plane.openSocket(this.#options);
  }

  /** The addresses under which browsers reach a socket. */
  hosts({ port }: MediaSocket): readonly HostAddress[] {
    return this.#announced().map((address) => ({ address, port, transport: 'udp' }));
  }

  /** Advice for a server that browsers outside of its network cannot reach; undefined if they can. */
  get notice(): string | undefined {
    if (isReachable(this.#announced()) || this.#config.iceServers.length > 0) return undefined;
    return (
      'browser calls reach this server from its own network only: set ICE_ANNOUNCED_ADDRESSES to its public ' +
      'address, or ICE_SERVERS to a TURN server for clients'
    );
  }

  close(): void {
    this.#closePorts();
  }

  #announced(): readonly string[] {
    const { announcedAddresses, hostAddresses } = this.#config;
    if (announcedAddresses.length > 0) return announcedAddresses;
    return hostAddresses.length > 0 ? hostAddresses : machineAddresses();
  }

  /** Addresses to bind: both families where the machine has an IPv6 address. */
  #listening(): readonly string[] {
    const { hostAddresses } = this.#config;
    if (hostAddresses.length > 0) return hostAddresses;
    const { v4, v6 } = EVERY_ADDRESS;
    return machineAddresses().some((address) => address.includes(':')) ? [v4, v6] : [v4];
  }
}

function openRange([portMin, portMax]: readonly [number, number], address: string): RtpPorts {
  return RtpPorts.open({ address, portMin, portMax, drainMs: DRAIN_MS, dscp: EXPEDITED_FORWARDING });
}
