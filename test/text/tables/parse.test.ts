// The format of word tables: columns, comments, parts of a cell, and the errors that name line and column.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { builtInRows } from '../../../src/text/tables/built-in.js';
import {
  currenciesOf,
  cuesOf,
  magnitudesOf,
  numberedOf,
  saidOf,
  signsOf,
  spelledOf,
  unitsOf,
} from '../../../src/text/tables/entries.js';
import { parseTable, type TableSource } from '../../../src/text/tables/parse.js';
import { isTableClass, TABLE_CLASSES, type TableClass } from '../../../src/text/tables/schema.js';

const TENANT: TableSource = { name: 'units of it', code: 'INVALID_FIELD' };
const FILE: TableSource = { name: 'de/units.tsv', code: 'CONFIG_INVALID', needsHeader: true };

function refusal(text: string, name: TableClass, source: TableSource = TENANT): string {
  try {
    parseTable(text, name, source);
  } catch (error) {
    assert.ok(error instanceof ParleyError);
    assert.equal(error.code, source.code);
    return error.message;
  }
  return assert.fail(`${JSON.stringify(text)} is accepted`);
}

test('a table has column names, comments and blank lines', () => {
  const text =
    '\uFEFF# units\r\n\r\nwritten\tforms\tgender\r\nloc., locc.\tlocale|locali\tm\r\n##\r\nm²\tmetro quadrato|metri quadrati\t\t\r\n';
  const rows = parseTable(text, 'units', FILE);
  assert.deepEqual(rows, [
    { line: 4, written: ['loc.', 'locc.'], forms: ['locale', 'locali'], gender: 'm' },
    { line: 6, written: ['m²'], forms: ['metro quadrato', 'metri quadrati'] },
  ]);
  assert.deepEqual(unitsOf(rows)['locc.'], { forms: ['locale', 'locali'], gender: 'm' });
});

test('columns may stand in any order, and a table of a tenant may have no names', () => {
  const named = parseTable('forms\twritten\neuro\tEUR\n', 'units', FILE);
  assert.deepEqual(named, [{ line: 2, written: ['EUR'], forms: ['euro'] }]);
  const plain = parseTable('loc.\tlocale|locali\tm\n', 'units', TENANT);
  assert.deepEqual(plain, [{ line: 1, written: ['loc.'], forms: ['locale', 'locali'], gender: 'm' }]);
});

test('a sign for a number is a written form, and a backslash keeps a comma or bar', () => {
  const rows = parseTable('#, №\tnumero\n1\\,5x\tuno e mezzo\n\\d-a b\tx\n', 'before-number', TENANT);
  assert.deepEqual(
    rows.map(({ written }) => written),
    [['#', '№'], ['1,5x'], ['\\d-a b']],
  );
});

test('every error names the line, the column and what is allowed', () => {
  assert.equal(
    refusal('km\tchilometro\tx\n', 'units'),
    'units of it, line 1, column "gender": is "x"; allowed: m, f, n',
  );
  assert.equal(
    refusal('\nkm\n', 'units'),
    'units of it, line 2: has no tab; tabs part its columns, which are written, forms, gender, form',
  );
  assert.match(refusal('km\tkm\tm\tx\ty\n', 'units'), /line 1: has 5 columns, the table has 4 \(written,/);
  assert.match(
    refusal('written\tfroms\n', 'units'),
    /line 1: names the column "froms"; the columns are written,/,
  );
  assert.match(refusal('written\tforms\tforms\n', 'units'), /names the column "forms" twice/);
  assert.match(refusal('written\tgender\n', 'units'), /lacks the column "forms", which is required/);
  assert.match(
    refusal('km\tx\n', 'units', FILE),
    /de\/units\.tsv, line 1: must hold the names of the columns/,
  );
  assert.match(refusal('a,,b\tx\n', 'units'), /column "written": has an empty part beside a ","/);
  assert.match(refusal('a\tx||y\n', 'units'), /column "forms": has an empty part beside a "\|"/);
  assert.match(refusal('a\tx\u0007y\n', 'units'), /column "forms": holds a control character/);
  assert.match(refusal(`a\t${'x'.repeat(2001)}\n`, 'units'), /has 2001 characters; 2000 is the most/);
  assert.match(
    refusal('Mio\tMillion\t99\n', 'magnitudes'),
    /"power": is "99"; allowed: a whole number from 1 to 36/,
  );
  assert.match(refusal('jan\t13\n', 'months'), /"number": is "13"; allowed: a whole number from 1 to 12/);
  assert.match(
    refusal('forms\tcode\nx\teuro\n', 'currencies'),
    /column "code": is "euro"; allowed: 3 to 8 capitals/,
  );
  assert.match(refusal('forms\tcode\nx\n', 'currencies'), /line 2: needs signs or a code/);
  assert.equal(
    refusal('km\t\tm\n', 'units'),
    'units of it, line 1, column "forms": is empty, which is not allowed',
  );
  assert.match(refusal('\\d\\d\n', 'patterns'), /line 1: needs said, a manner, or both/);
  assert.match(refusal('a\tb\n{x} loc.\t{n} locali\n', 'patterns'), /line 2, column "written": has "\{x\}/);
  assert.match(refusal('a * b * c\tx\n', 'spoken'), /column "written": has more than one star/);
  assert.match(refusal('a * b\t* x *\n', 'spoken'), /column "said": has a star more than the column/);
  assert.match(refusal('loc.\t{x} locali\n', 'short-forms'), /line 1, column "said": has "\{x\}"/);
  assert.match(refusal('loc.\t{n} locale|locali\n', 'units'), /line 1, column "forms": has "\{n\}"/);
});

test('an entry that is there twice is refused with both lines', () => {
  assert.equal(
    refusal('km\ta\n# x\nm, km\tb\n', 'units'),
    'units of it, line 3: has "km", which line 1 has too',
  );
  assert.equal(refusal('km, km\ta\n', 'units'), 'units of it, line 1: has "km" twice');
  assert.match(refusal('€\teuro\n$, €\tx\n', 'currencies'), /line 2: has "€", which line 1 has too/);
  const scoped = parseTable('+\tplus\tmath\n+\tpositiv\tfront\n', 'signs', TENANT);
  assert.equal(scoped.length, 2);
});

test('a table that is too long is refused at the first row too many', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => `u${index}\tx\n`).join('');
  assert.equal(parseTable(rows(3), 'units', { ...TENANT, mostRows: 3 }).length, 3);
  assert.match(
    refusal(`# c\n${rows(4)}`, 'units', { ...TENANT, mostRows: 3 }),
    /line 5: is row 4; 3 is the most/,
  );
});

test('rows become the entries of a language', () => {
  const money = parseTable(
    'code\tsigns\tforms\tgender\tminor\tminor gender\nEUR\t€, Euro\tEuro\tm\tCent\tm\n\tTaler\tTaler\n',
    'currencies',
    FILE,
  );
  assert.deepEqual(currenciesOf(money), {
    currencies: {
      EUR: { forms: ['Euro'], gender: 'm', minor: { forms: ['Cent'], gender: 'm' } },
      Taler: { forms: ['Taler'] },
    },
    currencySigns: { '€': 'EUR', Euro: 'EUR' },
  });
  const powers = parseTable('M, mn\tmillion\t6\nm\tmillion\t6\t\t\tmoney\n', 'magnitudes', TENANT);
  assert.deepEqual(Object.keys(magnitudesOf(powers)), ['M', 'mn']);
  assert.deepEqual(magnitudesOf(powers, 'money'), { m: { forms: ['million'], power: 6 } });
  assert.deepEqual(saidOf(parseTable('Nr., No.\tNummer\n', 'before-number', TENANT)), {
    'Nr.': 'Nummer',
    'No.': 'Nummer',
  });
  const signs = parseTable('+\tplus\tmath\n&\tund\n', 'signs', TENANT);
  assert.deepEqual([signsOf(signs, 'text'), signsOf(signs, 'math')], [{ '&': 'und' }, { '+': 'plus' }]);
  const months = numberedOf(parseTable('Jänner, Jän.\t1\nFeber\t2\nJan.\t1\n', 'months', TENANT), 12);
  assert.deepEqual(months.slice(0, 3), [['Jänner', 'Jän.', 'Jan.'], ['Feber'], []]);
  assert.deepEqual(
    [...cuesOf(parseTable('pin, code\tdigits\nanno\tyear\n', 'cue-words', TENANT), 'digits')],
    ['pin', 'code'],
  );
  const spelled = parseTable('ABC\nNATO\tword\n', 'spelled', TENANT);
  assert.deepEqual(
    [[...spelledOf(spelled, 'letters')], [...spelledOf(spelled, 'word')]],
    [['ABC'], ['NATO']],
  );
});

test('every table of the package is valid, and a language without one has no rows', () => {
  const root = join(import.meta.dirname, '../../../../src/text/tables');
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name: language } of folders) {
    for (const file of readdirSync(join(root, language))) {
      const name = file.replace(/\.tsv$/, '');
      assert.ok(isTableClass(name), `${language}/${file} names a class`);
      assert.notEqual(builtInRows(language, name).length, 0, `${language}/${file} has rows`);
    }
  }
  for (const name of TABLE_CLASSES) assert.deepEqual(builtInRows('xx', name), []);
});
