// Reads fields that several verbs of a program file have: times, languages, and the programs that follow.
import { FieldReader, type Fields } from '../config/fields.js';
import { isStatedLanguage, tagOfStated } from '../speaking/language-plan.js';
import type { Target } from './verbs.js';

const MOST_SHOWN = 100; // characters
const FINISH = /^[0-9*#A-D]{0,16}$/i;

export class VerbReader extends FieldReader {
  readonly #programs: ReadonlySet<string>;

  /** `programs`: the names that targets may have. */
  constructor(programs: readonly string[]) {
    super();
    this.#programs = new Set(programs);
  }

  /** The program that a field names. */
  target(fields: Fields, name: string, at: string): Target | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && this.#programs.has(value)) return { at: value };
    const what = typeof value === 'string' ? `, and ${quoted(value)} is none` : '';
    return this.problem(`${at}.${name}`, `must be the name of a program of the file${what}`);
  }

  /** A number of seconds, in milliseconds. */
  ms(fields: Fields, name: string, at: string, [least, most]: readonly [number, number]): number | undefined {
    const seconds = this.number(fields, name, at, least, most);
    return seconds === undefined ? undefined : Math.round(seconds * 1000);
  }

  /** The keys that end an input; `usual` if they are not stated. */
  finish(fields: Fields, at: string, usual: string): string {
    const { finish = usual } = fields;
    if (typeof finish === 'string' && FINISH.test(finish)) return finish.toUpperCase();
    this.problem(`${at}.finish`, 'must be a text of keys, 0-9, *, # and A-D, or "" for none');
    return '';
  }

  /** A BCP 47 tag. */
  language(fields: Fields, at: string): string | undefined {
    const value = this.text(fields, 'language', at, 35);
    if (value === undefined) return undefined;
    return isStatedLanguage(value)
      ? tagOfStated(value)
      : this.problem(`${at}.language`, 'must be a language tag such as en-US');
  }
}

/** One line of 1 to `most` characters, without control characters. */
export function isLine(text: string, most: number): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
  return text.trim() !== '' && text.length <= most && !/[\x00-\x1f\x7f]/.test(text);
}

/** The beginning of a name, for messages. */
export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, MOST_SHOWN));
}
