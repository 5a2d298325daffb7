// The segmenter knows every short form of the normaliser, so that none ends a sentence before its
// continuation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../../src/text/normalize/languages.js';
import type { Language } from '../../../src/text/normalize/language.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { lastWord } from '../../../src/text/sentence-end.js';
import { SentenceStream } from '../../../src/text/sentences.js';
import { shortFormsOf } from '../../../src/text/short-forms.js';

const LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh'];
const NAME = 'Novak'; // begins no sentence that any language knows of
const NUMBERS = ['12', 'IV', 'A-12'];

/** The forms of a language with a stop at the end; "ecc..." ends as any sentence does. */
function dottedForms({ writing }: Language): string[] {
  const keys = new Set([...Object.keys(writing.abbreviations), ...Object.keys(writing.beforeNumber)]);
  return [...keys].filter((key) => /\p{L}\p{M}*\.$|\p{L}\P{L}\.$/u.test(key) && !key.endsWith('..'));
}

/** Whether it may stand before this; those that often end a sentence do so before a name. */
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
