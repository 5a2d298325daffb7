// The name of a rendering in a cache: a hash over everything that changes its
// bytes. Each field is preceded by its length, so that no two lists of fields
// run together into the same name.
import { hash } from 'node:crypto';

export type KeyField = string | number | boolean | undefined;

/** SHA-256 in hexadecimal. An absent field is another one than an empty one. */
export function renderingKey(fields: readonly KeyField[]): string {
  let text = '';
  for (const field of fields) {
    const written = `${typeof field} ${String(field)}`;
    text += `${written.length}:${written}`;
  }
  return hash('sha256', text, 'hex');
}
