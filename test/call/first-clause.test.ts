// A call begins to speak a text in tokens with its first clause: everything is real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Continuity } from '../../src/speaking/continuity.js';
import { TokenStream } from '../../src/speaking/text-source.js';
import { FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { StreamingEngine } from '../fakes/engines.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';

const calls = openCalls();

const CLAUSE = 'If you want to change your order,';
const REST = 'please say so before it leaves.';
const NEXT = 'It leaves today, at nine in the evening.';
const TEXT = `${CLAUSE} ${REST} ${NEXT}`;

function open(options: Parameters<typeof calls.open>[1] = {}) {
  return calls.open(undefined, { firstPiece: 'clause', ...options });
}

/** Lets frames leave until the condition holds. */
async function passUntil({ pass }: ReturnType<typeof open>, condition: () => boolean): Promise<void> {
  await until(() => condition() || (pass(FRAME_MS), condition()));
}

test('the first clause is spoken before its sentence is whole, the rest in sentences', async () => {
  const under = open();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  for (const token of TEXT.slice(0, CLAUSE.length + 20).match(/\S+\s*/g) ?? []) tokens.push(token);
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, [CLAUSE]);
  tokens.push(TEXT.slice(CLAUSE.length + 20));
  tokens.end();
  await passUntil(under, () => utterance.state === 'spoken');
  assert.deepEqual(under.engine.begun, [CLAUSE, REST, NEXT]);
  const { text, durationMs } = await utterance.ended;
  assert.equal(text, TEXT);
  // 20 ms a character, a short pause within the sentence, and the usual one between two.
  assert.equal(durationMs, 20 * (CLAUSE.length + REST.length + NEXT.length) + 80 + 160);
});

test('the first piece is a sentence if the setting says so', async () => {
  const under = open({ firstPiece: 'sentence' });
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  for (const token of TEXT.match(/\S+\s*/g) ?? []) tokens.push(token);
  tokens.end();
  await passUntil(under, () => utterance.state === 'spoken');
  assert.deepEqual(under.engine.begun, [`${CLAUSE} ${REST}`, NEXT]);
});

test('a text that is whole is not cut, in tokens or not', async () => {
  const under = open();
  const tokens = new TokenStream();
  tokens.push(`${CLAUSE} `);
  tokens.push(REST);
  tokens.end();
  const utterances = [under.call.speak(tokens), under.call.speak(`${CLAUSE} ${REST}`)];
  await passUntil(under, () => utterances.every(({ state }) => state === 'spoken'));
  assert.deepEqual(under.engine.begun, [`${CLAUSE} ${REST}`, `${CLAUSE} ${REST}`]);
});

test('a beginning whose language is uncertain waits for its sentence, unless the language is stated', async () => {
  const names = 'Novak Varga Kovac Horvat,';
  const rest = 'Marek Petrov Ivanov Dusan Milan.';
  for (const [language, begun] of [
    [undefined, `${names} ${rest}`],
    ['en', names],
  ] as const) {
    const under = open();
    const tokens = new TokenSource();
    under.call.speak(tokens, { language });
    for (const token of `${names} ${rest} ${NEXT}`.match(/\S+\s*/g) ?? []) tokens.push(token);
    await until(() => under.engine.begun.length > 0);
    assert.equal(under.engine.begun[0], begun);
    under.call.interrupt('enough');
  }
});

test('an interruption in the rest of the sentence reports the clause and the words that were sent', async () => {
  const under = open();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  for (const token of TEXT.match(/\S+\s*/g) ?? []) tokens.push(token);
  const sent = () => under.port.playout.sent(utterance.number);
  const words = 'please say so';
  await passUntil(under, () => sent() * FRAME_MS >= 20 * (CLAUSE.length + words.length) + 60);
  assert.equal(under.call.interrupt('enough').text, `${CLAUSE} ${words}`);
});

test('an engine that takes text while it speaks has the clause and its rest in one generation', async () => {
  const engine = new StreamingEngine();
  const under = open({ engine, continuity: new Continuity('utterance') });
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  for (const token of TEXT.slice(0, CLAUSE.length + 20).match(/\S+\s*/g) ?? []) tokens.push(token);
  await until(() => engine.texts.length === 1);
  assert.equal(engine.generations[0]?.request.text, CLAUSE);
  tokens.push(TEXT.slice(CLAUSE.length + 20));
  tokens.end();
  await passUntil(under, () => utterance.state === 'spoken');
  assert.deepEqual(engine.texts, [TEXT]);
});
