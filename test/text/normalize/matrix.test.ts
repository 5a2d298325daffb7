import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { MATRIX_LANGUAGES, matrixOf, openReadings } from './matrix-files.js';

// Each class is read in every language. The names are the first column of `matrix/{language}.tsv`.
const CLASSES = `
  menu-path dotted-half-day tight-subtraction bracketed-signed-decimal lone-letter-behind-number est
  large-score ordinal-letter-fraction processor-name tight-power ion latex python-power inch-mark unit-case
  small-letter-code capital-title state-zip hyphen-month-date descending-range time-comma-time
  plural-behind-plus grouped-ratio version-name number-sign year-like-divisor spaced-groups us-telephone
  letter-2-letter month-day-year two-days-month currency-prefix per-square unit-names fraction-unit
  superscript-title large-ordinal roman-before-noun odd-denominator negative-mixed clock-seconds iso-month
  foreign-title address-short-form small-short-form day-month-alone masculine-in-as range-sign-after-word
  hotline card-digits particle-after-number house-number odd-year-time attached-mail tag-name markdown-marks
  say-as-stop number-list number-short-form era-letters
  type-number type-money type-measure type-range type-fraction type-mixed-number type-score type-clock
  type-duration type-date type-month-year type-ordinal type-roman type-telephone type-id type-menu
  type-file-path type-url type-mail type-version type-formula type-algebra type-verse type-dose type-list
  type-table
`
  .trim()
  .split(/\s+/);

test('every class has two cases or a stated reason in each of the ten languages', () => {
  assert.equal(MATRIX_LANGUAGES.length, 10);
  const missing: string[] = [];
  for (const tag of MATRIX_LANGUAGES) {
    const rows = matrixOf(tag);
    for (const { name, line } of rows) {
      if (!CLASSES.includes(name)) missing.push(`${tag}.tsv:${line} names no class: ${name}`);
    }
    for (const name of CLASSES) {
      const own = rows.filter((row) => row.name === name);
      const [cases, reasons] = [
        own.filter((row) => row.written !== '-'),
        own.filter((row) => row.written === '-'),
      ];
      const complete = reasons.length === 0 ? cases.length >= 2 : reasons.length === 1 && cases.length === 0;
      if (!complete) missing.push(`${tag} ${name}: ${cases.length} cases, ${reasons.length} reasons`);
    }
  }
  assert.deepEqual(missing, []);
});

const open = openReadings();

for (const tag of MATRIX_LANGUAGES) {
  test(`readings of the matrix in ${tag}, except those listed as open`, () => {
    const language = languageOf(tag);
    assert.ok(language !== undefined);
    const wrong: string[] = [];
    for (const { name, line, written, spoken } of matrixOf(tag)) {
      if (written === '-' || open.has(`${tag}\t${name}\t${written}`)) continue;
      const now = normalize(written, language).text;
      if (now !== spoken)
        wrong.push(`${tag}.tsv:${line} ${name}: ${written}\n  want ${spoken}\n  have ${now}`);
    }
    assert.deepEqual(wrong, []);
  });
}

test('a reading that is listed as open exists and is wrong', () => {
  const known = new Map<string, string>();
  for (const tag of MATRIX_LANGUAGES) {
    for (const { name, written, spoken } of matrixOf(tag)) known.set(`${tag}\t${name}\t${written}`, spoken);
  }
  const stale: string[] = [];
  for (const key of open) {
    const [tag = '', , written = ''] = key.split('\t');
    const language = languageOf(tag);
    const spoken = known.get(key);
    if (language === undefined || spoken === undefined) stale.push(`${key}: is in no file of the matrix`);
    else if (normalize(written, language).text === spoken)
      stale.push(`${key}: passes, delete it from open.tsv`);
  }
  assert.deepEqual(stale, []);
});
