// A value that its schema does not allow, as OpenAI's clients read it: the
// field by name, and one sentence on what it may be. The sentence is made of
// the schema itself, so that it cannot say anything else than what is checked.
import { ParleyError } from '../../errors.js';
import type { JsonSchema } from './json-schema.js';

/** What the validator tells of a value that it did not accept. */
interface Complaint {
  readonly keyword: string;
  /** A JSON pointer into the body. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

/** MALFORMED where the body is no object, INVALID_FIELD with the field and what it may be otherwise. */
export function fieldRefusal(complaints: readonly Complaint[]): ParleyError {
  const complaint = deepest(complaints);
  const schema = (complaint?.parentSchema ?? {}) as JsonSchema;
  const path = complaint?.instancePath ?? '';
  if (complaint?.keyword === 'required') {
    const missing = String(complaint.params['missingProperty']);
    return refusal(`${path}/${missing}`, schema.properties?.[missing] ?? {});
  }
  if (path !== '') return refusal(path, schema);
  const fields = (schema.required ?? []).map((name) => `"${name}"`).join(' and ');
  const with_ = fields === '' ? '' : ` with at least the field ${fields}`;
  return new ParleyError('MALFORMED', `the body must be a JSON object${with_}`);
}

// Of alternatives, the one that the value came closest to lies deepest; what is
// said of all of them together comes last.
function deepest(complaints: readonly Complaint[]): Complaint | undefined {
  const depth = (complaint: Complaint) => complaint.instancePath.split('/').length;
  return complaints.reduce<Complaint | undefined>(
    (found, complaint) => (found === undefined || depth(complaint) >= depth(found) ? complaint : found),
    undefined,
  );
}

function refusal(path: string, schema: JsonSchema): ParleyError {
  const field = fieldName(path);
  return new ParleyError('INVALID_FIELD', `"${field}" must be ${allowedBy(schema)}`, { field });
}

/** `/items/3/voice` → `items[3].voice` */
function fieldName(path: string): string {
  const names = path.slice(1).split('/');
  const written = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${unescaped(name)}`));
  return written.join('').replace(/^\./, '');
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** In words that follow `must be`. */
export function allowedBy(schema: JsonSchema): string {
  if (schema['x-must-be'] !== undefined) return schema['x-must-be'];
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowedBy).join(' or ');
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => JSON.stringify(value));
    return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
  }
  switch (schema.type) {
    case 'string':
      return `a string${sizeOf(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `a list${sizeOf(schema.minItems, schema.maxItems, 'entries')}`;
    case 'number':
      return `a number${rangeOf(schema)}`;
    case 'integer':
      return `a whole number${rangeOf(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'object':
      if (schema.maxProperties !== undefined) return `an object of at most ${schema.maxProperties} fields`;
      return `an object${(schema.required ?? []).map((name, index) => `${index === 0 ? ' with' : ' and'} "${name}"`).join('')}`;
    default:
      return 'something else';
  }
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of ${minimum} or more`;
  return maximum === undefined ? '' : ` of ${maximum} or less`;
}

function sizeOf(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most} ${unit}`;
  if (least === 1) return ' that is not empty';
  if (least !== undefined) return ` of ${least} ${unit} or more`;
  return most === undefined ? '' : ` of at most ${most} ${unit}`;
}
