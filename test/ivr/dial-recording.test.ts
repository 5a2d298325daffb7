// The recording of a caller and of the call that it is joined with: what is told, and how it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Door, Warning } from '../../src/ivr/door.js';
import { DialRecording } from '../../src/ivr/dial-recording.js';
import type { Notice, RecordingCallback, RecordingNotice } from '../../src/ivr/verbs.js';
import { ParleyError } from '../../src/errors.js';
import type { CallRecording, RecordingView } from '../../src/recording/call-recording.js';

type End = RecordingView['reason'];

/** A call that is recorded, and what its application is told. */
function recordedCall({ refusal, endsAs = 'stopped' }: { refusal?: Error; endsAs?: End } = {}) {
  const [orders, notices, warnings]: [string[], Notice[], string[]] = [[], [], []];
  let view: RecordingView | undefined;
  const began = { call: 'call-1', name: 'a.wav', format: 'wav', startedMs: 1000, bytes: 1 } as const;
  const over = (order: string) => {
    orders.push(order);
    view = {
      ...began,
      state: 'stopped',
      durationMs: 4000,
      ...(endsAs === undefined ? {} : { reason: endsAs }),
    };
    return Promise.resolve(view);
  };
  const recording = {
    get view() {
      return view;
    },
    start: () => {
      if (refusal !== undefined) return Promise.reject(refusal);
      view = { ...began, state: 'recording', durationMs: 0 };
      return Promise.resolve(view);
    },
    stop: () => over('stop'),
    close: () => over('close'),
  };
  let isClosing = false;
  const call = { recording: recording as unknown as CallRecording, isClosing: () => isClosing };
  const tell: Door['tell'] = (_target, notice) => void notices.push(notice);
  const callback: RecordingCallback = {
    target: { at: 'state' },
    events: ['in-progress', 'completed', 'absent'],
  };
  const warn = ({ message }: Warning) => void warnings.push(message);
  const begin = (given: RecordingCallback | undefined = callback) =>
    new DialRecording(call, given, { door: { tell } as Door, warn });
  return { begin, orders, notices, warnings, callback, closes: () => (isClosing = true) };
}

const statesOf = (notices: readonly Notice[]) => notices.map((notice) => (notice as RecordingNotice).status);

test('a recording is stopped with the talk, and its beginning and end are told', async () => {
  const under = recordedCall();
  assert.equal(await under.begin().end(), 'a.wav');
  assert.deepEqual(under.orders, ['stop']);
  const both = { of: 'recording', recording: 'a.wav', startedMs: 1000, channels: 2 } as const;
  const of = { ...both, source: 'dial', track: 'both' } as const;
  assert.deepEqual(under.notices, [
    { ...of, status: 'in-progress', durationMs: 0 },
    { ...of, status: 'completed', durationMs: 4000 },
  ]);
});

test('the end of the call completes the recording', async () => {
  const under = recordedCall({ endsAs: 'call-ended' });
  const recording = under.begin();
  under.closes();
  assert.equal(await recording.end(), 'a.wav');
  assert.deepEqual(under.orders, ['close']);
});

test('a call that cannot be recorded is a warning, and no recording is told of', async () => {
  const refusal = new ParleyError('RECORDING_OFF', 'this server records no calls');
  const under = recordedCall({ refusal });
  assert.equal(await under.begin().end(), undefined);
  assert.deepEqual(under.warnings, ['this server records no calls']);
  assert.deepEqual(statesOf(under.notices), ['absent']);
});

test('a recording whose disk is full has no name', async () => {
  const under = recordedCall({ endsAs: 'disk-full' });
  assert.equal(await under.begin().end(), undefined);
  assert.deepEqual(statesOf(under.notices), ['in-progress', 'absent']);
});

test('only the events that were asked for are told', async () => {
  const under = recordedCall();
  assert.equal(await under.begin({ ...under.callback, events: ['completed'] }).end(), 'a.wav');
  assert.deepEqual(statesOf(under.notices), ['completed']);
});
