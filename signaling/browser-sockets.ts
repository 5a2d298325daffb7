// The sockets of browser calls, on one UDP port for all of them or on a port of a range for each, and the
// addresses under which browsers reach them. An ICE-lite server names its addresses; browsers find the way by
// their checks.
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { WebRtcConfig } from '../src/config/webrtc-config.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import { type MediaSocket, RtpPorts, type SocketOptions } from '../src/media/media-socket.js';
import { UdpMux } from '../src/media/udp-mux.js';
import type { HostAddress } from './answer.js';

type Plane = Pick<MediaPlane, 'openSocket'>;

type SocketConfig = Pick<
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
  readonly #tcpPort: number | undefined;
  readonly #closePorts: () => void;

  /** Throws CONFIG_INVALID if a port cannot be opened. */
  constructor(plane: Plane, config: SocketConfig) {
    this.#plane = plane;
    this.#config = config;
    if (config.udpPorts === undefined) {
      const { udpPort: port, tcpPort } = config;
      const udpMux = UdpMux.open({
        addresses: this.#listening(),
        port,
        dscp: EXPEDITED_FORWARDING,
        ...(tcpPort === undefined ? {} : { tcpPort }),
      });
      this.port = udpMux.port;
      this.#tcpPort = udpMux.tcpPort;
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
    const addresses = this.#announced();
    const hosts: HostAddress[] = addresses.map((address) => ({ address, port, transport: 'udp' }));
    const tcpPort = this.#tcpPort;
    if (tcpPort === undefined) return hosts;
    return [...hosts, ...addresses.map((address) => ({ address, port: tcpPort, transport: 'tcp' }) as const)];
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

type Interfaces = ReturnType<typeof networkInterfaces>;

// A page on this machine has nothing else when there is no network.
const LOOPBACK = '127.0.0.1';

/**
 * The addresses of this machine that another host can reach, and loopback at the end. IPv6 addresses with a
 * zone are left out: no candidate can name it.
 */
export function machineAddresses(interfaces: Interfaces = networkInterfaces()): readonly string[] {
  const found = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = found.filter(({ internal, address }) => !internal && !isLinkLocal(address));
  return [...new Set([...usable.map(({ address }) => address), LOOPBACK])];
}

/** True if hosts outside of this machine's network can reach one of the addresses directly. */
export function isReachable(addresses: readonly string[]): boolean {
  return addresses.some((address) => !isPrivate(address));
}

function isLinkLocal(address: string): boolean {
  return /^(?:169\.254\.|fe[89ab][0-9a-f]:)/i.test(address);
}

/** Addresses of RFC 1918, RFC 6598, RFC 4193, loopback and link-local ones. */
function isPrivate(address: string): boolean {
  if (isIPv6(address)) return /^(?:::1$|f[cd])/i.test(address) || isLinkLocal(address);
  const [first = 0, second = 0] = address.split('.').map(Number);
  return (
    first === 10 ||
    first === 127 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127) ||
    isLinkLocal(address)
  );
}
