// Reads the tables of the package itself, `src/text/tables/{language}/{class}.tsv`. They are part of the
// program: each is read once, synchronously, when it is first needed. A mistake in one throws
// CONFIG_INVALID, which no request can cause. This is the only file of `src/text` that reads files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../../errors.js';
import { TableLayer, type Tables } from './layer.js';
import { parseTable } from './parse.js';
import { type RowOf, TABLE_CLASSES, type TableClass } from './schema.js';

const TABLES = join('src', 'text', 'tables');
const known = new Map<string, readonly unknown[]>();
let root: string | undefined;

/** Folder of the tables in the package. The compiled code lies in `dist`, the tables beside the source. */
function folder(): string {
  if (root !== undefined) return root;
  const here = dirname(fileURLToPath(import.meta.url));
  for (let at = here; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json')) && existsSync(join(at, TABLES)))
      return (root = join(at, TABLES));
    if (dirname(at) === at) throw new ParleyError('CONFIG_INVALID', `no ${TABLES} is above ${here}`);
  }
}

/**
 * Rows of the package's table of one class. `language` is the folder's name, such as "de" or "en-GB"; a
 * language without the table has no rows. A variant's rows do not include those of its language.
 */
export function builtInRows<C extends TableClass>(language: string, name: C): readonly RowOf<C>[] {
  const key = `${language}/${name}`;
  let rows = known.get(key);
  if (rows === undefined) known.set(key, (rows = read(key, name)));
  return rows as readonly RowOf<C>[];
}

function read<C extends TableClass>(key: string, name: C): readonly RowOf<C>[] {
  const path = join(folder(), `${key}.tsv`);
  if (!existsSync(path)) return [];
  const source = { name: `${TABLES}/${key}.tsv`, code: 'CONFIG_INVALID', needsHeader: true } as const;
  try {
    return parseTable(readFileSync(path, 'utf8'), name, source);
  } catch (error) {
    if (process.listenerCount('uncaughtException') === 0) process.once('uncaughtException', failPlainly);
    throw error;
  }
}

/** While the program loads, Node would print the stack of the error, and the line of code that throws it. */
function failPlainly({ message }: Error): never {
  process.stderr.write(`parley: ${message}\n`);
  process.exit(1);
}

let variants: ReadonlyMap<string, TableLayer> | undefined;

/**
 * The tables of a variant such as "es-MX", which lie above those of its language: only the rows that differ.
 * Undefined if the package has none.
 */
export function builtInVariant(tag: string): TableLayer | undefined {
  variants ??= new Map(
    readdirSync(folder())
      .filter((name) => name.includes('-') && !name.includes('.'))
      .map((name) => [name.toLowerCase(), new TableLayer(new Map([[name.toLowerCase(), tablesIn(name)]]))]),
  );
  return variants.get(tag.toLowerCase());
}

function tablesIn(language: string): Tables {
  const tables = TABLE_CLASSES.map((name) => [name, builtInRows(language, name)] as const);
  return Object.fromEntries(tables.filter(([, rows]) => rows.length > 0)) as Tables;
}
