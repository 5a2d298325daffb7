// Listeners of the recording thread that throw.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RecordingListener, RecordingThread } from '../../src/recording/recording-thread.js';
import type { RecordingResult } from '../../src/recording/recording-messages.js';
import { systemTime } from '../../src/time.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';

/** A recorder that opens every recording, and ends it when it is stopped. */
const PROGRAM = `const { parentPort } = await import('node:worker_threads');
  const result = { end: 'call-ended', frames: 1, bytes: 1 };
  parentPort.on('message', ({ type, id }) => {
    if (type === 'open') parentPort.postMessage({ type: 'opened', id });
    if (type === 'stop') parentPort.postMessage({ type: 'ended', id, result });
    if (type === 'close') parentPort.close();
  });`;
const ORDER = { path: '/nowhere', format: 'wav', ring: 0, channels: 2, maxFrames: 1, serial: 1 } as const;

function listener(results: RecordingResult[], opened: () => void): RecordingListener {
  const nothing = () => undefined;
  return {
    opened,
    grown: nothing,
    starved: nothing,
    filled: nothing,
    ended: (result) => results.push(result),
  };
}

test('a recording whose listener throws fails, and the others go on', async (t) => {
  const script = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
  const lost: string[] = [];
  const thread = new RecordingThread({ time: systemTime, script, onLost: (detail) => lost.push(detail) });
  t.after(() => thread.close());
  const [failed, ended]: [RecordingResult[], RecordingResult[]] = [[], []];
  const defect = () => {
    throw new Error('a defect');
  };
  let isOpen = false;
  const rejections = await rejectionsOf(async () => {
    thread.open(ORDER, listener(failed, defect));
    const other = thread.open(
      ORDER,
      listener(ended, () => (isOpen = true)),
    );
    await until(() => isOpen);
    thread.stop(other, 'call-ended');
    await until(() => ended.length === 1);
  });
  assert.deepEqual(rejections.map(String), ['Defect: recording: a defect']);
  assert.deepEqual(
    [...failed, ...ended].map(({ end, error }) => [end, error?.code]),
    [
      ['failed', 'RECORDING_FAILED'],
      ['call-ended', undefined],
    ],
  );
  assert.deepEqual([thread.size, lost], [0, []]);
});
