// The name of a rendering in a cache: a hash over everything that changes its
// bytes. Each field is preceded by its length, so that no two lists of fields
// run together into the same name.
import { hash } from 'node:crypto';

type KeyField = string | number | boolean | undefined;

/** SHA-256 in hexadecimal. An absent field is another one than an empty one. */
export function renderingKey(fields: readonly KeyField[]): string {
  let text = '';
  for (const field of fields) {
    const written = `${typeof field} ${String(field)}`;
    text += `${written.length}:${written}`;
  }
  return hash('sha256', text, 'hex');
}

/** Every property with its name, in an order that does not depend on how the object was made; their number first. */
export function keyFields(values: object): KeyField[] {
  const entries = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const fields: KeyField[] = [entries.length];
  for (const [name, value] of entries as [string, unknown][]) {
    fields.push(name);
    if (typeof value === 'object' && value !== null) fields.push(...keyFields(value));
    else fields.push(value as KeyField);
  }
  return fields;
}
