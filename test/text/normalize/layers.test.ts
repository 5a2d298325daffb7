// Tables of a tenant on top of a language: every class of rows, patterns, and languages with their own
// grammar.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { Lexicon } from '../../../src/text/lexicon.js';
import { languageName, languageOf, supportedLanguages } from '../../../src/text/normalize/languages.js';
import { spokenForm } from '../../../src/text/spoken-form.js';
import { TableLayer, type Tables } from '../../../src/text/tables/layer.js';
import { parseTable } from '../../../src/text/tables/parse.js';
import type { TableClass } from '../../../src/text/tables/schema.js';

type Texts = Partial<Record<TableClass, string>>;

function tablesOf(texts: Texts): Tables {
  const parsed = Object.entries(texts).map(([name, text]) => [
    name,
    parseTable(text, name as TableClass, { name, code: 'INVALID_FIELD' }),
  ]);
  return Object.fromEntries(parsed) as Tables;
}

function layerOf(languages: Readonly<Record<string, Texts>>): TableLayer {
  return new TableLayer(new Map(Object.entries(languages).map(([tag, texts]) => [tag, tablesOf(texts)])));
}

function said(language: string, text: string, tables: TableLayer, lexicons: readonly Lexicon[] = []): string {
  return spokenForm(text, { language, tables, lexicons }).text;
}

const ITALIAN = layerOf({
  it: {
    patterns:
      '{n} loc.\t{n} locali\n1 loc.\tun locale\n{n} bagni\t{n} bagno|bagni\nid:A\\d-\\d{5}\t\tpairs\n',
    units: 'mq\tmetro quadro|metri quadri\tm\n{n} p.\tpiano|piani\tm\n',
  },
});

test('a pattern counts as one token, and the number is read as in front of its noun', () => {
  assert.equal(
    said('it', 'Abbiamo 5 loc. e 1 loc. liberi.', ITALIAN),
    'Abbiamo cinque locali e un locale liberi.',
  );
  assert.equal(said('it', 'Sono 1.200 loc.', ITALIAN), 'Sono milleduecento locali.');
  assert.equal(
    said('it', '1 bagni, 2 bagni, 1 p. e 3 p. su.', ITALIAN),
    'un bagno, due bagni, un piano e tre piani su.',
  );
  const form = spokenForm('Sono 5 loc. qui', { language: 'it', tables: ITALIAN });
  assert.deepEqual(
    form.replacements.map(({ rule, written }) => [rule, written]),
    [['measure', '5 loc.']],
  );
});

test('a unit of the tenant wins over that of the language, with and without its stop', () => {
  assert.equal(said('it', 'Sono 90 mq e 1 mq.', ITALIAN), 'Sono novanta metri quadri e un metro quadro.');
  assert.equal(said('it', 'Sono 3-4 mq.', ITALIAN), 'Sono tre o quattro metri quadri.');
});

test('an identifier is said in its manner', () => {
  assert.equal(said('it', 'Ordine A1-12345.', ITALIAN), 'Ordine A uno dodici trentaquattro cinque.');
  const english = layerOf({
    en: {
      patterns:
        'id:B\\d{4}\tbatch {d}\tpairs\nid:C\\d{4}\t\tdigits\nid:AB-\\d{3}\t\tletters\nid:lot\\d{3}\t\twords\nid:D\\d\n',
    },
  });
  assert.equal(
    said('en', 'B1205 C1205 AB-120 lot120 D7', english),
    'batch B twelve zero five C one two zero five A B one two zero lot one hundred twenty D seven',
  );
});

test('rows of every class apply', () => {
  const layer = layerOf({
    en: {
      currencies: '$\tbuck|bucks\nFOO, ¤\tfoo|foos\t\tbar|bars\n',
      'short-forms': 'Mt.\tMountain\nACME\tack me\nkm\tclicks\tbehind number\nSq\tSquire\tbefore name\n',
      units: 'km\tclick|clicks\n',
      signs: '&\tn\n×\tby\tmath\n',
      letters: 'Z\tzed\n',
      months: 'Octo\t10\n',
      weekdays: 'Freitag\t5\n',
      spelled: 'NATO\nXKCD\tword\n',
      'address-words': 'acme\tack me\n',
      'cue-words': 'badge\tdigits\nedition\troman-cardinal\n',
      per: 'mo\teach month\n',
      'before-number': 'No.\tnumber sign\n',
      zones: 'ZZT\tZulu time\n',
      magnitudes: 'gz\tgazillion\t9\n',
    },
  });
  const cases: readonly (readonly [string, string])[] = [
    ['It costs $5, $1 or ¤5.50.', 'It costs five bucks, one buck or five foos and fifty bars.'],
    ['That is 3 FOO or $20/mo.', 'That is three foos or twenty bucks each month.'],
    ['Mt. Fuji is 5 km or 1 km away.', 'Mountain Fuji is five clicks or one click away.'],
    ['ACME & co', 'ack me n co'],
    ['Sq Jane met sq.', 'Squire Jane met sq.'],
    ['XYZ, NATO and XKCD', 'X Y zed, N A T O and XKCD'],
    ['On Octo 5 at 5:30 pm ZZT', 'On October fifth at five thirty p.m. Zulu time'],
    ['mail x@acme.com', 'mail X at ack me dot com'],
    ['badge 4711, edition IV', 'badge four seven one one, edition four'],
    ['No. 5 is 2 gz.', 'number sign five is two gazillion.'],
    ['3 × 4 is 12', 'three by four is twelve'],
  ];
  for (const [written, spoken] of cases) assert.equal(said('en', written, layer), spoken, written);
});

test('grammar of the language holds for nouns of the tenant', () => {
  const german = layerOf({
    de: { units: 'WE\tWohneinheit|Wohneinheiten\tf\n', patterns: '{n} Zi.\t{n} Zimmer\n' },
  });
  assert.equal(
    said('de', 'Es hat 1 WE und 2 WE.', german),
    'Es hat eine Wohneinheit und zwei Wohneinheiten.',
  );
  assert.equal(said('de', 'Es hat 3 Zi.', german), 'Es hat drei Zimmer.');
  const russian = layerOf({
    ru: { units: 'лок.\tлокаль|локали|локалей\tf\nкв.\tжилая квартира|жилой квартиры|жилых квартир\tf\n' },
  });
  assert.equal(
    said('ru', 'Есть 1 лок., 2 лок. и 5 лок.', russian),
    'Есть одна локаль, две локали и пять локалей.',
  );
  assert.equal(said('ru', 'Есть 1 кв., 3 кв.', russian), 'Есть одна жилая квартира, три жилые квартиры.');
  const chinese = layerOf({ zh: { units: '套\t整套\n', 'short-forms': '甲方\t采购方\n' } });
  assert.equal(said('zh', '有5套，甲方同意。', chinese), '有五整套，采购方同意。');
});

test('a lexicon wins over tables, and a variant over its language', () => {
  const layer = layerOf({
    de: { 'short-forms': 'SLA\tEss\n' },
    'de-ch': { 'short-forms': 'SLA\tSchweiz\n' },
  });
  assert.equal(said('de', 'Das SLA gilt.', layer), 'Das Ess gilt.');
  assert.equal(said('de-CH', 'Das SLA gilt.', layer), 'Das Schweiz gilt.');
  assert.equal(said('de-AT', 'Das SLA gilt.', layer), 'Das Ess gilt.');
  assert.equal(
    said('de', 'Das SLA gilt.', layer, [new Lexicon([{ word: 'SLA', say: 'Lex' }])]),
    'Das Lex gilt.',
  );
});

test('a language is built once for a layer, and is itself where the layer has no rows for it', () => {
  assert.equal(languageOf('it', ITALIAN), languageOf('it', ITALIAN));
  assert.equal(languageOf('de', ITALIAN), languageOf('de'));
  assert.notEqual(languageOf('it', ITALIAN), languageOf('it'));
});

test('a variant of the package has only the rows that differ', () => {
  const inMexico = (text: string) => spokenForm(text, { language: 'es-MX' }).text;
  assert.equal(inMexico('Cuesta $5 o 3 km.'), 'Cuesta cinco pesos o tres kilómetros.');
  assert.equal(spokenForm('Cuesta $5.', { language: 'es' }).text, 'Cuesta cinco dólares.');
  assert.equal(languageOf('es-MX'), languageOf('es_mx'));
});

test('names of languages are checked', () => {
  assert.deepEqual(
    ['de', 'PT-pt', 'de-1', 'tlh', '..', 'de/../x'].map((tag) => languageName(tag)),
    ['de', 'pt-PT', undefined, undefined, undefined, undefined],
  );
  assert.ok(supportedLanguages().includes('zh'));
});

test('any text is read with the tables of a tenant, each text in the same way twice', () => {
  const unit = fc.constantFrom(
    '5',
    '1',
    '.',
    ' ',
    'loc',
    'loc.',
    'mq',
    'A1-12345',
    'p.',
    '-',
    ',',
    '\n',
    'è',
    '&',
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
      const text = units.join('');
      assert.equal(said('it', text, ITALIAN), said('it', text, ITALIAN));
    }),
  );
});

test('marks of regular expressions in a table are literals', () => {
  const text = 'Winds NW at 5 mph, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac NW.';
  for (const written of ['(', '[x', 'a*', '(a+)+b', 'a|']) {
    for (const kind of [
      'wind',
      'grade',
      'digit-word',
      'condition',
      'title',
      'call',
      'counted-of',
      'digits',
    ]) {
      const layer = layerOf({ en: { 'cue-words': `${written}\t${kind}\n` } });
      assert.match(said('en', text, layer), /^Winds northwest at five miles per hour/);
    }
  }
});

test('tags without a table of their own share one language', () => {
  const layer = layerOf({ en: { 'short-forms': 'zork\tzorks\n' } });
  assert.equal(languageOf('en-AA', layer), languageOf('en-AB', layer));
  assert.notEqual(languageOf('en', layer), languageOf('en'));
});

test('cue words of a tenant count beside those of the language', () => {
  const layer = layerOf({ en: { 'cue-words': 'cabin\tplace\nfrobnik\tsoftware\n' } });
  assert.equal(
    said('en', 'Use Frobnik 3.11 in cabin 12 B.', layer),
    'Use Frobnik three point eleven in cabin twelve B.',
  );
  assert.notEqual(
    said('en', 'Use Frobnik 3.11.', new TableLayer(new Map())),
    'Use Frobnik three point eleven.',
  );
});
