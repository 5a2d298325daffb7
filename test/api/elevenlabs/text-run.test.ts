import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { cutPlace, sentenceCut, TextSchedule } from '../../../src/api/elevenlabs/text-run.js';

const PLAIN = { autoMode: false, markup: false };

/** Lengths of what goes out while words of five characters come in. */
function releases(schedule: TextSchedule, words: number): number[] {
  const lengths: number[] = [];
  for (let word = 0; word < words; word++) {
    const { text } = schedule.push('word ', false);
    if (text !== '') lengths.push(text.length);
  }
  return lengths;
}

test('the usual schedule is ElevenLabs’: 120, 160, 250, then 290 again and again', () => {
  assert.deepEqual(releases(new TextSchedule(PLAIN), 300), [120, 160, 250, 290, 290, 290]);
});

test('a flush gives out what waits, and the schedule begins anew', () => {
  const schedule = new TextSchedule({ ...PLAIN, schedule: [50, 60] });
  assert.deepEqual(releases(schedule, 24), [50, 60]);
  assert.equal(schedule.waiting, 10);
  assert.equal(schedule.flush(), 'word word ');
  assert.equal(schedule.waiting, 0);
  assert.equal(schedule.flush(), '');
  assert.deepEqual(releases(schedule, 24), [50, 60]);
});

test('text goes out up to the end of a word', () => {
  const schedule = new TextSchedule({ ...PLAIN, schedule: [50] });
  const { text } = schedule.push(`${'word '.repeat(9)}unfin`, false);
  assert.equal(text, 'word '.repeat(9));
  assert.equal(schedule.push('ished ', true).text, 'unfinished ');
});

test('a text without spaces goes out whole', () => {
  const schedule = new TextSchedule({ ...PLAIN, schedule: [50] });
  assert.equal(schedule.push('今'.repeat(50), false).text, '今'.repeat(50));
});

test('spaces that keep a socket open neither count nor pile up, and those between words stay', () => {
  const schedule = new TextSchedule(PLAIN);
  for (let turn = 0; turn < 1000; turn++) assert.equal(schedule.push(' ', true).text, '');
  assert.equal(schedule.waiting, 0);
  const auto = new TextSchedule({ autoMode: true, markup: false });
  const tokens = ['Hel', 'lo', ' ', ' ', 'you', ' '];
  const received = tokens.map((token) => auto.push(token, false).text).join('');
  assert.equal(received, 'Hello you');
  assert.equal(auto.flush(), '');
});

test('with auto_mode everything goes out at once, and a message that is a sentence is complete', () => {
  const cases: readonly [text: string, complete: boolean][] = [
    ['Hello there. ', true],
    ['How are you?" ', true],
    ['Hello there, ', false],
    ['Dr. ', false],
    ['3. ', false],
    ['.', false],
    ['今日は。', true],
  ];
  for (const [text, complete] of cases) {
    const schedule = new TextSchedule({ autoMode: true, markup: false });
    assert.deepEqual(schedule.push(text, false), { text, complete });
  }
});

test('markup is left out where it was announced, also where a tag comes in pieces', () => {
  const schedule = new TextSchedule({ autoMode: true, markup: true });
  const tokens = [
    'One <break time="1s" /> two ',
    '<phon',
    'eme ph="x">three</pho',
    'neme> is 1 < 2 ',
    'or so',
  ];
  const received = tokens.map((token) => schedule.push(token, false).text).join('') + schedule.flush();
  assert.equal(received.replace(/\s+/g, ' '), 'One two three is 1 < 2 or so');
  const plain = new TextSchedule({ autoMode: true, markup: false });
  assert.equal(plain.push('a <b> c ', false).text, 'a <b> c ');
});

test('nothing is lost or doubled, however the text is cut and released', () => {
  const anyTokens = fc.array(fc.tuple(fc.stringMatching(/^[a-d .]{0,9}$/), fc.boolean()));
  fc.assert(
    fc.property(anyTokens, fc.boolean(), (tokens, autoMode) => {
      const schedule = new TextSchedule({ autoMode, markup: false, schedule: [50] });
      const received = tokens.map(([text, now]) => schedule.push(text, now).text).join('') + schedule.flush();
      const whole = tokens.map(([text]) => text).join('');
      assert.equal(received.replace(/ +/g, ' ').trim(), whole.replace(/ +/g, ' ').trim());
    }),
  );
});

test('a text is cut after a sentence, else after a word, else where it must be, but never in a character', () => {
  assert.equal(cutPlace('One is here. Two is there.', 20, true), 'One is here. '.length);
  assert.equal(cutPlace('One is here, two is there', 20, true), 'One is here, two is '.length);
  assert.equal(cutPlace('Onetwothree', 5, true), 5);
  assert.equal(cutPlace('Onetwothree', 5, false), 0);
  assert.equal(cutPlace('ab😀cd', 3, true), 2);
  assert.equal(sentenceCut('One is here. Two is'), 'One is here. '.length);
  assert.equal(sentenceCut('One is here'), 0);
});

test('a long message costs no more than its length, whatever is in it', () => {
  const nasty = ['a ', 'a', ' ', '. ', '.', '<', '< ', '<a>', '"', '.”', '。', 'a.\n'].map((unit) =>
    unit.repeat(40_000 / unit.length),
  );
  for (const text of nasty) {
    for (const options of [PLAIN, { autoMode: true, markup: true }]) {
      const startedAt = performance.now();
      const schedule = new TextSchedule(options);
      schedule.push(`${text}x`, true);
      schedule.flush();
      cutPlace(text, 4096, true);
      sentenceCut(text);
      assert.ok(performance.now() - startedAt < 500, JSON.stringify(text.slice(0, 8)));
    }
  }
});
