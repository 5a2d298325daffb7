// The matrix files: `matrix/{language}.tsv` has lines "class TAB written TAB spoken", or "class TAB - TAB
// reason" where the language does not have the class. `matrix/open.tsv` lists the readings that are still
// wrong, as "language TAB class TAB written". A \n stands for a line break.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');
const FOLDER = join(ROOT, 'test', 'text', 'normalize', 'matrix');
const OPEN = 'open.tsv';

interface Row {
  readonly line: number;
  readonly name: string;
  /** A hyphen: the language does not have the class. */
  readonly written: string;
  /** The spoken form, or the reason. */
  readonly spoken: string;
}

/** Tags of the languages that have a matrix file. */
export const MATRIX_LANGUAGES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.tsv') && name !== OPEN)
  .map((name) => name.slice(0, -'.tsv'.length))
  .toSorted();

function* linesOf(
  file: string,
): Generator<readonly [line: number, fields: readonly [string, string, string]]> {
  for (const [index, text] of readFileSync(join(FOLDER, file), 'utf8').split('\n').entries()) {
    if (text.trim() === '' || text.startsWith('#')) continue;
    const [first, second, third, ...rest] = text.replaceAll('\\n', '\n').split('\t');
    if (first === undefined || second === undefined || third === undefined || rest.length > 0) {
      throw new Error(`matrix/${file}:${index + 1} has not three fields`);
    }
    yield [index + 1, [first, second, third]];
  }
}

export function matrixOf(tag: string): readonly Row[] {
  return Array.from(linesOf(`${tag}.tsv`), ([line, [name, written, spoken]]) => {
    if (spoken.trim() === '') throw new Error(`matrix/${tag}.tsv:${line} has no spoken form and no reason`);
    return { line, name, written, spoken };
  });
}

/** Keys "language TAB class TAB written" of the readings that are known to be wrong. */
export function openReadings(): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const [line, fields] of linesOf(OPEN)) {
    const key = fields.join('\t');
    if (keys.has(key)) throw new Error(`matrix/${OPEN}:${line} is listed twice`);
    keys.add(key);
  }
  return keys;
}
