// Reads the server's own word tables, TEXT_TABLES_DIR/{language}/{class}.tsv, and reads them again when one
// changes. A mistake at the start is an error of the configuration. Later it is logged, and the file keeps
// the rows that it had.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileWatch, type FileWatchOptions } from '../config/file-watch.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import { languageName, supportedLanguages } from '../text/normalize/languages.js';
import type { Tables, TablesByLanguage } from '../text/tables/layer.js';
import { parseTable } from '../text/tables/parse.js';
import { isTableClass, type RowOf, TABLE_CLASSES, type TableClass } from '../text/tables/schema.js';

const ENDING = '.tsv';
const MOST_BYTES = 4 * 1024 * 1024; // of one file

interface TableFile {
  readonly path: string;
  readonly language: string;
  readonly name: TableClass;
}

interface TableFilesOptions {
  readonly folder: string;
  readonly log: Log;
  readonly watch?: FileWatchOptions | undefined;
}

export class TableFiles {
  readonly #options: TableFilesOptions;
  /** Rows of each file by its path. */
  #rows = new Map<string, readonly RowOf<TableClass>[]>();
  #watch: FileWatch | undefined;
  #watched = '';
  #closed = false;
  #reading: Promise<void> = Promise.resolve();
  #tables: TablesByLanguage = new Map();

  private constructor(options: TableFilesOptions) {
    this.#options = options;
  }

  /** Rejects with CONFIG_INVALID, naming the file, line and column. */
  static async open(options: TableFilesOptions): Promise<TableFiles> {
    const files = new TableFiles(options);
    try {
      await files.#watchAll(); // before reading, so that no change is missed
      await files.#read((error) => {
        throw error;
      });
    } catch (error) {
      files.close();
      throw error;
    }
    return files;
  }

  /** Reads the tables once. Rejects with CONFIG_INVALID, naming the file, line and column. */
  static async read(folder: string): Promise<TablesByLanguage> {
    const tables = new Map<string, Tables>();
    const files = await filesIn(folder, (error) => {
      throw error;
    });
    for (const file of files) {
      const { language, name } = file;
      tables.set(language, { ...tables.get(language), [name]: await rowsOf(file) });
    }
    return tables;
  }

  get tables(): TablesByLanguage {
    return this.#tables;
  }

  close(): void {
    this.#closed = true;
    this.#watch?.close();
  }

  async #read(onMistake: (error: ParleyError) => void): Promise<void> {
    const rows = new Map<string, readonly RowOf<TableClass>[]>();
    const tables = new Map<string, Tables>();
    for (const file of await filesIn(this.#options.folder, onMistake)) {
      const { path, language, name } = file;
      let own: readonly RowOf<TableClass>[] = this.#rows.get(path) ?? [];
      try {
        own = await rowsOf(file);
      } catch (error) {
        onMistake(asParleyError(error, 'CONFIG_INVALID'));
      }
      rows.set(path, own);
      tables.set(language, { ...tables.get(language), [name]: own });
    }
    this.#rows = rows;
    this.#tables = tables;
  }

  /** Readings follow each other. */
  #readSoon(): void {
    this.#reading = this.#reading.then(() => this.#readAgain());
  }

  async #readAgain(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#watchAll();
      await this.#read(({ message: detail }) => log.error({ detail }, 'a text table stays as it was'));
    } catch (error) {
      log.error({ detail: asParleyError(error, 'CONFIG_INVALID').message }, 'text tables stay as they were');
    }
    log.info({ tables: this.#rows.size }, 'text tables read again');
  }

  /** Watches the folder, those of the languages, and every file that may be in them. */
  async #watchAll(): Promise<void> {
    const { folder, watch } = this.#options;
    const folders = await foldersIn(folder);
    const places = folders.map((name) => join(folder, name));
    const files = places.flatMap((place) => TABLE_CLASSES.map((name) => join(place, name + ENDING)));
    const paths = [folder, ...places, ...files];
    if (this.#closed || this.#watched === paths.join('\n')) return;
    const last = this.#watch;
    const next = new FileWatch(paths, () => this.#readSoon(), watch);
    this.#watch = next;
    this.#watched = paths.join('\n');
    await next.open();
    last?.close();
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith('.'));
    return names.map(({ name }) => name).toSorted();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw invalid(`TEXT_TABLES_DIR=${folder} cannot be read (${reason})`, error);
  }
}

async function filesIn(
  folder: string,
  onMistake: (error: ParleyError) => void,
): Promise<readonly TableFile[]> {
  const files: TableFile[] = [];
  const folders = new Map<string, string>(); // by the tag of the language
  for (const name of await foldersIn(folder)) {
    const language = languageName(name);
    if (language === undefined) {
      const known = supportedLanguages().join(', ');
      onMistake(invalid(`${join(folder, name)} is no folder of a language; the languages are ${known}`));
      continue;
    }
    const other = folders.get(language.toLowerCase());
    if (other !== undefined) {
      const both = `${join(folder, other)} and ${join(folder, name)}`;
      onMistake(invalid(`${both} are folders of one language, ${language}; keep one of them`));
      continue;
    }
    folders.set(language.toLowerCase(), name);
    for (const file of (await readdir(join(folder, name))).toSorted()) {
      if (file.startsWith('.') || !file.endsWith(ENDING)) continue;
      const path = join(folder, name, file);
      const table = file.slice(0, -ENDING.length);
      if (isTableClass(table)) files.push({ path, language: language.toLowerCase(), name: table });
      else onMistake(invalid(`${path} is named after no class; the classes are ${TABLE_CLASSES.join(', ')}`));
    }
  }
  return files;
}

async function rowsOf({ path, name }: TableFile): Promise<readonly RowOf<TableClass>[]> {
  try {
    const { size } = await stat(path);
    if (size > MOST_BYTES) throw invalid(`${path} has ${size} bytes; ${MOST_BYTES} is the most`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
    return parseTable(text, name, { name: path, code: 'CONFIG_INVALID' });
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw invalid(error instanceof TypeError ? `${path} is not UTF-8` : `${path}: ${code ?? message}`, error);
  }
}

function invalid(message: string, cause?: unknown): ParleyError {
  return new ParleyError('CONFIG_INVALID', message, { field: 'TEXT_TABLES_DIR', cause });
}
