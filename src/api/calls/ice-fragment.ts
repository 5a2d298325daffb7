// Reads and writes the SDP fragments of trickle ICE and ICE restarts (application/trickle-ice-sdpfrag,
// RFC 8840 section 9): the body of a PATCH on a session, and the answer to a restart.
import type { IceFragment, IceRestart } from '../../call/sdp-exchange.js';
import { ParleyError } from '../../errors.js';

export const FRAGMENT_TYPE = 'application/trickle-ice-sdpfrag';

const MOST_LINES = 1000;
const MOST_LINE = 2000; // characters
const MOST_CANDIDATES = 64;
const UFRAG = /^[\w+/-]{4,256}$/;
const PASSWORD = /^[\w+/-]{22,256}$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is being refused
const LINE = /^([a-z])=([^\0-\x08\x0a-\x1f\x7f]*)$/;

/**
 * Throws SDP_INVALID. With max-bundle all sections have one transport, so it does not matter in which of them
 * an attribute is. Clients may repeat a candidate in each section.
 */
export function readIceFragment(body: Buffer): IceFragment {
  const attributes = attributesOf(textOf(body));
  const ufrag = theOne('ice-ufrag', attributes, UFRAG, 'must be 4 to 256 letters, digits, + or /');
  const pwd = theOne('ice-pwd', attributes, PASSWORD, 'must be 22 to 256 letters, digits, + or /');
  if ((ufrag === undefined) !== (pwd === undefined)) {
    throw invalid('it must have both a=ice-ufrag and a=ice-pwd, or neither');
  }
  const candidates = new Set(valuesOf('candidate', attributes));
  if (candidates.size > MOST_CANDIDATES) throw invalid(`it has more than ${MOST_CANDIDATES} candidates`);
  return { ufrag, pwd, candidates: [...candidates] };
}

/** The answer to a restart. The media line is that of RFC 8840 section 4.4, which carries no media. */
export function iceFragment({ ufrag, pwd, candidates, mid }: IceRestart): string {
  const lines = [
    'a=ice-lite', // as in the answer (RFC 9725 section 4.3.3)
    `a=group:BUNDLE ${mid}`,
    'm=audio 9 UDP/TLS/RTP/SAVPF 0',
    `a=mid:${mid}`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${pwd}`,
    ...candidates.map((candidate) => `a=candidate:${candidate}`),
    'a=end-of-candidates',
  ];
  return `${lines.join('\r\n')}\r\n`;
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new ParleyError('SDP_INVALID', 'the SDP fragment is not UTF-8', { cause: error });
  }
}

/** The values of the `a=` lines. Clients that use an SDP library may send lines of other types as well. */
function attributesOf(text: string): string[] {
  const lines = text.replace(/(?:\r?\n)+$/, '').split(/\r?\n/);
  if (lines.length > MOST_LINES) throw invalid(`it has more than ${MOST_LINES} lines`);
  return lines.flatMap((line, index) => {
    const [, type, value = ''] = (line.length <= MOST_LINE && LINE.exec(line)) || [];
    if (type === undefined) {
      throw invalid(`line ${index + 1} is not of the form letter=value, of at most ${MOST_LINE} characters`);
    }
    return type === 'a' ? [value] : [];
  });
}

function valuesOf(name: string, attributes: readonly string[]): string[] {
  const start = `${name}:`;
  return attributes.flatMap((value) => (value.startsWith(start) ? [value.slice(start.length).trim()] : []));
}

/** The value that all lines of this name have; undefined if there is no such line. */
function theOne(
  name: string,
  attributes: readonly string[],
  shape: RegExp,
  rule: string,
): string | undefined {
  const [value, ...others] = new Set(valuesOf(name, attributes));
  if (others.length > 0) throw invalid(`its lines a=${name} differ, and all sections share one transport`);
  if (value !== undefined && !shape.test(value)) throw invalid(`a=${name} ${rule}`);
  return value;
}

function invalid(what: string): ParleyError {
  return new ParleyError('SDP_INVALID', `the SDP fragment is not usable: ${what}`);
}
