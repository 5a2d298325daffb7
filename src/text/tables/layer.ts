// A layer of word tables on top of those of the package: the server's own files, or the tables of one API
// key. A layer never changes, so that a language that was built with it can be kept for as long as the
// layer.
import { hash } from 'node:crypto';
import type { RowOf, TableClass } from './schema.js';

/** The tables of one language. */
export type Tables = { readonly [C in TableClass]?: readonly RowOf<C>[] };

/** Tables by the tag of their language, in small letters: "de", "de-ch". */
export type TablesByLanguage = ReadonlyMap<string, Tables>;

export class TableLayer {
  /** Another one where any row is another. */
  readonly id: string;
  /** In ascending order of precedence. */
  readonly #levels: readonly TablesByLanguage[];

  constructor(...levels: readonly TablesByLanguage[]) {
    this.#levels = levels;
    this.id = levels.map(idOf).join(' ');
  }

  /**
   * The tables for a tag, in ascending order of precedence: those of "de" before those of "de-CH". Without a
   * tag those of all languages.
   */
  tablesFor(tag: string): readonly Tables[] {
    if (tag === '') return this.#levels.flatMap((level) => [...level.values()]);
    const whole = tag.toLowerCase().replaceAll('_', '-');
    const tags = new Set([whole.split('-', 1)[0] ?? '', whole]);
    return this.#levels.flatMap((level) => [...tags].flatMap((one) => level.get(one) ?? []));
  }
}

const ids = new WeakMap<TablesByLanguage, string>();

function idOf(level: TablesByLanguage): string {
  const known = ids.get(level);
  if (known !== undefined) return known;
  const id = hash('sha256', JSON.stringify([...level]), 'hex');
  ids.set(level, id);
  return id;
}
