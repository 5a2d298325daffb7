// Reads and writes ICE in descriptions (RFC 8839). This server is ICE-lite: it names its own addresses as
// candidates and waits for the peer's checks.
import type { IceCredentials } from '../../src/media/media-addon.js';
import {
  hasAttribute,
  valuesOf,
  type Attribute,
  type Connection,
  type MediaDescription,
  type SessionDescription,
} from './session-description.js';

/** Credentials of one side's checks. */
export interface IceSecret {
  readonly ufrag: string;
  readonly pwd: string;
}

/** Credentials of both sides, with which the peer's checks are answered. */
export type AgreedIce = IceCredentials;

const SECRET = { ufrag: /^[A-Za-z0-9+/]{4,256}$/, pwd: /^[A-Za-z0-9+/]{22,256}$/ };
const CANDIDATE = /^\S{1,32} +1 +udp +\d{1,10} +(\S{1,255}) +(\d{1,5})(?: |$)/i;
const HOST_PREFERENCE = 126; // RFC 8445 section 5.1.2.2
const DISCARD_PORT = 9; // port of a peer whose address will follow (RFC 8840 section 4.1.1)

/** Returns undefined if the peer does no ICE, or a kind that sends us no checks. */
export function readIce(session: SessionDescription, media: MediaDescription): IceSecret | undefined {
  const written = (name: string) =>
    valuesOf(media.attributes, name)[0] ?? valuesOf(session.attributes, name)[0] ?? '';
  const ufrag = written('ice-ufrag');
  const pwd = written('ice-pwd');
  if (!SECRET.ufrag.test(ufrag) || !SECRET.pwd.test(pwd)) return undefined;
  // Two ICE-lite sides send each other no checks (RFC 8445 section 6.1.1): the addresses of `c=` and `m=`
  // count.
  if (hasAttribute(session.attributes, 'ice-lite')) return undefined;
  if (hasAttribute(media.attributes, 'ice-mismatch')) return undefined;
  return isMismatch(session, media) ? undefined : { ufrag, pwd };
}

/**
 * True if a middlebox has changed the address but not the candidates (RFC 8839 section 4.2.5): media must go
 * to that address.
 */
function isMismatch(session: SessionDescription, media: MediaDescription): boolean {
  const address = (media.connection ?? session.connection)?.address;
  if (address === undefined || isUnknown(address) || media.port === DISCARD_PORT) return false;
  const named = valuesOf(media.attributes, 'candidate').flatMap((value) => {
    const [, host, port] = CANDIDATE.exec(value) ?? [];
    return host === undefined ? [] : [{ host: host.toLowerCase(), port: Number(port) }];
  });
  const isNamed = named.some(({ host, port }) => host === address.toLowerCase() && port === media.port);
  return named.length > 0 && !isNamed;
}

/** True for an address of zeros: not known yet, or withheld. */
export function isUnknown(address: string): boolean {
  return /^(?:0\.0\.0\.0|[0:]+)$/.test(address);
}

/** Our addresses and ports for the peer, public ones if the server is behind NAT. At least one address. */
export interface LocalAddresses {
  readonly ip4?: string;
  readonly ip6?: string;
  readonly port: number;
  readonly rtcpPort: number;
}

interface OurIce {
  readonly secret: IceSecret;
  readonly end: LocalAddresses;
  /** The address of the description; it comes first. */
  readonly local: Connection;
  readonly rtcpMux: boolean;
}

/** Attributes of a media section. */
export function writeIce(ours: OurIce): Attribute[] {
  const { ufrag, pwd } = ours.secret;
  return [
    { name: 'ice-ufrag', value: ufrag },
    { name: 'ice-pwd', value: pwd },
    ...candidates(ours).map((value) => ({ name: 'candidate', value })),
    { name: 'end-of-candidates' },
  ];
}

/** Attributes of the session. */
export const ICE_LITE: readonly Attribute[] = [{ name: 'ice-lite' }, { name: 'ice-options', value: 'ice2' }];

function candidates({ end, local, rtcpMux }: OurIce): string[] {
  const addresses = new Set([local.address, end.ip4, end.ip6].filter((one) => one !== undefined));
  const ports = rtcpMux || end.rtcpPort === end.port ? [end.port] : [end.port, end.rtcpPort];
  return [...addresses].flatMap((address, rank) =>
    ports.map((port, at) => {
      const component = at + 1;
      const priority = HOST_PREFERENCE * 2 ** 24 + (65_535 - rank) * 2 ** 8 + 256 - component;
      return `${rank + 1} ${component} UDP ${priority} ${address} ${port} typ host`;
    }),
  );
}
