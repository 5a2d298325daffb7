import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { spokenDigits, writtenForm } from '../../../src/text/inverse/inverse.js';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'text', 'inverse');
const FEWEST_CASES = 80;

interface Case {
  readonly title: string;
  readonly spoken: string;
  readonly written: string;
}

/** "# sentence about behaviour", then lines of "spoken TAB written". */
function casesOf(tag: string): Case[] {
  const found: Case[] = [];
  let title = '';
  for (const [index, line] of readFileSync(join(FOLDER, `${tag}.cases.tsv`), 'utf8')
    .split('\n')
    .entries()) {
    if (line.startsWith('# ')) title = line.slice(2);
    if (line === '' || line.startsWith('# ')) continue;
    const [spoken, written, ...rest] = line.split('\t');
    const isCase = spoken !== undefined && written !== undefined && rest.length === 0 && title !== '';
    if (!isCase) throw new Error(`${tag}.cases.tsv:${index + 1} is not "spoken TAB written" below a title`);
    found.push({ title, spoken, written });
  }
  return found;
}

const TAGS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.cases.tsv'))
  .map((name) => name.split('.', 1)[0] ?? '')
  .toSorted();

for (const tag of TAGS) {
  const cases = casesOf(tag);
  test(`${tag} has cases enough`, () => {
    assert.ok(cases.length >= FEWEST_CASES, `${cases.length} cases`);
  });
  for (const title of new Set(cases.map((one) => one.title))) {
    test(`${tag}: ${title}`, () => {
      const of = cases.filter((one) => one.title === title);
      assert.deepEqual(
        of.map(({ spoken }) => `${spoken} → ${writtenForm(spoken, tag).text}`),
        of.map(({ spoken, written }) => `${spoken} → ${written}`),
      );
    });
  }
}

interface Format {
  readonly group: string;
  readonly decimal: string;
  readonly months: readonly string[];
  readonly date: (day: number, month: string, year: number) => string;
  readonly time: (hour: number, minutes: string) => string;
  readonly isSignFirst: boolean;
}

function monthsOf(tag: string): readonly string[] {
  return languageOf(tag)?.writing.dates.months.map(([name]) => name ?? '') ?? [];
}

const FORMATS: Readonly<Record<string, Format>> = {
  en: {
    group: ',',
    decimal: '.',
    months: monthsOf('en'),
    isSignFirst: true,
    date: (day, month, year) => (day % 2 === 0 ? `${day} ${month} ${year}` : `${month} ${day}, ${year}`),
    time: (hour, minutes) => `at ${(hour % 12) + 1}:${minutes} ${hour < 12 ? 'a.m.' : 'p.m.'}`,
  },
  de: {
    group: '.',
    decimal: ',',
    months: monthsOf('de'),
    isSignFirst: false,
    date: (day, month, year) => `am ${day}. ${month} ${year}`,
    time: (hour, minutes) => `um ${hour}:${minutes} Uhr`,
  },
  es: {
    group: '.',
    decimal: ',',
    months: monthsOf('es'),
    isSignFirst: false,
    date: (day, month, year) => `el ${day} de ${month} de ${year}`,
    time: (hour, minutes) => `${hour === 1 ? 'la' : 'las'} ${hour}:${minutes}`,
  },
  fr: {
    group: ' ',
    decimal: ',',
    months: monthsOf('fr'),
    isSignFirst: false,
    date: (day, month, year) => `le ${day === 1 ? '1er' : day} ${month} ${year}`,
    time: (hour, minutes) => `à ${hour} h ${minutes}`,
  },
};

function grouped(value: number, mark: string, least: number): string {
  return value < least ? String(value) : String(value).replace(/\B(?=(?:\d{3})+$)/g, mark);
}

/** Written forms, canonical in their language. */
function writtenIn({ group, decimal, months, date, time, isSignFirst }: Format): fc.Arbitrary<string> {
  const sum = fc
    .tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 0, max: 99 }), fc.constantFrom('€', '$'))
    .map(([whole, cents, sign]) => {
      const rest = cents === 0 ? '' : decimal + String(cents).padStart(2, '0');
      const figures = grouped(whole, group, 1000) + rest;
      return isSignFirst ? sign + figures : `${figures} ${sign}`;
    });
  const number = fc
    .oneof(fc.integer({ min: 10, max: 9999 }), fc.integer({ min: 10, max: 999_999 }))
    .map((value) => grouped(value, group, 10_000));
  const decimals = fc
    .tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 1, max: 99 }))
    .map(([whole, rest]) => `${whole}${decimal}${rest}`);
  const day = fc
    .tuple(fc.integer({ min: 1, max: 31 }), fc.constantFrom(...months), fc.integer({ min: 1900, max: 2050 }))
    .map((parts) => date(...parts));
  const hour = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 1, max: 59 }))
    .map(([hours, minutes]) => time(hours, String(minutes).padStart(2, '0')));
  const percent = fc.integer({ min: 1, max: 100 }).map((value) => `${value}${isSignFirst ? '' : ' '}%`);
  const unit = fc
    .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom('km', 'kg', 'ml', 'cm'))
    .map((parts) => parts.join(' '));
  return fc.oneof(sum, number, decimals, day, hour, percent, unit);
}

for (const [tag, format] of Object.entries(FORMATS)) {
  test(`${tag}: what the normaliser says of a number, date, time or amount is read back`, () => {
    const language = languageOf(tag);
    assert.ok(language !== undefined);
    fc.assert(
      fc.property(writtenIn(format), (written) => {
        const { text: spoken } = normalize(written, language);
        assert.equal(writtenForm(spoken, tag).text, written, spoken);
      }),
      { numRuns: 2000 },
    );
  });

  test(`${tag}: digits that the normaliser reads out are read back as an answer`, () => {
    const speech = languageOf(tag)?.speech;
    assert.ok(speech !== undefined);
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,16}$/), (digits) => {
        assert.equal(spokenDigits(speech.digits(digits), tag), digits);
      }),
      { numRuns: 500 },
    );
  });
}

// prettier-ignore
const WORDS = [
  'one', 'two', 'oh', 'double', 'triple', 'hundred', 'thousand', 'million', 'and', 'point', 'minus', 'plus', 'the', 'third', 'of', 'March', 'may', 'half', 'past',
  'quarter', 'to', "o'clock", 'p.m.', 'dollars', 'fifty', 'cents', 'percent', 'at', 'dot', 'com', 'slash', 'w', 'S', 'as', 'in', 'Sierra', 'twenty',
  'eins', 'ein', 'hundert', 'tausend', 'und', 'Komma', 'halb', 'viertel', 'nach', 'vor', 'Uhr', 'Euro', 'dritten', 'dreiundzwanzig', 'wie', 'Punkt', 'Doppel',
  'un', 'zéro', 'quatre', 'vingt', 'cent', 'mille', 'millions', 'heures', 'et', 'demie', 'moins', 'le', 'virgule', 'arobase', 'premier', 'comme', "d'",
  'uno', 'la', 'las', 'y', 'media', 'menos', 'cuarto', 'mil', 'millones', 'de', 'coma', 'con', 'veintidós', 'arroba', 'punto', 'primero',
  ' ', ' ', ' ', ' ', ' ', '-', ',', ', ', '.', '. ', "'", '\n', '7', '42', '😀', '\uD83D', '\u200B', '中', 'é', '$', '%',
];
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...WORDS), { maxLength: 40 }).map((pieces) => pieces.join(' ')),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 80 }),
);

test('any text is written without an exception, and each rewriting has its place', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...TAGS), (text, tag) => {
      const { text: written, rewritings } = writtenForm(text, tag);
      let rest = '';
      let end = 0;
      for (const one of rewritings) {
        assert.ok(one.start >= end && one.end > one.start && one.end <= text.length);
        rest += text.slice(end, one.start) + one.written;
        end = one.end;
      }
      assert.equal(rest + text.slice(end), written);
      spokenDigits(text, tag);
    }),
    { numRuns: 50_000 },
  );
});

test('hostile text costs no more a character than any other', () => {
  // prettier-ignore
  const hostile = ['one ', 'twenty ', 'hundred thousand ', 'a dot ', 'john at ', 's ', 'double ', 'point ', 'minus ', 'plus one, ', 'the third of ', 'slash ', 'Sierra '];
  for (const tag of TAGS) {
    writtenForm('one', tag);
    for (const piece of hostile) {
      const text = piece.repeat(Math.ceil(20_000 / piece.length));
      const times = [0, 1, 2].map(() => {
        const begin = performance.now();
        writtenForm(text, tag);
        return performance.now() - begin;
      });
      const microseconds = (Math.min(...times) * 1000) / text.length;
      assert.ok(microseconds < 60, `${tag} ${piece}: ${microseconds.toFixed(1)} µs a character`);
    }
  }
});

test('a language that is not known leaves the text as it was recognised', () => {
  assert.deepEqual(writtenForm('four two oh seven', 'xx'), { text: 'four two oh seven', rewritings: [] });
  assert.equal(writtenForm('quatro dois zero sete', 'pt').text, 'quatro dois zero sete');
  assert.equal(spokenDigits('4, 2 0 7.', 'pt'), '4207');
});

test('a rewriting says what was written for which words, and why', () => {
  const text = 'Pay five dollars on the third of March, please.';
  const { text: written, rewritings } = writtenForm(text, 'en-US');
  assert.equal(written, 'Pay $5 on 3 March, please.');
  assert.deepEqual(
    rewritings.map(({ start, end, written: form, rule }) => [text.slice(start, end), form, rule]),
    [
      ['five dollars', '$5', 'currency'],
      ['the third of March', '3 March', 'date'],
    ],
  );
});

test('a pound is money in Britain, and may be a weight elsewhere', () => {
  assert.equal(writtenForm('it costs twelve pounds', 'en-GB').text, 'it costs £12');
  assert.equal(writtenForm('it weighs twelve pounds', 'en-US').text, 'it weighs 12 pounds');
});

test('an answer of digits is found in its sentence, and any other answer has none', () => {
  for (const [tag, spoken, digits] of [
    ['en', 'four two oh seven', '4207'],
    ['en', 'My PIN is forty-two oh seven, please.', '4207'],
    ['en', 'one', '1'],
    ['en', 'four thousand two hundred seven', '4207'],
    ['en', 'double three triple one', '33111'],
    ['en', '4 2 0 7.', '4207'],
    ['en', 'one of them', undefined],
    ['en', 'billing', undefined],
    ['en', '', undefined],
    ['de', 'null acht fünfzehn', '0815'],
    ['de', 'die Nummer ist zwo drei', '23'],
    ['fr', 'zéro six douze trente-quatre', '061234'],
    ['fr', 'un deux un', '121'],
    ['es', 'el código es cuatro dos cero siete', '4207'],
    ['es', 'quiero una cita', undefined],
  ] as const) {
    assert.equal(spokenDigits(spoken, tag), digits, spoken);
  }
});

test('written text is left as it is', () => {
  for (const text of [
    'It costs $3.50 at 3:30 p.m.',
    'Call 555-1234 on 3 March 2026.',
    'a 42 b',
    '20% of 1,234.56',
  ]) {
    assert.equal(writtenForm(text, 'en').text, text);
  }
});
