// The fields of a JSON message, read one by one: each refusal names the field
// and what it may be. Null is how some clients leave a field out.
import { ParleyError } from '../../errors.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Throws MALFORMED for what is no JSON object in a text message. */
export function readFields(data: string | Uint8Array): Fields {
  if (typeof data !== 'string') throw malformed('a message must be text, not binary');
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw malformed('a message must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('a message must be a JSON object');
  }
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', what);
}

export function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `"${field}" ${what}`, { field });
}

/** Throws INVALID_FIELD for the first field that is none of these: a misspelt one would be passed over in silence. */
export function refuseUnknown(fields: Fields, known: readonly string[], what: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(unknown.slice(0, 100), `is no field of ${what}, which may have ${known.join(', ')}`);
}

export function stringIn(fields: Fields, name: string, most = Infinity): string | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === 'string' && value.length <= most)) return value;
  throw invalid(
    name,
    most === Infinity ? 'must be a string' : `must be a string of at most ${most} characters`,
  );
}

export function flagIn(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid(name, 'must be true or false');
}

export function numberIn(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid(name, `must be a number from ${least} to ${most}`);
}

export function wholeIn(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number;
  throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

export function choiceIn<T extends string>(
  fields: Fields,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  throw invalid(name, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`);
}
