// Values of the `interpret-as` attribute.
import type { AttributeRule } from './attributes.js';

export type SayAsKind =
  | 'address'
  | 'cardinal'
  | 'characters'
  | 'currency'
  | 'date'
  | 'digits'
  | 'duration'
  | 'expletive'
  | 'fraction'
  | 'name'
  | 'net'
  | 'ordinal'
  | 'telephone'
  | 'time'
  | 'unit';

// Some of the names are those of one server or another.
const KINDS: Readonly<Record<string, SayAsKind>> = {
  address: 'address',
  bleep: 'expletive',
  cardinal: 'cardinal',
  characters: 'characters',
  currency: 'currency',
  date: 'date',
  decimal: 'cardinal',
  digits: 'digits',
  duration: 'duration',
  expletive: 'expletive',
  fraction: 'fraction',
  measure: 'unit',
  name: 'name',
  net: 'net',
  number: 'cardinal',
  number_digit: 'digits',
  ordinal: 'ordinal',
  'spell-out': 'characters',
  telephone: 'telephone',
  time: 'time',
  unit: 'unit',
  verbatim: 'characters',
};

export const SAY_AS: AttributeRule = {
  pattern: new RegExp(`^(?:${Object.keys(KINDS).join('|')})$`, 'u'),
  allowed: `one of ${Object.keys(KINDS).join(', ')}`,
};

export function sayAsKind(written: string): SayAsKind {
  return KINDS[written] ?? 'name';
}
