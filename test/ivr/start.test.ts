// The verbs start and stop: what runs beside the other verbs, and its end.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { Fork, StreamTold, Verb } from '../../src/ivr/verbs.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { openRecordings } from '../recording/recordings-under-test.js';
import { openProgram, type ProgramUnderTest, say, spoken } from './program-under-test.js';

const calls = openCalls();
const PAUSE: Verb = { verb: 'pause', ms: 60_000 };
const stream = (name?: string): Fork => ({ kind: 'stream', name, fields: {}, callback: { at: 'state' } });
const start = (...forks: Fork[]): Verb => ({ verb: 'start', forks });

/** Bots that hear the call: each is told of its beginning, and of its end when it is stopped. */
async function streaming(...verbs: Verb[]) {
  const ended: number[] = [];
  const tellers: ((what: StreamTold) => void)[] = [];
  const under = await openProgram(calls, verbs, {
    talks: {
      connect: () => assert.fail(),
      left: () => assert.fail(),
      stream: (_fields, _handled, told) => {
        const number = tellers.push(told);
        const at = { streamSid: `MZ${number}`, at: 0 };
        told({ event: 'stream-started', ...at });
        return () => {
          ended.push(number);
          told({ event: 'stream-stopped', ...at });
        };
      },
    },
  });
  return { under, ended, tellers };
}

const told = ({ door }: ProgramUnderTest) =>
  door.notices.map((notice) => {
    if (notice.of === 'stream') return `${notice.streamSid} ${notice.event}`;
    if (notice.of === 'transcript') return `${notice.event} ${notice.side ?? ''} ${notice.text ?? ''}`.trim();
    return notice.of === 'recording' ? notice.status : notice.of;
  });

test('a stream does not hold up the next verb, and ends with the call', async () => {
  const { under, ended } = await streaming(start(stream()), say('Hello.'));
  await under.passUntil(() => under.orders.includes('hang up'));
  await under.run.over;
  assert.deepEqual(spoken(under), ['Hello.']);
  assert.deepEqual([ended, told(under)], [[1], ['MZ1 stream-started', 'MZ1 stream-stopped']]);
});

test('stop ends a stream by its name, or the latest one', async () => {
  const stop = (name?: string): Verb => ({ verb: 'stop', forks: [{ kind: 'stream', name }] });
  const { under, ended } = await streaming(
    start(stream('a'), stream('b'), stream('c')),
    stop('a'),
    stop(),
    stop('a'),
    PAUSE,
  );
  assert.deepEqual(ended, [1, 3]);
  assert.deepEqual(under.mistakes(), ['program.warning: there is no stream of the name "a" to stop']);
});

test('a call has four forks at most, and each name once', async () => {
  const { under, tellers } = await streaming(
    start(stream('a'), stream('a'), stream(), stream(), stream(), stream()),
    PAUSE,
  );
  assert.equal(tellers.length, 4);
  assert.deepEqual(under.mistakes(), [
    'program.warning: the call has a stream of the name "a" already',
    'program.warning: a call has at most 4 streams, recordings and transcripts',
  ]);
});

test('a stream that has failed is a warning, and gives its place back', async () => {
  const { under, tellers } = await streaming(start(stream('a')), PAUSE);
  tellers[0]?.({ event: 'stream-error', error: 'the bot is lost', streamSid: 'MZ1', at: 0 });
  assert.deepEqual(under.mistakes(), ['program.warning: the stream has failed: the bot is lost']);
  under.run.replace({ program: { verbs: [start(stream('a')), PAUSE], warnings: [] } });
  await until(() => tellers.length === 2);
});

test('a recording of the call goes on until it is stopped, and its callback learns of it', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const fork: Fork = {
    kind: 'recording',
    callback: { target: { at: 'state' }, events: ['in-progress', 'completed'] },
  };
  const under = await openProgram(
    calls,
    [start(fork, fork), { verb: 'pause', ms: 1000 }, { verb: 'stop', forks: [{ kind: 'recording' }] }, PAUSE],
    { recordings: { service: recordings, ownerOf: () => undefined } },
  );
  await until(() => under.count('recording.started') === 1 && under.mistakes().length === 1);
  under.pass(1000);
  await until(() => under.count('recording.stopped') === 1);
  assert.deepEqual(told(under), ['in-progress', 'completed']);
  assert.deepEqual(under.mistakes(), ['program.warning: the call is being recorded already']);
  assert.equal(readdirSync(folder).length, 1);
});

test('both sides of a call become text', async () => {
  const under = await openProgram(calls, [
    start({
      kind: 'transcript',
      callback: { at: 'texts' },
      isPartial: true,
      hints: ['Miller', 'Smith'],
      language: 'en-US',
      sides: { caller: 'guest', server: 'host' },
    }),
    say('Welcome.'),
    PAUSE,
  ]);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.begins();
  under.text('I want', false);
  under.stops();
  under.text('I want billing.');
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual(told(under), [
    'started',
    'content server Welcome.',
    'content caller I want',
    'content caller I want billing.',
    'stopped',
  ]);
  assert.deepEqual(under.expected[0], { language: 'en-US', context: 'Miller, Smith' });
});

test('a server without a recogniser transcribes no caller', async () => {
  const under = await openProgram(
    calls,
    [
      start({
        kind: 'transcript',
        callback: { at: 'texts' },
        isPartial: false,
        hints: [],
        sides: { caller: '', server: undefined },
      }),
      PAUSE,
    ],
    { isCallerRecognised: false },
  );
  assert.deepEqual(under.mistakes(), [
    'program.warning: this server has no recogniser: the caller is not transcribed',
  ]);
});
