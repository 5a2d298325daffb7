import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesOfMarkup, type MarkedSpeech } from '../../../src/text/markup/marked-sentences.js';
import { readMarkup } from '../../../src/text/markup/read-markup.js';

function speechOf(body: string): MarkedSpeech {
  return sentencesOfMarkup(readMarkup(`<speak>${body}</speak>`));
}

/** Texts, with the pause before them where one is stated. */
function heard(body: string): unknown[] {
  const { sentences, endPauseMs } = speechOf(body);
  const parts = sentences.flatMap((sentence) => [
    ...(sentence.pauseBeforeMs === undefined ? [] : [sentence.pauseBeforeMs]),
    sentence.kind === 'bleep' ? { bleep: sentence.ms } : sentence.text,
  ]);
  return endPauseMs === 0 ? parts : [...parts, endPauseMs];
}

test('sentences are found in the text, and in one line', () => {
  assert.deepEqual(heard('One.\n  Two\tis\n\nthree. Four'), ['One.', 'Two is three.', 'Four']);
});

test('a sentence of the document ends where it says so, with or without a stop', () => {
  assert.deepEqual(heard('<s>One</s><s>Two, three. Four</s>'), ['One', 'Two, three.', 'Four']);
});

test('a pause is as long as stated, before the text, within and behind it', () => {
  assert.deepEqual(
    heard('<break time="1s"/>One.<break time="2s"/>Two<break time="300ms"/> and.<break time="4s"/>'),
    [1000, 'One.', 2000, 'Two', 300, 'and.', 4000],
  );
});

test('pauses with nothing between them are one', () => {
  assert.deepEqual(heard('One.<break time="1s"/> <break time="2s"/>Two.'), ['One.', 3000, 'Two.']);
});

test('between paragraphs there is a longer pause, unless one is stated', () => {
  assert.deepEqual(heard('<p>One.</p>\n<p>Two.</p>'), ['One.', 500, 'Two.']);
  assert.deepEqual(heard('<p>One.</p><break time="50ms"/><p>Two.</p>'), ['One.', 50, 'Two.']);
  assert.deepEqual(heard('<p>One.</p>Two.'), ['One.', 500, 'Two.']);
});

test('where only the style changes within a sentence there is hardly a pause; between sentences it is the usual one', () => {
  assert.deepEqual(heard('It is <prosody rate="slow">very</prosody> good.'), [
    'It is',
    40,
    'very',
    40,
    'good.',
  ]);
  assert.deepEqual(heard('It is. <prosody rate="slow">Very.</prosody> Good.'), ['It is.', 'Very.', 'Good.']);
});

test('signs that are left alone by markup are not spoken', () => {
  assert.deepEqual(heard('<prosody rate="slow">Very good</prosody>. <break time="1s"/>!'), [
    'Very good',
    1000,
  ]);
});

test('a tone takes its place within the sentence', () => {
  assert.deepEqual(heard('You <say-as interpret-as="expletive">fools</say-as>!'), [
    'You',
    40,
    { bleep: 350 },
  ]);
});

test('marks are told before the sentence that they stand before, and behind the one that they stand in or behind', () => {
  const { sentences } = speechOf(
    '<mark name="a"/>One <mark name="b"/>two.<mark name="c"/> <mark name="d"/>Three.<break time="1s"/><mark name="e"/>Four.<mark name="f"/>',
  );
  assert.deepEqual(
    sentences.map((one) => (one.kind === 'sentence' ? [one.marksBefore, one.text, one.marksAfter] : one)),
    [
      [['a'], 'One two.', ['b']],
      [['c', 'd'], 'Three.', []],
      [['e'], 'Four.', ['f']],
    ],
  );
});

test('a mark behind the last pause is told at the end', () => {
  const { sentences, looseMarks } = speechOf('One.<break time="1s"/><mark name="end"/>');
  assert.deepEqual(sentences[0]?.kind === 'sentence' && sentences[0].marksAfter, ['end']);
  assert.deepEqual(looseMarks, []);
  assert.deepEqual(speechOf('<mark name="end"/>').looseMarks, ['end']);
});

test('what is read in a way of its own is never cut', () => {
  const { sentences } = speechOf('See <sub alias="section one">Sec. 1. Begin</sub> here. Then go.');
  assert.deepEqual(
    sentences.map((one) => one.kind === 'sentence' && one.text),
    ['See Sec. 1. Begin here.', 'Then go.'],
  );
});

test('signs with an alias are spoken, though they are no words', () => {
  assert.deepEqual(heard('<sub alias="stars">***</sub>'), ['***']);
});

test('parts are found again in the sentence, and all of it in the document', () => {
  const source = '<speak>One. It  is\n<sub alias="five">  5</sub>\u200B now &amp; here.</speak>';
  const [, sentence] = sentencesOfMarkup(readMarkup(source)).sentences;
  assert.ok(sentence?.kind === 'sentence');
  assert.equal(sentence.text, 'It is  5 now & here.');
  const [part] = sentence.parts;
  assert.ok(part !== undefined);
  assert.equal(sentence.text.slice(part.start, part.end), ' 5');
  const origin = (found: string) => {
    const at = sentence.text.indexOf(found);
    const { start, end } = sentence.sourceSpan(at, at + found.length);
    return source.slice(start, end);
  };
  assert.equal(origin('5'), '5');
  assert.equal(origin('It is'), 'It  is');
  assert.equal(origin('&'), '&amp;');
  assert.equal(origin('here'), 'here');
});

test('a document of many parts, marks and sentences takes time in proportion to its length', () => {
  const body = (count: number) => '<mark name="m"/>A <sub alias="b">c</sub> d. '.repeat(count);
  const time = (count: number) => {
    const source = body(count);
    const start = process.cpuUsage().user;
    assert.equal(speechOf(source).sentences.length, count);
    return process.cpuUsage().user - start;
  };
  time(2000);
  const [few, many] = [Math.min(time(2000), time(2000)), Math.min(time(16_000), time(16_000))];
  assert.ok(many < few * 8 * 3, `${few} µs for 2,000 and ${many} µs for 16,000`);
});
