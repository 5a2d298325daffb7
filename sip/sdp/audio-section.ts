// Reads the audio section of a peer's description, with the session's values where the section has none, and
// writes our audio section for an offer or an answer.
import { isIP } from 'node:net';
import { writeOpusParameters } from '../../src/codecs/opus-format.js';
import { type AudioFormat, type Encoding, staticEncoding } from './audio-format.js';
import { type IceSecret, isUnknown, readIce, writeIce, type LocalAddresses } from './ice-parameters.js';
import {
  type CryptoAttribute,
  type DtlsParameters,
  readCrypto,
  readDtls,
  writeCrypto,
  writeDtls,
} from './media-keys.js';
import {
  asWritten,
  type Attribute,
  type Connection,
  type Direction,
  directionOf,
  hasAttribute,
  type MediaDescription,
  readDirection,
  receives,
  sends,
  type SessionDescription,
  valuesOf,
} from './session-description.js';

export interface MediaAddress extends Connection {
  readonly port: number;
}

interface Profile {
  /** The security that an `m=` line states: a plain one may still offer keys (RFC 8643). */
  readonly secured: 'no' | 'yes' | 'dtls';
  readonly feedback: boolean;
}

export interface AudioSection {
  readonly protocol: string;
  readonly profile: Profile;
  /** In the sender's order of preference. */
  readonly formats: readonly AudioFormat[];
  /** The address for RTP; undefined if the section names none that can be sent to. */
  readonly rtp: MediaAddress | undefined;
  /** The section names a host, which would need a DNS look-up before the offer could be answered. */
  readonly isNamed: boolean;
  /** The address for RTCP without multiplexing. */
  readonly rtcp: MediaAddress | undefined;
  readonly rtcpMux: boolean;
  /**
   * Seen from the sender's side. An address of zeros receives nothing (RFC 3264 section 8.4) unless ICE
   * brings another.
   */
  readonly direction: Direction;
  readonly packetTimeMs: number | undefined;
  readonly mostPacketTimeMs: number | undefined;
  /** Crypto attributes that this server can use, in the order of the offer. */
  readonly cryptos: readonly CryptoAttribute[];
  /** Reasons why other crypto attributes cannot be used, for the log. */
  readonly cryptoRefusals: readonly string[];
  readonly dtls: DtlsParameters | undefined;
  /** Undefined if the sender does no ICE. */
  readonly ice: IceSecret | undefined;
  readonly mid: string | undefined;
  /** The session lists the section in a bundle. */
  readonly bundled: boolean;
}

const PROFILES: Readonly<Record<string, Profile>> = {
  'RTP/AVP': { secured: 'no', feedback: false },
  'RTP/AVPF': { secured: 'no', feedback: true },
  'RTP/SAVP': { secured: 'yes', feedback: false },
  'RTP/SAVPF': { secured: 'yes', feedback: true },
  'UDP/TLS/RTP/SAVP': { secured: 'dtls', feedback: false },
  'UDP/TLS/RTP/SAVPF': { secured: 'dtls', feedback: true },
};
const MOST_CRYPTOS = 16;

/**
 * Returns undefined for a section that is not audio over RTP, or is switched off. Without `useIce` its ICE is
 * ignored.
 */
export function readAudio(
  session: SessionDescription,
  media: MediaDescription,
  useIce: boolean,
): AudioSection | undefined {
  const profile = PROFILES[media.protocol];
  if (media.kind !== 'audio' || media.port === 0 || profile === undefined) return undefined;
  const written = valuesOf(media.attributes, 'crypto').slice(0, MOST_CRYPTOS).map(readCrypto);
  const connection = media.connection ?? session.connection;
  const ice = useIce ? readIce(session, media) : undefined;
  const [mid] = valuesOf(media.attributes, 'mid');
  return {
    protocol: media.protocol,
    profile,
    formats: readFormats(media),
    ...readAddresses(media, connection),
    isNamed: connection !== undefined && isIP(connection.address) === 0,
    rtcpMux: hasAttribute(media.attributes, 'rtcp-mux') || hasAttribute(media.attributes, 'rtcp-mux-only'),
    direction: readSide(session, media, ice === undefined ? connection : undefined),
    packetTimeMs: readMs(valuesOf([...media.attributes, ...session.attributes], 'ptime')[0]),
    mostPacketTimeMs: readMs(valuesOf([...media.attributes, ...session.attributes], 'maxptime')[0]),
    cryptos: written.flatMap(({ value }) => (value === undefined ? [] : [value])),
    cryptoRefusals: written.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal.reason])),
    dtls: readDtls(media.attributes, session.attributes),
    ice,
    mid,
    bundled: mid !== undefined && bundleOf(session).includes(mid),
  };
}

function bundleOf(session: SessionDescription): string[] {
  return valuesOf(session.attributes, 'group').flatMap((value) => {
    const [semantics, ...mids] = value.split(/ +/);
    return semantics === 'BUNDLE' ? mids : [];
  });
}

function readFormats(media: MediaDescription): AudioFormat[] {
  const parameters = new Map(byPayloadType(valuesOf(media.attributes, 'fmtp')));
  const maps = new Map(byPayloadType(valuesOf(media.attributes, 'rtpmap')));
  const types = media.formats
    .filter((format) => /^\d{1,3}$/.test(format) && Number(format) < 128)
    .map(Number);
  return [...new Set(types)].flatMap((payloadType) => {
    const [, name, clockRate, channels] =
      /^([^\s/]+)\/(\d{1,6})(?:\/(\d{1,2}))?$/.exec(maps.get(payloadType) ?? '') ?? [];
    const encoding =
      name === undefined
        ? staticEncoding(payloadType)
        : { name, clockRate: Number(clockRate), channels: Number(channels ?? 1) };
    const fmtp = parameters.get(payloadType);
    return encoding === undefined
      ? []
      : [{ payloadType, ...encoding, ...(fmtp === undefined ? {} : { parameters: fmtp }) }];
  });
}

function byPayloadType(values: readonly string[]): [number, string][] {
  return values.flatMap((value): [number, string][] => {
    const [, type, text] = /^(\d{1,3})\s+(.+)$/.exec(value) ?? [];
    return text === undefined ? [] : [[Number(type), text.trim()]];
  });
}

function readAddresses(media: MediaDescription, connection: Connection | undefined) {
  if (connection === undefined || !isUnicast(connection)) return { rtp: undefined, rtcp: undefined };
  const rtp = { ...connection, port: media.port };
  const match = /^(\d{1,5})(?: +IN +IP([46]) +(\S+))?$/i.exec(valuesOf(media.attributes, 'rtcp')[0] ?? '');
  const [, port, family, address] = match ?? [];
  const own: Connection = address === undefined ? connection : asWritten(family === '6' ? 6 : 4, address);
  const usable = port !== undefined && Number(port) > 0 && Number(port) < 65_536 && isUnicast(own);
  // After the last port there is none: RTCP goes to the RTP address.
  const next = media.port < 65_535 ? { ...rtp, port: media.port + 1 } : undefined;
  return { rtp, rtcp: usable ? { ...own, port: Number(port) } : next };
}

/** An address with a zone (RFC 4007) names a link of the sender's machine, so it is unusable here. */
function isUnicast({ family, address }: Connection): boolean {
  const isPlain = isIP(address) === family && !address.includes('%');
  return isPlain && !/^(?:2(?:2[4-9]|[345]\d)\.|ff)/i.test(address);
}

function readSide(
  session: SessionDescription,
  media: MediaDescription,
  connection: Connection | undefined,
): Direction {
  const written = [...media.attributes, ...session.attributes].filter(({ value }) => value === undefined);
  const stated = written.flatMap(({ name }) => readDirection(name) ?? [])[0] ?? 'sendrecv';
  const nowhere = connection !== undefined && isUnknown(connection.address);
  return directionOf(sends(stated), receives(stated) && !nowhere);
}

/** Reads whole milliseconds; some peers write `20.0`. */
function readMs(text: string | undefined): number | undefined {
  const [, ms] = /^(\d{1,4})(?:\.\d{1,6})?$/.exec(text?.trim() ?? '') ?? [];
  return ms === undefined || Number(ms) === 0 ? undefined : Number(ms);
}

/** Our format parameters, by the name of the encoding. */
const OUR_PARAMETERS: Readonly<Record<string, string>> = {
  'telephone-event': '0-15', // the keys of a telephone
  // The decoder of callers' sound is mono, and makes use of forward error correction.
  opus: writeOpusParameters({ stereo: false, useInbandFec: true }),
};

export interface OurFormat extends Encoding {
  readonly payloadType: number;
}

interface OurSection {
  readonly protocol: string;
  readonly formats: readonly OurFormat[];
  readonly packetTimeMs: number;
  readonly direction: Direction;
  readonly end: LocalAddresses;
  readonly rtcpMux: boolean;
  readonly cryptos: readonly CryptoAttribute[];
  readonly dtls: DtlsParameters | undefined;
  readonly local: Connection;
  readonly ice: IceSecret | undefined;
  readonly mid: string | undefined;
  /** Omits parameters that state defaults. An INVITE then fits into a datagram. */
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
    // Stated only if RTCP is neither on the next port (RFC 3605 section 2.1) nor on the same one.
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

/** Refuses a section: its kind, protocol and formats with port 0 (RFC 3264 section 6). */
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
  const parameters = isBrief && name === 'opus' ? undefined : OUR_PARAMETERS[name];
  return [
    { name: 'rtpmap', value: map }, // some peers demand it for static payload types, too
    ...(parameters === undefined ? [] : [{ name: 'fmtp', value: `${payloadType} ${parameters}` }]),
  ];
}
