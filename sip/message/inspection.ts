// The order in which a user agent server looks a request over before it acts
// on it (RFC 3261, section 8.2), as far as the message alone decides. Who asks,
// and whether there is anybody of that name here, others decide.
import { type Refusal, refusal } from './refusal.js';
import type { SipRequest } from './request.js';
import { parseMediaType } from './media-type.js';

export interface Abilities {
  /** Those that are answered, in the order of Allow. */
  readonly methods: readonly string[];
  /** Option tags, in the order of Supported. */
  readonly extensions: readonly string[];
  /** Types of bodies, lower case, in the order of Accept. */
  readonly mediaTypes: readonly string[];
  /** Schemes of Request-URIs, lower case. */
  readonly schemes: readonly string[];
}

/** What every SIP element knows, so that one of them that is not allowed here is 405, and any other method 501. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'ACK', 'BYE', 'CANCEL', 'INFO', 'INVITE', 'MESSAGE', 'NOTIFY', 'OPTIONS', 'PRACK', 'PUBLISH', 'REFER', 'REGISTER',
  'SUBSCRIBE', 'UPDATE',
]); // prettier-ignore

/** Undefined for a request that may be acted on; ACK and CANCEL are never refused for what they ask for. */
export function inspected(request: SipRequest, abilities: Abilities): Refusal | undefined {
  const { method, uri } = request;
  if (!abilities.methods.includes(method)) return methodRefusal(method, abilities);
  if (method === 'ACK' || method === 'CANCEL') return undefined;
  if (!abilities.schemes.includes(uri.scheme)) return refusal(416, 'Unsupported URI Scheme');
  if (request.maxForwards === 0 && method !== 'OPTIONS') return refusal(483, 'Too Many Hops');
  return extensionRefusal(request, abilities) ?? bodyRefusal(request, abilities);
}

function methodRefusal(method: string, { methods }: Abilities): Refusal {
  const allow = [['Allow', methods.join(', ')]] as const;
  return KNOWN_METHODS.has(method)
    ? refusal(405, 'Method Not Allowed', allow)
    : refusal(501, 'Not Implemented', allow);
}

function extensionRefusal(request: SipRequest, { extensions }: Abilities): Refusal | undefined {
  const unknown = request.all('require').filter((tag) => !extensions.includes(tag.toLowerCase()));
  if (unknown.length === 0) return undefined;
  return refusal(420, 'Bad Extension', [['Unsupported', unknown.join(', ')]]);
}

function bodyRefusal(request: SipRequest, { mediaTypes }: Abilities): Refusal | undefined {
  const accept = [['Accept', mediaTypes.join(', ')]] as const;
  if (request.body.length > 0 && !isOptionalBody(request)) {
    const type = request.contentType?.name ?? '';
    const isMultipart = type.startsWith('multipart/') && mediaTypes.includes('multipart/mixed');
    if (!mediaTypes.includes(type) && !isMultipart) return refusal(415, 'Unsupported Media Type', accept);
    const coded = request.all('content-encoding').filter((coding) => coding.toLowerCase() !== 'identity');
    if (coded.length > 0) return refusal(415, 'Unsupported Media Type', [['Accept-Encoding', 'identity']]);
  }
  const wanted = request.all('accept');
  if (request.method !== 'INVITE' || wanted.length === 0) return undefined;
  return wanted.some((range) => includes(range, mediaTypes)) ? undefined : refusal(406, 'Not Acceptable');
}

/** Whether the sender of a body says that it may be ignored (RFC 3261, section 20.11). */
export function isOptionalBody(request: SipRequest): boolean {
  return /;\s*handling\s*=\s*optional\b/i.test(request.first('content-disposition') ?? '');
}

function includes(range: string, mediaTypes: readonly string[]): boolean {
  const name = parseMediaType(range)?.name ?? '';
  if (name === '*/*') return true;
  return name.endsWith('/*')
    ? mediaTypes.some((type) => type.startsWith(name.slice(0, -1)))
    : mediaTypes.includes(name);
}
