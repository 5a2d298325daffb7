import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classAt } from '../../../src/text/normalize/characters.js';
import { beginning, behind, Dispatch, only, provenRow } from '../../../src/text/normalize/dispatch.js';
import { Reading, type Recogniser } from '../../../src/text/normalize/reading.js';

function readingAt(text: string, at: number): Reading {
  const reading = new Reading(text);
  reading.at = at;
  reading.kind = classAt(text, at);
  return reading;
}

function named(name: string): Recogniser {
  return ({ at }) => ({ end: at + 1, spoken: name, rule: 'symbol' });
}

function wordsAt(dispatch: Dispatch, text: string, at = 0): readonly (string | undefined)[] {
  const reading = readingAt(text, at);
  return dispatch.at(reading).map((recognise) => {
    const found = recognise(reading);
    return found?.token === undefined ? found?.spoken : undefined;
  });
}

const colon = behind(/^:\d/, named('colon'), 2);
const anywhere = named('anywhere');
const star = beginning(/\*/, named('star'));

test('a recogniser is asked where the characters behind the digits match, in the order of the list', () => {
  const dispatch = new Dispatch([colon, [anywhere, behind(/^ /, named('space'))]]);
  assert.deepEqual(wordsAt(dispatch, '14:30'), ['colon', 'anywhere']);
  assert.deepEqual(wordsAt(dispatch, '14: '), ['anywhere']);
  assert.deepEqual(wordsAt(dispatch, '14 km'), ['anywhere', 'space']);
  assert.deepEqual(wordsAt(dispatch, '14'), ['anywhere']);
});

test('the number of digits and the beginning of the token count, too', () => {
  const dispatch = new Dispatch([colon, anywhere]);
  assert.deepEqual(wordsAt(dispatch, '145:30'), ['anywhere']);
  assert.deepEqual(wordsAt(dispatch, 'a14:30', 1), ['anywhere']);
});

test('a kept list of another place is not taken', () => {
  const dispatch = new Dispatch([
    star,
    only(({ isSmallBehind }) => isSmallBehind, [behind(/^/, named('word'))]),
  ]);
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(wordsAt(dispatch, '*'), ['star']);
    assert.deepEqual(wordsAt(dispatch, '#'), []);
    assert.deepEqual(wordsAt(dispatch, 'Abc'), ['word']);
    assert.deepEqual(wordsAt(dispatch, 'ABC'), []);
  }
});

test('lists of many rare characters are dropped, and learned again', () => {
  const dispatch = new Dispatch([star]);
  for (let unit = 0x3000; unit < 0x3000 + 5000; unit++) wordsAt(dispatch, String.fromCharCode(unit));
  assert.deepEqual(wordsAt(dispatch, '*'), ['star']);
});

test('a proven row marks its candidates', () => {
  const reading = readingAt('*', 0);
  assert.equal(provenRow(star).recognise(reading)?.isCertain, true);
});
