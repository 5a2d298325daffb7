// Reads the variables of browser calls: their addresses and ports, the ICE servers announced to clients,
// and their limits.
import { isIP } from 'node:net';
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

export interface WebRtcConfig {
  /** Addresses of this machine that browser calls use; empty: all of them. */
  readonly hostAddresses: readonly string[];
  /** Addresses announced to clients instead of `hostAddresses`; empty: the same ones. */
  readonly announcedAddresses: readonly string[];
  /** UDP port of all browser calls; 0: the system chooses. Not used if `udpPorts` is set. */
  readonly udpPort: number;
  /** First and last UDP port; each call has one of its own. Undefined: all calls share `udpPort`. */
  readonly udpPorts: readonly [number, number] | undefined;
  /** TCP port of ICE-TCP; 0: the system chooses. Undefined: ICE-TCP is off. */
  readonly tcpPort: number | undefined;
  /** URLs of the STUN and TURN servers announced to clients. */
  readonly iceServers: readonly string[];
  /** Secret of the TURN servers; undefined only if there are none. */
  readonly turnSecret: string | undefined;
  readonly turnTtlSeconds: number;
  /** How long a call without a connection waits for its client. */
  readonly resumeGraceMs: number;
  /** Share of the processor above which no call is opened; 0: no limit. */
  readonly maxCpuPercent: number;
}

type Reader = ConfigReader<Variable>;

export function readWebRtcConfig(read: Reader): WebRtcConfig {
  const isAddress = (item: string) => isIP(item) !== 0;
  const isTcp = read.raw('WEBRTC_TCP_PORT') !== undefined;
  const config = {
    hostAddresses: read.listOf('ICE_HOST_ADDRESSES', 'IP addresses', isAddress),
    announcedAddresses: read.listOf('ICE_ANNOUNCED_ADDRESSES', 'IP addresses', isAddress),
    udpPort: read.integer('WEBRTC_UDP_PORT', 0, 0, 65_535),
    udpPorts: readPorts(read),
    tcpPort: isTcp ? read.integer('WEBRTC_TCP_PORT', 0, 0, 65_535) : undefined,
    iceServers: read.listOf(
      'ICE_SERVERS',
      'URLs such as stun:host:3478 or turn:host?transport=udp',
      isIceUrl,
    ),
    turnSecret: read.raw('TURN_SECRET'),
    turnTtlSeconds: read.integer('TURN_TTL_S', 86_400, 60, 604_800),
    resumeGraceMs: read.number('RESUME_GRACE_S', 15, 0, 3600) * 1000,
    maxCpuPercent: read.integer('MAX_CPU_PERCENT', 90, 0, 100),
  };
  checkTurn(config, read);
  return config;
}

function readPorts(read: Reader): readonly [number, number] | undefined {
  if (read.raw('UDP_PORT_MIN') === undefined && read.raw('UDP_PORT_MAX') === undefined) return undefined;
  const first = read.integer('UDP_PORT_MIN', 0, 1024, 65_535);
  const last = read.integer('UDP_PORT_MAX', 0, 1024, 65_535);
  if (first === 0 || last === 0) read.problem('UDP_PORT_MIN', 'and UDP_PORT_MAX must be set together');
  else if (last <= first) read.problem('UDP_PORT_MAX', `must be above UDP_PORT_MIN=${first}`);
  if (read.raw('WEBRTC_UDP_PORT') !== undefined) {
    const what =
      'must not be set together with UDP_PORT_MIN and UDP_PORT_MAX: calls share one port or have one each';
    read.problem('WEBRTC_UDP_PORT', what);
  }
  if (read.raw('WEBRTC_TCP_PORT') !== undefined) {
    const what = 'must not be set together with UDP_PORT_MIN and UDP_PORT_MAX: ICE-TCP needs the shared port';
    read.problem('WEBRTC_TCP_PORT', what);
  }
  return [first, last];
}

/** RFC 7064 and RFC 7065; only TURN has a transport. */
const ICE_URL =
  /^(?:stuns?|(turns?)):(?:[a-z\d](?:[a-z\d.-]{0,253}[a-z\d])?|\[([a-f\d:.]{2,45})\])(?::(\d{1,5}))?(\?transport=(?:udp|tcp))?$/i;

function isIceUrl(item: string): boolean {
  const [matched, turn, ipv6, port, transport] = ICE_URL.exec(item) ?? [];
  if (matched === undefined || (transport !== undefined && turn === undefined)) return false;
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return false;
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
}

const LEAST_SECRET = 16; // characters, as of a key

function checkTurn(
  { iceServers, turnSecret }: Pick<WebRtcConfig, 'iceServers' | 'turnSecret'>,
  read: Reader,
): void {
  const hasTurn = iceServers.some((url) => /^turns?:/i.test(url));
  if (hasTurn && turnSecret === undefined) {
    read.problem('TURN_SECRET', 'must be set if ICE_SERVERS has a turn: or turns: URL');
  }
  if (turnSecret === undefined) return;
  if (!hasTurn) read.problem('TURN_SECRET', 'has no effect without a turn: or turns: URL in ICE_SERVERS');
  if (turnSecret.length < LEAST_SECRET) {
    read.problem('TURN_SECRET', `must have at least ${LEAST_SECRET} characters`);
  }
}
