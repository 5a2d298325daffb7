// Lists what this server supports within calls, checks requests against it in the order of RFC 3261,
// section 8.2, and remembers what a peer supports. Authentication and the choice of the callee are
// decided elsewhere.
import { isOptionalBody } from '../message/body.js';
import { parseMediaType, type SipRequest, type SipResponse } from '../message/message.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { SessionFields } from './session-timer.js';

export const CAPABILITIES: Capabilities = {
  methods: ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO', 'UPDATE', 'PRACK', 'REFER', 'NOTIFY'],
  extensions: ['100rel', 'timer', 'replaces', 'norefersub'],
  mediaTypes: [
    'application/sdp',
    'application/dtmf',
    'application/dtmf-relay',
    'message/sipfrag',
    'multipart/mixed',
  ],
  schemes: ['sip', 'sips', 'tel'],
};

/** Sent in requests and responses that create, refresh or query a dialog. */
export const ALLOW: HeaderLine = ['Allow', CAPABILITIES.methods.join(', ')];
export const SUPPORTED: HeaderLine = ['Supported', CAPABILITIES.extensions.join(', ')];
/** Supported for our INVITE and UPDATE within a dialog, where 100rel does not apply. */
export const SUPPORTED_WITHIN: HeaderLine = [
  'Supported',
  CAPABILITIES.extensions.filter((tag) => tag !== '100rel').join(', '),
];
export const ACCEPT: HeaderLine = ['Accept', CAPABILITIES.mediaTypes.join(', ')];
/** Event packages that REFER uses in both directions. */
export const ALLOW_EVENTS: HeaderLine = ['Allow-Events', 'refer'];

/** Option tags of Supported and Require in lower case. */
export function optionTags(message: SipRequest | SipResponse): string[] {
  return [...message.all('supported'), ...message.all('require')].map((tag) => tag.toLowerCase());
}

/** Session timer fields of a message. */
export function sessionFields(message: SipRequest | SipResponse): SessionFields {
  return {
    sessionExpires: message.first('session-expires'),
    minSe: message.first('min-se'),
    supported: optionTags(message),
  };
}

/** Capabilities that the peer of a dialog has stated; the latest Allow counts. */
export class PeerCapabilities {
  #methods: ReadonlySet<string> | undefined;
  readonly #refused = new Set<string>();

  /** Reads a request or response of the peer. */
  note(message: SipRequest | SipResponse): void {
    const methods = message.all('allow');
    if (methods.length > 0) this.#methods = new Set(methods.map((method) => method.toUpperCase()));
  }

  /** True only for methods that the peer has listed. */
  allows(method: string): boolean {
    return (this.#methods?.has(method) ?? false) && !this.#refused.has(method);
  }

  /** The peer refused a method that it lists in Allow and may go on listing. */
  lacks(method: string): void {
    this.#refused.add(method);
  }
}

export interface Capabilities {
  /** Supported methods in the order of Allow. */
  readonly methods: readonly string[];
  /** Option tags, in the order of Supported. */
  readonly extensions: readonly string[];
  /** Body types in lower case, in the order of Accept. */
  readonly mediaTypes: readonly string[];
  /** Request-URI schemes in lower case. */
  readonly schemes: readonly string[];
}

/** Methods known to SIP: unsupported ones get 405, unknown ones 501. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'ACK',
  'BYE',
  'CANCEL',
  'INFO',
  'INVITE',
  'MESSAGE',
  'NOTIFY',
  'OPTIONS',
  'PRACK',
  'PUBLISH',
  'REFER',
  'REGISTER',
  'SUBSCRIBE',
  'UPDATE',
]);

/**
 * Checks method, URI scheme, Max-Forwards, extensions and body; undefined for an acceptable request. ACK and
 * CANCEL are refused for their method only.
 */
export function requestRefusal(request: SipRequest, abilities: Capabilities): Refusal | undefined {
  const { method, uri } = request;
  if (!abilities.methods.includes(method)) return methodRefusal(method, abilities);
  if (method === 'ACK' || method === 'CANCEL') return undefined;
  if (!abilities.schemes.includes(uri.scheme)) return refusal(416, 'Unsupported URI Scheme');
  if (request.maxForwards === 0 && method !== 'OPTIONS') return refusal(483, 'Too Many Hops');
  return extensionRefusal(request, abilities) ?? bodyRefusal(request, abilities);
}

function methodRefusal(method: string, { methods }: Capabilities): Refusal {
  const allow = [['Allow', methods.join(', ')]] as const;
  return KNOWN_METHODS.has(method)
    ? refusal(405, 'Method Not Allowed', allow)
    : refusal(501, 'Not Implemented', allow);
}

function extensionRefusal(request: SipRequest, { extensions }: Capabilities): Refusal | undefined {
  const unknown = request.all('require').filter((tag) => !extensions.includes(tag.toLowerCase()));
  if (unknown.length === 0) return undefined;
  return refusal(420, 'Bad Extension', [['Unsupported', unknown.join(', ')]]);
}

function bodyRefusal(request: SipRequest, { mediaTypes }: Capabilities): Refusal | undefined {
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

function includes(range: string, mediaTypes: readonly string[]): boolean {
  const name = parseMediaType(range)?.name ?? '';
  if (name === '*/*') return true;
  return name.endsWith('/*')
    ? mediaTypes.some((type) => type.startsWith(name.slice(0, -1)))
    : mediaTypes.includes(name);
}
