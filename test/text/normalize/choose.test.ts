import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choice, PRIORITIES, ranksOf } from '../../../src/text/normalize/choose.js';
import type { Language } from '../../../src/text/normalize/language.js';
import { languageOf } from '../../../src/text/normalize/languages.js';
import { normalize } from '../../../src/text/normalize/normalize.js';
import { type Found, Reading, type Rule } from '../../../src/text/normalize/reading.js';
import { behavioursOf, languagesWithCases } from './case-files.js';

function english(): Language {
  const language = languageOf('en');
  assert.ok(language !== undefined);
  return language;
}

function chosen(...candidates: readonly Found[]): string | undefined {
  const choice = new Choice(english().speech);
  return choice.of(
    candidates.map((candidate) => () => candidate),
    new Reading('any text'),
  )?.spoken;
}

function candidate(rule: Rule, end: number, isCertain?: true): Found {
  return { end, rule, spoken: `${rule} ${end}`, ...(isCertain && { isCertain }) };
}

test('the longest candidate is chosen, whatever its rule and wherever it is listed', () => {
  assert.equal(chosen(candidate('date', 2), candidate('fraction', 5)), 'fraction 5');
  assert.equal(chosen(candidate('fraction', 5), candidate('date', 2)), 'fraction 5');
});

test('of two as long the rule that stands higher in the table is chosen', () => {
  assert.equal(chosen(candidate('fraction', 5), candidate('date', 5)), 'date 5');
  assert.equal(chosen(candidate('date', 5), candidate('fraction', 5)), 'date 5');
});

test('a candidate that its neighbours prove is chosen before a longer one', () => {
  assert.equal(chosen(candidate('measure', 5), candidate('digits', 3, true)), 'digits 3');
  assert.equal(chosen(candidate('digits', 3, true), candidate('measure', 5)), 'digits 3');
});

test('of two candidates of one rule and length the one that was offered first is chosen', () => {
  const [first, second] = [candidate('date', 5), { ...candidate('date', 5), spoken: 'another' }];
  assert.equal(chosen(first, second), 'date 5');
  assert.equal(chosen(second, first), 'another');
});

test('every rule of the table stands there once, with a reason', () => {
  assert.equal(new Set(PRIORITIES.map(([rule]) => rule)).size, PRIORITIES.length);
  for (const [rule, reason] of PRIORITIES) assert.ok(reason.length > 10, rule);
});

const CASES = languagesWithCases().flatMap((tag) => {
  const language = languageOf(tag);
  assert.ok(language !== undefined);
  return behavioursOf(tag).flatMap(({ cases }) => cases.map((one) => ({ ...one, language })));
});

function changedBy(priorities: typeof PRIORITIES, cases = CASES): number {
  const ranks = ranksOf(priorities);
  return cases.filter(
    ({ written, spoken, language }) => normalize(written, language, { ranks }).text !== spoken,
  ).length;
}

/** Ranks that keep which rules were compared. */
class AskedRanks extends Map<Rule, number> {
  readonly asked = new Set<Rule>();

  override get(rule: Rule): number | undefined {
    this.asked.add(rule);
    return super.get(rule);
  }
}

/** The cases in which each rule was compared with another one. */
function casesOfRules(): Map<Rule, Set<(typeof CASES)[number]>> {
  const found = new Map<Rule, Set<(typeof CASES)[number]>>();
  for (const one of CASES) {
    const ranks = new AskedRanks(ranksOf(PRIORITIES));
    ranks.asked.clear();
    normalize(one.written, one.language, { ranks });
    for (const rule of ranks.asked) found.set(rule, (found.get(rule) ?? new Set()).add(one));
  }
  return found;
}

test('neighbours in the table are swapped in turn, and the pairs whose order matters are reported', (t) => {
  const casesOf = casesOfRules();
  const found = PRIORITIES.slice(1).flatMap((lower, index) => {
    const upper = PRIORITIES[index];
    if (upper === undefined) return [];
    const both = [...(casesOf.get(upper[0]) ?? [])].filter((one) => casesOf.get(lower[0])?.has(one));
    const changed = changedBy(PRIORITIES.toSpliced(index, 2, lower, upper), both);
    return changed === 0 ? [] : [`${upper[0]} before ${lower[0]}: ${changed}`];
  });
  t.diagnostic(`cases that a swap changes: ${found.join(', ')}`);
  for (const pair of ['roman before acronym', 'range before math', 'math before fraction']) {
    assert.ok(
      found.some((one) => one.startsWith(`${pair}:`)),
      `${pair} does not matter any more: drop it here and look at the table`,
    );
  }
  assert.ok(changedBy(PRIORITIES.toReversed()) > 200, 'the reversed table changes few cases');
  assert.equal(changedBy(PRIORITIES), 0);
});
