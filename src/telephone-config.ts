// The part of the configuration that telephone calls need.
import type { ConfigReader } from './config-reader.js';

/** How the keys of SRTP are agreed on: in the descriptions (RFC 4568), or by a handshake (RFC 5763). */
export type SrtpKeying = 'sdes' | 'dtls';
export type TelephoneCodec = 'PCMU' | 'PCMA' | 'G722' | 'opus';

export interface TelephoneConfig {
  /** First and last UDP port of the calls' media. */
  readonly rtpPorts: readonly [number, number];
  readonly rtpPortDrainMs: number;
  /** 0 to 63. */
  readonly rtpDscp: number;
  /** 0: silence ends no call. */
  readonly rtpTimeoutMs: number;
  /** Networks that media may come from although no description and no signalling names them. */
  readonly rtpLatchNetworks: readonly string[];
  readonly srtp: 'off' | 'prefer' | 'require';
  /** Preferred first; undefined: by the transport of the signalling. */
  readonly srtpKeying: readonly SrtpKeying[] | undefined;
  /** Comfort noise (RFC 3389) is offered, and sent in pauses. */
  readonly comfortNoise: boolean;
  /** The first one that the far end has, too, is spoken. */
  readonly sipCodecs: readonly TelephoneCodec[];
}

/** Every variable with what it means; part of VARIABLES. */
export const TELEPHONE_VARIABLES = {
  RTP_PORT_MIN: 'first UDP port of the sound of telephone calls: two ports for each call',
  RTP_PORT_MAX: 'last UDP port of it; below the ports that the system gives to other programs',
  RTP_PORT_DRAIN: 'seconds for which a pair of ports rests after its call',
  RTP_DSCP: 'mark of its packets for routers, 0 to 63; 46 is Expedited Forwarding',
  RTP_TIMEOUT: 'seconds without a packet after which a telephone call that had sound ends; 0 for never',
  RTP_LATCH_NETWORKS:
    'comma-separated addresses and networks that the sound of any telephone call may come from, besides the address that the phone announces and that of its signalling',
  SRTP: 'off, prefer or require: whether the sound of telephone calls is encrypted',
  SRTP_KEYING:
    'comma-separated ways to agree on its keys, the preferred one first: sdes, dtls; SDES first over TLS if absent',
  RTP_COMFORT_NOISE: '1 offers comfort noise (RFC 3389) and sends it in pauses',
  SIP_CODECS: 'comma-separated codecs of telephone calls, the preferred one first: PCMU, PCMA, G722, opus',
} as const;

type Variable = keyof typeof TELEPHONE_VARIABLES;
type Reader = Pick<
  ConfigReader<Variable>,
  'raw' | 'integer' | 'number' | 'choice' | 'flag' | 'list' | 'listOf' | 'problem'
>;

// Wideband first, G.722 before Opus because it costs no more than G.711.
const CODECS: readonly TelephoneCodec[] = ['G722', 'opus', 'PCMU', 'PCMA'];
const KEYINGS: readonly SrtpKeying[] = ['sdes', 'dtls'];
const LAST_FREE_PORT = 32_767; // Linux gives those from 32,768 on to whoever asks for any

export function readTelephoneConfig(read: Reader, isNetwork: (item: string) => boolean): TelephoneConfig {
  const networks = read.listOf('RTP_LATCH_NETWORKS', 'addresses or networks such as 10.0.0.0/8', isNetwork);
  return {
    rtpPorts: readPorts(read),
    rtpPortDrainMs: read.number('RTP_PORT_DRAIN', 30, 0, 3600) * 1000,
    rtpDscp: read.integer('RTP_DSCP', 46, 0, 63),
    rtpTimeoutMs: read.number('RTP_TIMEOUT', 300, 0, 86_400) * 1000,
    rtpLatchNetworks: networks.map((item) => item.replace(/%[^/]*/, '')),
    srtp: read.choice('SRTP', ['off', 'prefer', 'require'], 'prefer'),
    srtpKeying: readKeyings(read),
    comfortNoise: read.flag('RTP_COMFORT_NOISE'),
    sipCodecs: readCodecs(read),
  };
}

function readPorts(read: Reader): readonly [number, number] {
  const first = read.integer('RTP_PORT_MIN', 16_384, 1024, 65_534);
  const last = read.integer('RTP_PORT_MAX', LAST_FREE_PORT, 1025, 65_535);
  // The port of RTP is even, and that of RTCP the one after it.
  if (last <= first + (first % 2))
    read.problem('RTP_PORT_MAX', `leaves no pair of ports from RTP_PORT_MIN=${first} on`);
  return [first, last];
}

function readKeyings(read: Reader): readonly SrtpKeying[] | undefined {
  const keyingOf = (item: string) => KEYINGS.find((name) => name === item.toLowerCase());
  const items = read.listOf(
    'SRTP_KEYING',
    `of ${KEYINGS.join(', ')}`,
    (item) => keyingOf(item) !== undefined,
  );
  const keyings = new Set(items.flatMap((item) => keyingOf(item) ?? []));
  return keyings.size === 0 ? undefined : [...keyings];
}

/** However they are written. */
function readCodecs(read: Reader): readonly TelephoneCodec[] {
  const written = read.list('SIP_CODECS');
  const known = written.map((item) => CODECS.find((name) => name.toLowerCase() === item.toLowerCase()));
  const wrong = written.find((_, at) => known[at] === undefined);
  if (wrong !== undefined) read.problem('SIP_CODECS', `must be of ${CODECS.join(', ')}, not "${wrong}"`);
  const codecs = [...new Set(known.filter((name) => name !== undefined))];
  return codecs.length === 0 ? CODECS : codecs;
}
