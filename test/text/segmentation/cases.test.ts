// Reads every *.cases.txt of this folder: "# sentence about behaviour", then one text a line. " | " parts the
// sentences of a text, or "|" where no space parts them. In *.clauses.txt they are parted into clauses, too.
// In *.stated.txt the language of the text is known; the other files state none.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Language } from '../../../src/text/normalize/language.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { lastWord } from '../../../src/text/sentence-end.js';
import { SentenceStream, type SentenceStreamOptions } from '../../../src/text/sentences.js';
import { shortFormsOf } from '../../../src/text/short-forms.js';

const FOLDER = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  '..',
  '..',
  '..',
  'test',
  'text',
  'segmentation',
);

/** In a case \n stands for a line break, which parts sentences as a space does. */
function sentences(tokens: Iterable<string>, options: SentenceStreamOptions): string[] {
  const stream = new SentenceStream(options);
  return [...Array.from(tokens, (token) => stream.push(token)).flat(), ...stream.end()].map(
    ({ text }) => text,
  );
}

interface Case {
  readonly text: string;
  readonly expected: readonly string[];
}

/** The cases by the title above them. */
function casesOf(file: string): Map<string, Case[]> {
  const found = new Map<string, Case[]>();
  let cases: Case[] = [];
  for (const line of readFileSync(join(FOLDER, file), 'utf8').split('\n')) {
    if (line.startsWith('# ')) found.set(line.slice(2).trim(), (cases = []));
    else if (line.trim() !== '') cases.push(caseOf(line));
  }
  return found;
}

function caseOf(line: string): Case {
  const written = line.replaceAll('\\n', '\n');
  const parts = written.split(/ \| |(?<=\n)\| |(?<=\S)\|(?=\S)/);
  const text = written.replaceAll(' | ', ' ').replace(/(?<=\n)\| |(?<=\S)\|(?=\S)/g, '');
  return { text, expected: parts.map((part) => part.trim().replaceAll('\n', ' ')) };
}

function optionsOf(file: string): SentenceStreamOptions {
  const [language, kind] = file.split('.');
  if (kind === 'stated') return { language };
  return kind === 'clauses' ? { unit: 'clause' } : {};
}

const FEWEST = 60; // cases of a language

for (const file of readdirSync(FOLDER)
  .filter((name) => /\.(?:cases|clauses|stated)\.txt$/.test(name))
  .toSorted()) {
  const behaviours = casesOf(file);
  const options = optionsOf(file);
  for (const [title, cases] of behaviours) {
    test(`${file.replace(/\.(?:cases\.)?txt$/, '')}: ${title}`, () => {
      const differing = cases.flatMap(({ text, expected }) => {
        const heard = sentences([text], options).join(' | ');
        assert.equal(sentences(text, options).join(' | '), heard);
        return heard === expected.join(' | ') ? [] : [`${heard}\n  not ${expected.join(' | ')}`];
      });
      assert.ok(differing.length === 0, `${differing.length} differ\n${differing.join('\n')}`);
    });
  }

  if (!file.endsWith('.cases.txt')) continue;
  test(`${file} has at least ${FEWEST} cases`, () => {
    const count = [...behaviours.values()].reduce((sum, cases) => sum + cases.length, 0);
    assert.ok(count >= FEWEST, `${count} cases`);
  });
}

// The segmenter knows every short form of the normaliser, so that none ends a sentence before its
// continuation.

const LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh'];
const NAME = 'Novak'; // begins no sentence that any language knows of
const NUMBERS = ['12', 'IV', 'A-12'];

/** The forms of a language with a stop at the end; "ecc..." ends as any sentence does. */
function dottedForms({ writing }: Language): string[] {
  const keys = new Set([...Object.keys(writing.abbreviations), ...Object.keys(writing.beforeNumber)]);
  return [...keys].filter((key) => /\p{L}\p{M}*\.$|\p{L}\P{L}\.$/u.test(key) && !key.endsWith('..'));
}

/** True if it may stand before this; those that often end a sentence do so before a name. */
function mayStandBefore(form: string, next: string, tag: string): boolean {
  const forms = shortFormsOf(tag);
  const { oftenFinal, beforeNumber } = forms;
  const last = /[\p{L}\p{N}]+(?=\.$)/u.exec(form)?.[0]?.toLowerCase() ?? '';
  const whole = form.slice(0, -1).toLowerCase();
  if ([last, whole, lastWord(whole, forms)].some((word) => oftenFinal.has(word))) return false; // и т. д.
  return next !== NAME || (!beforeNumber.has(last) && !beforeNumber.has(whole));
}

/** The forms behind which a sentence is cut, although the normaliser reads them there. */
function wronglyCut(language: Language, next: string): string[] {
  const before = language.tag === 'ru' ? 'Он видел' : 'Nemo vidit';
  return dottedForms(language).filter((form) => {
    const text = `${before} ${form} ${next} x`;
    if (!mayStandBefore(form, next, language.tag)) return false;
    if (normalize(text, language).text.includes(` ${form} `)) return false; // nobody reads it there
    const stream = new SentenceStream({ language: language.tag });
    return [...stream.push(text), ...stream.end()].length > 1;
  });
}

for (const tag of LANGUAGES) {
  const language = languageOf(tag);
  assert.ok(language !== undefined);

  test(`${tag}: no sentence is cut behind a short form that is read before a name or a number`, () => {
    const cut = [NAME, ...NUMBERS].flatMap((next) =>
      wronglyCut(language, next).map((form) => `${form} ${next}`),
    );
    assert.deepEqual(cut, []);
  });
}

test('there are forms to look at in every language that writes them', () => {
  for (const tag of ['de', 'en', 'es', 'fr', 'it', 'pt', 'ru']) {
    const language = languageOf(tag);
    assert.ok(language !== undefined && dottedForms(language).length > 40, tag);
  }
});

test('a form that is a word of another language is known only where the language is stated', () => {
  const text = 'Il cap. 3 e all. Bianchi.';
  const sentences = (language?: string): string[] => {
    const stream = new SentenceStream({ language });
    return [...stream.push(text), ...stream.end()].map((sentence) => sentence.text);
  };
  assert.deepEqual(sentences('it'), [text]);
  assert.deepEqual(sentences(), ['Il cap. 3 e all.', 'Bianchi.']);
});
