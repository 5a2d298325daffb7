import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asParleyError, GIVEN_UP, isAborted, ParleyError } from '../src/errors.js';

const traced = (error: Error) => /\n\s+at /.test(error.stack ?? '');

test('a refusal has no trace, a failure has one, and other errors keep theirs', () => {
  const limit = Error.stackTraceLimit;
  for (const code of [
    'CALL_LIMIT',
    'CALL_CLOSED',
    'RATE_LIMITED',
    'ENGINE_BUSY',
    'QUEUE_FULL',
    'ABORTED',
  ] as const) {
    const error = new ParleyError(code, 'why');
    assert.deepEqual(
      [error.code, error.message, error.name, traced(error)],
      [code, 'why', 'ParleyError', false],
    );
  }
  assert.equal(traced(new ParleyError('ENGINE_FAILED', 'why')), true);
  assert.equal(traced(new Error('foreign')), true);
  assert.equal(Error.stackTraceLimit, limit);
});

test('what wraps another error keeps it as its cause', () => {
  const cause = new TypeError('inner');
  const error = asParleyError(cause, 'ENGINE_FAILED');
  assert.deepEqual([error.code, error.message, error.cause], ['ENGINE_FAILED', 'inner', cause]);
  assert.equal(asParleyError(error, 'ABORTED'), error);
});

test('the reason of what was given up is known as such', () => {
  const controller = new AbortController();
  controller.abort(GIVEN_UP);
  assert.equal(isAborted(controller.signal.reason), true);
});
