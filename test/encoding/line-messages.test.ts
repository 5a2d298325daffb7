import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Outbox } from '../../src/encoding/line-messages.js';

function outbox() {
  const lists: (readonly number[])[] = [];
  return { lists, box: new Outbox<number>((messages) => lists.push(messages)) };
}

test('what is said in one turn, and in its microtasks, leaves as one list, in order', async () => {
  const { lists, box } = outbox();
  box.add(1);
  void Promise.resolve()
    .then(() => box.add(2))
    .then(() => box.add(3));
  assert.deepEqual(lists, []);
  await turn();
  box.add(4);
  await turn();
  assert.deepEqual(lists, [[1, 2, 3], [4]]);
});

test('what is flushed leaves at once, what is dropped never, and the next is not lost', async () => {
  const { lists, box } = outbox();
  box.add(1);
  box.flush();
  assert.deepEqual(lists, [[1]]);
  box.add(2);
  box.drop();
  box.add(3);
  await turn();
  assert.deepEqual(lists, [[1], [3]]);
});
