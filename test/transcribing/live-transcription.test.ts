// Live transcription with scripted voice activity and a scripted recogniser: which sound and which orders
// reach the recogniser, and what the client is told.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { OpenAiRecogniser } from '../../src/engines/openai/openai-recogniser.js';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import { ParleyError } from '../../src/errors.js';
import { systemTime } from '../../src/time.js';
import { LiveTranscriber } from '../../src/transcribing/live-transcriber.js';
import type { LiveTranscription } from '../../src/transcribing/live-transcription.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { ScriptedActivity, type ScriptedStream } from './scripted-activity.js';
import { ScriptedRecogniser, type ScriptedSession } from './scripted-recogniser.js';

interface Bench {
  readonly live: LiveTranscription;
  readonly stream: ScriptedStream;
  readonly session: ScriptedSession;
  readonly told: unknown[][];
  readonly time: ManualTime;
  readonly latencies: number[];
}

function open(t: TestContext, endsTurns: 'silence' | 'commit' = 'silence'): Bench {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const time = new ManualTime();
  const told: unknown[][] = [];
  const latencies: number[] = [];
  const transcriber = new LiveTranscriber({ recogniser, activity, settings: HEARING_SETTINGS, time });
  const live = transcriber.open({
    name: 'a test',
    partials: true,
    endsTurns,
    onFinal: (_text, ms) => latencies.push(ms),
    listener: {
      speechStarted: (turn, at) => told.push(['started', turn, at]),
      speechStopped: (turn, at) => told.push(['stopped', turn, at]),
      turnEnded: (turn, at) => told.push(['ended', turn, at]),
      partial: ({ part, text, stable }) => told.push(['partial', part, text, stable]),
      final: ({ part, text }) => told.push(['final', part, text]),
      failed: ({ code }) => told.push(['failed', code]),
    },
  });
  t.after(() => live.close());
  const [session] = recogniser.opened;
  const [stream = {} as ScriptedStream] = activity.streams;
  assert.ok(session !== undefined);
  return { live, stream, session, told, time, latencies };
}

/** Samples that count on from `from`. */
function counting(from: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, n) => from + n);
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('sound reaches the recogniser once it is analysed, and orders stand where speech begins and ends', async (t) => {
  const { live, stream, session, told, time, latencies } = open(t);
  live.push(counting(0, 16_000));
  session.read();
  assert.equal(session.sound.length, 0);
  stream.event('speech.started', 320);
  stream.analyse();
  session.read();
  assert.equal(session.sound.length, 31 * 512); // a whole number of windows
  live.push(counting(16_000, 32_000));
  stream.event('speech.stopped', 1600);
  stream.event('turn.ended', 2240);
  stream.analyse();
  time.advance(70);
  await tick();
  session.read();
  assert.deepEqual(session.orders, [
    ['begin', 5120],
    ['pause', 25_600],
    ['end', 35_840],
  ]);
  assert.deepEqual(session.sound, [...counting(0, 93 * 512)]);
  assert.deepEqual(told, [
    ['started', 0, 0.32],
    ['stopped', 0, 1.6],
    ['ended', 0, 2.24],
    ['final', 0, 'turn 0'],
  ]);
  assert.equal(latencies.length, 1);
  assert.equal(live.seconds, 3);
});

test('a burst of many turns is cut as if it had come slowly', async (t) => {
  const { live, stream, session } = open(t);
  live.push(counting(0, 160_000));
  for (let turn = 0; turn < 3; turn++) {
    stream.event('speech.started', turn * 3000 + 100);
    stream.event('speech.stopped', turn * 3000 + 1000);
    stream.event('speech.started', turn * 3000 + 1200);
    stream.event('speech.stopped', turn * 3000 + 1800);
    stream.event('turn.ended', turn * 3000 + 2400);
  }
  const end = live.end();
  await until(() => {
    session.read();
    stream.analyse();
    return session.sound.length === 160_000;
  });
  await end;
  assert.deepEqual(
    session.orders,
    [0, 1, 2].flatMap((turn) => [
      ['begin', turn * 48_000 + 1600],
      ['pause', turn * 48_000 + 16_000],
      ['resume', turn * 48_000 + 19_200],
      ['pause', turn * 48_000 + 28_800],
      ['end', turn * 48_000 + 38_400],
    ]),
  );
});

test('the end of the sound ends the turn that is open, after all of its sound', async (t) => {
  const { live, stream, session, told } = open(t);
  live.push(counting(0, 10_000));
  stream.event('speech.started', 0);
  const ended = live.end();
  stream.analyse();
  await tick();
  session.read();
  await ended;
  assert.equal(session.sound.length, 10_000);
  assert.deepEqual(session.orders.at(-1), ['end', 10_000]);
  assert.deepEqual(told.at(-1), ['final', 0, 'turn 0']);
  assert.equal(session.closed, true);
  assert.equal(stream.isClosed, true);
});

test('the client ends a turn where it says, and speech that goes on begins another', async (t) => {
  const { live, stream, session, told } = open(t);
  live.push(counting(0, 8192));
  stream.event('speech.started', 100);
  stream.analyse();
  live.push(counting(8192, 100)); // less than a window
  live.commit();
  live.push(counting(8292, 8000));
  stream.analyse();
  live.commit();
  stream.event('speech.stopped', 600);
  await tick();
  assert.deepEqual(session.orders, [
    ['begin', 1600],
    ['end', 8292],
    ['begin', 8292],
    ['end', 16_292],
    ['begin', 16_292],
    ['pause', 16_292],
  ]);
  assert.deepEqual(
    told.filter(([what]) => what === 'final'),
    [
      ['final', 0, 'turn 0'],
      ['final', 1, 'turn 1'],
    ],
  );
});

test('a turn that the client drops is told no more', async (t) => {
  const { live, stream, session, told } = open(t);
  live.push(counting(0, 8192));
  stream.event('speech.started', 100);
  stream.analyse();
  session.partial('I wo', 2);
  live.drop();
  session.partial('I would', 2, 0);
  live.push(counting(8192, 8192));
  stream.event('speech.stopped', 900);
  stream.event('turn.ended', 1000);
  await tick();
  assert.deepEqual(
    told.filter(([what]) => what !== 'started' && what !== 'stopped'),
    [
      ['partial', 0, 'I wo', 2],
      ['ended', 1, 1],
      ['final', 1, 'turn 1'],
    ],
  );
});

test('drops and commits one after the other are one', async (t) => {
  for (const endsTurns of ['silence', 'commit'] as const) {
    const { live, stream, session, told } = open(t, endsTurns);
    live.push(counting(0, 8192));
    stream.event('speech.started', 100);
    stream.analyse();
    live.drop();
    live.drop();
    live.push(counting(8192, 8192));
    stream.analyse();
    live.commit();
    live.commit();
    live.push(counting(16_384, 8192));
    stream.event('speech.stopped', 1400);
    stream.event('turn.ended', 1500);
    stream.analyse();
    live.commit();
    await tick();
    const isCommit = endsTurns === 'commit';
    assert.deepEqual(
      told.filter(([what]) => what === 'final').map(([, turn, text]) => [turn, text]),
      isCommit
        ? [
            [1, 'turn 1'],
            [2, ''],
            [3, 'turn 2'],
          ]
        : [
            [1, 'turn 1'],
            [2, 'turn 2'],
          ],
      endsTurns,
    );
    // Every turn of the recogniser has sound.
    const places = session.orders.filter(([order]) => order === 'end').map(([, at]) => at);
    assert.deepEqual(places, [...new Set(places)]);
  }
});

test('a drop between two turns drops nothing', async (t) => {
  const { live, stream, told } = open(t);
  live.push(counting(0, 512));
  stream.analyse();
  live.drop();
  live.push(counting(512, 5120));
  stream.event('speech.started', 100);
  stream.event('turn.ended', 300);
  await tick();
  assert.deepEqual(told.at(-1), ['final', 0, 'turn 0']);
});

test('where only the client ends turns, a turn is all sound since the last one, whatever voice activity finds', async (t) => {
  const { live, stream, session, told } = open(t, 'commit');
  live.push(counting(0, 1024));
  stream.analyse();
  live.commit();
  live.push(counting(1024, 5120));
  stream.event('speech.started', 100);
  stream.event('speech.stopped', 200);
  stream.event('turn.ended', 300);
  stream.event('speech.started', 310);
  stream.analyse();
  live.drop();
  live.push(counting(6144, 5120));
  stream.analyse();
  live.commit();
  stream.event('speech.stopped', 600);
  await tick();
  assert.deepEqual(
    session.orders.map(([order]) => order),
    ['begin', 'end', 'begin', 'end', 'begin', 'end'],
  );
  assert.deepEqual(
    told.filter(([what]) => what === 'ended' || what === 'final'),
    [
      ['ended', 0, 0.064],
      ['ended', 2, 0.704],
      ['final', 0, 'turn 0'],
      ['final', 2, 'turn 2'],
    ],
  );
});

test('a commit has all of its sound where voice activity finds no speech in it, and one without sound has no text', async (t) => {
  const { live, stream, session, told } = open(t, 'commit');
  live.commit();
  live.push(counting(0, 16_100)); // no whole number of windows
  stream.analyse();
  live.commit();
  live.commit();
  live.push(counting(16_100, 512));
  stream.event('speech.started', 1016);
  const ended = live.end();
  stream.analyse();
  await tick();
  session.read();
  await ended;
  assert.deepEqual(session.orders, [
    ['begin', 0],
    ['end', 16_100],
    ['begin', 16_100],
    ['end', 16_612],
  ]);
  assert.deepEqual(session.sound, [...counting(0, 16_612)]);
  assert.deepEqual(
    told.filter(([what]) => what === 'final'),
    [
      ['final', 0, ''],
      ['final', 1, 'turn 0'],
      ['final', 2, ''],
      ['final', 3, 'turn 1'],
    ],
  );
});

test('digital silence around the sound of a commit is left out, and one that is silent as a whole is recognised', async (t) => {
  const { live, session, told } = open(t, 'commit');
  const silence = (count: number) => live.push(new Float32Array(count));
  silence(16_000);
  live.push(counting(1, 2000)); // at 16,000
  silence(16_000);
  live.push(counting(1, 1000)); // at 34,000: silence within belongs to it
  silence(15_000);
  live.commit();
  silence(5000); // from 50,000 on
  live.commit();
  silence(5000);
  live.drop();
  await tick();
  session.read();
  assert.deepEqual(session.orders, [
    ['begin', 17_600], // a moment late, as where voice activity finds speech
    ['end', 35_000],
    ['begin', 50_000],
    ['end', 55_000],
  ]);
  assert.deepEqual(
    told.filter(([what]) => what !== 'partial'),
    [
      ['ended', 0, 3.125],
      ['ended', 1, 3.4375],
      ['final', 0, 'turn 0'],
      ['final', 1, 'turn 1'],
    ],
  );
});

for (const [what, level, count] of [
  ['of 180 ms', 0.5, 2880],
  ['of 20 ms', 0.5, 320],
  ['that is as quiet as a whisper', 0.001, 2880],
  ['that is digital silence but for one step', 1 / 32_768, 2880],
] as const) {
  for (const silent of [0, 4800, 16_000, 160_000]) {
    test(`a commit ${what}, behind ${silent} samples of silence, is sent to a server whole`, async (t) => {
      const server = await TranscriptionServerUnderTest.open(t);
      const recogniser = new OpenAiRecogniser({
        servers: { pool: ServerPool.of([server.baseUrl], undefined, systemTime), model: 'whisper-1' },
        maxSessions: 1,
        timeoutMs: 60_000,
      });
      t.after(() => recogniser.close());
      const finals: string[] = [];
      const live = new LiveTranscriber({
        recogniser,
        activity: new ScriptedActivity(),
        settings: HEARING_SETTINGS,
        time: systemTime,
      }).open({
        name: 'a test',
        partials: false,
        endsTurns: 'commit',
        listener: {
          partial: () => undefined,
          final: ({ text }) => finals.push(text),
          failed: ({ code }) => finals.push(code),
        },
      });
      t.after(() => live.close());
      live.push(new Float32Array(silent));
      live.push(new Float32Array(count).fill(level));
      live.commit();
      const request = await server.request(0);
      assert.equal(request.sound.filter((sample) => sample !== 0).length, count);
      request.say('yes');
      await until(() => finals.length === 1);
      assert.deepEqual(finals, ['yes']);
    });
  }
}

test('late speech of a turn that was dropped has the number of that turn', (t) => {
  const { live, stream, told } = open(t, 'commit');
  live.push(counting(1, 16_000));
  live.drop();
  live.push(counting(1, 16_000));
  stream.event('speech.started', 500);
  stream.event('speech.stopped', 900);
  stream.event('speech.started', 1500);
  assert.deepEqual(told, [
    ['started', 0, 0.5],
    ['stopped', 0, 0.9],
    ['started', 1, 1.5],
  ]);
});

test('sound that nobody can keep up with is refused after a minute', (t) => {
  const { live, session, told } = open(t);
  session.reads = false;
  for (let second = 0; second < 70; second++) live.push(new Float32Array(16_000));
  assert.deepEqual(told, [['failed', 'OVERLOADED']]);
  assert.equal(session.closed, true);
});

test('a recogniser that fails, and voice activity that is lost, end it with their error', async (t) => {
  const first = open(t);
  first.session.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await tick();
  assert.deepEqual(first.told, [['failed', 'ENGINE_LOST']]);
  const second = open(t);
  second.stream.lose();
  second.stream.lose();
  await tick();
  assert.deepEqual(second.told, [['failed', 'HEARING_FAILED']]);
  assert.equal(second.session.closed, true);
});

test('what cannot be opened leaves nothing open', () => {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const time = new ManualTime();
  const transcriber = new LiveTranscriber({ recogniser, activity, settings: HEARING_SETTINGS, time });
  const listener = { partial: () => undefined, final: () => undefined, failed: () => undefined };
  const ask = () => transcriber.open({ name: 'a test', partials: false, endsTurns: 'silence', listener });
  activity.refusal = new ParleyError('HEARING_FAILED', 'no worker');
  assert.throws(ask, { code: 'HEARING_FAILED' });
  assert.equal(recogniser.sessions, 0);
  recogniser.refusal = new ParleyError('ENGINE_BUSY', 'too many');
  const before = process.memoryUsage.rss();
  for (let n = 0; n < 1000; n++) assert.throws(ask, { code: 'ENGINE_BUSY' });
  const grownMb = (process.memoryUsage.rss() - before) / 1e6;
  assert.ok(grownMb < 100, `${grownMb} MB: a ring of each refusal would be 256`);
});

test('a silence that the client states moves the bounds with it', () => {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const transcriber = new LiveTranscriber({
    recogniser,
    activity,
    settings: HEARING_SETTINGS,
    time: new ManualTime(),
  });
  const listener = { partial: () => undefined, final: () => undefined, failed: () => undefined };
  for (const silenceMs of [100, 9000]) {
    const live = transcriber.open({
      name: 'a test',
      partials: false,
      turns: { silenceMs },
      endsTurns: 'silence',
      listener,
    });
    const { settings } = activity.streams.at(-1) ?? {};
    assert.ok(
      settings !== undefined && settings.minSilenceMs <= silenceMs && settings.maxSilenceMs >= silenceMs,
    );
    assert.deepEqual([settings.silenceMs, settings.minSpeechMs], [silenceMs, 0]);
    live.close();
  }
});

test('figures are told where they are asked for; no part of a partial text with figures is stable', async (t) => {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const told: unknown[][] = [];
  const parts = { recogniser, activity, settings: HEARING_SETTINGS, time: new ManualTime() };
  const live = new LiveTranscriber({ ...parts, smartFormat: true }).open({
    name: 'a test',
    partials: true,
    endsTurns: 'silence',
    listener: {
      partial: ({ text, stable }) => told.push(['partial', text, stable]),
      final: ({ text, stable }) => told.push(['final', text, stable]),
      failed: ({ code }) => told.push(['failed', code]),
    },
  });
  t.after(() => live.close());
  const [session] = recogniser.opened;
  const [stream] = activity.streams;
  assert.ok(session !== undefined && stream !== undefined);
  session.textOf = () => 'three dollars and fifty cents';
  live.push(counting(0, 32_000));
  stream.event('speech.started', 100);
  stream.analyse();
  session.read();
  session.partial('three dollars', 13);
  stream.event('speech.stopped', 1000);
  stream.event('turn.ended', 1600);
  stream.analyse();
  await tick();
  assert.deepEqual(told, [
    ['partial', '$3', 0],
    ['final', '$3.50', 5],
  ]);
});
