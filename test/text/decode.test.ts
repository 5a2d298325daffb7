// A text is decoded before anything judges it: entities count as characters, invisible marks as nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecodedStream } from '../../src/text/decode.js';
import { identifyLanguage } from '../../src/text/language.js';
import { Lexicon } from '../../src/text/lexicon.js';
import { SentenceStream } from '../../src/text/sentences.js';
import { spokenForm } from '../../src/text/spoken-form.js';
import { behavioursOf, languagesWithCases } from './normalize/case-files.js';

function sentencesOf(tokens: Iterable<string>, language?: string) {
  const stream = new SentenceStream({ language });
  return [...Array.from(tokens, (token) => stream.push(token)).flat(), ...stream.end()];
}

function decoded(tokens: readonly string[]): { text: string; written: string } {
  const stream = new DecodedStream();
  const text = tokens.map((token) => stream.push(token)).join('') + stream.end();
  return { text, written: stream.take(Math.max(1, text.length)) };
}

const ENTITIES = 'A&amp;B &lt;&#x35;&nbsp;&amp;lt; R&D &unknown; \u200B5\u00AD6 &euro;7 &am';

test('a text in tokens is decoded as the whole text is', () => {
  const whole = 'A&B <5\u00A0&lt; R&D &unknown; 56 €7 &am';
  assert.equal(decoded([ENTITIES]).text, whole);
  for (let at = 0; at <= ENTITIES.length; at++) {
    const parts = decoded([ENTITIES.slice(0, at), ENTITIES.slice(at)]);
    assert.deepEqual(parts, { text: whole, written: ENTITIES });
  }
  assert.equal(decoded(Array.from(ENTITIES)).text, whole);
});

test('what was written is taken with the text that was made of it', () => {
  const stream = new DecodedStream();
  stream.push('a &lt; b\u200Bc &amp;');
  assert.deepEqual(
    [1, 2, 2, 1, 2, 1].map((units) => stream.take(units)),
    ['a', ' &lt;', ' b', '\u200Bc', ' &amp;', ''],
  );
});

test('entities end sentences as their characters do, and sentences are returned as they were written', () => {
  const text = 'He left.&nbsp;She stayed&excl; &quot;Go&quest;&quot; &mdash; said Dr&period; Lee.';
  const found = sentencesOf([text]);
  assert.deepEqual(
    found.map((sentence) => sentence.text),
    ['He left.', 'She stayed&excl;', '&quot;Go&quest;&quot; &mdash; said Dr&period; Lee.'],
  );
  for (const { text: written, start, end } of found) assert.equal(text.slice(start, end), written);
  assert.deepEqual(sentencesOf(Array.from(text)), found);
  assert.deepEqual(sentencesOf(['&nbsp;&#8203;&nbsp;']), []);
});

const UNPROTECTED = /[!"'(),:;?]/g; // marks that no Markdown, address or number needs

for (const tag of languagesWithCases()) {
  test(`${tag}: a case with entities and invisible marks has the sentences and the words of the plain case`, () => {
    const cases = behavioursOf(tag).flatMap((behaviour) => behaviour.cases.map(({ written }) => written));
    for (const plain of cases.filter((written) => !/[&\u00AD\u200B-\u200F\u2060-\u206F]/.test(written))) {
      const words = (text: string) =>
        sentencesOf([text], tag).map((one) => spokenForm(one.text, { language: tag }).text);
      const encoded = plain.replace(UNPROTECTED, (mark) => `&#${mark.charCodeAt(0)};`);
      assert.deepEqual(words(encoded), words(plain), encoded);
      const marked = plain.replace(/(?<=[a-z\d])(?=[.,:!?\s])/gi, '\u200B');
      assert.deepEqual(words(marked), words(plain), plain);
    }
  });
}

test('the language is that of the decoded text', () => {
  for (const text of [
    '&Eacute;tait-ce une bonne id&eacute;e de votre part &quest;',
    'Ｉｃｈ ｗｅｉß ｅｓ ｎｉｃｈｔ．',
  ]) {
    assert.equal(identifyLanguage(text).confident, true, text);
  }
  assert.equal(identifyLanguage('Ｉｃｈ ｗｅｉß ｅｓ ｎｉｃｈｔ．').language, 'de');
});

test('a word of a lexicon is found in entities and full width, at the place of what was written', () => {
  const lexicon = new Lexicon([
    { word: 'AT&T', say: 'a tee and tee' },
    { word: 'ＡＰＩ', say: 'ay pee eye' },
  ]);
  const form = spokenForm('The AT&amp;T API and ＡＰＩ.', { language: 'en', lexicons: [lexicon] });
  assert.equal(form.text, 'The a tee and tee ay pee eye and ay pee eye.');
  assert.deepEqual(
    form.replacements.map(({ written, rule }) => [rule, written]),
    [
      ['lexicon', 'AT&amp;T'],
      ['lexicon', 'API'],
      ['lexicon', 'ＡＰＩ'],
    ],
  );
});

test('invisible marks are taken in linear time', () => {
  const timeOf = (marks: number): number => {
    const stream = new DecodedStream();
    stream.push('a\u200B'.repeat(marks));
    const from = process.cpuUsage();
    stream.take(marks);
    return process.cpuUsage(from).user;
  };
  timeOf(1000); // compiles
  const [short, long] = [timeOf(10_000), timeOf(100_000)];
  assert.ok(long < 40 * short + 50_000, `${short} µs, then ${long} µs for ten times as much`);
});
