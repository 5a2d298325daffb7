import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { Lexicon, type LexiconEntry, type LexiconSource, readLexicon } from '../../src/text/lexicon.js';

/** The text with the words that its entries give. */
function said(text: string, entries: readonly LexiconEntry[], language = 'en'): string {
  let result = '';
  let at = 0;
  for (const { start, end, spoken } of new Lexicon(entries).claims(text, language)) {
    result += `${text.slice(at, start)}[${spoken}]`;
    at = end;
  }
  return result + text.slice(at);
}

test('a word is found wherever it stands whole, and nowhere within another', () => {
  const entries = [{ word: 'cat', say: 'kat' }];
  assert.equal(
    said('cat, (cat) cat! concat cats cat5 cat', entries),
    '[kat], ([kat]) [kat]! concat cats cat5 [kat]',
  );
});

test('an entry may be exact or ignore case, and exact is the rule', () => {
  assert.equal(said('US us Us', [{ word: 'US', say: 'U S' }]), '[U S] us Us');
  assert.equal(
    said('NATO Nato nato', [{ word: 'Nato', say: 'naytoe', case: 'ignore' }]),
    '[naytoe] [naytoe] [naytoe]',
  );
});

test('of an exact entry and one that ignores case the exact one counts', () => {
  const entries: LexiconEntry[] = [
    { word: 'it', say: 'i t', case: 'ignore' },
    { word: 'IT', say: 'I T' },
  ];
  assert.equal(said('IT it It', entries), '[I T] [i t] [i t]');
});

test('the longest entry counts, across any white space', () => {
  const entries = [
    { word: 'New', say: 'noo' },
    { word: 'New York', say: 'the city' },
    { word: 'New York Times', say: 'the paper' },
  ];
  assert.equal(
    said('New  York\nTimes, New York, New day, New York Tim', entries),
    '[the paper], [the city], [noo] day, [the city] Tim',
  );
});

test('an entry with signs is found as it is written', () => {
  const entries = [
    { word: 'C++', say: 'see plus plus' },
    { word: '.NET', say: 'dot net' },
    { word: '@parley', say: 'at parley' },
    { word: '😀', say: 'grin' },
  ];
  assert.equal(
    said('C++ and .NET (@parley) 😀', entries),
    '[see plus plus] and [dot net] ([at parley]) [grin]',
  );
});

test('what stands before or behind an apostrophe is a word of its own, but for a contraction with not', () => {
  assert.equal(
    said("Anna's l'URSS don't don", [
      { word: 'Anna', say: 'Ahna' },
      { word: 'URSS', say: 'u r s s' },
      { word: 'don', say: 'dawn' },
    ]),
    "[Ahna]'s l'[u r s s] don't [dawn]",
  );
});

test('words of scripts without spaces are found within their text', () => {
  assert.equal(said('東京都に行く', [{ word: '東京都', say: 'とうきょうと' }], 'ja'), '[とうきょうと]に行く');
});

test('letters count however they are composed', () => {
  assert.equal(said('cafe\u0301 café', [{ word: 'café', say: 'kaffay' }]), '[kaffay] [kaffay]');
});

test('an entry of a language counts in that language only, and before one of any', () => {
  const entries = [
    { word: 'Chat', say: 'sha', language: 'fr-CA' },
    { word: 'Chat', say: 'tschett' },
  ];
  assert.equal(said('Chat', entries, 'fr'), '[sha]');
  assert.equal(said('Chat', entries, 'de-AT'), '[tschett]');
  assert.equal(said('Chat', entries.slice(0, 1), 'de'), 'Chat');
});

test('many entries that begin alike cost a text no more than few', () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ word: `a b c ${index}`, say: 'x' }));
  const text = 'a b c d '.repeat(5000);
  const time = (count: number) => {
    const lexicon = new Lexicon(entries(count));
    const start = process.cpuUsage().user;
    assert.deepEqual(lexicon.claims(text, 'en'), []);
    return process.cpuUsage().user - start;
  };
  time(10);
  const [few, many] = [Math.min(time(10), time(10)), Math.min(time(20_000), time(20_000))];
  assert.ok(many < few * 5, `${few} µs with 10 entries, ${many} µs with 20,000`);
});

const FIELD: LexiconSource = { name: 'lexicon', mostEntries: 3, code: 'INVALID_FIELD' };

// prettier-ignore
const WRONG: readonly (readonly [value: unknown, refusal: RegExp])[] = [
  [{}, /^"lexicon" must be a list of entries/],
  [[1, 2, 3, 4], /^"lexicon" has 4 entries, 3 is the most$/],
  [['SQL'], /^"lexicon\[0\]" must be an object with "word" and "say"$/],
  [[{ word: 'a', say: 'b' }, { word: 'c' }], /^"lexicon\[1\]\.say" must be 1 to 300 characters/],
  [[{ say: 'b' }], /^"lexicon\[0\]\.word" must be 1 to 100 characters/],
  [[{ word: ' ', say: 'b' }], /^"lexicon\[0\]\.word" must be/],
  [[{ word: 'a\nb', say: 'b' }], /^"lexicon\[0\]\.word" must be .* on one line/],
  [[{ word: 'a\uD800', say: 'b' }], /^"lexicon\[0\]\.word" must be/],
  [[{ word: 'a'.repeat(101), say: 'b' }], /^"lexicon\[0\]\.word" must be 1 to 100/],
  [[{ word: 'a', say: 5 }], /^"lexicon\[0\]\.say" must be/],
  [[{ word: 'a', say: 'b', case: 'lower' }], /^"lexicon\[0\]\.case" must be "exact" or "ignore"$/],
  [[{ word: 'a', say: 'b', language: 'French' }], /^"lexicon\[0\]\.language" must be a language tag/],
  [[{ word: 'a', say: 'b', language: 'in french' }], /^"lexicon\[0\]\.language" must be a language tag/],
  [[{ word: 'a', say: 'b', as: 'c' }], /^"lexicon\[0\]\.as" is no field of an entry, which has word, say, case, language$/],
  [[{ word: 'a', phonemes: 'b' }], /^"lexicon\[0\]\.phonemes" is nothing that an engine here can speak/],
  [[{ word: 'a', say: 'b' }, { word: 'a', say: 'c' }], /^"lexicon\[1\]\.word" is that of lexicon\[0\], too/],
  [[{ word: 'New York', say: 'b', case: 'ignore' }, { word: 'new  york', say: 'c', case: 'ignore' }], /^"lexicon\[1\]\.word" is that of/],
];

for (const [value, expected] of WRONG) {
  test(`refused, naming entry and field: ${JSON.stringify(value).slice(0, 70)}`, () => {
    assert.throws(
      () => readLexicon(value, FIELD),
      (error: unknown) =>
        error instanceof ParleyError && error.code === 'INVALID_FIELD' && expected.test(error.message),
    );
  });
}

test('the same word may have an entry for each case rule and each language', () => {
  const lexicon = readLexicon(
    [
      { word: 'a', say: 'b' },
      { word: 'a', say: 'c', case: 'ignore' },
      { word: 'a', say: 'd', language: 'fr' },
    ],
    FIELD,
  );
  assert.equal(lexicon.size, 3);
});

test('an entry of a language may have its tag of three letters', () => {
  const entries = [{ word: 'Chat', say: 'sha', language: 'fra' }];
  assert.equal(
    said('Chat', entries, 'fr'),
    said('Chat', [{ word: 'Chat', say: 'sha', language: 'fr' }], 'fr'),
  );
  assert.equal(said('Chat', entries, 'en'), said('Chat', [], 'en'));
});
