// Texts of servers that their sound does not explain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardText, hasLoop } from '../../src/engines/openai/text-guard.js';

const HOT_WORDS = 'Parley, Kestrel, Łazydóg, opus, telephone, trunk, codec, jitter, Reynard, turn';

function guarded(text: string, seconds: number, more: { prompt?: string; last?: string } = {}): string {
  const { text: kept, cut } = guardText(text, { seconds, prompt: '', last: '', ...more });
  return cut === undefined ? kept : `${cut}: ${kept}`;
}

for (const [text, seconds, kept] of [
  [HOT_WORDS, 1, 'context_echo: '],
  [HOT_WORDS, 3, HOT_WORDS],
  ['KESTREL parley Opus łazydóg trunk telephone jitter codec', 0.9, 'context_echo: '],
  ['opus trunk', 0.2, 'context_echo: '],
  ['opus trunk', 0.4, 'opus trunk'],
  ['Yes please. Parley, Kestrel, Łazydóg, opus, telephone', 0.5, 'context_echo: Yes please.'],
  ['Yes I want the trunk', 0.5, 'Yes I want the trunk'],
  ['', 0, ''],
  ['…', 1, '…'],
] as const) {
  test(`"${text}" in ${seconds} s of speech is ${kept === text ? 'no echo' : 'an echo'} of the prompt`, () => {
    assert.equal(guarded(text, seconds, { prompt: HOT_WORDS }), kept);
  });
}

test('an echo of a prompt without spaces is cut', () => {
  const prompt = '今日は天気がとても良いので公園で昼ご飯を食べましょう';
  assert.equal(guarded(prompt, 0.6, { prompt }), 'context_echo: ');
  assert.equal(guarded(prompt, 5, { prompt }), prompt);
});

test('a copy of the last text is cut where the sound is too short for it', () => {
  const last = 'I would like to book a table for two.';
  assert.equal(guarded(last, 0.6, { last }), 'copy: ');
  assert.equal(guarded(`No. ${last}`, 0.6, { last }), 'copy: No.');
  assert.equal(guarded(last, 3, { last }), last);
  assert.equal(guarded('for two', 0.1, { last }), 'for two');
});

for (const [text, seconds, kept] of [
  ['Thank you. '.repeat(20).trim(), 60, 'repetition: Thank you.'],
  [
    `Hello there. ${'Bye now. '.repeat(16)}That is all.`,
    60,
    'repetition: Hello there. Bye now. That is all.',
  ],
  ['no '.repeat(32).trim(), 60, 'repetition: no'],
  ['no '.repeat(10).trim(), 5, 'no '.repeat(10).trim()],
  ['Thank you. '.repeat(6).trim(), 1, 'repetition: Thank you.'],
  ['zero '.repeat(12).trim(), 4, 'zero '.repeat(12).trim()],
  ['谢谢'.repeat(20), 60, 'repetition: 谢'],
  [`A${'ha'.repeat(40)}.`, 60, 'repetition: Ah.'],
  ['one two three four five. '.repeat(17).trim(), 60, 'repetition: one two three four five.'],
] as const) {
  test(`"${text.slice(0, 30)}…" in ${seconds} s of speech is ${kept === text ? 'no loop' : 'a loop'}`, () => {
    assert.equal(guarded(text, seconds), kept);
    if (seconds === 60) assert.equal(hasLoop(text), true);
  });
}
