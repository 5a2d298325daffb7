// How often the language of a sentence is found: prompts, answers of assistants, mixed text. The floors are what is promised.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identifyLanguage } from '../../src/text/language.js';

const FILE = join(import.meta.dirname, '..', '..', '..', 'test', 'text', 'language.samples.tsv');
const LANGUAGES = ['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh'];
const FEWEST = 20; // sentences of a language
const GUESSED = 0.98; // of all sentences
const GUESSED_EACH = 0.95; // of the sentences of one language
const SURE_EACH = 0.85; // likewise without doubt; English is never beyond it

const samples = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([language = '', text = '']) => ({ language, text, found: identifyLanguage(text) }));

function of(language: string): typeof samples {
  return samples.filter((sample) => sample.language === language);
}

function share(list: typeof samples, is: (sample: (typeof samples)[number]) => boolean): number {
  return list.filter(is).length / list.length;
}

function missed(list: typeof samples, is: (sample: (typeof samples)[number]) => boolean): string {
  return list
    .filter((sample) => !is(sample))
    .map(({ text, found }) => `${found.language} ${text}`)
    .join('\n');
}

test('the language of a sentence is guessed right at least 98 times of 100', () => {
  const right = ({ language, found }: (typeof samples)[number]): boolean => found.language === language;
  assert.deepEqual([...new Set(samples.map(({ language }) => language))].toSorted(), LANGUAGES);
  assert.ok(share(samples, right) >= GUESSED, missed(samples, right));
  for (const language of LANGUAGES) {
    assert.ok(of(language).length >= FEWEST, language);
    assert.ok(share(of(language), right) >= GUESSED_EACH, missed(of(language), right));
  }
});

test('most sentences are named without doubt, and none wrongly', () => {
  for (const { language, text, found } of samples) {
    assert.ok(!found.confident || found.language === language, `${text}: ${found.language}`);
  }
  for (const language of LANGUAGES.filter((tag) => tag !== 'en')) {
    const sure = ({ found }: (typeof samples)[number]): boolean => found.confident;
    assert.ok(share(of(language), sure) >= SURE_EACH, missed(of(language), sure));
  }
});
