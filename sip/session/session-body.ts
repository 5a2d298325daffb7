// The session description in a message: the body itself, or one part of several
// (RFC 5621).
import type { SipRequest } from '../message/request.js';
import type { SipResponse } from '../message/response.js';
import type { HeaderLine } from '../message/serialiser.js';

export const SDP = 'application/sdp';

const MOST_PARTS = 8;

/** Undefined where there is none. */
export function descriptionIn({ body, contentType }: SipRequest | SipResponse): Buffer | undefined {
  if (body.length === 0 || contentType === undefined) return undefined;
  if (contentType.name === SDP) return body;
  if (!contentType.name.startsWith('multipart/')) return undefined;
  return partOf(body, contentType.params.get('boundary') ?? '');
}

/** As the end of a message: its type and its bytes. */
export function withDescription(sdp: string | undefined): { headers: readonly HeaderLine[]; body?: string } {
  return sdp === undefined ? { headers: [] } : { headers: [['Content-Type', SDP]], body: sdp };
}

/** The first part that is a description; latin1 keeps every byte as one character. */
function partOf(body: Buffer, boundary: string): Buffer | undefined {
  if (boundary === '' || boundary.length > 70) return undefined;
  const parts = `\r\n${body.toString('latin1')}`.split(`\r\n--${boundary}`, MOST_PARTS + 1).slice(1);
  for (const part of parts) {
    if (part.startsWith('--')) break;
    const start = part.indexOf('\r\n\r\n');
    const head = start < 0 ? '' : part.slice(0, start);
    if (/^content-type[ \t]*:[ \t]*application\/sdp[ \t]*(?:;|$)/im.test(head)) {
      return Buffer.from(part.slice(start + 4), 'latin1');
    }
  }
  return undefined;
}
