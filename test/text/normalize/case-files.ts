// The case files: "# sentence about behaviour", then lines of "written TAB spoken".
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  '..',
  '..',
  '..',
  'test',
  'text',
  'normalize',
);

export interface Case {
  readonly line: number;
  readonly written: string;
  readonly spoken: string;
}

interface Behaviour {
  readonly title: string;
  readonly cases: readonly Case[];
}

/** Tags of the languages that have a case file. */
export function languagesWithCases(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.cases.tsv'))
    .map((name) => name.split('.', 1)[0] ?? '')
    .toSorted();
}

/** In a case \n stands for a line break; a line that is no case is an error. */
export function behavioursOf(tag: string): Behaviour[] {
  const found: { title: string; cases: Case[] }[] = [];
  const lines = readFileSync(join(FOLDER, `${tag}.cases.tsv`), 'utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    if (line.startsWith('# ')) {
      found.push({ title: line.slice(2).trim(), cases: [] });
      continue;
    }
    const [written, spoken, ...rest] = line.replaceAll('\\n', '\n').split('\t');
    const behaviour = found.at(-1);
    if (written === undefined || spoken === undefined || rest.length > 0 || behaviour === undefined) {
      throw new Error(`${tag}.cases.tsv:${index + 1} is not "written TAB spoken" below a title`);
    }
    behaviour.cases.push({ line: index + 1, written, spoken });
  }
  return found;
}
