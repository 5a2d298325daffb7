import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatHistory } from '../../src/agents/chat-history.js';

const rest = (history: ChatHistory) => history.messages().slice(1);

test('the prompt comes first, then what was said', () => {
  const history = new ChatHistory('Be brief.');
  history.answer().add('Good morning.');
  history.user('Who are you?');
  assert.deepEqual(history.messages(), [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '[The call begins]' },
    { role: 'assistant', content: 'Good morning.' },
    { role: 'user', content: 'Who are you?' },
  ]);
});

test('what the caller said in several turns without an answer is one message', () => {
  const history = new ChatHistory('');
  history.user('I want');
  history.drop(history.answer());
  history.user('two tickets.');
  assert.deepEqual(rest(history), [{ role: 'user', content: 'I want\ntwo tickets.' }]);
});

test('an answer is cut to what was heard, and what is written later does not come back', () => {
  const history = new ChatHistory('');
  history.user('How far?');
  const answer = history.answer();
  answer.add('It is four miles from here, ');
  answer.add('along the river.');
  assert.equal(answer.cut('It is four miles'), ' from here, along the river.');
  answer.add(' And back.');
  assert.deepEqual(rest(history).at(-1), { role: 'assistant', content: 'It is four miles' });
});

test('an answer is cut where it was heard to, whatever white space it was written with', () => {
  for (const [written, heard, kept, unheard] of [
    ['One.\n\nTwo is\there. Three.', 'One. Two is', 'One.\n\nTwo is', '\there. Three.'],
    [
      '你好。今天我们去公园，然后回家。',
      '你好。 今天我们去公园， 然后',
      '你好。今天我们去公园，然后',
      '回家。',
    ],
    [' Well 𠮷.', 'Well 𠮷', 'Well 𠮷', '.'],
    ['Something else.', 'Never said', 'Never said', ''],
  ] as const) {
    const history = new ChatHistory('');
    const answer = history.answer();
    answer.add(written);
    assert.equal(answer.cut(heard), unheard);
    assert.deepEqual(rest(history).at(-1), { role: 'assistant', content: kept });
  }
});

test('an answer of which nothing was heard is no message', () => {
  const history = new ChatHistory('');
  history.user('One');
  const answer = history.answer();
  answer.add('Two');
  assert.equal(answer.cut(''), 'Two');
  history.user('Three');
  assert.deepEqual(rest(history), [{ role: 'user', content: 'One\nThree' }]);
});

test('functions stay with their results, though nothing of the answer was heard', () => {
  const history = new ChatHistory('');
  history.user('Where is it?');
  const answer = history.answer();
  answer.add('Let me see.');
  answer.calls([{ id: 'a', name: 'look_up', arguments: '{"order":7}' }]);
  answer.cut('');
  assert.match(JSON.stringify(rest(history)[2]), /no result yet: the caller went on/);
  answer.result('a', '{"state":"sent"}');
  const call = { id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"order":7}' } };
  assert.deepEqual(rest(history), [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: '{"state":"sent"}' },
  ]);
});

test('a long conversation forgets its oldest turns whole', () => {
  const history = new ChatHistory('Prompt');
  for (let turn = 0; turn < 90; turn++) {
    history.user(`question ${turn}`);
    const answer = history.answer();
    answer.calls([{ id: `call ${turn}`, name: 'f', arguments: '{}' }]);
    answer.result(`call ${turn}`, 'x'.repeat(900));
    history.answer().add(`answer ${turn}`);
  }
  const messages = history.messages();
  assert.equal(messages[0]?.role, 'system');
  assert.equal(messages[1]?.role, 'user');
  assert.deepEqual(messages.at(-1), { role: 'assistant', content: 'answer 89' });
  assert.ok(messages.length <= 400, String(messages.length));
  assert.ok(JSON.stringify(messages).length < 80_000);
  const results = messages.filter(({ role }) => role === 'tool').length;
  assert.equal(results, messages.filter(({ role }) => role === 'user').length);
});
