// The tables of the package: every file has a known class, loads fast and without a mistake, and is clean.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtInRows } from '../../../src/text/tables/built-in.js';
import { parseTable } from '../../../src/text/tables/parse.js';
import { isTableClass, type TableClass } from '../../../src/text/tables/schema.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..', 'src', 'text', 'tables');
const LANGUAGES = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

interface TableFile {
  readonly path: string;
  readonly language: string;
  readonly name: TableClass;
  readonly text: string;
}

function files(): TableFile[] {
  return LANGUAGES.flatMap((language) =>
    readdirSync(join(ROOT, language)).map((file) => {
      const name = file.replace(/\.tsv$/, '');
      assert.ok(file.endsWith('.tsv') && isTableClass(name), `${language}/${file} is no class of tables`);
      return {
        path: `${language}/${file}`,
        language,
        name,
        text: readFileSync(join(ROOT, language, file), 'utf8'),
      };
    }),
  );
}

test('every table of the package loads, and has rows', () => {
  const known = files();
  assert.ok(known.length > 100, `${known.length} files`);
  for (const { path, language, name } of known) assert.ok(builtInRows(language, name).length > 0, path);
});

test('no cell, line or file of a table has stray white space', () => {
  const strays = files().flatMap(({ path, text }) => {
    const lines = text.split('\n').flatMap((line, index) => {
      const cells = line.split('\t');
      const isStray =
        cells.some((cell) => cell !== cell.trim() || cell.includes('  ')) || line.endsWith('\t');
      return isStray ? [`${path}, line ${index + 1}`] : [];
    });
    const isEndWrong = !text.endsWith('\n') || text.endsWith('\n\n') || text.includes('\r');
    return isEndWrong ? [...lines, `${path}, its end`] : lines;
  });
  assert.deepEqual(strays, []);
});

test('all tables of one language load in less than 10 ms', () => {
  const slow = LANGUAGES.map((language) => {
    const own = files().filter((file) => file.language === language);
    const times = Array.from({ length: 5 }, () => {
      const start = process.cpuUsage();
      for (const { path, name, text } of own)
        parseTable(text, name, { name: path, code: 'CONFIG_INVALID', needsHeader: true });
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    });
    return { language, best: Math.min(...times) };
  }).filter(({ best }) => best >= 10);
  assert.deepEqual(slow, []);
});
