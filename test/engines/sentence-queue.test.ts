import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { SPEECH_CLASSES, type SpeechClass } from '../../src/engines/engine.js';
import {
  agingMs,
  FairQueue,
  type Place,
  SentenceQueue,
  type Waiting,
} from '../../src/engines/sentence-queue.js';

interface Ask {
  readonly kind: SpeechClass;
  readonly client?: string;
  readonly deadlineMs?: number;
  readonly begun?: boolean;
  readonly prepared?: boolean;
}

function add(queue: SentenceQueue<string>, name: string, ask: Ask, nowMs = 0): string | undefined {
  const { kind, client = 'x', deadlineMs = 0, begun = false, prepared = false } = ask;
  const place = SentenceQueue.place(name, { class: kind, client, deadlineMs, begun, prepared }, 1, nowMs);
  return queue.add(place, nowMs)?.item;
}

function takeAll(queue: SentenceQueue<string>, nowMs = 0): string[] {
  const names: string[] = [];
  for (let next = queue.take(nowMs); next !== undefined; next = queue.take(nowMs)) names.push(next.item);
  return names;
}

test('calls come before WebSockets and these before HTTP', () => {
  const queue = new SentenceQueue<string>(8);
  add(queue, 'http', { kind: 'http' });
  add(queue, 'socket', { kind: 'interactive' });
  add(queue, 'call', { kind: 'call', deadlineMs: 1000 });
  assert.deepEqual(takeAll(queue), ['call', 'socket', 'http']);
});

test('a prompt that the server prepares comes after everything else, and not never', () => {
  const queue = new SentenceQueue<string>(8);
  add(queue, 'prompt', { kind: 'http', client: 'the server', prepared: true });
  for (const name of ['first', 'second']) add(queue, name, { kind: 'http' });
  assert.deepEqual([queue.size, queue.waitingOf('http')], [3, 3]);
  assert.deepEqual(takeAll(queue), ['first', 'second', 'prompt']);
  add(queue, 'prompt', { kind: 'http', prepared: true });
  for (const name of ['first', 'second']) add(queue, name, { kind: 'http' }, 9000);
  assert.equal(queue.take(9999)?.item, 'first');
  assert.equal(queue.take(10_000)?.item, 'prompt');
});

test('those of a class that wait in the engine take room, too', () => {
  const queue = new SentenceQueue<string>(2);
  const place = (client: string) =>
    SentenceQueue.place(client, { class: 'http', client, deadlineMs: 0, begun: false }, 1, 0);
  const [first, second] = [place('a'), place('b')];
  assert.equal(queue.add(first, 0, 1), undefined);
  assert.equal(queue.add(second, 0, 1), second);
  assert.equal(queue.add(second, 0), undefined);
});

test('the call that would run dry first is served first, whatever it was served before', () => {
  const queue = new SentenceQueue<string>(8);
  add(queue, 'far', { kind: 'call', client: 'a', deadlineMs: 900 });
  add(queue, 'near', { kind: 'call', client: 'b', deadlineMs: 100 });
  add(queue, 'nearer', { kind: 'call', client: 'b', deadlineMs: 50 });
  assert.deepEqual(takeAll(queue), ['nearer', 'near', 'far']);
});

test('a deadline in the past counts as now, and one beyond half a minute as that', () => {
  const queue = new SentenceQueue<string>(8);
  add(queue, 'first', { kind: 'call', deadlineMs: 500 }, 1000);
  add(queue, 'second', { kind: 'call', deadlineMs: 0 }, 1000);
  add(queue, 'patient', { kind: 'call', deadlineMs: Infinity }, 1000);
  add(queue, 'later', { kind: 'call', deadlineMs: 0 }, 31_001);
  assert.deepEqual(takeAll(queue), ['first', 'second', 'patient', 'later']);
});

test('a class that waited for its bound gets one slot of two until it is no longer overdue', () => {
  const queue = new SentenceQueue<string>(8);
  add(queue, 'h1', { kind: 'http' });
  add(queue, 'h2', { kind: 'http' });
  for (const name of ['c1', 'c2', 'c3', 'c4']) add(queue, name, { kind: 'call' });
  const bound = agingMs({ class: 'http' });
  assert.equal(queue.take(bound - 1)?.item, 'c1');
  assert.equal(queue.take(bound)?.item, 'h1');
  assert.equal(queue.take(bound)?.item, 'c2');
  assert.equal(queue.take(2 * bound)?.item, 'h2');
  assert.deepEqual(takeAll(queue, 9 * bound), ['c3', 'c4']);
});

test('the room of a class is its own, and the greediest client makes place in it', () => {
  const queue = new SentenceQueue<string>(2);
  assert.equal(add(queue, 'h1', { kind: 'http', client: 'a' }), undefined);
  assert.equal(add(queue, 'h2', { kind: 'http', client: 'a', deadlineMs: 5 }), undefined);
  assert.equal(add(queue, 'h3', { kind: 'http', client: 'a' }), 'h3', 'itself: its own client holds them');
  assert.equal(add(queue, 'c1', { kind: 'call' }), undefined, 'a call has room of its own');
  assert.equal(add(queue, 'h4', { kind: 'http', client: 'b', begun: true }), 'h2');
  assert.equal(add(queue, 'h5', { kind: 'http', client: 'c' }), 'h5');
  assert.deepEqual(takeAll(queue), ['c1', 'h1', 'h4']);
});

const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom(...SPEECH_CLASSES),
    client: fc.constantFrom('a', 'b', 'c'),
    deadlineMs: fc.integer({ min: 0, max: 20_000 }),
    begun: fc.boolean(),
  }),
  fc.record({ takeAfterMs: fc.integer({ min: 0, max: 3000 }) }),
  fc.record({ leaves: fc.nat() }),
);

test('in any order of events no bound is passed, no sentence is lost, calls go by deadline, no class starves', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (steps, maxWaiting) => {
      const queue = new SentenceQueue<number>(maxWaiting);
      const waiting = new Map<number, Waiting<number>>();
      const slotsOverdue: Record<SpeechClass, number> = { call: 0, interactive: 0, http: 0 };
      const since: Record<SpeechClass, number> = { call: 0, interactive: 0, http: 0 };
      const of = (kind: SpeechClass) => [...waiting.values()].filter((place) => place.class === kind);
      let nowMs = 0;
      steps.forEach((what, number) => {
        if ('kind' in what) {
          const { kind, ...rest } = what;
          const place = SentenceQueue.place(number, { class: kind, ...rest }, 1, nowMs);
          if (of(kind).length === 0) since[kind] = nowMs;
          const leaves = queue.add(place, nowMs);
          assert.equal(leaves !== undefined, of(kind).length === maxWaiting, 'refuses when full, only then');
          if (leaves !== undefined && leaves !== place) assert.equal(leaves.begun, false);
          waiting.set(number, place);
          if (leaves !== undefined) waiting.delete(leaves.item);
        } else if ('leaves' in what) {
          const place = [...waiting.values()][what.leaves % Math.max(1, waiting.size)];
          if (place === undefined) return;
          assert.equal(queue.delete(place), true);
          assert.equal(queue.delete(place), false);
          waiting.delete(place.item);
          if (of(place.class).length === 0) slotsOverdue[place.class] = 0;
        } else {
          nowMs += what.takeAfterMs;
          const taken = queue.take(nowMs);
          assert.equal(taken === undefined, waiting.size === 0);
          if (taken === undefined) return;
          if (taken.class === 'call') {
            assert.equal(taken.deadlineMs, Math.min(...of('call').map(({ deadlineMs }) => deadlineMs)));
          }
          for (const kind of SPEECH_CLASSES) {
            const overdue = of(kind).length > 0 && nowMs - since[kind] >= agingMs({ class: kind });
            slotsOverdue[kind] = kind === taken.class || !overdue ? 0 : slotsOverdue[kind] + 1;
            assert.ok(slotsOverdue[kind] < 4, `${kind} waited for ${slotsOverdue[kind]} slots`);
          }
          since[taken.class] = nowMs;
          assert.equal(waiting.delete(taken.item), true);
        }
        assert.equal(queue.size, waiting.size);
      });
    }),
    { numRuns: 300 },
  );
});

test('with calls that never cease, calls keep half of the slowest engine and HTTP gets its turn', () => {
  const queue = new SentenceQueue<string>(4);
  const served: string[] = [];
  for (let slot = 0; slot < 12; slot++) {
    const nowMs = slot * 5000; // longer than every bound
    for (const kind of SPEECH_CLASSES) add(queue, kind, { kind, deadlineMs: nowMs }, nowMs);
    served.push(queue.take(nowMs)?.item ?? '');
  }
  assert.equal(served.filter((name) => name === 'call').length, 6);
  assert.equal(served.filter((name) => name === 'interactive').length, 3);
  assert.equal(served.filter((name) => name === 'http').length, 3);
});

interface Named extends Place {
  readonly name: string;
}

function place(name: string, client: string, deadlineMs = 0, cost = 1, begun = false): Named {
  return { name, client, deadlineMs, cost, begun };
}

function takeFromQueue(queue: FairQueue<Named>): string[] {
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
  assert.deepEqual(takeFromQueue(queue), ['first', 'second', 'middle', 'late']);
});

test('a client with many sentences is passed by one with few, whatever their deadlines', () => {
  const queue = new FairQueue<Named>();
  for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add(place(name, 'a', 0));
  queue.add(place('b1', 'b', 100));
  queue.add(place('b2', 'b', 100));
  assert.deepEqual(takeFromQueue(queue), ['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
});

test('a share is counted in cost: short sentences come more often', () => {
  const queue = new FairQueue<Named>();
  for (const name of ['A1', 'A2']) queue.add(place(name, 'a', 0, 30));
  for (const name of ['b1', 'b2', 'b3', 'b4']) queue.add(place(name, 'b', 1, 10));
  assert.deepEqual(takeFromQueue(queue), ['A1', 'b1', 'b2', 'b3', 'A2', 'b4']);
});

test('having been silent saves nothing up, and leaving for a moment forgives nothing', () => {
  const queue = new FairQueue<Named>();
  for (let n = 1; n <= 4; n++) queue.add(place(`a${n}`, 'a'));
  queue.add(place('b1', 'b', 1));
  assert.deepEqual([queue.take()?.name, queue.take()?.name, queue.take()?.name], ['a1', 'b1', 'a2']);
  queue.add(place('b2', 'b', 1));
  queue.add(place('b3', 'b', 1));
  queue.add(place('c1', 'c', 2));
  assert.deepEqual(takeFromQueue(queue), ['b2', 'c1', 'a3', 'b3', 'a4']);
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

test('only a sentence of the greediest client that has not begun gives way', () => {
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
