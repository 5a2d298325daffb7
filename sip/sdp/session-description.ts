// A session description (RFC 8866) as data, and as the text that goes out.
//
// The browser door has a reader of its own: it is strict where Chromium and
// werift are, and throws; telephones need tolerance, and answers as values. The
// two have nothing in common but splitting at line ends.

import ipaddr from 'ipaddr.js';

export interface Connection {
  readonly family: 4 | 6;
  /** An address, seldom a name; without the TTL of multicast. */
  readonly address: string;
}

/**
 * An IPv4 address, however it is written: a peer with a socket for both families writes `::ffff:192.0.2.1`, which is
 * reached over IPv4 (RFC 4291, section 2.5.5.2).
 */
export function asWritten(family: 4 | 6, address: string): Connection {
  // ipaddr.js takes ::192.0.2.1, which is not mapped, for mapped.
  const isLike = /^[0:]*:ffff:/i.test(address) && ipaddr.IPv6.isValid(address);
  const mapped = isLike ? ipaddr.IPv6.parse(address) : undefined;
  return mapped?.isIPv4MappedAddress() === true
    ? { family: 4, address: mapped.toIPv4Address().toString() }
    : { family, address };
}

export interface Origin extends Connection {
  readonly username: string;
  /** Both are numbers of up to 64 bits (some peers write more), so they stay text. */
  readonly sessionId: string;
  readonly sessionVersion: string;
}

export interface Attribute {
  readonly name: string;
  /** Undefined for a flag such as `a=sendrecv`. */
  readonly value?: string;
}

export interface MediaDescription {
  readonly kind: string;
  readonly port: number;
  /** `RTP/AVP` and its kin, in capitals. */
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly connection?: Connection;
  /** As in `b=AS:64`, without the letter. */
  readonly bandwidths: readonly string[];
  readonly attributes: readonly Attribute[];
}

export interface SessionDescription {
  readonly origin: Origin;
  readonly name: string;
  readonly connection?: Connection;
  readonly bandwidths: readonly string[];
  /** Start and stop, `0 0` for a call. */
  readonly time: string;
  readonly attributes: readonly Attribute[];
  readonly media: readonly MediaDescription[];
}

export function writeDescription(description: SessionDescription): string {
  const { origin, name, connection, bandwidths, time, attributes, media } = description;
  const lines = [
    'v=0',
    `o=${origin.username} ${origin.sessionId} ${origin.sessionVersion} ${networkText(origin)}`,
    `s=${name}`,
    ...(connection === undefined ? [] : [`c=${networkText(connection)}`]),
    ...bandwidths.map((bandwidth) => `b=${bandwidth}`),
    `t=${time}`,
    ...attributes.map(attributeLine),
    ...media.flatMap(mediaLines),
  ];
  return `${lines.join('\r\n')}\r\n`;
}

function mediaLines({ kind, port, protocol, formats, connection, bandwidths, attributes }: MediaDescription) {
  return [
    `m=${kind} ${port} ${protocol} ${formats.join(' ')}`,
    ...(connection === undefined ? [] : [`c=${networkText(connection)}`]),
    ...bandwidths.map((bandwidth) => `b=${bandwidth}`),
    ...attributes.map(attributeLine),
  ];
}

function attributeLine({ name, value }: Attribute): string {
  return value === undefined ? `a=${name}` : `a=${name}:${value}`;
}

function networkText({ family, address }: Connection): string {
  return `IN IP${family} ${address}`;
}

/** The values of every `a=name:value` among the attributes; a flag's is empty. */
export function valuesOf(attributes: readonly Attribute[], name: string): string[] {
  return attributes.filter((item) => item.name === name).map(({ value }) => value ?? '');
}

export function hasAttribute(attributes: readonly Attribute[], name: string): boolean {
  return attributes.some((item) => item.name === name);
}
