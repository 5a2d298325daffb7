// Variants of a language: thin layers of tables of the package, "en-GB" above "en".
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spokenForm } from '../../../src/text/spoken-form.js';
import { TableLayer } from '../../../src/text/tables/layer.js';
import { parseTable } from '../../../src/text/tables/parse.js';

// prettier-ignore
const CASES: readonly (readonly [tag: string, written: string, spoken: string])[] = [
  ['en', 'Due 5/6/2024, on 5/6, for 105 people.', 'Due May sixth, twenty twenty-four, on May sixth, for one hundred five people.'],
  ['en-GB', 'Due 5/6/2024, on 5/6, for 105 people.', 'Due the fifth of June, twenty twenty-four, on the fifth of June, for one hundred and five people.'],
  ['en-GB', 'It costs £2,008.50, not £120,500.', 'It costs two thousand and eight pounds and fifty pence, not one hundred and twenty thousand five hundred pounds.'],
  ['en-GB', 'The 101st of 1,000,005 on 2024-06-05.', 'The one hundred and first of one million and five on the fifth of June, twenty twenty-four.'],
  ['en-gb', 'On 12/25/2024 we are closed.', 'On the twenty-fifth of December, twenty twenty-four we are closed.'],
  ['en-AU', 'Due 5/6/2024.', 'Due May sixth, twenty twenty-four.'],
  ['de-CH', "CHF 1'250.50, 20 Rp. und 1 Rp., um 14.30 Uhr im Kt. Bern.", 'eintausendzweihundertfünfzig Franken fünfzig, zwanzig Rappen und ein Rappen, um vierzehn Uhr dreißig im Kanton Bern.'],
  ['pt', '16 e 2.300.000.000 euros.', 'dezesseis e dois bilhões e trezentos milhões de euros.'],
  ['pt-PT', '16 e 2.300.000.000 euros.', 'dezasseis e dois mil e trezentos milhões de euros.'],
  ['pt-AO', '1.000.000.000.000 em 1,5 km.', 'um bilião em um vírgula cinco quilómetro.'],
  ['es-MX', 'Cuesta $5.50.', 'Cuesta cinco pesos con cincuenta centavos.'],
];

test('a variant says its own words, and otherwise those of its language', () => {
  for (const [language, written, spoken] of CASES) {
    assert.equal(spokenForm(written, { language }).text, spoken, `${language}: ${written}`);
  }
});

test('a tenant may state another order of dates and other words', () => {
  const rows = <C extends 'formats' | 'spoken'>(name: C, text: string) =>
    parseTable(text, name, { name, code: 'INVALID_FIELD' });
  const tables = new TableLayer(
    new Map([
      ['en', { formats: rows('formats', 'date-order\tdmy\n'), spoken: rows('spoken', 'point\tdot\n') }],
    ]),
  );
  assert.equal(
    spokenForm('On 5/6/2024 it was 3.5 of $0.', { language: 'en', tables }).text,
    'On the fifth of June, twenty twenty-four it was three dot five of zero dollars.',
  );
});
