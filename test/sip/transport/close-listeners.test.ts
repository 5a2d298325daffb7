import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejectionsOf } from '../../fakes/rejections.js';
import { CloseListeners } from '../../../sip/transport/flow.js';

test('everybody is told once, also whoever asks late or has called it off', () => {
  const listeners = new CloseListeners();
  const seen: string[] = [];
  listeners.add(() => seen.push('first'));
  listeners.add(() => seen.push('called off'))();
  listeners.fire();
  listeners.fire();
  listeners.add(() => seen.push('late'));
  assert.deepEqual(seen, ['first', 'late']);
});

test('a listener that throws keeps nobody from being told, and is told of', async () => {
  const listeners = new CloseListeners();
  const seen: string[] = [];
  const defect = new RangeError('a defect');
  listeners.add(() => {
    throw defect;
  });
  listeners.add(() => seen.push('second'));
  assert.deepEqual(await rejectionsOf(() => listeners.fire()), [defect]);
  assert.deepEqual(seen, ['second']);
});
