// Computes the name of a rendering in a cache: a hash over everything that changes its bytes. Each field is
// preceded by its length, so that different lists of fields never give the same name.
import { hash } from 'node:crypto';

type KeyField = string | number | boolean | undefined;

/** SHA-256 in hexadecimal. An undefined field differs from an empty one. */
export function renderingKey(fields: readonly KeyField[]): string {
  let text = '';
  for (const field of fields) {
    const written = `${typeof field} ${String(field)}`;
    text += `${written.length}:${written}`;
  }
  return hash('sha256', text, 'hex');
}

/** Returns the number of properties, then each name and value, sorted by name. */
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
