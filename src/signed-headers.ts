// Signs the requests that the server sends to an application.
import { createHmac } from 'node:crypto';

interface SignedBody {
  readonly secret: string;
  readonly body: string;
  /** Now, in milliseconds since 1970. */
  readonly unixMs: number;
}

/** The header fields of a signed JSON request about this event. */
export function signedHeaders(
  event: string,
  { secret, body, unixMs }: SignedBody,
): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': 'parley',
    'x-parley-event': event,
    'x-parley-signature': signature(secret, body, Math.floor(unixMs / 1000)),
  };
}

/** `t=<Unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. The time lets a receiver reject replayed records. */
export function signature(secret: string, body: string, unixSeconds: number): string {
  const mac = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
