// Text that nobody should send: what becomes of it is defined, it throws nothing, and takes linear time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languagesWithCases } from './normalize/case-files.js';
import { languageOf } from '../../src/text/normalize/languages.js';
import { normalize } from '../../src/text/normalize/normalize.js';
import { SentenceStream, type Sentence, type SentenceStreamOptions } from '../../src/text/sentences.js';

const LANGUAGES = languagesWithCases().flatMap((tag) => languageOf(tag) ?? []);
const MAX_LENGTH = 300;

function sentences(text: string, options: SentenceStreamOptions = {}): Sentence[] {
  const stream = new SentenceStream({ maxLength: MAX_LENGTH, ...options });
  return [...stream.push(text), ...stream.end()];
}

/** The sentences as they are, and as an English voice says them. */
function heard(text: string): { written: string[]; spoken: string[] } {
  const english = languageOf('en');
  assert.ok(english !== undefined);
  const written = sentences(text).map((sentence) => sentence.text);
  return { written, spoken: written.map((sentence) => normalize(sentence, english).text) };
}

function expectHeard(text: string, expected: string): void {
  assert.deepEqual(heard(text), { written: [expected], spoken: [expected] }, JSON.stringify(text));
}

test('halves of surrogate pairs are dropped, whole pairs stay', () => {
  expectHeard('Good\uD83D morning\uDC00, Bob\uD800.', 'Good morning, Bob.');
  expectHeard('\uDC00\uD83D\uD83DGood day.', 'Good day.');
  expectHeard('The letter 𝒜 is odd.', 'The letter 𝒜 is odd.');
});

test('control characters part words as a space does', () => {
  expectHeard('Good\u0000morning,\u0007 Bob\u001B.', 'Good morning, Bob .');
  expectHeard('\u0001\u0002Good\u007Fday\u0090.', 'Good day .');
  expectHeard('Good\u0085day\u2028to you', 'Good day to you');
});

test('zero-width, direction and other invisible marks are dropped, and words stay whole', () => {
  expectHeard('Go\u200Bod\u2060 mor\u00ADning\uFEFF.', 'Good morning.');
  expectHeard('\u202EGood\u202C \u2066morning\u2069\u200E\u200F\u061C.', 'Good morning.');
  expectHeard('Go\u200Dod\u200C day\u{E0041}\u{E0042}\u{E007F}.', 'Good day.');
  expectHeard('Good\uE000 day\u{F0000}\uFFFF\uFDD0.', 'Good day.');
});

test('a number is a number whatever is hidden in it', () => {
  const { spoken } = heard('It costs $\u200B3\u2060.\u200B50\u202C today.');
  assert.deepEqual(spoken, ['It costs three dollars and fifty cents today.']);
});

test('what holds nothing to say is no sentence', () => {
  for (const text of [
    '\u0000',
    '\uD83D',
    '\u200B\u200B',
    '\u202E \u202C',
    '\uFFFF',
    '\uE000',
    '\u{E0041}',
    '…',
    '👍🏽',
  ])
    assert.deepEqual(sentences(text), [], JSON.stringify(text));
});

// Each a text without a space that looks worse than it is to some expression.
// prettier-ignore
const ENDLESS: Readonly<Record<string, string>> = {
  letters: 'a', digits: '1', capitals: 'A', dots: 'a.', commas: '1,', Han: '字', kana: 'カ', Hangul: '한', emoji: '😀', 'joined emoji': '😀\u200D',
  'halves of pairs': '\uD83D', 'zero-width spaces': '\u200B', marks: '\u0301', 'letters with marks': 'e\u0301', brackets: '(', links: '[a](', quotes: '"',
  markup: '<b', slashes: 'a/', addresses: 'a@', 'clause marks': 'a,', 'dense clause marks': '字、', stops: '!', 'dense stops': '字。', controls: '\u0000', newlines: '\n', tags: '\u{E0041}',
};
const MEGABYTE = 1 << 20;
const LONG = 24_000; // units: enough to tell linear from quadratic
const TIMES_LONGER = 8;

function endless(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** CPU time in milliseconds; unlike wall time it excludes other processes. */
function timeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Eight times the text takes far less than sixty-four times as long; short times are noise. */
function expectLinear(work: (length: number) => void): void {
  const best = (length: number): number =>
    Math.min(...Array.from({ length: 3 }, () => timeOf(() => work(length))));
  const took = timeOf(() => work(LONG));
  assert.ok(took < 400 || best(LONG) < best(LONG / TIMES_LONGER) * 3 * TIMES_LONGER, `${took} ms`);
}

function expectPieces(text: string, options: SentenceStreamOptions = {}): void {
  for (const piece of sentences(text, options)) {
    assert.ok(piece.text.length <= MAX_LENGTH && !/\p{Cs}/u.test(piece.text));
  }
}

for (const [name, unit] of Object.entries(ENDLESS)) {
  test(`${name} without a space are cut into pieces that can be spoken, and normalised, in linear time`, () => {
    expectLinear((length) => expectPieces(endless(unit, length)));
    expectLinear((length) => expectPieces(endless(unit, length), { unit: 'clause' }));
    const language = LANGUAGES[name.length % LANGUAGES.length];
    assert.ok(language !== undefined);
    expectLinear((length) => void normalize(endless(unit, length), language));
  });
}

test('a megabyte without a space is cut, and normalised, in seconds', () => {
  const english = languageOf('en');
  assert.ok(english !== undefined);
  const text = endless('a', MEGABYTE);
  const took = timeOf(() => {
    for (const sentence of sentences(text)) normalize(sentence.text, english);
  });
  assert.ok(took < 20_000, `${took} ms`);
});
