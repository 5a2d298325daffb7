// Reads and writes session descriptions (RFC 8866) and the direction attribute.
//
// The reader accepts what telephones get wrong, and returns refusals as values. The browser side has a strict
// reader of its own that throws; the two share nothing but the splitting of lines.
import ipaddr from 'ipaddr.js';
import { type Result, refused } from '../message/refusal.js';

export interface Connection {
  readonly family: 4 | 6;
  /** An address or, rarely, a name; without the TTL of multicast. */
  readonly address: string;
}

/**
 * Converts an IPv4-mapped IPv6 address to IPv4. A peer with a dual-stack socket writes `::ffff:192.0.2.1`,
 * which is reached over IPv4 (RFC 4291, section 2.5.5.2).
 */
export function asWritten(family: 4 | 6, address: string): Connection {
  // ipaddr.js takes ::192.0.2.1 for a mapped address, which it is not.
  const isLike = /^[0:]*:ffff:/i.test(address) && ipaddr.IPv6.isValid(address);
  const mapped = isLike ? ipaddr.IPv6.parse(address) : undefined;
  return mapped?.isIPv4MappedAddress() === true
    ? { family: 4, address: mapped.toIPv4Address().toString() }
    : { family, address };
}

interface Origin extends Connection {
  readonly username: string;
  /** Numbers of up to 64 bits (some peers write more), so they stay text. */
  readonly sessionId: string;
  readonly sessionVersion: string;
}

export interface Attribute {
  readonly name: string;
  /** Undefined for a flag such as `a=sendrecv`. */
  readonly value?: string;
}

export interface MediaDescription {
  /** `audio` is in lower case and its protocol in upper case; those of other sections are as written. */
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly connection?: Connection;
  /** Values of `b=` lines, such as `AS:64`. */
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
    `m=${[kind, port, protocol, ...(formats.length === 0 ? ['0'] : formats)].join(' ')}`,
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

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export function directionOf(sends: boolean, receives: boolean): Direction {
  if (sends) return receives ? 'sendrecv' : 'sendonly';
  return receives ? 'recvonly' : 'inactive';
}

export function sends(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly';
}

export function receives(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly';
}

/** Our direction for an answer: what we want, limited by what the other side states (section 6.1). */
export function mirrored(theirs: Direction, wanted: Direction): Direction {
  return directionOf(sends(wanted) && receives(theirs), receives(wanted) && sends(theirs));
}

export function readDirection(text: string): Direction | undefined {
  const known: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];
  return known.find((direction) => direction === text.toLowerCase());
}

const MOST_BYTES = 32 * 1024;
const MOST_LINES = 500;
const MOST_SECTIONS = 16;
const MOST_FORMATS = 64; // formats of one audio section
const TOKEN = "[!#-'*+\\-.0-9A-Z^-~]+"; // RFC 8866 section 9

const ATTRIBUTE = new RegExp(`^(${TOKEN})(?::(.*))?$`);
const ORIGIN = /^(\S+) +(\d{1,30}) +(\d{1,30}) +IN +IP([46]) +(\S{1,255})$/i;
const CONNECTION = /^IN +IP([46]) +([^\s/]{1,255})((?:\/\d{1,5}){0,2})$/i;
const MEDIA = /^(\S+) +(\d{1,5})(?:\/\d{1,5})? +(\S+)((?: +\S+)*)$/;

interface Line {
  readonly type: string;
  readonly value: string;
}

/**
 * Reads a description. Telephones omit `s=` and `t=`, end lines with a bare LF or CR, and append blanks and
 * NULs: all of that is accepted. What could be understood in two ways is refused: with 400 if malformed, with
 * 488 if larger than any call needs.
 * Never throws.
 */
export function readDescription(body: string | Uint8Array): Result<SessionDescription> {
  if (body.length > MOST_BYTES)
    return refused(488, `the session description has more than ${MOST_BYTES} bytes`);
  const lines = splitLines(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  if (lines === undefined) return bad('a line of it is not of the form letter=value');
  if (lines.length > MOST_LINES)
    return refused(488, `the session description has more than ${MOST_LINES} lines`);
  const [first, ...rest] = lines;
  if (first?.type !== 'v' || first.value !== '0') return bad('it does not begin with v=0');
  const starts = rest.flatMap((line, index) => (line.type === 'm' ? [index] : []));
  if (starts.length > MOST_SECTIONS) {
    return refused(488, `the session description has more than ${MOST_SECTIONS} media sections`);
  }
  const session = readSession(rest.slice(0, starts[0] ?? rest.length));
  if (session.refusal !== undefined) return session;
  const media: MediaDescription[] = [];
  for (const [index, start] of starts.entries()) {
    const section = readMedia(rest.slice(start, starts[index + 1]));
    if (section.refusal !== undefined) return section;
    media.push(section.value);
  }
  return { value: { ...session.value, media } };
}

function bad(what: string) {
  return refused(400, `the session description cannot be read: ${what}`);
}

function splitLines(text: string): Line[] | undefined {
  const lines = withoutEnd(text)
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimEnd());
  // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
  if (!lines.every((line) => line === '' || /^[a-zA-Z]=[^\0-\x08\x0b-\x1f\x7f]*$/.test(line)))
    return undefined;
  return lines
    .filter((line) => line !== '')
    .map((line) => ({ type: line.slice(0, 1), value: line.slice(2).trimStart() }));
}

/** Removes blanks and NULs at the end. A regular expression would retry at each blank of a run. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\0\s]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function readSession(lines: readonly Line[]): Result<Omit<SessionDescription, 'media'>> {
  const origin = readOrigin(firstOf(lines, 'o'));
  if (origin === undefined) return bad('its o= line is missing or has another form');
  const parts = readParts(lines);
  if (parts.refusal !== undefined) return parts;
  return {
    value: { origin, name: firstOf(lines, 's') ?? '-', time: firstOf(lines, 't') ?? '0 0', ...parts.value },
  };
}

/** The answer refuses a section that is not audio, so an unreadable `c=` line in it does no harm. */
function readMedia(lines: readonly Line[]): Result<MediaDescription> {
  const match = MEDIA.exec(lines[0]?.value ?? '');
  const [, kind = '', port = '', protocol = '', formatList = ''] = match ?? [];
  if (match === null || Number(port) > 65_535) return bad('an m= line has another form');
  const formats = formatList.split(/ +/).slice(1);
  const isAudio = kind.toLowerCase() === 'audio';
  const head = {
    kind: isAudio ? 'audio' : kind,
    port: Number(port),
    protocol: isAudio ? protocol.toUpperCase() : protocol,
    formats,
  };
  const parts = readParts(lines);
  const isUnread = !isAudio && parts.refusal !== undefined;
  if (isUnread) return readMedia(lines.filter(({ type }) => type !== 'c'));
  if (parts.refusal !== undefined) return parts;
  if (!isAudio) return { value: { ...head, ...parts.value } };
  if (formats.length === 0 && port !== '0') return bad('an m= line of audio has no formats');
  if (formats.length > MOST_FORMATS)
    return refused(488, `an audio section has more than ${MOST_FORMATS} formats`);
  return { value: { ...head, ...parts.value } };
}

type Parts = Pick<MediaDescription, 'connection' | 'bandwidths' | 'attributes'>;

/** Reads the parts that a session and a media section have in common. */
function readParts(lines: readonly Line[]): Result<Parts> {
  const written = firstOf(lines, 'c');
  const connection = written === undefined ? undefined : readConnection(written);
  if (written !== undefined && connection === undefined) return bad('a c= line has another form');
  const attributes: Attribute[] = [];
  for (const { type, value } of lines) {
    if (type !== 'a') continue;
    const [, name = '', text] = ATTRIBUTE.exec(value) ?? [];
    // A malformed attribute is ignored (RFC 8866 section 5.13).
    if (name !== '') attributes.push(text === undefined ? { name } : { name, value: text.trim() });
  }
  const bandwidths = lines.filter(({ type }) => type === 'b').map(({ value }) => value);
  return { value: { ...(connection === undefined ? {} : { connection }), bandwidths, attributes } };
}

function readOrigin(value: string | undefined): Origin | undefined {
  const match = ORIGIN.exec(value ?? '');
  if (match === null) return undefined;
  const [, username = '', sessionId = '', sessionVersion = '', family, address = ''] = match;
  return { username, sessionId, sessionVersion, family: family === '6' ? 6 : 4, address };
}

function readConnection(value: string): Connection | undefined {
  const [, family, address] = CONNECTION.exec(value) ?? [];
  return address === undefined ? undefined : asWritten(family === '6' ? 6 : 4, address);
}

function firstOf(lines: readonly Line[], letter: string): string | undefined {
  return lines.find(({ type }) => type === letter)?.value;
}
