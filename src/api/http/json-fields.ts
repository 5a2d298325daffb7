// Describes the fields of a JSON object in one table, from which come its schema and its JSON.
import { type JsonSchema, object } from './json-schema.js';

/** Its JSON name, its schema and its value. A name that ends with `?` is of a field that may be absent. */
export type JsonField<Source> = readonly [
  name: string,
  schema: JsonSchema,
  value: (source: Source) => unknown,
];

export function fieldsSchema<Source>(fields: readonly JsonField<Source>[]): JsonSchema {
  const properties = fields.map(([name, schema]) => [plainName(name), schema] as const);
  const optional = fields.filter(([name]) => name.endsWith('?')).map(([name]) => plainName(name));
  return object(Object.fromEntries(properties), optional);
}

/** A value that is undefined is left out of the text. */
export function fieldsJson<Source>(
  fields: readonly JsonField<Source>[],
  source: Source,
): Record<string, unknown> {
  return Object.fromEntries(fields.map(([name, , value]) => [plainName(name), value(source)]));
}

function plainName(name: string): string {
  return name.replace(/\?$/, '');
}
