// A form of the REST API, within limits. Names that this server does not know are ignored, as Twilio does. A
// value that is not allowed is refused with the name of its parameter.
import type { Target } from '../../ivr/verbs.js';
import { NUMBERS, RestError } from './rest-error.js';

export const MOST_FORM_BYTES = 65_536;
const MOST_FIELDS = 200;
const MOST_SHOWN = 40; // characters of a value in a message

type Values = ReadonlyMap<string, readonly string[]>;

export class RestForm {
  readonly #values: Values;

  constructor(values: Values) {
    this.#values = values;
  }

  /** Throws a RestError for a form of too many parameters. */
  static parse(body: string): RestForm {
    const fields = body === '' ? 0 : body.split('&', MOST_FIELDS + 1).length;
    if (fields > MOST_FIELDS)
      throw invalid(NUMBERS.invalidParameter, `a form has at most ${MOST_FIELDS} parameters`);
    const values = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(body)) {
      const before = values.get(name);
      if (before === undefined) values.set(name, [value]);
      else before.push(value);
    }
    return new RestForm(values);
  }

  /** Undefined if it is absent or empty. The last value of a repeated name counts. */
  text(name: string, most: number, code: number = NUMBERS.invalidParameter): string | undefined {
    const value = this.#values.get(name)?.at(-1)?.trim() ?? '';
    if (value === '') return undefined;
    if (value.length > most) throw invalid(code, `${name} must have at most ${most} characters`);
    return value;
  }

  /** Undefined if it is absent or empty. */
  whole(
    name: string,
    [least, most]: readonly [number, number],
    code: number = NUMBERS.invalidParameter,
  ): number | undefined {
    const raw = this.text(name, 1000, code);
    if (raw === undefined) return undefined;
    const value = /^\d{1,9}$/.test(raw) ? Number(raw) : NaN;
    if (value >= least && value <= most) return value;
    throw invalid(code, `${name} must be a whole number from ${least} to ${most}, not ${shown(raw)}`);
  }

  /** False if it is absent or empty. */
  flag(name: string): boolean {
    return this.choice(name, ['true', 'false']) === 'true';
  }

  /** Case does not matter. Undefined if it is absent or empty. */
  choice<T extends string>(
    name: string,
    allowed: readonly T[],
    code: number = NUMBERS.invalidParameter,
  ): T | undefined {
    const raw = this.text(name, 1000, code);
    if (raw === undefined) return undefined;
    const found = allowed.find((value) => value.toLowerCase() === raw.toLowerCase());
    if (found !== undefined) return found;
    throw invalid(code, `${name} must be one of ${allowed.join(', ')}, not ${shown(raw)}`);
  }

  /** A repeated name, or one value with spaces or commas. Undefined if it is absent or empty. */
  choices<T extends string>(name: string, allowed: readonly T[]): readonly T[] | undefined {
    const words = (this.#values.get(name) ?? []).flatMap((value) => value.split(/[\s,]+/)).filter(Boolean);
    if (words.length === 0) return undefined;
    return words.map((word) => {
      const found = allowed.find((value) => value === word.toLowerCase());
      if (found !== undefined) return found;
      throw invalid(
        NUMBERS.invalidParameter,
        `${name} must be some of ${allowed.join(', ')}, not ${shown(word)}`,
      );
    });
  }

  /** A URL with its method. The method without a URL is ignored. Undefined if the URL is absent or empty. */
  target(
    name: string,
    code: number,
    problemOf: (url: string) => string | undefined,
  ): Required<Target> | undefined {
    const at = this.text(name, 2048, code);
    if (at === undefined) return undefined;
    const problem = problemOf(at);
    if (problem !== undefined) throw invalid(code, `${name} cannot be used: ${problem}`);
    const methodName = name === 'Url' ? 'Method' : name.replace(/(?:Url)?$/, 'Method');
    const method = this.choice(methodName, ['GET', 'POST'] as const, NUMBERS.invalidMethod) ?? 'POST';
    return { at, method };
  }
}

function invalid(code: number, message: string): RestError {
  return new RestError(400, code, message);
}

/** Makes a foreign value safe for a message. */
function shown(value: string): string {
  return JSON.stringify(value.slice(0, MOST_SHOWN));
}
