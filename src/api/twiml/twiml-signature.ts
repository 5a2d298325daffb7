// X-Twilio-Signature: tells an application that a request comes from this server.
// https://www.twilio.com/docs/usage/security
import { createHash, createHmac } from 'node:crypto';

/** Names and values of a form, in order. A name may come several times. */
export type FormFields = readonly (readonly [name: string, value: string])[];

/**
 * Base64 HMAC-SHA1 over the URL without its fragment, and over the fields of the form in order of their
 * names: each name with its value, without separators. Of a repeated name the distinct values count, sorted.
 */
export function formSignature(authToken: string, url: URL, fields: FormFields = []): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value));
  const signed = [...values]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, distinct]) => [...distinct].toSorted().map((value) => name + value));
  return createHmac('sha1', authToken)
    .update(signedUrl(url) + signed.join(''))
    .digest('base64');
}

/** The URL of a request with a JSON body gets `bodySHA256`, and it alone is signed. */
export function jsonSignature(
  authToken: string,
  url: URL,
  body: string,
): { readonly url: URL; readonly signature: string } {
  const signed = new URL(url);
  const digest = createHash('sha256').update(body).digest('hex');
  signed.search += `${signed.search === '' ? '?' : '&'}bodySHA256=${digest}`;
  return { url: signed, signature: formSignature(authToken, signed) };
}

/** The parser of URLs leaves the default ports 80 and 443 out. */
function signedUrl(url: URL): string {
  const signed = new URL(url);
  signed.hash = '';
  return signed.href;
}
