// Languages without rules of their own, and currencies that the tables of a language lack.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { languageOf, supportedLanguages } from '../../../src/text/normalize/languages.js';
import { OTHER_TAGS } from '../../../src/text/normalize/other-languages.js';
import { spokenForm } from '../../../src/text/spoken-form.js';
import { TableLayer } from '../../../src/text/tables/layer.js';
import { parseTable } from '../../../src/text/tables/parse.js';

function said(language: string, text: string): string {
  return spokenForm(text, { language }).text;
}

// prettier-ignore
const CASES: readonly (readonly [tag: string, written: string, spoken: string])[] = [
  ['nl', 'Het kost € 3,50 of 1.234 euro.', 'Het kost drie komma vijftig euro of twaalfhonderd vierendertig euro.'],
  ['nl', 'op 15 januari 2024 om 14:30', 'op vijftien januari tweeduizend vierentwintig om veertien dertig'],
  ['pl', '1 PLN, 2 PLN, 5 zł', 'jeden złoty polski, dwa złote polskie, pięć złotych polskich'],
  ['pl', '15 stycznia 2024, 5 km i 50%', 'piętnaście stycznia dwa tysiące dwadzieścia cztery, pięć kilometrów i pięćdziesiąt procent'],
  ['tr', '%50 arttı, 250 TRY', 'yüzde elli arttı, iki yüz elli Türk lirası'],
  ['sv', '250 kr, 3,5 %, 10-15 km', 'två hundra och femtio svenska kronor, tre komma fem procent, tio till femton kilometer'],
  ['cs', '15. ledna 2024, 2 EUR', 'patnáct ledna dva tisíce dvacet čtyři, dva eura'],
  ['uk', '22 ₴ і 5 км', 'двадцять два українські гривні і п\'ять кілометрів'],
  ['ar', '250 SAR', 'مئتان وخمسون ريال سعودي'],
  ['hi', '₹1,25,000', 'एक लाख पच्चीस हज़ार भारतीय रुपए'],
  ['id', '250.000 IDR pada 15 Januari 2024', 'dua ratus lima puluh ribu Rupiah Indonesia pada lima belas Januari dua ribu dua puluh empat'],
  ['vi', '250.000 ₫ ngày 15/1/2024', 'hai trăm năm mươi nghìn đồng Việt Nam ngày mười lăm tháng một hai nghìn lẻ hai mươi bốn'],
  ['fi', '15 EUR klo 14.30', 'viisitoista euroa klo neljätoista kolmekymmentä'],
  ['nl-BE', '5 kg', 'vijf kilogram'],
  ['nl', '$3.50 of $1,234.56', 'drie komma vijftig Amerikaanse dollar of twaalfhonderd vierendertig komma zesenvijftig Amerikaanse dollar'],
  ['nl', '3–5 kg, 1/2, 3 + 4 = 7, v2.1, de 2e keer', 'drie tot vijf kilogram, één gedeeld door twee, drie plus vier is zeven, v twee punt één, de tweede keer'],
  ['id', '1/2, 3-5 & $3.50', 'satu per dua, tiga sampai lima dan tiga koma lima puluh Dolar Amerika Serikat'],
  ['hi', '1/2', 'एक बटा दो'],
  ['pl', '3–5', 'trzy, pięć'],
];

test('numbers, money, dates and units of other languages are said in words', () => {
  for (const [tag, written, spoken] of CASES) assert.equal(said(tag, written), spoken, `${tag}: ${written}`);
});

test('every one of them says any number, however long, and leaves no figure', () => {
  for (const tag of OTHER_TAGS) {
    for (const written of [
      '0',
      '-7',
      '1234567',
      '3,5',
      '½',
      '1/2',
      '12:05',
      '9'.repeat(66),
      '9'.repeat(500),
    ]) {
      assert.doesNotMatch(said(tag, written), /\d|undefined|NaN/, `${tag}: ${written}`);
    }
    for (const code of ['EUR', 'USD', 'RON', 'KES']) {
      assert.match(said(tag, `5 ${code}`), /\S \S/, `${tag}: ${code}`);
    }
  }
});

test('any text of theirs is read without an error', () => {
  const unit = fc.constantFrom(
    '5',
    '1',
    '.',
    ' ',
    ',',
    '-',
    '/',
    ':',
    '%',
    '€',
    'km',
    'B2B',
    'i7-12700K',
    '+',
    'a@b.c',
    '\n',
    'ł',
    '24+ h',
  );
  fc.assert(
    fc.property(fc.constantFrom(...OTHER_TAGS), fc.array(unit, { maxLength: 30 }), (tag, units) => {
      assert.doesNotMatch(said(tag, units.join('')), /undefined|NaN/);
    }),
  );
});

test('a tag of a language without numbers has none', () => {
  assert.equal(languageOf('tlh'), undefined);
  assert.equal(languageOf('constructor'), undefined);
  for (const tag of ['de', 'nl', 'vi']) assert.ok(supportedLanguages().includes(tag));
});

test('tables of a tenant lie on top of them', () => {
  const rows = parseTable('mieszk.\tmieszkanie|mieszkania|mieszkań\n', 'units', {
    name: 'u',
    code: 'INVALID_FIELD',
  });
  const tables = new TableLayer(new Map([['pl', { units: rows }]]));
  const text = 'Mamy 1 mieszk., 2 mieszk. i 5 mieszk. tutaj';
  assert.equal(
    spokenForm(text, { language: 'pl', tables }).text,
    'Mamy jeden mieszkanie, dwa mieszkania i pięć mieszkań tutaj',
  );
});

// prettier-ignore
const FALLBACK: readonly (readonly [tag: string, spoken: string])[] = [
  ['de', 'eine Isländische Krone, fünf Kenia-Schilling'],
  ['en', 'one Icelandic króna, five Kenyan shillings'],
  ['es', 'una corona islandesa, cinco chelines kenianos'],
  ['fr', 'une couronne islandaise, cinq shillings kényans'],
  ['it', 'una corona islandese, cinque scellini kenioti'],
  ['pt', 'uma coroa islandesa, cinco xelins quenianos'],
  ['ru', 'одна исландская крона, пять кенийских шиллингов'],
];

test('a currency that the tables of a language lack has its name from the CLDR', () => {
  for (const [tag, spoken] of FALLBACK) assert.equal(said(tag, '1 ISK, 5 KES'), spoken, tag);
  assert.equal(said('zh', '500 KES'), '五百肯尼亚先令');
  assert.equal(said('ko', '500 KES'), '오백 케냐 실링');
});

test('a word in capitals is no currency', () => {
  assert.equal(said('en', 'TOP 10 at COP 28, ALL 5'), 'TOP ten at COP twenty-eight, ALL five');
});
