// The form that challenges and credentials share: a scheme, and name=value
// pairs between commas (RFC 7235 section 2.1).
import { Scanner, unquoted } from '../message/scanner.js';

export interface AuthFields {
  /** Lower case. */
  readonly scheme: string;
  /** By name in lower case, without quotes. */
  readonly values: ReadonlyMap<string, string>;
}

const MOST_CHARACTERS = 8192;
const MOST_PAIRS = 64;

/** Everything in one header value: some servers write several challenges into one. Undefined for another form. */
export function readAuthFields(value: string): AuthFields[] | undefined {
  if (value.length > MOST_CHARACTERS) return undefined;
  const scanner = new Scanner(value);
  const found: { scheme: string; values: Map<string, string> }[] = [];
  for (let pairs = 0; pairs < MOST_PAIRS && !scanner.space().done; pairs++) {
    const name = scanner.token().toLowerCase();
    if (name === '') return undefined;
    const current = found.at(-1);
    if (!scanner.space().take('=')) {
      found.push({ scheme: name, values: new Map() });
      continue;
    }
    const text = scanner.space().quoted() ?? bareValue(scanner);
    // Whoever writes a name twice may be read in two ways.
    if (current === undefined || current.values.has(name)) return undefined;
    current.values.set(name, unquoted(text));
    if (!scanner.space().done && !scanner.take(',')) return undefined;
  }
  return scanner.done ? found : undefined;
}

/** Some leave out the quotes of a URI or a nonce. */
function bareValue(scanner: Scanner): string {
  const [text = ''] = /^[^\s,"]*/.exec(scanner.text.slice(scanner.at)) ?? [];
  scanner.at += text.length;
  return text;
}
