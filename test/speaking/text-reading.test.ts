import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from '../fakes/properties.js';
import { canonicalTag, primaryTag } from '../../src/engines/language-names.js';
import type { SpeechRouting } from '../../src/engines/routing.js';
import type { PlannedLanguage } from '../../src/speaking/language-plan.js';
import { withLexicon } from '../../src/speaking/lexicon-file.js';
import { type ReadText, readText, requestLexicon } from '../../src/speaking/text-reading.js';
import { Lexicon } from '../../src/text/lexicon.js';
import type { TextRequest } from '../../src/speaking/speech-request.js';
import { wholeText } from '../../src/speaking/whole-text.js';
import { InstantEngine } from '../fakes/engines.js';

const LIMITS = { maxTextLength: 1000 };

type ReadSentence = Extract<ReadText['sentences'][number], { readonly kind: 'sentence' }>;

function sentencesOf(request: TextRequest, lexicon?: Lexicon): ReadSentence[] {
  return readText(request, { ...LIMITS, lexicon }).sentences.filter((one) => one.kind === 'sentence');
}

/** Checks that each reported place holds the reported text. */
function checkPlaces(text: string, sentences: readonly ReadSentence[]): void {
  for (const { rules } of sentences) {
    for (const { written, place } of rules) assert.equal(text.slice(place.start, place.end), written);
  }
}

test('an unclear beginning is read in the language in which it is spoken', () => {
  const sentences = sentencesOf({ text: 'OK. Das mache ich gern für Sie.' });
  assert.deepEqual(
    sentences.map(({ language }) => language),
    ['de', 'de'],
  );
});

test('each sentence is reported with its words, its language, and each rule that fired with its place', () => {
  const text = 'It costs $3.50.  Das kostet 5 € und ist nicht teuer.';
  const sentences = sentencesOf({ text });
  assert.deepEqual(
    sentences.map(({ spoken, language }) => [language, spoken]),
    [
      ['en', 'It costs three dollars and fifty cents.'],
      ['de', 'Das kostet fünf Euro und ist nicht teuer.'],
    ],
  );
  assert.deepEqual(sentences[0]?.rules, [
    {
      rule: 'currency',
      written: '$3.50',
      spoken: 'three dollars and fifty cents',
      place: { start: 9, end: 14 },
    },
  ]);
  assert.deepEqual(sentences[1]?.place, { start: 17, end: 52 });
  checkPlaces(text, sentences);
});

test('the text is the one that is spoken: in one line, without what is invisible, at the places of the request', () => {
  const text = 'It\u200B costs \u00AD$3\uFEFF4 now.\n  Thanks\t for\u200B  3\u00ADkm.';
  const sentences = sentencesOf({ text, language: 'en' });
  assert.deepEqual(
    sentences.map(({ written, spoken, place, rules }) => [
      written,
      spoken,
      place,
      rules.map((one) => one.place),
    ]),
    [
      [
        'It costs $34 now.',
        'It costs thirty-four dollars now.',
        { start: 0, end: 20 },
        [{ start: 11, end: 15 }],
      ],
      ['Thanks for 3km.', 'Thanks for three kilometers.', { start: 23, end: 42 }, [{ start: 37, end: 41 }]],
    ],
  );
  checkPlaces(text, sentences);
});

const spokenIn =
  (usual: (voice?: string) => string) =>
  (planned: PlannedLanguage | undefined, voice: string | undefined): string =>
    planned === undefined ? usual(voice) : canonicalTag(planned.tag);

test('a text whose language is not known is read in that of the voice that will speak it', () => {
  const read = (text: string, usual: (voice?: string) => string = () => 'en') =>
    readText({ text }, { ...LIMITS, spokenLanguage: spokenIn(usual) }).sentences.map((one) =>
      one.kind === 'sentence' ? [one.language, one.spoken] : [],
    );
  assert.deepEqual(read('5 km.'), [['en', 'five kilometers.']]);
  assert.deepEqual(
    read('5 km.', () => 'de'),
    [['de', 'fünf Kilometer.']],
  );
  const voiceOf = (voice?: string) => (voice === 'eve' ? 'fr' : 'de');
  const text = '<speak>5 km. <voice name="eve">7 km.</voice> <p xml:lang="spa">9 km.</p></speak>';
  assert.deepEqual(read(text, voiceOf), [
    ['de', 'fünf Kilometer.'],
    ['fr', 'sept kilomètres.'],
    ['es', 'nueve kilómetros.'],
  ]);
});

test('what is shown are the words that the engine gets', () => {
  const usualLanguage = () => 'ru';
  const routing: SpeechRouting = {
    voices: () => Promise.resolve([]),
    resolve: ({ language = usualLanguage() }) => ({
      engine: new InstantEngine(),
      voice: 'a',
      language: primaryTag(language),
    }),
  };
  const marks = [
    '',
    '\u200B',
    '\uFEFF',
    '\u00AD',
    '\u2060',
    '\u200D',
    '\u0000',
    '\n',
    '\t',
    '\u2028',
    '\u202E',
    '\u{E0041}',
    '\uD800',
  ];
  const parts = [
    '5',
    ' ',
    '3',
    '.',
    ' km',
    '$',
    '-',
    '- ',
    '| ',
    '/',
    ':',
    'Info',
    'p.m',
    'Das kostet',
    'It costs',
    '16',
    '日',
    ', ',
    '**',
    '#',
    'é',
  ];
  const anyText = fc
    .array(fc.constantFrom(...parts, ...marks), { maxLength: 30 })
    .map((all) => `${all.join('')} x`);
  const anyLanguage = fc.constantFrom(undefined, 'de', 'pt-PT', 'por', 'zh_CN');
  fc.assert(
    fc.property(anyText, anyLanguage, (text, language) => {
      const settings = language === undefined ? {} : { language };
      const limits = { maxTextLength: 1000, textIdleMs: 1000 };
      const pieces = wholeText(text, settings, routing, limits);
      const words = pieces.map((piece) =>
        'text' in piece ? [piece.text, piece.spoken?.text ?? piece.text] : [],
      );
      const { sentences } = readText(
        { text, ...settings },
        { ...LIMITS, spokenLanguage: spokenIn(usualLanguage) },
      );
      const shown = sentences.map((one) => (one.kind === 'sentence' ? [one.written, one.spoken] : []));
      assert.deepEqual(
        shown.filter(([, spoken = '']) => /[\p{L}\p{N}]/u.test(spoken)),
        words,
      );
      for (const { rules } of sentences.filter((one) => one.kind === 'sentence')) {
        for (const { written, place } of rules) assert.equal(text.slice(place.start, place.end), written);
      }
    }),
    { numRuns: 1500, seed: 3 },
  );
});

test('a stated language is that of every sentence', () => {
  assert.deepEqual(
    sentencesOf({ text: '5 km. 7 km.', language: 'de' }).map(({ spoken }) => spoken),
    ['fünf Kilometer.', 'sieben Kilometer.'],
  );
});

test('of SSML places are those in the document, and what is between sentences is reported', () => {
  const text =
    '<speak>\n<s>It is <sub alias="five">5</sub> &amp; $6.</s><break time="1s"/><mark name="m"/><prosody rate="slow" pitch="high">So.</prosody></speak>';
  const { sentences, unheeded, endPauseMs } = readText({ text, language: 'en' }, LIMITS);
  const [first, second] = sentences;
  assert.ok(first?.kind === 'sentence' && second?.kind === 'sentence');
  assert.equal(first.spoken, 'It is five and six dollars.');
  assert.deepEqual(
    first.rules.map(({ rule, written }) => [rule, written]),
    [
      ['sub', '5'],
      ['symbol', '&amp;'],
      ['currency', '$6'],
    ],
  );
  checkPlaces(text, [first, second]);
  assert.equal(second.pauseBeforeMs, 1000);
  assert.deepEqual(second.marksBefore, ['m']);
  assert.equal(second.style?.rate, 0.75);
  assert.deepEqual(unheeded, [{ what: 'pitch of <prosody>', line: 2, column: 83 }]);
  assert.equal(endPauseMs, 0);
});

test('the lexicon of a request is asked before that of the server', () => {
  const lexicon = requestLexicon([{ word: 'SQL', say: 'sequel' }]);
  const server = new Lexicon([
    { word: 'SQL', say: 'no' },
    { word: 'API', say: 'ay pee eye' },
  ]);
  const [sentence] = sentencesOf({ text: 'An SQL API.', lexicon }, server);
  assert.equal(sentence?.spoken, 'An sequel ay pee eye.');
  assert.deepEqual(
    sentence.rules.map(({ rule }) => rule),
    ['lexicon', 'lexicon'],
  );
});

test('what cannot be spoken is refused as it is when it is spoken', () => {
  assert.throws(() => readText({ text: '…' }, LIMITS), { code: 'TEXT_EMPTY' });
  assert.throws(() => readText({ text: 'a'.repeat(1001) }, LIMITS), { code: 'TEXT_TOO_LONG' });
  assert.throws(() => readText({ text: '<speak>', format: 'ssml' }, LIMITS), { code: 'INVALID_FIELD' });
  assert.throws(() => requestLexicon([{ word: 'a' }]), { code: 'INVALID_FIELD', field: 'lexicon[0].say' });
});

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lexicon-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'words.json');
  writeFileSync(path, content);
  return path;
}

test('the file that the configuration names is read at the start', (t) => {
  const lexiconFile = fileOf(t, '[{"word": "SQL", "say": "sequel", "case": "ignore"}]');
  const { lexicon } = withLexicon({ lexiconFile });
  assert.deepEqual(lexicon?.claims('sql', 'en'), [{ start: 0, end: 3, spoken: 'sequel', rule: 'lexicon' }]);
  assert.equal(withLexicon({ lexiconFile: undefined }).lexicon, undefined);
});

test('a file that cannot be used is named with what is wrong in it', (t) => {
  const refused = (path: string, message: RegExp) =>
    assert.throws(() => withLexicon({ lexiconFile: path }), { code: 'CONFIG_INVALID', message });
  refused('/nowhere/words.json', /^LEXICON_FILE \/nowhere\/words\.json: cannot be read: ENOENT$/);
  refused(fileOf(t, '[{'), /^LEXICON_FILE .*words\.json: is not JSON: /);
  refused(
    fileOf(t, '[{"word": "a", "say": "b"}, {"word": "a"}]'),
    /words\.json: "lexicon\[1\]\.say" must be/,
  );
});
