import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejectionsOf } from '../../fakes/rejections.js';
import { CloseListeners } from '../../../sip/transport/flow.js';

test('everybody is told once, also whoever asks late or has called it off', () => {
  const listeners = new CloseListeners();
  const told: string[] = [];
  listeners.add(() => told.push('first'));
  listeners.add(() => told.push('called off'))();
  listeners.fire();
  listeners.fire();
  listeners.add(() => told.push('late'));
  assert.deepEqual(told, ['first', 'late']);
});

test('a listener that throws keeps nobody from being told, and is told of', async () => {
  const listeners = new CloseListeners();
  const told: string[] = [];
  const defect = new RangeError('a defect');
  listeners.add(() => {
    throw defect;
  });
  listeners.add(() => told.push('second'));
  assert.deepEqual(await rejectionsOf(() => listeners.fire()), [defect]);
  assert.deepEqual(told, ['second']);
});
