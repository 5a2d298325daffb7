// Points of the compass beside the wind: vento SE, Wind aus NW, vent de N.-O., ветер СЗ.
import { isCapitalAt, isWordAt } from '../characters.js';
import type { Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { LiteralTable } from '../literals.js';
import type { Reading } from '../reading.js';
import { alternatives } from './dates.js';

const LEAD = 60; // units before the letters in which the wind is named
/** Wind weht mit 35 km/h aus, viento del, vent d' */
const BETWEEN = String.raw`[\p{L}]*(?: (?:Stärke|Bft|[\p{Ll}\d][\p{Ll}\d.,/–-]*)){0,6}:?(?: ?['’(]| )`;

export class Winds {
  readonly #points: LiteralTable<string>;
  readonly #before: RegExp;
  readonly #behind: RegExp;

  constructor({ writing: { compass, windWords }, unspaced }: Language) {
    const words = alternatives(windWords);
    const isSpaced = unspaced !== true;
    this.#points = new LiteralTable(Object.entries(compass).flatMap(spellings));
    this.#before = isSpaced
      ? new RegExp(`(?:${words})${BETWEEN}$`, 'iu')
      : new RegExp(`(?:${words}).{0,6}$`, 'u');
    this.#behind = new RegExp(isSpaced ? `^ (?:${words})` : `^ ?(?:[风風の向偏]|${words})`, 'iu');
  }

  readonly atLetter: Row = {
    knows: ({ isFresh, first }) => isFresh && this.#points.beginsWith(first),
    recognise: (reading) => {
      const point = this.#points.at(reading.text, reading.at);
      const end = reading.at + (point?.written.length ?? 0);
      if (point === undefined || !this.#isOfWind(reading, end)) return undefined;
      return { end, spoken: point.value, rule: 'abbreviation', isCertain: true };
    },
  };

  #isOfWind({ text, at }: Reading, end: number): boolean {
    if (isWordAt(text, end) && text[end - 1] !== '.') return false;
    const isArticle = /^[OAE]$/.test(text.slice(at, end)); // O vento
    if (!isArticle && this.#behind.test(text.slice(end, end + 30))) return true;
    if (isArticle && /^ \p{Ll}{2}/u.test(text.slice(end, end + 3))) return false;
    const isName = text[end] === ' ' && isCapitalAt(text, end + 1); // the wind moved to S Street
    return !isName && this.#before.test(text.slice(Math.max(0, at - LEAD), at));
  }
}

/** NW, N-W, N.-W., N.W. */
function spellings([letters, name]: readonly [string, string]): (readonly [string, string])[] {
  const [first = '', second] = Array.from(letters);
  if (second === undefined) return [[letters, name]];
  const marked = [`${first}-${second}`, `${first}.-${second}.`, `${first}.${second}.`, `${first}/${second}`];
  return [letters, ...marked].map((written) => [written, name] as const);
}
