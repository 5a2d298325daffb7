import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexicon } from '../../src/text/lexicon.js';
import { sentencesOfMarkup } from '../../src/text/markup/marked-sentences.js';
import { readMarkup } from '../../src/text/markup/read-markup.js';
import { continuedForm, spokenForm } from '../../src/text/spoken-form.js';

function spoken(body: string, language = 'en', lexicon?: Lexicon): string {
  const { sentences } = sentencesOfMarkup(readMarkup(`<speak>${body}</speak>`));
  const lexicons = lexicon === undefined ? [] : [lexicon];
  const words = sentences.map((sentence) =>
    sentence.kind === 'bleep'
      ? '—'
      : spokenForm(sentence.text, { language, parts: sentence.parts, context: sentence.context, lexicons })
          .text,
  );
  return words.join(' ');
}

function as(kind: string, written: string, { format = '', language = 'en' } = {}): string {
  const stated = format === '' ? '' : ` format="${format}"`;
  return spoken(`<say-as interpret-as="${kind}"${stated}>${written}</say-as>`, language);
}

test('a cardinal is counted, also where its neighbours would make a year or a code of it', () => {
  assert.equal(as('cardinal', '2024'), 'two thousand twenty-four');
  assert.equal(as('number', '-1,234.5'), 'minus one thousand two hundred thirty-four point five');
  assert.equal(
    as('cardinal', '1.234,5', { language: 'de' }),
    'eintausendzweihundertvierunddreißig Komma fünf',
  );
});

test('an ordinal is one with or without its mark', () => {
  assert.equal(as('ordinal', '3'), 'third');
  assert.equal(as('ordinal', '21st'), 'twenty-first');
  assert.equal(as('ordinal', '2', { language: 'fr' }), 'deuxième');
});

test('a Roman numeral is a number where it is said to be one', () => {
  assert.equal(as('cardinal', 'XIV'), 'fourteen');
  assert.equal(as('ordinal', 'XIV'), 'fourteenth');
  assert.equal(as('ordinal', 'iv', { language: 'fr' }), 'quatrième');
  assert.equal(as('cardinal', 'XIVQ'), spoken('XIVQ'));
});

test('characters are said by their names, signs too', () => {
  assert.equal(as('characters', 'AB-12'), 'A B dash one two');
  assert.equal(as('spell-out', 'née'), 'N É E');
  assert.equal(as('verbatim', 'x_y'), 'X underscore Y');
});

test('digits are said one by one, with a rest between groups', () => {
  assert.equal(as('digits', '1234'), 'one two three four');
  assert.equal(as('digits', '12-34'), 'one two, three four');
  assert.equal(as('digits', '12', { language: 'de' }), 'eins zwei');
});

test('a fraction is one, with or without a whole', () => {
  assert.equal(as('fraction', '2/9'), 'two ninths');
  assert.equal(as('fraction', '3 1/2'), 'three and a half');
  assert.equal(as('fraction', '1+1/4'), 'one and one quarter');
});

test('a unit is said in full', () => {
  assert.equal(as('unit', '5 km'), 'five kilometers');
  assert.equal(as('measure', '1.5kg'), 'one point five kilograms');
});

test('a date is read in the stated order', () => {
  assert.equal(as('date', '1/2/2024', { format: 'mdy' }), 'January second, twenty twenty-four');
  assert.equal(as('date', '1/2/2024', { format: 'dmy' }), 'February first, twenty twenty-four');
  assert.equal(as('date', '20240115', { format: 'yyyymmdd' }), 'January fifteenth, twenty twenty-four');
  assert.equal(as('date', '2024-01-15', { format: 'ymd' }), 'January fifteenth, twenty twenty-four');
  assert.equal(as('date', 'Jan 2024', { format: 'my' }), 'January twenty twenty-four');
  assert.equal(
    as('date', '1/2/2024', { format: 'dmy', language: 'de' }),
    'erster Februar zweitausendvierundzwanzig',
  );
});

test('a year alone is read as one', () => {
  assert.equal(as('date', '1984', { format: 'y' }), 'nineteen eighty-four');
});

test('a time of day is read as one', () => {
  assert.equal(as('time', '2:30pm', { format: 'hms12' }), 'two thirty p.m.');
  assert.equal(as('time', '14.05', { format: 'hms24' }), 'fourteen oh five');
});

test('minutes and seconds are a time, too', () => {
  assert.equal(as('time', '1\'21"'), 'one minute twenty-one seconds');
  assert.equal(as('duration', "5'"), 'five minutes');
});

test('a duration counts hours, minutes and seconds', () => {
  assert.equal(as('duration', '1:05:20'), 'one hour five minutes twenty seconds');
  assert.equal(as('duration', '2:30', { format: 'hm' }), 'two hours thirty minutes');
});

test('a telephone number is read digit by digit, in its groups', () => {
  assert.equal(as('telephone', '(555) 0123'), 'five five five, zero one two three');
  assert.equal(as('telephone', '+1 555'), 'plus one, five five five');
  assert.equal(as('telephone', '1-800-GO'), 'one, eight zero zero, G O');
});

test('an amount is one of the currency that stands with it or is stated', () => {
  assert.equal(as('currency', '$3.50'), 'three dollars and fifty cents');
  assert.equal(as('currency', '20', { format: 'EUR' }), 'twenty euros');
});

test('a name is left as it is written', () => {
  assert.equal(as('name', 'St. 3M'), 'St. 3M');
});

test('an address of the net is read out', () => {
  assert.equal(as('net', 'ann@example.org'), 'ann at example dot org');
});

test('what is not of the stated kind is read as if nothing were stated', () => {
  assert.equal(as('cardinal', 'many'), 'many');
  assert.equal(as('date', '99/99/99', { format: 'dmy' }), spoken('99/99/99'));
  assert.equal(as('telephone', 'call me'), 'call me');
});

test('an alias is said as it stands: its figures are not read out again', () => {
  assert.equal(
    spoken('The <sub alias="World Wide Web 2">W3C</sub> has 3 rules.'),
    'The World Wide Web 2 has three rules.',
  );
});

test('the text around a part is read out as ever', () => {
  assert.equal(
    spoken('On 3 May, <say-as interpret-as="characters">UN</say-as> paid $5.'),
    'On the third of May, U N paid five dollars.',
  );
});

test('figures that markup has cut off their sentence are read as in it', () => {
  assert.equal(spoken('Your code is <break time="1s"/>4711.'), 'Your code is four seven one one.');
  assert.equal(spoken('It costs <prosody rate="slow">$5</prosody> a day.'), 'It costs five dollars a day.');
  assert.equal(
    spoken('<s>Your code is</s><s>4711 things.</s>'),
    'Your code is four thousand seven hundred eleven things.',
  );
  assert.equal(
    spoken('Your code is <lang xml:lang="de">4711.</lang>'),
    'Your code is four thousand seven hundred eleven.',
  );
});

test('what stands around a text is not spoken with it, and moves no place', () => {
  const context = { before: 'Dr. No, your code is', after: 'and $3.' };
  const { text, replacements, sourceSpan } = spokenForm('4711 (or $5)', { language: 'en', context });
  assert.equal(text, 'four seven one one (or five dollars)');
  assert.deepEqual(
    replacements.map(({ written, start, spokenStart }) => [written, start, spokenStart]),
    [
      ['4711', 0, 0],
      ['$5', 9, 23],
    ],
  );
  const at = text.indexOf('five');
  assert.deepEqual(sourceSpan(at, at + 12), { start: 9, end: 11 });
});

test('in a language without rules parts are still said as markup states', () => {
  assert.equal(
    spokenForm('a W3C b', {
      language: 'eo',
      parts: [{ start: 2, end: 5, reading: { kind: 'sub', words: 'web' } }],
    }).text,
    'a web b',
  );
  assert.equal(as('characters', 'ab', { language: 'eo' }), 'A B');
  assert.equal(as('digits', '12', { language: 'eo' }), '1 2');
});

test('where the rules of the language are not wanted, markup and lexicon still count', () => {
  const parts = [{ start: 0, end: 3, reading: { kind: 'sub', words: 'web' } } as const];
  const lexicons = [new Lexicon([{ word: 'SQL', say: 'sequel' }])];
  assert.equal(
    spokenForm('W3C has 3 SQL', { language: 'en', normalize: false, parts, lexicons }).text,
    'web has 3 sequel',
  );
});

test('a lexicon is asked before the rules of the language, and outside of what markup has stated', () => {
  const lexicon = new Lexicon([
    { word: 'SQL', say: 'sequel' },
    { word: '$5', say: 'a fiver' },
  ]);
  assert.equal(
    spoken('SQL costs $5, <sub alias="S Q L">SQL</sub> $6.', 'en', lexicon),
    'sequel costs a fiver, S Q L six dollars.',
  );
});

test('of two lexicons the first is asked first', () => {
  const [first, second] = [
    new Lexicon([{ word: 'New York', say: 'the city' }]),
    new Lexicon([
      { word: 'York', say: 'Yorick' },
      { word: 'I', say: 'eye' },
    ]),
  ];
  assert.equal(
    spokenForm('I like New York', { language: 'en', lexicons: [first, second] }).text,
    'eye like the city',
  );
});

test('each word that was said otherwise is told with its rule and its place', () => {
  const { replacements, sourceSpan, text } = spokenForm('W3C and SQL cost $5.', {
    language: 'en',
    parts: [{ start: 0, end: 3, reading: { kind: 'sub', words: 'the web' } }],
    lexicons: [new Lexicon([{ word: 'SQL', say: 'sequel' }])],
  });
  assert.equal(text, 'the web and sequel cost five dollars.');
  assert.deepEqual(
    replacements.map(({ rule, written, spoken: said }) => [rule, written, said]),
    [
      ['sub', 'W3C', 'the web'],
      ['lexicon', 'SQL', 'sequel'],
      ['currency', '$5', 'five dollars'],
    ],
  );
  const at = text.indexOf('sequel');
  assert.deepEqual(sourceSpan(at, at + 6), { start: 8, end: 11 });
});

const WORDS = new Lexicon([
  { word: 'SQL', say: 'sequel' },
  { word: 'acme', say: 'ackmee' },
  { word: 'USD', say: 'you ess dee' },
  { word: 'GB', say: 'gigs' },
  { word: 'GPT', say: 'gee pee tee' },
  { word: 'Dr', say: 'Doktor' },
  { word: 'Jan', say: 'Yan' },
  { word: '5 Alive', say: 'five alive' },
]);

for (const [written, words] of [
  ['See [SQL](http://x.y/SQL) and SQL.', 'See sequel and sequel.'],
  ['Go to https://www.acme.com/acme, acme.', 'Go to W W W dot acme dot com slash acme, ackmee.'],
  ['Mail support@acme.com or acme.com.', 'Mail support at acme dot com or acme dot com.'],
  ['The name acme_2 and _acme_.', 'The name acme underscore two and ackmee.'],
  ['It is $5 USD, USD 5, 5 USD: USD!', 'It is five dollars, five dollars, five dollars: you ess dee!'],
  ['A 5 GB file, 16GB, and a GB.', 'A five gigabyte file, sixteen gigabytes, and a gigs.'],
  ['GPT and GPT-4.', 'gee pee tee and gee pee tee four.'],
  ['Dr. Lee met Jan on Jan. 5.', 'Doktor Lee met Yan on January fifth.'],
  ['On January 5 Alive.', 'On January five alive.'],
] as const) {
  test(`a word of a lexicon is one where it stands for itself: ${written}`, () => {
    assert.equal(spokenForm(written, { language: 'en', lexicons: [WORDS] }).text, words);
  });
}

test('where nothing else is read out, addresses are left alone all the same', () => {
  const options = { language: 'en', normalize: false, lexicons: [WORDS] };
  assert.equal(
    spokenForm('acme: https://acme.com, a@acme.com, [SQL](x.y/SQL)', options).text,
    'ackmee: https://acme.com, a@acme.com, [sequel](x.y/SQL)',
  );
});

test('what markup has claimed does not keep its neighbours from being read', () => {
  assert.equal(spoken('It is 5 <sub alias="gigs">GB</sub>.'), 'It is five gigs.');
});

test('the rest of a sentence has the words that the whole sentence has behind its first clause', () => {
  for (const [language, clause, rest, words] of [
    ['ru', 'Последние 4 цифры карты — ', '5521.', 'пять пять два один.'],
    ['ja', 'カードの有効期限ですが、', '08/29です。', '二千二十九年八月です。'],
    ['en', 'The card that you gave us expires soon, ', 'on 08/29.', 'on oh eight twenty-nine.'],
    ['de', 'Wenn Sie heute ändern möchten, ', '## Titel.', '## Titel.'],
    ['ja', 'メニューに戻る場合は*を、', '終了は9を押してください。', '終了は九を押してください。'],
    ['en', 'We can do it for you — ', 'it costs $5, or 6.', 'it costs five dollars, or six.'],
  ] as const) {
    const { text, replacements, sourceSpan } = continuedForm(clause, rest, { language });
    assert.equal(text, words);
    for (const { start, end, written, spoken, spokenStart, spokenEnd } of replacements) {
      assert.equal(rest.slice(start, end), written);
      assert.equal(text.slice(spokenStart, spokenEnd), spoken);
      assert.equal(sourceSpan(spokenStart, spokenEnd).start, start);
    }
  }
});

test('the words of a lexicon are said in the rest of a sentence, and what is not to be read out is not', () => {
  const options = { language: 'en', lexicons: [WORDS] };
  assert.equal(continuedForm('If you ask me, ', 'SQL is 5.', options).text, 'sequel is five.');
  assert.equal(continuedForm('If 5, ', 'then 6.', { language: 'en', normalize: false }).text, 'then 6.');
});
