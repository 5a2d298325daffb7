// Writes the answer to a browser's offer (RFC 3264, RFC 9429): one codec, telephone events, no header
// extension, no feedback, and every candidate of this ICE-lite server. Sections that are not served are
// refused with port 0.
import { isIPv6 } from 'node:net';
import type { SdpUse } from '../src/call/sdp-exchange.js';
import type { CertificateFingerprint } from '../src/media/dtls-association.js';
import type { Offer, OfferedSection } from './offer.js';
import { SCTP_PORT } from './sctp-association.js';
import { MAX_MESSAGE_BYTES } from './data-channel.js';

const SCTP_STREAMS = 65_535; // the most; SCTP negotiates the number itself (RFC 8831 section 6.2)

/** The address and port that a candidate names. */
export interface HostAddress {
  readonly address: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
}

export interface AnswerTerms {
  readonly use: SdpUse;
  /** Decimal digits that name this session among all of this host (RFC 8866 section 5.2). */
  readonly sessionId: string;
  readonly ssrc: number;
  readonly cname: string;
  readonly ice: { readonly ufrag: string; readonly pwd: string };
  readonly fingerprint: CertificateFingerprint;
  readonly setup: 'active' | 'passive';
  /** In order of preference. */
  readonly hosts: readonly HostAddress[];
  /** Format parameters of our codec; empty for none. */
  readonly parameters: string;
}

/** The direction of our audio; `sendrecv` only where the browser sends too. */
export function answeredDirection({ direction }: Offer, use: SdpUse): 'sendrecv' | 'sendonly' | 'recvonly' {
  if (use === 'publish') return 'recvonly';
  return use === 'talk' && direction === 'sendrecv' ? 'sendrecv' : 'sendonly';
}

export function writeAnswer(offer: Offer, terms: AnswerTerms): string {
  const mids = offer.sections.flatMap(({ use, mid }) =>
    use === 'refused' || mid === undefined ? [] : [mid],
  );
  const lines = [
    'v=0',
    `o=- ${terms.sessionId} 1 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    'a=ice-lite',
    ...(offer.bundled ? [`a=group:BUNDLE ${mids.join(' ')}`] : []),
    'a=msid-semantic: WMS parley',
    ...offer.sections.flatMap((section) => {
      if (section.use === 'audio') return audioSection(offer, section, terms);
      return section.use === 'data' ? dataSection(offer, section, terms) : refusal(section);
    }),
  ];
  return `${lines.join('\r\n')}\r\n`;
}

function audioSection(offer: Offer, { protocol, mid }: OfferedSection, terms: AnswerTerms): string[] {
  const { codec, payloadType, redPayloadType: red, telephoneEvent } = offer;
  const channels = codec.sdpChannels === 1 ? '' : `/${codec.sdpChannels}`;
  const direction = answeredDirection(offer, terms.use);
  const rate = `${codec.clockRate}${channels}`;
  // A browser that does not send presses no keys either.
  const event = direction === 'sendonly' ? undefined : telephoneEvent;
  const formats = [payloadType, red, event?.payloadType].filter((type) => type !== undefined);
  const lines = [
    `m=audio 9 ${protocol} ${formats.join(' ')}`,
    ...transportLines(terms),
    ...candidateLines(terms.hosts),
    `a=mid:${mid}`,
    `a=${direction}`,
    'a=rtcp-mux',
    `a=rtpmap:${payloadType} ${codec.name}/${rate}`,
  ];
  if (terms.parameters !== '') lines.push(`a=fmtp:${payloadType} ${terms.parameters}`);
  if (red !== undefined)
    lines.push(`a=rtpmap:${red} red/${rate}`, `a=fmtp:${red} ${payloadType}/${payloadType}`);
  if (event !== undefined) {
    const { payloadType: type, clockRate } = event;
    lines.push(`a=rtpmap:${type} telephone-event/${clockRate}`, `a=fmtp:${type} 0-15`);
  }
  if (direction !== 'recvonly') {
    lines.push('a=msid:parley audio', `a=ssrc:${terms.ssrc} cname:${terms.cname}`);
  }
  return lines;
}

function dataSection(
  { data }: Offer,
  { protocol, formats, mid }: OfferedSection,
  terms: AnswerTerms,
): string[] {
  // A numeric format is the SCTP port of the side that sends the description.
  const own = formats.map((format) => (/^\d+$/.test(format) ? SCTP_PORT : format));
  const map = `a=sctpmap:${SCTP_PORT} webrtc-datachannel ${SCTP_STREAMS}`;
  return [
    `m=application 9 ${protocol} ${own.join(' ')}`,
    ...transportLines(terms),
    `a=mid:${mid}`,
    data?.form === 'sctpmap' ? map : `a=sctp-port:${SCTP_PORT}`,
    `a=max-message-size:${MAX_MESSAGE_BYTES}`,
  ];
}

function transportLines({ ice, fingerprint, setup }: AnswerTerms): string[] {
  return [
    'c=IN IP4 0.0.0.0',
    `a=ice-ufrag:${ice.ufrag}`,
    `a=ice-pwd:${ice.pwd}`,
    `a=fingerprint:${fingerprint.hash} ${fingerprint.digest}`,
    `a=setup:${setup}`,
  ];
}

function candidateLines(hosts: readonly HostAddress[]): string[] {
  return [...candidatesOf(hosts).map((candidate) => `a=candidate:${candidate}`), 'a=end-of-candidates'];
}

const HOST_PREFERENCE = { udp: 126, tcp: 90 } as const; // RFC 8445 section 5.1.2.2, RFC 6544 section 4.2
const COMPONENT = 1;

/** Values of `a=candidate` (RFC 8839 section 5.1, RFC 6544 section 4.5); IPv6 first among equals. */
export function candidatesOf(hosts: readonly HostAddress[]): string[] {
  return hosts.map(({ address, port, transport }, index) => {
    const local = (isIPv6(address) ? 65_535 : 49_151) - index;
    const priority = HOST_PREFERENCE[transport] * 2 ** 24 + local * 2 ** 8 + (256 - COMPONENT);
    const type = transport === 'tcp' ? 'typ host tcptype passive' : 'typ host';
    return `${index + 1} ${COMPONENT} ${transport} ${priority} ${address} ${port} ${type}`;
  });
}

// Port 0 refuses a section (RFC 3264 section 6). RFC 8866 demands a format, also where the offer has none.
function refusal({ kind, protocol, formats, mid }: OfferedSection): string[] {
  const lines = [`m=${kind} 0 ${protocol} ${formats.join(' ') || '0'}`, 'c=IN IP4 0.0.0.0', 'a=inactive'];
  if (mid !== undefined) lines.push(`a=mid:${mid}`);
  return lines;
}
