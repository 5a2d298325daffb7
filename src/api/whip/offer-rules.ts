// The rules of WHIP (RFC 9725 section 4.4) and WHEP for offers, beyond those of every browser call. The
// exchange checks the rest of the offer.
//
// A single section of video is left to the exchange, which refuses that section alone. RFC 9725 recommends to
// refuse the whole offer then, but OBS and players always offer video beside the audio.
import { ParleyError } from '../../errors.js';

type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

interface Section {
  readonly kind: string;
  readonly attributes: readonly string[];
}

const REFUSED: Readonly<Record<'publish' | 'listen', readonly Direction[]>> = {
  publish: ['recvonly', 'inactive'],
  listen: ['sendonly', 'inactive'],
};

/** Throws SDP_INVALID if this is not SDP, and SDP_REFUSED if it breaks a rule. */
export function checkOffer(sdp: string, use: 'publish' | 'listen'): void {
  const lines = sdp.split(/\r?\n/).map((line) => line.trimEnd());
  if (lines[0] !== 'v=0') throw new ParleyError('SDP_INVALID', 'the offer is not SDP: line 1 must be v=0');
  const { session, media } = sectionsOf(lines);
  const count = (kind: string) => media.filter((section) => section.kind === kind).length;
  if (count('audio') === 0) throw refused('it has no audio section, and this server serves only audio');
  for (const kind of ['audio', 'video']) {
    if (count(kind) > 1) throw refused(`it has ${count(kind)} ${kind} sections; at most one is served`);
  }
  const streams = new Set(media.flatMap(streamsOf));
  if (streams.size > 1) throw refused(`it has ${streams.size} MediaStreams (a=msid); at most one is served`);
  for (const { kind, attributes } of media) {
    const direction = firstOf(DIRECTION, attributes) ?? firstOf(DIRECTION, session) ?? 'sendrecv';
    if (REFUSED[use].includes(direction as Direction)) {
      const which = use === 'publish' ? 'sendonly or sendrecv' : 'recvonly or sendrecv';
      throw refused(`its ${kind} section is ${direction}, and must be ${which}`);
    }
    const setup = firstOf(SETUP, attributes) ?? firstOf(SETUP, session) ?? 'actpass';
    if (setup !== 'actpass' && setup !== 'active') {
      throw refused(`its ${kind} section has a=setup:${setup}, and must have actpass or active`);
    }
  }
}

const DIRECTION = /^(sendrecv|sendonly|recvonly|inactive)$/;
const SETUP = /^setup:(\S{1,20})$/;

/** Sections of audio and video that the client itself does not refuse, and the attributes of the session. */
function sectionsOf(lines: readonly string[]) {
  const session: string[] = [];
  const media: { kind: string; port: string; attributes: string[] }[] = [];
  for (const line of lines) {
    const [, kind, port = ''] = /^m=(\S+) +(\d+)/.exec(line) ?? [];
    if (kind !== undefined) media.push({ kind: kind.toLowerCase(), port, attributes: [] });
    else if (line.startsWith('a=')) (media.at(-1)?.attributes ?? session).push(line.slice(2));
  }
  const isUsed = ({ kind, port, attributes }: (typeof media)[number]) =>
    ['audio', 'video'].includes(kind) && (port !== '0' || attributes.includes('bundle-only'));
  return { session, media: media.filter(isUsed) };
}

function streamsOf({ attributes }: Section): string[] {
  return attributes.flatMap((value) => {
    const stream = /^msid:(\S+)/.exec(value)?.[1];
    return stream === undefined || stream === '-' ? [] : [stream];
  });
}

function firstOf(shape: RegExp, attributes: readonly string[]): string | undefined {
  for (const value of attributes) {
    const found = shape.exec(value)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

function refused(what: string): ParleyError {
  return new ParleyError('SDP_REFUSED', `the offer cannot be served here: ${what}`, { field: 'sdp' });
}
