// A session description as numbered lines: the session's own, then those of
// each media section. Only shape and size are judged here; what the lines mean
// is the business of whoever asks for them.
import { ParleyError } from '../src/errors.js';

const MAX_CHARACTERS = 64 * 1024; // Chromium's longest offers have a tenth of this
const MAX_LINES = 1000;
const MAX_LINE_CHARACTERS = 2000;
const MAX_SECTIONS = 16;
const QUOTED_CHARACTERS = 60;
const SESSION_LINES = ['o', 's', 't']; // as RFC 8866 section 5 demands, besides v=

export interface SdpLine {
  /** As an editor counts, from 1. */
  readonly number: number;
  /** The letter before the equals sign. */
  readonly type: string;
  readonly value: string;
}

export interface SdpSection {
  /** The `m=` line, or the first line of the description for the session itself. */
  readonly first: SdpLine;
  readonly lines: readonly SdpLine[];
}

export interface SdpText {
  readonly session: SdpSection;
  readonly media: readonly SdpSection[];
}

export interface SdpAttribute {
  readonly line: SdpLine;
  /** What stands after the colon; empty for a flag. */
  readonly value: string;
}

/** SDP_INVALID for a line, quoting it. */
export function badLine(line: SdpLine, what: string): ParleyError {
  const text = `${line.type}=${line.value}`;
  const quoted = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return badSdp(`line ${line.number} (${quoted}) ${what}`);
}

export function badSdp(what: string): ParleyError {
  return new ParleyError('SDP_INVALID', `the offer is not usable: ${what}`, { field: 'sdp' });
}

/** Throws SDP_INVALID for anything that is not lines of `letter=value` within the limits. */
export function splitSdp(sdp: string): SdpText {
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
  const texts = sdp.replace(/(?:\r?\n)+$/, '').split(/\r?\n/);
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
export function attributes(section: SdpSection, name: string): SdpAttribute[] {
  return section.lines.flatMap((line) => {
    if (line.type !== 'a') return [];
    if (line.value === name) return [{ line, value: '' }];
    return line.value.startsWith(`${name}:`)
      ? [{ line, value: line.value.slice(name.length + 1).trim() }]
      : [];
  });
}

/** The first such line of the first section that has one. */
export function attribute(sections: readonly SdpSection[], name: string): SdpAttribute | undefined {
  for (const section of sections) {
    const [found] = attributes(section, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
