// Reads and validates the offer of a browser call (RFC 3264, RFC 9429). answer.ts writes the answer.
import { type Codec, OPUS, PCMA, PCMU } from '../src/codecs/codec.js';
import type { SdpUse } from '../src/call/sdp-exchange.js';
import { asParleyError, ParleyError } from '../src/errors.js';
import type { CertificateFingerprint } from '../src/media/dtls-association.js';

const BROWSER_CODECS: readonly Codec[] = [OPUS, PCMU, PCMA];

const FINGERPRINT_BYTES: Readonly<Record<string, number>> = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };
const AUDIO_PROTOCOL = /^(?:(?:UDP\/TLS|TCP\/DTLS)\/)?RTP\/SAVPF?$/i; // RFC 8829 section 5.1.2
const DATA_PROTOCOL = /^(?:(?:UDP|TCP)\/)?DTLS\/SCTP$/i;
const EVENT_CLOCKS = { least: 1000, most: 192_000 }; // Hz: what the media plane takes
const MEDIA_LINE = /^(\S+) +(\d{1,5})(?:\/\d+)? +(\S+)((?: +\S+)*)$/;
const DIRECTION = /^(?:sendrecv|recvonly|sendonly|inactive)$/;
const SMALLEST_MESSAGE = 4096; // bytes; less than this cannot carry an event with a sentence in it

export interface Offer {
  readonly codec: Codec;
  readonly payloadType: number;
  readonly audioMid: string;
  readonly data: (OfferedSctp & { readonly mid: string }) | undefined;
  readonly bundled: boolean;
  /** Direction of the audio, as the browser states it. */
  readonly direction: OfferedDirection;
  /** Format parameters of the codec (RFC 8866 section 6.15), unread; empty if there are none. */
  readonly parameters: string;
  /** Payload type of RED (RFC 2198) with this codec inside; undefined if it is not offered. */
  readonly redPayloadType: number | undefined;
  /** Payload type and clock rate (Hz) of the keys that the browser may send (RFC 4733). */
  readonly telephoneEvent: TelephoneEvent | undefined;
  /** Values of `a=ptime` and `a=maxptime`, unread; undefined if absent. */
  readonly ptime: string | undefined;
  readonly maxptime: string | undefined;
  /** DTLS role that the browser offers (RFC 8842 section 5). */
  readonly setup: 'actpass' | 'active' | 'passive';
  readonly ice: { readonly ufrag: string; readonly pwd: string };
  readonly fingerprints: readonly CertificateFingerprint[];
  /** Every media section in order; the refused ones have to be answered too (RFC 3264 section 6). */
  readonly sections: readonly OfferedSection[];
}

type OfferedDirection = 'sendrecv' | 'recvonly' | 'sendonly';

interface TelephoneEvent {
  readonly payloadType: number;
  readonly clockRate: number;
}

interface OfferedSctp {
  /** The attribute that states the port: `sctpmap` is that of the drafts before RFC 8841. */
  readonly form: 'sctp-port' | 'sctpmap';
  readonly sctpPort: number;
  readonly maxMessageSize: number;
}

export interface OfferedSection {
  readonly use: 'audio' | 'data' | 'refused';
  readonly mid: string | undefined;
  /** Kind, protocol and formats of its `m=` line, as they are written. */
  readonly kind: string;
  readonly protocol: string;
  readonly formats: readonly string[];
}

/**
 * Throws SDP_INVALID naming the line, or NO_COMMON_CODEC. `use` decides which directions of the audio are
 * accepted. `codecs` are those that this side can send.
 */
export function readOffer(
  sdp: string,
  use: SdpUse = 'talk',
  codecs: readonly Codec[] = BROWSER_CODECS,
): Offer {
  const text = splitSdp(sdp);
  const media = text.media.map((section) => ({ section, ...mediaLine(section) }));
  const { item: audio, ...offered } = chooseAudio(text, media, use, codecs);
  const data = media.find(
    ({ kind, usable, protocol }) => isKind(kind, 'application') && usable && DATA_PROTOCOL.test(protocol),
  );
  const dataMid = data === undefined ? undefined : midOf(data.section);
  if (dataMid !== undefined && offered.bundle?.includes(dataMid) !== true) {
    throw badSdp('audio and data must share one transport: a=group:BUNDLE has to list both');
  }
  const { bundle, ...read } = offered;
  return {
    ...read,
    data: data === undefined || dataMid === undefined ? undefined : { mid: dataMid, ...readSctp(data) },
    bundled: bundle !== undefined,
    sections: media.map((item) => ({
      use: item === audio ? 'audio' : item === data ? 'data' : 'refused',
      mid: attribute([item.section], 'mid')?.value,
      kind: item.kind,
      protocol: item.protocol,
      formats: item.formats,
    })),
  };
}

/** Takes the first audio section that this server can use. If there is none, throws the first one's error. */
function chooseAudio(text: SdpText, media: readonly MediaSection[], use: SdpUse, codecs: readonly Codec[]) {
  const errors: ParleyError[] = [];
  for (const item of media) {
    if (!isKind(item.kind, 'audio') || !item.usable) continue;
    try {
      return { item, ...readAudio(text, media, item, { use, codecs }) };
    } catch (error) {
      errors.push(asParleyError(error, 'SDP_INVALID'));
    }
  }
  throw errors[0] ?? noCodec('it has no audio section');
}

function readAudio(
  text: SdpText,
  media: readonly MediaSection[],
  audio: MediaSection,
  { use, codecs }: { readonly use: SdpUse; readonly codecs: readonly Codec[] },
) {
  const { section } = audio;
  const choice = chooseCodec(section, audio.formats, codecs);
  checkAudio(audio);
  const audioMid = midOf(section);
  const bundle = bundles(text).find((mids) => mids.includes(audioMid));
  // A bundled section may leave its transport to the first one of the group.
  const leader = media.find((item) => attribute([item.section], 'mid')?.value === bundle?.[0]);
  const transport = [section, ...(leader === undefined ? [] : [leader.section]), text.session];
  return {
    ...choice,
    ...readTransport(transport),
    direction: readDirection(text, audio, use),
    ptime: attribute([section], 'ptime')?.value,
    maxptime: attribute([section], 'maxptime')?.value,
    audioMid,
    bundle,
  };
}

function noCodec(what: string): ParleyError {
  return new ParleyError('NO_COMMON_CODEC', `the offer and this server have nothing in common: ${what}`, {
    field: 'sdp',
  });
}

type MediaSection = { readonly section: SdpSection } & ReturnType<typeof mediaLine>;

function mediaLine({ first, lines }: SdpSection) {
  const match = MEDIA_LINE.exec(first.value);
  if (match === null) throw badLine(first, 'is not a media line');
  const [, kind = '', port = '', protocol = '', formats = ''] = match;
  const bundleOnly = lines.some((line) => line.type === 'a' && line.value === 'bundle-only');
  // Port 0 means refused by the browser itself, unless the bundle carries it (RFC 9143 section 6).
  return { kind, protocol, formats: formats.split(/ +/).slice(1), usable: port !== '0' || bundleOnly };
}

/** Names of media types are lower case, and some peers write them otherwise. */
function isKind(written: string, kind: 'audio' | 'application'): boolean {
  return written.toLowerCase() === kind;
}

function chooseCodec(
  audio: SdpSection,
  formats: readonly string[],
  codecs: readonly Codec[],
): Pick<Offer, 'codec' | 'payloadType' | 'parameters' | 'redPayloadType' | 'telephoneEvent'> {
  const named = new Map(
    attributes(audio, 'rtpmap').map(({ line, value }) => {
      const match = /^(\d{1,3}) ([^ /]+)\/(\d+)(?:\/(\d+))?$/.exec(value);
      if (match === null) throw badLine(line, 'is not an rtpmap');
      const [, type = '', name = '', clockRate = '', channels = '1'] = match;
      return [Number(type), `${name}/${clockRate}/${channels}`.toLowerCase()] as const;
    }),
  );
  for (const format of formats) {
    if (!/^\d{1,3}$/.test(format) || Number(format) > 127) {
      throw badLine(audio.first, `lists ${format}, which is no payload type`);
    }
    const payloadType = Number(format);
    const codec = codecs.find(({ name, clockRate, sdpChannels, staticPayloadType }) => {
      const written = `${name}/${clockRate}/${sdpChannels}`.toLowerCase();
      return (named.get(payloadType) ?? (staticPayloadType === payloadType ? written : '')) === written;
    });
    if (codec === undefined) continue;
    return {
      codec,
      payloadType,
      parameters: parametersOf(audio, payloadType),
      redPayloadType: redOf(audio, formats, named, payloadType, codec),
      telephoneEvent: telephoneEventOf(formats, named, codec),
    };
  }
  throw noCodec(`the audio section offers none of ${codecs.map(({ name }) => name).join(', ')}`);
}

function parametersOf(audio: SdpSection, payloadType: number): string {
  const begin = `${payloadType} `;
  return (
    attributes(audio, 'fmtp')
      .find(({ value }) => value.startsWith(begin))
      ?.value.slice(begin.length)
      .trim() ?? ''
  );
}

/** RED whose blocks all have the payload type of the codec (RFC 2198 section 5). */
function redOf(
  audio: SdpSection,
  formats: readonly string[],
  named: ReadonlyMap<number, string>,
  payloadType: number,
  { clockRate, sdpChannels }: Codec,
): number | undefined {
  const written = `red/${clockRate}/${sdpChannels}`;
  return formats.map(Number).find((type) => {
    if (named.get(type) !== written) return false;
    const blocks = parametersOf(audio, type).split('/');
    return blocks.every((block) => block === String(payloadType));
  });
}

/** Events should have the clock of the codec (RFC 4733 section 2.1). Firefox offers them at 8000 Hz only. */
function telephoneEventOf(
  formats: readonly string[],
  named: ReadonlyMap<number, string>,
  codec: Codec,
): TelephoneEvent | undefined {
  const events = formats.map(Number).flatMap((payloadType) => {
    const rate = /^telephone-event\/(\d{4,6})\/1$/.exec(named.get(payloadType) ?? '')?.[1];
    const clockRate = Number(rate);
    const isUsable = clockRate >= EVENT_CLOCKS.least && clockRate <= EVENT_CLOCKS.most;
    return isUsable ? [{ payloadType, clockRate }] : [];
  });
  return events.find(({ clockRate }) => clockRate === codec.clockRate) ?? events[0];
}

function checkAudio({ section: audio, protocol }: MediaSection): void {
  if (!AUDIO_PROTOCOL.test(protocol)) throw badLine(audio.first, 'must use SRTP (UDP/TLS/RTP/SAVPF)');
  if (attribute([audio], 'rtcp-mux') === undefined)
    throw badLine(audio.first, 'must be followed by a=rtcp-mux');
}

const REFUSED: Readonly<Record<SdpUse, { readonly pattern: RegExp; readonly reason: string }>> = {
  talk: { pattern: /^(?:sendonly|inactive)$/, reason: 'means that the browser would not listen' },
  listen: { pattern: /^(?:sendonly|inactive)$/, reason: 'means that the browser would not listen' },
  publish: { pattern: /^(?:recvonly|inactive)$/, reason: 'means that the browser would not send' },
};

/** The session's direction is that of sections without one (RFC 8866 section 6.7). */
function readDirection(
  { session }: SdpText,
  { section: audio }: MediaSection,
  use: SdpUse,
): OfferedDirection {
  const own = directions(audio);
  const stated = own.length > 0 ? own : directions(session);
  const { pattern, reason } = REFUSED[use];
  const unfit = stated.find(({ value }) => pattern.test(value));
  if (unfit !== undefined) throw badLine(unfit, reason);
  return (stated[0]?.value as OfferedDirection | undefined) ?? 'sendrecv';
}

function directions({ lines }: SdpSection): SdpLine[] {
  return lines.filter(({ type, value }) => type === 'a' && DIRECTION.test(value));
}

function bundles({ session }: SdpText): string[][] {
  return attributes(session, 'group')
    .map(({ value }) => value.split(' '))
    .flatMap(([semantic, ...mids]) => (semantic === 'BUNDLE' ? [mids] : []));
}

function midOf(section: SdpSection): string {
  const mid = attribute([section], 'mid');
  if (mid === undefined) throw badLine(section.first, 'must be followed by a=mid');
  if (!/^[!#-'*+\-.0-9A-Z^-~]{1,32}$/.test(mid.value)) throw badLine(mid.line, 'is not a media id');
  return mid.value;
}

function readTransport(sections: readonly SdpSection[]) {
  const missing = (name: string) => badSdp(`it has no a=${name} line for its audio section`);
  const required = (name: string, shape: RegExp, what: string) => {
    const found = attribute(sections, name);
    if (found === undefined) throw missing(name);
    if (!shape.test(found.value)) throw badLine(found.line, what);
    return found.value;
  };
  // RFC 8839 section 5.4: ice-char is a letter, a digit, + or /.
  const ufrag = required('ice-ufrag', /^[\w+/-]{4,256}$/, 'must be 4 to 256 letters, digits, + or /');
  const pwd = required('ice-pwd', /^[\w+/-]{22,256}$/, 'must be 22 to 256 letters, digits, + or /');
  const setup = required('setup', /^(actpass|active|passive)$/, 'must be actpass, active or passive');
  const written = sections.flatMap((section) => attributes(section, 'fingerprint'));
  if (written.length === 0) throw missing('fingerprint');
  const fingerprints = new Map<string, CertificateFingerprint>();
  for (const { line, value } of written) {
    const [algorithm = '', digits = ''] = value.split(' ');
    const bytes = FINGERPRINT_BYTES[algorithm.toLowerCase()];
    if (bytes === undefined) continue;
    if (!new RegExp(`^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){${bytes - 1}}$`).test(digits)) {
      throw badLine(line, `is not a ${algorithm} fingerprint`);
    }
    const fingerprint = { hash: algorithm.toLowerCase(), digest: digits.toUpperCase() };
    fingerprints.set(`${fingerprint.hash} ${fingerprint.digest}`, fingerprint);
  }
  if (fingerprints.size === 0) {
    throw badSdp(`it has no fingerprint by one of ${Object.keys(FINGERPRINT_BYTES).join(', ')}`);
  }
  if (attribute(sections, 'ice-lite') !== undefined) {
    throw badSdp('a=ice-lite means that the browser sends no checks, and this server answers checks only');
  }
  return { ice: { ufrag, pwd }, setup: setup as Offer['setup'], fingerprints: [...fingerprints.values()] };
}

function readSctp({ section, formats }: MediaSection): OfferedSctp {
  const [format = ''] = formats;
  const { form, sctpPort } = readSctpPort(section, format);
  const size = attribute([section], 'max-message-size');
  if (size === undefined) return { form, sctpPort, maxMessageSize: 65_536 }; // RFC 8841 section 6.1
  if (!/^\d{1,15}$/.test(size.value)) throw badLine(size.line, 'must be a number of bytes');
  const maxMessageSize = Number(size.value);
  if (maxMessageSize !== 0 && maxMessageSize < SMALLEST_MESSAGE) {
    throw badLine(size.line, `is too small: this server sends messages of up to ${SMALLEST_MESSAGE} bytes`);
  }
  return { form, sctpPort, maxMessageSize };
}

/**
 * RFC 8841 has `a=sctp-port` and no port in the media line. Drafts before it have the port in the media line
 * and in `a=sctpmap:PORT webrtc-datachannel STREAMS`, once for each port (draft-ietf-mmusic-sctp-sdp-05,
 * section 5.1). Some peers mix the two: the port has to be stated in one of the attributes.
 */
function readSctpPort(section: SdpSection, format: string): Pick<OfferedSctp, 'form' | 'sctpPort'> {
  const inLine = /^\d+$/.test(format);
  const map = attributes(section, 'sctpmap').find(
    ({ value }) => !inLine || value.split(' ', 1)[0] === format,
  );
  const stated = attribute([section], 'sctp-port');
  if (map !== undefined && (inLine || stated === undefined)) {
    if (!/^\d+ webrtc-datachannel(?: \d{1,5})?$/i.test(map.value)) {
      throw badLine(map.line, 'must map the port to webrtc-datachannel');
    }
    const [port = ''] = map.value.split(' ', 1);
    return { form: 'sctpmap', sctpPort: sctpPort(inLine ? section.first : map.line, port) };
  }
  if (stated === undefined) {
    const older = inLine ? ` or a=sctpmap:${format}` : '';
    throw badLine(section.first, `must be followed by a=sctp-port${older}`);
  }
  if (inLine && stated.value !== format) throw badLine(stated.line, 'must be the port of its m= line');
  return { form: 'sctp-port', sctpPort: sctpPort(stated.line, stated.value) };
}

function sctpPort(line: SdpLine, port: string): number {
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw badLine(line, 'must be a port from 1 to 65535');
  }
  return Number(port);
}

// A session description as numbered lines: the session's own, then those of each media section. splitSdp
// checks only shape and size.
const MAX_CHARACTERS = 64 * 1024; // Chromium's longest offers have a tenth of this
const MAX_LINES = 1000;
const MAX_LINE_CHARACTERS = 2000;
const MAX_SECTIONS = 16;
const QUOTED_CHARACTERS = 60;
const SESSION_LINES = ['o', 's', 't']; // as RFC 8866 section 5 demands, besides v=

interface SdpLine {
  /** Line number, counted from 1. */
  readonly number: number;
  /** The letter before the equals sign. */
  readonly type: string;
  readonly value: string;
}

interface SdpSection {
  /** The `m=` line, or the first line of the description for the session itself. */
  readonly first: SdpLine;
  readonly lines: readonly SdpLine[];
}

interface SdpText {
  readonly session: SdpSection;
  readonly media: readonly SdpSection[];
}

interface SdpAttribute {
  readonly line: SdpLine;
  /** Text after the colon; empty for a flag. */
  readonly value: string;
}

/** SDP_INVALID for a line, quoting it. */
function badLine(line: SdpLine, what: string): ParleyError {
  const text = `${line.type}=${line.value}`;
  const quoted = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return badSdp(`line ${line.number} (${quoted}) ${what}`);
}

function badSdp(what: string): ParleyError {
  return new ParleyError('SDP_INVALID', `the offer is not usable: ${what}`, { field: 'sdp' });
}

/** Throws SDP_INVALID for anything that is not lines of `letter=value` within the limits. */
function splitSdp(sdp: string): SdpText {
  if (sdp.length > MAX_CHARACTERS) throw badSdp(`it has more than ${MAX_CHARACTERS} characters`);
  const lines = readLines(sdp);
  const starts = lines.flatMap((line, index) => (line.type === 'm' ? [index] : []));
  if (starts.length > MAX_SECTIONS) throw badSdp(`it has more than ${MAX_SECTIONS} media sections`);
  const sections = [0, ...starts].map((start, index) => section(lines.slice(start, starts[index])));
  const [session, ...media] = sections;
  if (session?.first.type !== 'v' || session.first.value !== '0') throw badSdp('line 1 must be v=0');
  for (const type of SESSION_LINES) {
    if (!session.lines.some((line) => line.type === type)) throw badSdp(`its session has no ${type}= line`);
  }
  return { session, media };
}

function section(lines: readonly SdpLine[]): SdpSection {
  const [first] = lines;
  if (first === undefined) throw badSdp('line 1 must be v=0');
  return { first, lines };
}

function readLines(sdp: string): SdpLine[] {
  // Blanks at the end of a line or of the description have no meaning.
  const texts = sdp
    .trimEnd()
    .split(/\r?\n/)
    .map((text) => text.trimEnd());
  if (texts.length > MAX_LINES) throw badSdp(`it has more than ${MAX_LINES} lines`);
  return texts.map((text, index) => {
    const line = { number: index + 1, type: text.slice(0, 1), value: text.slice(2) };
    if (text.length > MAX_LINE_CHARACTERS) {
      throw badLine(line, `is longer than ${MAX_LINE_CHARACTERS} characters`);
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    if (!/^[a-z]=[^\0-\x08\x0a-\x1f\x7f]*$/.test(text)) {
      throw badSdp(`line ${line.number} is not of the form letter=value`);
    }
    return line;
  });
}

/** Every `a=name` or `a=name:value` line of a section. */
function attributes(section: SdpSection, name: string): SdpAttribute[] {
  return section.lines.flatMap((line) => {
    if (line.type !== 'a') return [];
    if (line.value === name) return [{ line, value: '' }];
    return line.value.startsWith(`${name}:`)
      ? [{ line, value: line.value.slice(name.length + 1).trim() }]
      : [];
  });
}

/** The first such line of the first section that has one. */
function attribute(sections: readonly SdpSection[], name: string): SdpAttribute | undefined {
  for (const section of sections) {
    const [found] = attributes(section, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
