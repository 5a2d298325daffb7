import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesFrom, sentencesOf } from '../../src/speaking/text-source.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';

const LIMITS = { maxTextLength: 40, textIdleMs: 1000 };

function open() {
  const tokens = new TokenSource();
  const time = new ManualTime();
  const controller = new AbortController();
  const pauses: number[] = [];
  const sentences = sentencesFrom(tokens, {
    limits: LIMITS,
    time,
    signal: controller.signal,
    onPause: () => void pauses.push(time.now()),
  });
  return { tokens, time, controller, sentences, pauses };
}

test('a whole text becomes its sentences', () => {
  assert.deepEqual(
    sentencesOf('One is here. Two is there.', LIMITS).map(({ text }) => text),
    ['One is here.', 'Two is there.'],
  );
});

test('a whole text over the limit is refused with the limit named', () => {
  assert.throws(() => sentencesOf('x'.repeat(41), LIMITS), {
    code: 'TEXT_TOO_LONG',
    message: /40 characters/,
  });
});

test('a text with nothing to speak is refused', () => {
  assert.throws(() => sentencesOf(' … !!! 🙂 ', LIMITS), { code: 'TEXT_EMPTY' });
});

test('a sentence comes as soon as its end is certain, before the text has ended', async () => {
  const { tokens, sentences } = open();
  tokens.push('One is he');
  tokens.push('re. T');
  const { value } = await sentences.next();
  assert.equal(value?.text, 'One is here.');
  tokens.push('wo.');
  tokens.end();
  assert.equal((await sentences.next()).value?.text, 'Two.');
  assert.equal((await sentences.next()).done, true);
});

test('a wait for the producer is told as a pause, tokens that are there already are none', async () => {
  const { tokens, sentences, pauses, time } = open();
  tokens.push('One is here. ');
  tokens.push('Two is');
  await sentences.next();
  assert.deepEqual(pauses, []);
  const next = sentences.next();
  await new Promise((resolve) => setImmediate(resolve));
  time.advance(500);
  assert.deepEqual(pauses, [0]);
  tokens.push(' there. And');
  assert.equal((await next).value?.text, 'Two is there.');
});

test('tokens over the limit fail the text', async () => {
  const { tokens, sentences } = open();
  tokens.push('a'.repeat(30));
  tokens.push('b'.repeat(11));
  await assert.rejects(sentences.next(), { code: 'TEXT_TOO_LONG' });
  assert.equal(tokens.returned, true);
});

test('a producer that falls silent fails the text after the idle time, and no timer is left', async () => {
  const { tokens, time, sentences } = open();
  tokens.push('One is here. An');
  await sentences.next();
  const next = assert.rejects(sentences.next(), { code: 'TIMEOUT', message: /1000 ms/ });
  await Promise.resolve();
  time.advance(1000);
  await next;
  assert.equal(time.waiting, 0);
});

test('an abort ends the wait for the next token at once', async () => {
  const { time, controller, sentences, tokens } = open();
  const next = assert.rejects(sentences.next(), { code: 'ABORTED' });
  await Promise.resolve();
  controller.abort();
  await next;
  assert.equal(time.waiting, 0);
  assert.equal(tokens.returned, true);
});

test('tokens without a letter or digit fail as empty when they end', async () => {
  const { tokens, sentences } = open();
  tokens.push('...');
  tokens.end();
  await assert.rejects(sentences.next(), { code: 'TEXT_EMPTY' });
});
