// Reads every *.cases.txt of this folder: "# sentence about behaviour", then one text a line, its sentences parted by " | ".
// In *.clauses.txt they are parted into clauses, too.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SentenceStream, type SentenceStreamOptions } from '../../../src/text/sentences.js';

const FOLDER = join(
  dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', 'test', 'text', 'segmentation',
); // prettier-ignore

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
  const parts = line.replaceAll('\\n', '\n').split(/ \| |(?<=\n)\| /);
  const text = parts.reduce((all, part) => all + (all.endsWith('\n') ? '' : ' ') + part);
  return { text, expected: parts.map((part) => part.trim().replaceAll('\n', ' ')) };
}

const FEWEST = 60; // cases of a language

for (const file of readdirSync(FOLDER)
  .filter((name) => /\.(?:cases|clauses)\.txt$/.test(name))
  .toSorted()) {
  const behaviours = casesOf(file);
  const options = file.endsWith('.clauses.txt') ? { unit: 'clause' as const } : {};
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
