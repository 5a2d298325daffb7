// Work that waits for a silent caller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuietCaller } from '../../src/agents/quiet-caller.js';
import { ManualTime } from '../fakes/manual-time.js';

function waiting() {
  const time = new ManualTime();
  const caller = { isHeard: true };
  const quiet = new QuietCaller(time, () => caller.isHeard);
  const abort = new AbortController();
  const ended: string[] = [];
  quiet.wait(abort.signal).then(
    () => ended.push('went on'),
    (error: { code?: string }) => ended.push(error.code ?? 'unknown'),
  );
  return { time, caller, quiet, abort, ended };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('work goes on once the caller is silent, and not before', async () => {
  const { caller, quiet, ended } = waiting();
  quiet.look();
  await settled();
  assert.deepEqual(ended, []);
  caller.isHeard = false;
  quiet.look();
  await settled();
  assert.deepEqual(ended, ['went on']);
});

test('work goes on after 90 seconds if the end of the speech is never told', async () => {
  const { time, ended } = waiting();
  time.advance(89_999);
  await settled();
  assert.deepEqual(ended, []);
  time.advance(1);
  await settled();
  assert.deepEqual(ended, ['went on']);
});

test('work that is given up, or whose call ends, does not go on', async () => {
  const given = waiting();
  given.abort.abort();
  await settled();
  assert.deepEqual(given.ended, ['ABORTED']);
  const over = waiting();
  over.quiet.close();
  await settled();
  assert.deepEqual(over.ended, ['ABORTED']);
});

test('other work may wait for something else', async () => {
  const { quiet, caller } = waiting();
  caller.isHeard = true;
  await quiet.wait(new AbortController().signal, () => false);
});
