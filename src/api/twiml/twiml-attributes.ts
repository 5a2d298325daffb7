// Reads the attributes of one TwiML element. A value that is not allowed is a warning, and the default holds.
import { SCHEMA_WARNING } from './twiml-errors.js';
import type { TwimlElement } from './twiml-document.js';

/** Reports a mistake at an element. */
export type WarnAt = (element: TwimlElement, message: string, code?: string) => void;

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const MOST_SHOWN = 40; // characters of a value in a warning

export class TwimlAttributes {
  readonly #element: TwimlElement;
  readonly #warn: WarnAt;

  constructor(element: TwimlElement, warn: WarnAt) {
    this.#element = element;
    this.#warn = warn;
  }

  /** As it is written; undefined if it is absent. */
  raw(name: string): string | undefined {
    return this.#element.attributes[name];
  }

  /** @param fallback undefined: there is no limit */
  whole<T extends number | undefined>(
    name: string,
    fallback: T,
    [least, most]: readonly [number, number],
    code?: string,
  ): number | T {
    const raw = this.raw(name)?.trim();
    if (raw === undefined) return fallback;
    const value = /^\d{1,9}$/.test(raw) ? Number(raw) : NaN;
    if (value >= least && value <= most) return value;
    this.refuse(name, `a whole number from ${least} to ${most}`, String(fallback ?? 'no limit'), code);
    return fallback;
  }

  flag(name: string, fallback: boolean): boolean {
    const raw = this.raw(name)?.trim();
    if (raw === undefined) return fallback;
    const value = FLAGS.get(raw);
    if (value === undefined) this.refuse(name, 'true or false', String(fallback));
    return value ?? fallback;
  }

  choice<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const raw = this.raw(name)?.trim();
    if (raw === undefined) return fallback;
    const value = allowed.find((item) => item === raw);
    if (value === undefined) this.refuse(name, allowed.join(' or '), fallback);
    return value ?? fallback;
  }

  method(name: string): 'GET' | 'POST' {
    const raw = this.raw(name)?.trim().toUpperCase();
    if (raw === undefined || raw === 'POST') return 'POST';
    if (raw === 'GET') return 'GET';
    this.refuse(name, 'GET or POST', 'POST');
    return 'POST';
  }

  /** A BCP 47 tag. */
  language<T extends string | undefined>(name: string, fallback: T): string | T {
    const raw = this.raw(name)?.trim();
    if (raw === undefined) return fallback;
    if (/^[a-z]{2,3}(?:-[a-z\d]{2,8}){0,4}$/i.test(raw)) return raw;
    this.refuse(name, 'a language tag such as en-GB', fallback ?? 'none');
    return fallback;
  }

  /** Reports something that has no effect. */
  note(message: string): void {
    this.#warn(this.#element, message);
  }

  /** Reports a value that is not allowed. */
  refuse(name: string, allowed: string, fallback: string, code = SCHEMA_WARNING): void {
    const raw = this.raw(name)?.slice(0, MOST_SHOWN) ?? '';
    const what = `must be ${allowed}, not ${JSON.stringify(raw)}; ${JSON.stringify(fallback)} is used`;
    this.#warn(this.#element, `"${name}" of <${this.#element.name}> ${what}`, code);
  }
}
