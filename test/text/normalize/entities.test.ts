// Entities of HTML in plain text: each is decoded once, and places are those of the written text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexicon } from '../../../src/text/lexicon.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { spokenForm } from '../../../src/text/spoken-form.js';

const english = languageOf('en') ?? assert.fail();

test('replacements and spans have the places of the written text', () => {
  const written = 'Pay &euro;5 at caf&eacute; X &lt; Y.';
  const { text, replacements, sourceSpan } = normalize(written, english);
  for (const one of replacements) {
    assert.equal(one.written, written.slice(one.start, one.end));
    assert.equal(one.spoken, text.slice(one.spokenStart, one.spokenEnd));
  }
  assert.deepEqual(
    replacements.slice(0, 2).map((one) => [one.written, one.spoken]),
    [
      ['&euro;5', 'five euros'],
      ['&eacute;', 'é'],
    ],
  );
  const at = text.indexOf('café');
  const span = sourceSpan(at, at + 4);
  assert.equal(written.slice(span.start, span.end), 'caf&eacute;');
  const last = sourceSpan(text.length - 2, text.length);
  assert.equal(written.slice(last.start, last.end), 'Y.');
});

for (const [written, spoken] of [
  ['It&#146;s &quot;fine&quot;.', 'It’s "fine".'],
  ['a&#9;b', 'a b'],
  ['&lt;b&gt;bold&lt;/b&gt;', 'bold'],
  ['AT&amp;T', 'A T and T'],
  ['&LT; is one, &lT; is none', 'is one, and lT; is none'],
  ['&dollar;5 and 50&percnt;', 'five dollars and fifty percent'],
  ['&EURO;5', 'five euros'],
  ['a&ensp;b&NewLine;c', 'a b c'],
  ['x &bogus; y', 'x and bogus; y'],
] as const) {
  test(`${JSON.stringify(written)} is read as ${JSON.stringify(spoken)}`, () => {
    assert.equal(normalize(written, english).text, spoken);
  });
}

for (const written of ['&#0;', '&#xD800;', '&#x110000;', '&#1114112;', '&#60', '&lt', '&amp;lt;', '&;']) {
  test(`${written} has no character that is spoken in its place`, () => {
    assert.doesNotMatch(normalize(`5 ${written} 6`, english).text, /less|[<\uFFFD]/);
  });
}

test('a text that comes from SSML is decoded already', () => {
  assert.doesNotMatch(spokenForm('5 &lt; 6', { language: 'en', isMarked: true }).text, /less/);
  assert.match(spokenForm('5 &lt; 6', { language: 'en' }).text, /is less than/);
});

test('a word of a lexicon is none within an entity, and is one behind it', () => {
  const lexicon = new Lexicon([
    { word: 'lt', say: 'lieutenant' },
    { word: 'Y', say: 'ypsilon' },
  ]);
  const { text } = spokenForm('X &lt; Y', { language: 'en', lexicons: [lexicon] });
  assert.equal(text, 'X is less than ypsilon');
});
