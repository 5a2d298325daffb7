// The guide names each class of word tables, its columns, and the values that a column may have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Column, SCHEMAS } from '../../src/text/tables/schema.js';
import { textOf } from './markdown.js';

type Schemas = Readonly<Record<string, Readonly<Record<string, Column>>>>;

const PAGE = 'public/docs/text.md';

/** Rows of the tables of a page, by the names in their first cell. */
function rowsOf(page: string): ReadonlyMap<string, string> {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string] => [
        name,
        row,
      ]),
    ),
  );
}

function unnamed(schemas: Schemas, page: string): string[] {
  const rows = rowsOf(page);
  return Object.entries(schemas).flatMap(([name, columns]) => {
    const row = rows.get(name);
    if (row === undefined) return [name];
    return Object.entries(columns).flatMap(([column, { holds, ...rest }]) => {
      const values = holds === 'choice' && 'of' in rest ? rest.of : [];
      const missing = values.filter((value) => !row.includes(`\`${value}\``) && !rows.has(value));
      const own = row.includes(`\`${column}\``) ? [] : [`${name}.${column}`];
      return [...own, ...missing.map((value) => `${name}.${column}=${value}`)];
    });
  });
}

test('the page of texts names each class of tables, its columns and their values', () => {
  assert.deepEqual(unnamed(SCHEMAS, textOf(PAGE)), []);
});

test('a column, a value and a class that the page lacks are found', () => {
  const text = { holds: 'text' } as const;
  const choice = { holds: 'choice', of: ['m', 'shoe'] } as const;
  const schemas: Schemas = { units: { written: text, size: text, gender: choice }, shoes: { written: text } };
  assert.deepEqual(unnamed(schemas, textOf(PAGE)), ['units.size', 'units.gender=shoe', 'shoes']);
});
