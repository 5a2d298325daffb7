// Stores the word tables of API keys on disk: KEY_TABLES_DIR/{key}/{language}/{class}.tsv, where {key} is a
// digest of the key's name. A file is written under a temporary name, flushed and renamed, so that it is
// whole after a crash. A key's tables are read when they are first needed and kept in memory.
import { hash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asParleyError, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { Tables, TablesByLanguage } from '../text/tables/layer.js';
import { parseTable } from '../text/tables/parse.js';
import { isTableClass, type RowOf, type TableClass } from '../text/tables/schema.js';

const MOST_ROWS = 2000;
const MOST_BYTES = 200_000;
/** Limits of all tables of one key together. */
export const KEY_LIMITS = { rows: MOST_ROWS, bytes: MOST_BYTES } as const;

const ENDING = '.tsv';

export interface StoredTable {
  /** Tag such as "de" or "de-CH". */
  readonly language: string;
  readonly name: TableClass;
  readonly text: string;
  readonly rows: readonly RowOf<TableClass>[];
  readonly bytes: number;
  readonly changedAtMs: number;
  /** Mistake in a stored table that a newer version of the program refuses. It is not used. */
  readonly error?: string;
}

interface KeyState {
  /** By language and class. */
  readonly tables: Map<string, StoredTable>;
  /** Made of `tables` when it is needed. */
  layer: TablesByLanguage | undefined;
  /** Resolves when the last change is on disk. */
  written: Promise<unknown>;
}

export class KeyTables {
  readonly #folder: string;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #keys = new Map<string, KeyState>();

  constructor(folder: string, log: Log, now: () => number = Date.now) {
    this.#folder = folder;
    this.#log = log;
    this.#now = now;
  }

  /** The tables of a key in a language, by class. */
  list(key: string, language: string): readonly StoredTable[] {
    const own = [...this.#of(key).tables.values()].filter((table) => table.language === language);
    return own.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Rows and bytes of all tables of a key. */
  sizeOf(key: string): { readonly rows: number; readonly bytes: number } {
    return sum(this.#of(key).tables.values());
  }

  find(key: string, language: string, name: TableClass): StoredTable | undefined {
    return this.#of(key).tables.get(placeOf(language, name));
  }

  /** The same object until one of the tables changes. */
  tablesOf(key: string): TablesByLanguage {
    const state = this.#of(key);
    return (state.layer ??= byLanguage(state.tables.values()));
  }

  /**
   * Replaces a table; resolves when it is on disk. Rejects with INVALID_FIELD, naming line and column, and
   * TOO_LARGE.
   */
  async put(key: string, language: string, name: TableClass, text: string): Promise<StoredTable> {
    const source = { name: `${name} of ${language}`, code: 'INVALID_FIELD' } as const;
    if (Buffer.byteLength(text) > MOST_BYTES) throw tooMany('bytes', MOST_BYTES);
    const rows = parseTable(text, name, { ...source, mostRows: MOST_ROWS });
    if (rows.length === 0) {
      throw new ParleyError('INVALID_FIELD', `${source.name} has no row; a DELETE removes a table`);
    }
    const bytes = Buffer.byteLength(text);
    const table = { language, name, text, rows, bytes, changedAtMs: this.#now() };
    return await this.#inTurn(key, async (state) => {
      const others = [...state.tables.values()].filter(
        (one) => one.language !== language || one.name !== name,
      );
      const all = sum([...others, table]);
      if (all.rows > MOST_ROWS) throw tooMany('rows', MOST_ROWS, all.rows);
      if (all.bytes > MOST_BYTES) throw tooMany('bytes', MOST_BYTES, all.bytes);
      await writeWhole(this.#pathOf(key, language, name), text);
      this.#change(state, placeOf(language, name), table);
      return table;
    });
  }

  /** False if there is no such table. */
  async remove(key: string, language: string, name: TableClass): Promise<boolean> {
    return await this.#inTurn(key, async (state) => {
      if (!state.tables.has(placeOf(language, name))) return false;
      const path = this.#pathOf(key, language, name);
      await rm(path, { force: true });
      await syncFolder(dirname(path));
      this.#change(state, placeOf(language, name), undefined);
      return true;
    });
  }

  #change(state: KeyState, place: string, table: StoredTable | undefined): void {
    if (table === undefined) state.tables.delete(place);
    else state.tables.set(place, table);
    state.layer = undefined;
  }

  /** Changes of one key follow each other. */
  async #inTurn<T>(key: string, change: (state: KeyState) => Promise<T>): Promise<T> {
    const state = this.#of(key);
    const result = state.written.then(() => change(state));
    state.written = result.catch(() => undefined);
    return await result;
  }

  #of(key: string): KeyState {
    let state = this.#keys.get(key);
    if (state === undefined) {
      const tables = new Map(this.#read(key).map((table) => [placeOf(table.language, table.name), table]));
      this.#keys.set(key, (state = { tables, layer: undefined, written: Promise.resolve() }));
    }
    return state;
  }

  #read(key: string): StoredTable[] {
    const folder = this.#folderOf(key);
    const found: StoredTable[] = [];
    for (const language of entriesOf(folder)) {
      for (const file of entriesOf(join(folder, language))) {
        const name = file.slice(0, -ENDING.length);
        if (!file.endsWith(ENDING) || !isTableClass(name)) continue;
        found.push(this.#readOne(join(folder, language, file), language, name));
      }
    }
    return found;
  }

  #readOne(path: string, language: string, name: TableClass): StoredTable {
    let text = '';
    const table = () => ({
      language,
      name,
      text,
      bytes: Buffer.byteLength(text),
      changedAtMs: changedAt(path),
    });
    try {
      text = readFileSync(path, 'utf8');
      const source = { name: `${name} of ${language}`, code: 'CONFIG_INVALID', mostRows: MOST_ROWS } as const;
      return { ...table(), rows: parseTable(text, name, source) };
    } catch (error) {
      const { message: detail } = asParleyError(error, 'CONFIG_INVALID');
      this.#log.error({ path, detail }, 'a stored text table is not used');
      return { ...table(), rows: [], error: detail };
    }
  }

  #folderOf(key: string): string {
    return join(this.#folder, `key_${hash('sha256', key, 'hex').slice(0, 32)}`);
  }

  #pathOf(key: string, language: string, name: TableClass): string {
    return join(this.#folderOf(key), language, name + ENDING);
  }
}

function changedAt(path: string): number {
  return Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

function placeOf(language: string, name: TableClass): string {
  return `${language}/${name}`;
}

function sum(tables: Iterable<StoredTable>): { rows: number; bytes: number } {
  let [rows, bytes] = [0, 0];
  for (const table of tables) {
    rows += table.rows.length;
    bytes += table.bytes;
  }
  return { rows, bytes };
}

function byLanguage(tables: Iterable<StoredTable>): TablesByLanguage {
  const found = new Map<string, Tables>();
  for (const { language, name, rows, error } of tables) {
    if (error !== undefined) continue;
    const tag = language.toLowerCase();
    found.set(tag, { ...found.get(tag), [name]: rows });
  }
  return found;
}

function tooMany(what: 'rows' | 'bytes', most: number, given?: number): ParleyError {
  const have = given === undefined ? 'the table' : `the tables of this key would have ${given} ${what}, and`;
  const message =
    given === undefined ? `${have} has more than ${most} ${what}` : `${have} ${most} is the most`;
  return new ParleyError('TOO_LARGE', message);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new ParleyError('ENGINE_UNAVAILABLE', `the folder of text tables cannot be read (${code})`, {
      cause: error,
    });
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomUUID()}`;
  try {
    await writeFile(unfinished, text, { flush: true, mode: 0o600 });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
