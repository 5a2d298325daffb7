import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TalkItems, voiceItem } from '../../src/agents/talk-items.js';
import { ParleyError } from '../../src/errors.js';

function open(): TalkItems {
  let count = 0;
  return new TalkItems('Be brief.', () => `item_${++count}`);
}

function contents(items: TalkItems): string[] {
  return items.history.messages().map(({ role, content }) => `${role}: ${content}`);
}

function refusedAs(code: string) {
  return (error: unknown) => error instanceof ParleyError && error.code === code;
}

test('items are in the history in their order, wherever they are placed', () => {
  const items = open();
  const { id } = items.add({ type: 'message', role: 'user', text: 'B' }, undefined);
  items.add({ type: 'message', role: 'assistant', text: 'C' }, undefined);
  items.add({ type: 'message', role: 'system', text: 'A' }, null);
  items.add({ type: 'message', role: 'user', text: 'B2' }, id);
  assert.deepEqual(contents(items), ['system: Be brief.', 'system: A', 'user: B\nB2', 'assistant: C']);
  assert.equal(items.before('item_4'), id);
  assert.throws(
    () => items.add({ type: 'message', role: 'user', text: 'D' }, 'other'),
    refusedAs('NOT_FOUND'),
  );
});

test('a call and its result belong together, and leave together', () => {
  const items = open();
  items.add({ type: 'message', role: 'user', text: 'Time?' }, undefined);
  const call = { id: 'call_1', name: 'clock', arguments: '{}' };
  const { id } = items.add({ type: 'function_call', call }, undefined);
  const result = items.add({ type: 'function_call_output', call: 'call_1', output: '9:00' }, undefined);
  assert.deepEqual(contents(items).slice(2), ['assistant: null', 'tool: 9:00']);
  items.remove(result.id);
  assert.match(contents(items).at(-1) ?? '', /no result yet/);
  items.remove(id);
  assert.equal(contents(items).length, 2);
  const late = { type: 'function_call_output', call: 'call_1', output: '9:00' } as const;
  assert.throws(() => items.add(late, undefined), refusedAs('NOT_FOUND'));
});

test('what was not heard of an item is cut from the history', () => {
  const items = open();
  const item = items.add({ type: 'message', role: 'assistant', text: 'One two three.' }, undefined);
  assert.ok(item.type === 'message');
  assert.equal(items.cut(item, 'One'), ' two three.');
  assert.deepEqual([item.text, item.status, contents(items)[2]], ['One', 'incomplete', 'assistant: One']);
});

test('an item stands behind one whose answer nobody heard as if that were there', () => {
  const items = open();
  items.add({ type: 'message', role: 'user', text: 'A' }, undefined);
  const unheard = items.history.answer();
  items.put(voiceItem('voice', 'B'), unheard);
  items.history.drop(unheard);
  items.add({ type: 'message', role: 'user', text: 'C' }, 'voice');
  assert.deepEqual(contents(items), ['system: Be brief.', 'user: A\nC']);
});

test('the oldest items are forgotten, by number and by length', () => {
  const items = open();
  for (let count = 0; count < 600; count++)
    items.add({ type: 'message', role: 'user', text: 'x' }, undefined);
  assert.throws(() => items.get('item_100'), refusedAs('NOT_FOUND'));
  assert.equal(items.get('item_101').id, 'item_101');
  for (let count = 0; count < 10; count++)
    items.add({ type: 'message', role: 'user', text: 'x'.repeat(60_000) }, undefined);
  assert.throws(() => items.get('item_600'), refusedAs('NOT_FOUND'));
  assert.equal(items.get('item_610').id, 'item_610');
});
