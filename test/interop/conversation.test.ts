// The bench of conversations in its quick form: scripted callers over SIP and WebRTC ask a whole server,
// pause, interrupt and make noises. The limits are loose: only a gross fault exceeds them on a busy machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from '../bench/conversation/figures.js';
import { runConversations } from '../bench/conversation/conversations.js';
import { spreadOf } from '../bench/arrivals.js';

const REPLY_MS = 3000;
const STOP_MS = 800;

test('callers over SIP and WebRTC are answered, and the voice stops when they interrupt', async () => {
  const { calls, times } = await runConversations({ isQuick: true, seed: 1 });
  assert.deepEqual(
    calls.map(({ line }) => line),
    ['G.711', 'Opus', 'G.711', 'Opus'],
  );
  const figures = figuresOf(calls.map(({ verdicts }) => verdicts));
  assert.equal(figures.interruptions, 6);
  assert.ok(figures.reply.length >= 10, `${figures.reply.length} replies`);
  assert.ok(figures.unanswered <= 2, `${figures.unanswered} questions without an answer`);
  assert.ok(spreadOf(figures.reply).p50 < REPLY_MS, `replies after ${figures.reply.join(', ')} ms`);
  assert.ok(figures.stop.length >= 5, `${figures.stop.length} of 6 interruptions stopped the voice`);
  assert.ok(spreadOf(figures.stop).p50 < STOP_MS, `stops after ${figures.stop.join(', ')} ms`);
  assert.ok(figures.pauses >= 8, `${figures.pauses} pauses`);
  assert.ok(figures.cutOffs <= figures.pauses / 2, `${figures.cutOffs} of ${figures.pauses} pauses cut off`);
  assert.ok(figures.noises >= 4, `${figures.noises} noises over our voice`);
  assert.ok(times.length >= figures.reply.length, `${times.length} answers had the times of their parts`);
});
