// Says why a request is refused or sent: the status with its reason phrase, and
// the Reason header field (RFC 3326). Code that reads what a peer sent returns a
// Result, which holds a value or the refusal to answer with; it does not throw.
import { headerParameters, quoted, Scanner } from './scanner.js';

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  /** Further header fields of the response, such as Allow or Unsupported. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export function refusal(status: number, reason: string, headers: Refusal['headers'] = []): Refusal {
  return { status, reason, headers };
}

export type Result<T> =
  | { readonly value: T; readonly refusal?: undefined }
  | { readonly refusal: Refusal; readonly value?: undefined };

/** The reason goes into the response and the log, so it never quotes what the peer sent. */
export function refused(
  status: number,
  reason: string,
  headers: Refusal['headers'] = [],
): { readonly refusal: Refusal } {
  return { refusal: refusal(status, reason, headers) };
}

/** Reason phrases of RFC 3261 and of the RFCs that added status codes. */
// prettier-ignore
const PHRASES: Readonly<Record<number, string>> = {
  100: 'Trying', 180: 'Ringing', 181: 'Call Is Being Forwarded', 182: 'Queued', 183: 'Session Progress',
  199: 'Early Dialog Terminated', 200: 'OK', 202: 'Accepted', 204: 'No Notification',
  300: 'Multiple Choices', 301: 'Moved Permanently', 302: 'Moved Temporarily', 305: 'Use Proxy', 380: 'Alternative Service',
  400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found',
  405: 'Method Not Allowed', 406: 'Not Acceptable', 407: 'Proxy Authentication Required', 408: 'Request Timeout',
  410: 'Gone', 412: 'Conditional Request Failed', 413: 'Request Entity Too Large', 414: 'Request-URI Too Long',
  415: 'Unsupported Media Type', 416: 'Unsupported URI Scheme', 420: 'Bad Extension', 421: 'Extension Required',
  422: 'Session Interval Too Small', 423: 'Interval Too Brief', 428: 'Use Identity Header', 429: 'Provide Referrer Identity',
  433: 'Anonymity Disallowed', 436: 'Bad Identity Info', 437: 'Unsupported Credential', 438: 'Invalid Identity Header',
  439: 'First Hop Lacks Outbound Support', 440: 'Max-Breadth Exceeded', 469: 'Bad Info Package', 470: 'Consent Needed',
  480: 'Temporarily Unavailable', 481: 'Call/Transaction Does Not Exist', 482: 'Loop Detected', 483: 'Too Many Hops',
  484: 'Address Incomplete', 485: 'Ambiguous', 486: 'Busy Here', 487: 'Request Terminated', 488: 'Not Acceptable Here',
  489: 'Bad Event', 491: 'Request Pending', 493: 'Undecipherable', 494: 'Security Agreement Required',
  500: 'Server Internal Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable',
  504: 'Server Time-out', 505: 'Version Not Supported', 513: 'Message Too Large', 555: 'Push Notification Service Not Supported',
  580: 'Precondition Failure', 600: 'Busy Everywhere', 603: 'Decline', 604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable', 607: 'Unwanted', 608: 'Rejected',
};

/** The phrase of a status; for an unknown one, the phrase of its class (RFC 3261, section 8.1.3.2). */
export function reasonPhrase(status: number): string {
  return (
    PHRASES[status] ??
    PHRASES[Math.floor(status / 100) * 100] ??
    (status < 200 ? 'Session Progress' : 'Rejected')
  );
}

/** The Reason header field (RFC 3326). */
export interface Reason {
  /** Lower case: `sip`, `q.850` or another. */
  readonly protocol: string;
  /** A SIP status or a Q.850 cause. */
  readonly cause: number | undefined;
  readonly text: string | undefined;
}

/** Parses one value of the field; undefined if it is malformed. */
export function readReason(value: string): Reason | undefined {
  const scanner = new Scanner(value);
  const protocol = scanner.space().token().toLowerCase();
  const params = protocol === '' ? undefined : headerParameters(scanner);
  if (params === undefined) return undefined;
  const cause = params.get('cause') ?? '';
  return {
    protocol,
    cause: /^\d{1,9}$/.test(cause) ? Number(cause) : undefined,
    text: params.get('text'),
  };
}

export function writeReason({ protocol, cause, text }: Reason): string {
  const name = protocol === 'sip' || protocol === 'q.850' ? protocol.toUpperCase() : protocol;
  const parts = [
    ...(cause === undefined ? [] : [`cause=${cause}`]),
    // oxlint-disable-next-line no-control-regex -- a line end would begin a field of its own
    ...(text === undefined ? [] : [`text=${quoted(text.replace(/[\x00-\x1f\x7f]+/g, ' '))}`]),
  ];
  return [name, ...parts].join(';');
}
