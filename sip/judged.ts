// A value that was made of what a peer sent, or the refusal to answer it with:
// nothing that comes from the network is worth an exception.
import { refusal, type Refusal } from './message/refusal.js';

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
