// The session description in a message: the body itself, or one part of several
// (RFC 5621).
import type { Result } from '../message/refusal.js';
import { isOptionalBody } from '../message/inspection.js';
import { understoodParts } from '../message/multipart.js';
import type { SipRequest } from '../message/request.js';
import type { SipResponse } from '../message/response.js';
import type { HeaderLine } from '../message/serialiser.js';

export const SDP = 'application/sdp';

/** The offer or answer in a request; refused where the body demands more than a description, or cannot be read. */
export function describedIn(request: SipRequest): Result<Buffer | undefined> {
  return isOptionalBody(request) ? { value: descriptionIn(request) } : found(request, true);
}

/** The same of a response or an ACK, which nobody can refuse: undefined where there is none that can be read. */
export function descriptionIn(message: SipRequest | SipResponse): Buffer | undefined {
  return found(message, false).value;
}

/** As the end of a message: its type and its bytes. */
export function withDescription(sdp: string | undefined): { headers: readonly HeaderLine[]; body?: string } {
  return sdp === undefined ? { headers: [] } : { headers: [['Content-Type', SDP]], body: sdp };
}

function found({ body, contentType }: SipRequest | SipResponse, demands: boolean): Result<Buffer | undefined> {
  if (body.length === 0 || contentType === undefined) return { value: undefined };
  if (contentType.name === SDP) return { value: body };
  if (!contentType.name.startsWith('multipart/')) return { value: undefined };
  const parts = understoodParts(body, contentType, [SDP], demands);
  if (parts.refusal !== undefined) return parts;
  return { value: parts.value.find(({ disposition }) => disposition === 'session')?.body };
} // prettier-ignore
