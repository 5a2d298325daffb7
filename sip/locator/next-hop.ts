// Which URI a request is sent by (RFC 3261 section 8.1.2).
import type { Uri } from '../message/uri.js';

export interface Hop {
  readonly requestUri: Uri;
  /** The route set of the request, the first hop first. */
  readonly routes: readonly Uri[];
  /** Every request outside a dialog goes through it, whatever the URIs say. */
  readonly outboundProxy?: Uri | undefined;
}

export function nextHop({ requestUri, routes, outboundProxy }: Hop): Uri {
  const [first] = routes;
  // A strict router wants to be named in the Request-URI, which its peer has written by then (section 12.2.1.1).
  if (first !== undefined) return first.params.has('lr') ? first : requestUri;
  return outboundProxy ?? requestUri;
}
