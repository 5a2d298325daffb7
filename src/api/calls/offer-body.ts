// The offer of a browser call, out of either form of body: the bare session
// description, or a form with the parts `sdp` and `session`.
import { ParleyError } from '../../errors.js';
import { formParts, textOf } from '../http/form-parts.js';

export interface Offer {
  readonly sdp: string;
  /** The session object that came with it, unread. */
  readonly session?: unknown;
}

export const OFFER_TYPES = 'application/sdp, multipart/form-data';

/** Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED or SDP_INVALID. */
export function readOffer(contentType: string | undefined, body: unknown): Offer {
  if (!Buffer.isBuffer(body) || contentType === undefined) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the offer must come as one of: ${OFFER_TYPES}`);
  }
  const isForm = contentType.toLowerCase().startsWith('multipart/');
  const offer = isForm ? readForm(contentType, body) : { sdp: decoded(body) };
  if (offer.sdp.trim() === '') {
    throw new ParleyError('SDP_INVALID', 'the offer is empty', { field: 'sdp' });
  }
  return offer;
}

function readForm(contentType: string, body: Buffer): Offer {
  const parts = formParts(body, contentType);
  const sdp = parts.find(({ name }) => name === 'sdp');
  if (sdp === undefined) throw new ParleyError('MALFORMED', 'the form has no part "sdp"', { field: 'sdp' });
  const session = parts.find(({ name }) => name === 'session');
  const offer = { sdp: decoded(sdp.bytes) };
  return session === undefined ? offer : { ...offer, session: readSession(textOf(session)) };
}

function readSession(text: string): unknown {
  try {
    const session: unknown = JSON.parse(text);
    if (typeof session === 'object' && session !== null && !Array.isArray(session)) return session;
  } catch {
    // told below, like a value of the wrong kind
  }
  throw new ParleyError('MALFORMED', 'the part "session" must be a JSON object', { field: 'session' });
}

// SDP is UTF-8 (RFC 8866 section 5); what is not cannot be an offer.
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ParleyError('SDP_INVALID', 'the offer is not UTF-8', { field: 'sdp', cause: error });
  }
}
