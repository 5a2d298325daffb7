// Names that machines give: hardware addresses, addresses of version six, identifiers of thirty-two digits.
import { CharacterSet } from '../../character-set.js';
import { WORD_UNIT } from '../characters.js';
import type { Language } from '../language.js';
import type { Found, Reading, Recogniser } from '../reading.js';

const END = `(?!${WORD_UNIT})`;
const HARDWARE = new RegExp(
  String.raw`[\dA-Fa-f]{2}([:-])(?:[\dA-Fa-f]{2}\1){4}[\dA-Fa-f]{2}${END}(?!\1)`,
  'uy',
);
const VERSION_SIX = new RegExp(
  String.raw`(?=[\dA-Fa-f:]{0,40}::|(?:[\dA-Fa-f]{1,4}:){7})[\dA-Fa-f]{0,4}(?::{1,2}[\dA-Fa-f]{1,4}){1,7}(?:::)?${END}(?!:)`,
  'uy',
);
const UNIVERSAL = new RegExp(String.raw`[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}${END}`, 'uy');
const HEXADECIMAL = new CharacterSet('0123456789abcdefABCDEF');
const RUNS = /\p{L}+|\d+|:/gu;

export class MachineNames {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  /** 00:1A:2B:3C:4D:5E, pair by pair; 2001:db8::1; 550e8400-e29b-… group by group. */
  readonly at: Recogniser = (reading) => {
    const { text, at } = reading;
    if (!HEXADECIMAL.at(text, at) || !reading.isFresh) return undefined;
    if (reading.runEnd - at > 8 && text[at + 8] !== '-') return undefined;
    if (text[at + 8] === '-') {
      const universal = this.#groups(reading, UNIVERSAL, '-');
      if (universal !== undefined) return universal;
    }
    const mark = text[at + 2];
    if (mark === ':' || mark === '-') {
      const hardware = this.#groups(reading, HARDWARE, mark);
      if (hardware !== undefined) return hardware;
    }
    return this.#versionSix(reading);
  };

  /** ::1 */
  readonly atMark: Recogniser = (reading) => {
    if (!reading.text.startsWith('::', reading.at) || !reading.startsChunk) return undefined;
    return this.#versionSix(reading);
  };

  #versionSix(reading: Reading): Found | undefined {
    const { text, at } = reading;
    let end = at;
    while (end - at < 4 && HEXADECIMAL.at(text, end)) end++;
    if (text[end] !== ':') return undefined;
    const match = reading.match(VERSION_SIX);
    if (match === undefined || !/\d/.test(match[0])) return undefined;
    return { end: at + match[0].length, spoken: this.#say(match[0]), rule: 'ip-address' };
  }

  #groups(reading: Reading, pattern: RegExp, mark: string): Found | undefined {
    const match = reading.match(pattern);
    if (match === undefined) return undefined;
    const [written] = match;
    const groups = written.split(mark).map((group) => this.#say(group));
    return { end: reading.at + written.length, spoken: groups.join(', '), rule: 'identifier' };
  }

  #say(written: string): string {
    const { speech, symbols } = this.#language;
    const said = Array.from(written.matchAll(RUNS), ([run]) => {
      if (run === ':') return symbols.inAddress[':'] ?? '';
      return /\d/.test(run) ? speech.digits(run) : speech.letters(run);
    });
    return said.join(' ');
  }
}
