import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type Place } from '../../src/engines/sentence-queue.js';

interface Named extends Place {
  readonly name: string;
}

function place(name: string, client: string, deadlineMs = 0, cost = 1, begun = false): Named {
  return { name, client, deadlineMs, cost, begun };
}

function takeAll(queue: FairQueue<Named>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name);
  return names;
}

test('one client is served by deadline, and by arrival where deadlines are equal', () => {
  const queue = new FairQueue<Named>();
  queue.add(place('late', 'a', 30));
  queue.add(place('first', 'a', 10));
  queue.add(place('second', 'a', 10));
  queue.add(place('middle', 'a', 20));
  assert.deepEqual(takeAll(queue), ['first', 'second', 'middle', 'late']);
});

test('a client with many sentences is passed by one with few, whatever their deadlines', () => {
  const queue = new FairQueue<Named>();
  for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add(place(name, 'a', 0));
  queue.add(place('b1', 'b', 100));
  queue.add(place('b2', 'b', 100));
  assert.deepEqual(takeAll(queue), ['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
});

test('a share is counted in cost: short sentences come more often', () => {
  const queue = new FairQueue<Named>();
  for (const name of ['A1', 'A2']) queue.add(place(name, 'a', 0, 30));
  for (const name of ['b1', 'b2', 'b3', 'b4']) queue.add(place(name, 'b', 1, 10));
  assert.deepEqual(takeAll(queue), ['A1', 'b1', 'b2', 'b3', 'A2', 'b4']);
});

test('having been silent saves nothing up, and leaving for a moment forgives nothing', () => {
  const queue = new FairQueue<Named>();
  for (let n = 1; n <= 4; n++) queue.add(place(`a${n}`, 'a'));
  queue.add(place('b1', 'b', 1));
  assert.deepEqual([queue.take()?.name, queue.take()?.name, queue.take()?.name], ['a1', 'b1', 'a2']);
  queue.add(place('b2', 'b', 1));
  queue.add(place('b3', 'b', 1));
  queue.add(place('c1', 'c', 2));
  assert.deepEqual(takeAll(queue), ['b2', 'c1', 'a3', 'b3', 'a4']);
});

test('while two clients both wait, neither is served more than two sentences beyond the other', () => {
  const sentence = fc.record({
    client: fc.constantFrom('a', 'b', 'c'),
    cost: fc.integer({ min: 1, max: 50 }),
    deadlineMs: fc.integer({ min: 0, max: 100 }),
    takes: fc.integer({ min: 0, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(sentence, { maxLength: 60 }), (sentences) => {
      const queue = new FairQueue<Place>();
      let served: Record<string, number> = {};
      const most: Record<string, number> = {};
      const take = () => {
        const taken = queue.take();
        if (taken !== undefined) served[taken.client] = (served[taken.client] ?? 0) + taken.cost;
        // A common period begins anew whenever one of the two has nothing to ask for.
        if (queue.waitingOf('a') === 0 || queue.waitingOf('b') === 0) served = {};
        else {
          const gap = Math.abs((served['a'] ?? 0) - (served['b'] ?? 0));
          assert.ok(gap <= (most['a'] ?? 0) + (most['b'] ?? 0), `${gap}`);
        }
      };
      for (const { takes, ...one } of sentences) {
        if (queue.waitingOf(one.client) === 0) served = {};
        most[one.client] = Math.max(most[one.client] ?? 0, one.cost);
        queue.add({ ...one, begun: false });
        for (let n = 0; n < takes; n++) take();
      }
      const left = queue.size;
      for (let n = 0; n < left; n++) take();
      assert.equal(queue.take(), undefined);
    }),
  );
});

test('who has heard nothing of the greediest client gives way, and nobody else', () => {
  const queue = new FairQueue<Named>();
  queue.add(place('a1', 'a', 10, 1, true));
  queue.add(place('a2', 'a', 20));
  queue.add(place('a3', 'a', 30));
  queue.add(place('b1', 'b', 90));
  queue.add(place('b2', 'b', 90));
  assert.equal(queue.givesWay(place('c1', 'c'))?.name, 'a3');
  assert.equal(queue.givesWay(place('b3', 'b')), undefined, 'b would hold as many as a then');
  assert.equal(queue.givesWay(place('a4', 'a')), undefined);
  assert.equal(queue.givesWay(place('a4', 'a', 0, 1, true))?.name, 'a3', 'a begun one passes its own');
});
