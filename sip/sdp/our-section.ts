// The audio section that we write, as an offer or as an answer.
import { staticEncoding, type Encoding } from './audio-format.js';
import { writeCrypto, type CryptoAttribute } from './crypto-attribute.js';
import type { Direction } from './direction.js';
import { writeDtls, type DtlsParameters } from './dtls-parameters.js';
import { writeIce, type IceSecret } from './ice-parameters.js';
import type { LocalEnd } from './media-policy.js';
import { valuesOf, type Attribute, type Connection, type MediaDescription } from './session-description.js';

const OUR_EVENTS = '0-15'; // the keys of a telephone

export interface OurFormat extends Encoding {
  readonly payloadType: number;
}

export interface OurSection {
  readonly protocol: string;
  readonly formats: readonly OurFormat[];
  readonly packetTimeMs: number;
  readonly direction: Direction;
  readonly end: LocalEnd;
  readonly rtcpMux: boolean;
  readonly cryptos: readonly CryptoAttribute[];
  readonly dtls: DtlsParameters | undefined;
  readonly local: Connection;
  readonly ice: IceSecret | undefined;
  readonly mid: string | undefined;
  /** Payload types that every peer knows have no rtpmap (RFC 3551, section 6), so that an INVITE fits into a datagram. */
  readonly isBrief?: boolean;
}

export function audioSection(ours: OurSection): MediaDescription {
  const { protocol, formats, end, rtcpMux, cryptos, dtls, local, ice } = ours;
  const attributes: Attribute[] = [
    ...midAttributes(ours.mid),
    ...formats.flatMap((format) => formatAttributes(format, ours.isBrief === true)),
    { name: 'ptime', value: String(ours.packetTimeMs) },
    { name: ours.direction },
    ...(rtcpMux ? [{ name: 'rtcp-mux' }] : []),
    // Said only where it is not the next port (RFC 3605 section 2.1), and there is one at all.
    ...(end.rtcpPort === end.port + 1 || end.rtcpPort === end.port
      ? []
      : [{ name: 'rtcp', value: String(end.rtcpPort) }]),
    ...cryptos.map((crypto) => ({ name: 'crypto', value: writeCrypto(crypto) })),
    ...(dtls === undefined ? [] : writeDtls(dtls)),
    ...(ice === undefined ? [] : writeIce({ secret: ice, end, local, rtcpMux })),
  ];
  const types = formats.map(({ payloadType }) => String(payloadType));
  return { kind: 'audio', port: end.port, protocol, formats: types, bandwidths: [], attributes };
}

/** A section that is not taken: its kind, protocol and formats with port 0 (RFC 3264 section 6). */
export function refusedSection({ kind, protocol, formats, attributes }: MediaDescription): MediaDescription {
  const [mid] = valuesOf(attributes, 'mid');
  return { kind, port: 0, protocol, formats, bandwidths: [], attributes: midAttributes(mid) };
}

/** A peer that names its sections finds them by name in the answer (RFC 5888 section 9.1). */
function midAttributes(mid: string | undefined): Attribute[] {
  return mid === undefined ? [] : [{ name: 'mid', value: mid }];
}

function formatAttributes(format: OurFormat, isBrief: boolean): Attribute[] {
  const { payloadType, name, clockRate, channels } = format;
  const map = `${payloadType} ${name}/${clockRate}${channels === 1 ? '' : `/${channels}`}`;
  const parameters = parametersOf(format);
  return [
    ...(isBrief && staticEncoding(payloadType) !== undefined ? [] : [{ name: 'rtpmap', value: map }]),
    ...(parameters === undefined ? [] : [{ name: 'fmtp', value: `${payloadType} ${parameters}` }]),
  ];
}

function parametersOf(format: OurFormat): string | undefined {
  return format.name === 'telephone-event' ? OUR_EVENTS : undefined;
}
