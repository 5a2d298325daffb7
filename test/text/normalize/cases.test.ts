import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Language } from '../../../src/text/normalize/language.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { SentenceStream } from '../../../src/text/sentences.js';
import { behavioursOf, languagesWithCases, type Case } from './case-files.js';

const FEWEST = 150; // cases of a language

/** As a call speaks it: each sentence as soon as its end is certain. */
function spokenByCharacter(text: string, language: Language): string {
  const stream = new SentenceStream();
  const sentences = [...Array.from(text, (character) => stream.push(character)).flat(), ...stream.end()];
  return sentences.reduce((all, { text: sentence, start }, index) => {
    const tight = start === sentences[index - 1]?.end; // 你好。世界。: no space was written
    return all + (index === 0 || tight ? '' : ' ') + normalize(sentence, language).text;
  }, '');
}

/** Every case that is not spoken as expected, as one readable list. */
function differences(cases: readonly Case[], speak: (written: string) => string): string[] {
  return cases.flatMap(({ line, written, spoken }) => {
    const heard = speak(written);
    return heard === spoken ? [] : [`line ${line}: ${written}\n   heard: ${heard}\nexpected: ${spoken}`];
  });
}

function report(found: readonly string[]): void {
  assert.ok(found.length === 0, `${found.length} differ\n\n${found.join('\n\n')}\n`);
}

for (const tag of languagesWithCases()) {
  const language = languageOf(tag);
  const behaviours = behavioursOf(tag);

  test(`${tag} has a language of its own, and at least ${FEWEST} cases`, () => {
    assert.ok(language !== undefined);
    const count = behaviours.reduce((sum, { cases }) => sum + cases.length, 0);
    assert.ok(count >= FEWEST, `${count} cases`);
  });

  if (language === undefined) continue;
  for (const { title, cases } of behaviours) {
    test(`${tag}: ${title}`, () => {
      report(differences(cases, (written) => normalize(written, language).text));
    });
  }

  test(`${tag}: every case is spoken the same when it arrives character by character`, () => {
    const all = behaviours.flatMap(({ cases }) => cases);
    report(differences(all, (written) => spokenByCharacter(written, language)));
  });
}
