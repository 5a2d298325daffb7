// Calls of functions in parts, as servers send them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionParts } from '../../src/agents/function-parts.js';

const KNOWN = ['hang_up', 'weather', 'look_up'];

interface Part {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly given?: string | object;
}

function joined(...parts: readonly Part[]) {
  const functions = new FunctionParts(KNOWN);
  for (const { index, id, name, given } of parts)
    functions.add({ index, id, type: 'function', function: { name, arguments: given } });
  return functions.calls.map(({ id, name, arguments: given2 }) => [id, name, given2]);
}

const PARIS = '{"city":"Paris"}';
const ROME = '{"city":"Rome"}';

const CASES: readonly (readonly [string, readonly Part[], readonly (readonly string[])[]])[] = [
  [
    'whole calls at one index with ids of their own are different calls',
    [
      { index: 0, id: 'a', name: 'weather', given: PARIS },
      { index: 0, id: 'b', name: 'weather', given: ROME },
      { index: 0, id: 'c', name: 'hang_up', given: '{}' },
    ],
    [
      ['a', 'weather', PARIS],
      ['b', 'weather', ROME],
      ['c', 'hang_up', '{}'],
    ],
  ],
  [
    'whole calls at one index without ids are different calls',
    [
      { index: 0, name: 'weather', given: PARIS },
      { index: 0, name: 'weather', given: PARIS },
      { index: 0, name: 'hang_up', given: '{}' },
    ],
    [
      ['call_0', 'weather', PARIS],
      ['call_1', 'weather', PARIS],
      ['call_2', 'hang_up', '{}'],
    ],
  ],
  [
    'whole calls without an index, with objects for arguments, are different calls',
    [
      { name: 'weather', given: { city: 'Paris' } },
      { name: 'weather', given: { city: 'Rome' } },
    ],
    [
      ['call_0', 'weather', PARIS],
      ['call_1', 'weather', ROME],
    ],
  ],
  [
    'whole calls of one index and id are different calls, and the second gets an id of its own',
    [
      { index: 0, id: 'a', name: 'weather', given: PARIS },
      { index: 0, id: 'a', name: 'weather', given: ROME },
    ],
    [
      ['a', 'weather', PARIS],
      ['call_1', 'weather', ROME],
    ],
  ],
  [
    'a call that is sent twice with its id is one call',
    [
      { index: 0, id: 'a', name: 'weather', given: PARIS },
      { index: 0, id: 'a', name: 'weather', given: PARIS },
    ],
    [['a', 'weather', PARIS]],
  ],
  [
    'parts at one index go to the call of their id, and without an id to the last one',
    [
      { index: 0, id: 'a', name: 'weather', given: '{"city":' },
      { index: 0, id: 'b', name: 'weather', given: '{"city":' },
      { index: 0, id: 'a', given: '"Paris"}' },
      { index: 0, given: '"Rome"}' },
    ],
    [
      ['a', 'weather', PARIS],
      ['b', 'weather', ROME],
    ],
  ],
  [
    'a name that comes again in each part is no addition',
    [
      { index: 0, id: 'a', name: 'weather', given: '' },
      { index: 0, id: 'a', name: 'weather', given: '{"city":' },
      { index: 0, name: 'weather', given: '"Paris"}' },
    ],
    [['a', 'weather', PARIS]],
  ],
  [
    'a name may come in pieces',
    [
      { index: 0, id: 'a', name: 'wea', given: '' },
      { index: 0, name: 'ther', given: '' },
      { index: 0, given: PARIS },
    ],
    [['a', 'weather', PARIS]],
  ],
  [
    'another name behind one that is known, or behind arguments, is another call',
    [
      { index: 0, name: 'hang_up', given: '' },
      { index: 0, name: 'look_up', given: '' },
      { index: 1, name: 'unknown', given: '{}' },
      { index: 1, name: 'strange', given: '{}' },
    ],
    [
      ['call_0', 'hang_up', ''],
      ['call_1', 'look_up', ''],
      ['call_2', 'unknown', '{}'],
      ['call_3', 'strange', '{}'],
    ],
  ],
  [
    'parts without a name go on with the call, even if each has another id',
    [
      { index: 0, id: 'a', name: 'weather', given: '' },
      { index: 0, id: 'b', name: '', given: '{"city":' },
      { index: 0, id: 'c', name: '', given: '"Paris"}' },
    ],
    [['a', 'weather', PARIS]],
  ],
  [
    'a call may begin without its name',
    [
      { index: 0, id: 'a', name: '', given: '' },
      { index: 0, id: 'a', name: 'weather', given: PARIS },
    ],
    [['a', 'weather', PARIS]],
  ],
  [
    'equal ids at different indexes become different ids, in the order of the indexes',
    [
      { index: 1, id: 'call_1', name: 'weather', given: ROME },
      { index: 0, id: 'call_1', name: 'weather', given: PARIS },
      { index: 2, id: 'call_1', name: 'hang_up', given: '{}' },
    ],
    [
      ['call_1', 'weather', PARIS],
      ['call_1_', 'weather', ROME],
      ['call_2', 'hang_up', '{}'],
    ],
  ],
  ['calls without a name are left out', [{ index: 0, id: 'a', given: '{}' }], []],
];

for (const [what, parts, calls] of CASES) {
  test(what, () => {
    assert.deepEqual(joined(...parts), calls);
  });
}

test('more than eight calls at one index are refused', () => {
  const functions = new FunctionParts(KNOWN);
  const add = (id: number) =>
    functions.add({ index: 0, id: `${id}`, function: { name: 'hang_up', arguments: '{}' } });
  for (let id = 0; id < 8; id++) add(id);
  assert.throws(() => add(8), { code: 'AGENT_FAILED', message: /more than 8 functions at once/ });
});
