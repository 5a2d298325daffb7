// The two descriptions between werift and the browser that this server writes
// itself: the offer as werift is to see it, and the answer as the browser does.
import type { Offer, OfferedSection } from './offer.js';

const SCTP_STREAMS = 65_535; // the most; SCTP negotiates the number itself (RFC 8831 section 6.2)

/** The offer reduced to what the native sender does: one codec, no extensions, no feedback. */
export function offerForWerift(offer: Offer): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0'];
  if (offer.bundled) {
    session.push(`a=group:BUNDLE ${usedMids(offer).join(' ')}`);
  }
  if (offer.ice.lite) session.push('a=ice-lite');
  const media = offer.sections.flatMap(({ use }) => {
    if (use === 'audio') return audioForWerift(offer);
    return use === 'data' && offer.data !== undefined ? dataForWerift(offer, offer.data) : [];
  });
  return [...session, ...media, ''].join('\r\n');
}

function usedMids({ sections }: Offer): string[] {
  return sections.flatMap(({ use, mid }) => (use === 'refused' || mid === undefined ? [] : [mid]));
}

function audioForWerift(offer: Offer): string[] {
  const { codec, payloadType, audioMid } = offer;
  const channels = codec.sdpChannels === 1 ? '' : `/${codec.sdpChannels}`;
  return [
    `m=audio 9 UDP/TLS/RTP/SAVPF ${payloadType}`,
    'c=IN IP4 0.0.0.0',
    ...transportForWerift(offer),
    `a=mid:${audioMid}`,
    // Whatever the browser would send: nobody here listens to it.
    'a=recvonly',
    'a=rtcp-mux',
    `a=rtpmap:${payloadType} ${codec.name}/${codec.clockRate}${channels}`,
    ...offer.candidates.map((candidate) => `a=candidate:${candidate}`),
  ];
}

function dataForWerift(offer: Offer, data: NonNullable<Offer['data']>): string[] {
  return [
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    'c=IN IP4 0.0.0.0',
    ...transportForWerift(offer),
    `a=mid:${data.mid}`,
    `a=sctp-port:${data.sctpPort}`,
    `a=max-message-size:${data.maxMessageSize}`,
  ];
}

function transportForWerift({ ice, fingerprints, setup }: Offer): string[] {
  return [
    `a=ice-ufrag:${ice.ufrag}`,
    `a=ice-pwd:${ice.pwd}`,
    ...fingerprints.map((fingerprint) => `a=fingerprint:${fingerprint}`),
    `a=setup:${setup}`,
  ];
}

/** werift's answer with the refused sections put back where the browser offered them. */
export function answerForBrowser(offer: Offer, weriftAnswer: string): string {
  const [session = '', ...answered] = weriftAnswer.split(/^(?=m=)/m);
  // werift states these two whether they were offered or not.
  const head = session.replace(
    offer.bundled ? /^a=extmap-allow-mixed\r\n/m : /^a=(?:extmap-allow-mixed|group:.*)\r\n/gm,
    '',
  );
  const media = offer.sections.map((section) => {
    const answer = section.use === 'refused' ? undefined : answered.shift();
    if (answer === undefined) return refusal(section);
    return inOfferedForm(section.use === 'data' ? withSctpForm(offer, answer) : answer, section);
  });
  // No candidate that comes later would be taken.
  return (head + media.join('')).replaceAll('a=ice-options:trickle\r\n', '');
}

/** An answer has the protocol and, for data, the formats of the offer (RFC 3264 section 6). */
function inOfferedForm(answer: string, { use, protocol, formats }: OfferedSection): string {
  // A number is the SCTP port of whoever describes itself.
  const port = /^a=sctp(?:-port|map):(\d+)/m.exec(answer)?.[1];
  const own = formats.map((format) => (/^\d+$/.test(format) ? (port ?? format) : format));
  return answer.replace(/^m=(\S+ \S+) \S+ ([^\r]*)/, (_line, start: string, answered: string) =>
    ['m=' + start, protocol, use === 'data' ? own.join(' ') : answered].join(' '),
  );
}

function withSctpForm({ data }: Offer, answer: string): string {
  if (data?.form !== 'sctpmap') return answer;
  return answer.replace(
    /^a=sctp-port:(\d+)/m,
    (_line, port: string) => `a=sctpmap:${port} webrtc-datachannel ${SCTP_STREAMS}`,
  );
}

// Port 0 refuses a section (RFC 3264 section 6).
function refusal({ kind, protocol, formats, mid }: OfferedSection): string {
  const lines = [`m=${kind} 0 ${protocol} ${formats.join(' ')}`, 'c=IN IP4 0.0.0.0', 'a=inactive'];
  if (mid !== undefined) lines.push(`a=mid:${mid}`);
  return `${lines.join('\r\n')}\r\n`;
}
