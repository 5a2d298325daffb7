// The verb record: what ends it, what is told of it, and which file is left.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { RecordVoice, Verb } from '../../src/ivr/verbs.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { openRecordings } from '../recording/recordings-under-test.js';
import { openProgram, program, type ProgramUnderTest, record, say, spoken } from './program-under-test.js';

const calls = openCalls();

type Setting = Parameters<typeof openProgram>[2];

/** The caller is recorded, after a beep if there is one. */
async function recorded(
  t: TestContext,
  more: Partial<RecordVoice> = {},
  { before = [], ...setting }: Setting & { readonly before?: readonly Verb[] } = {},
) {
  const { recordings, folder } = await openRecordings(t);
  const under = await openProgram(calls, [...before, record(more), say('Next.')], {
    programs: { result: program(say('Thanks.')) },
    recordings: { service: recordings, ownerOf: () => undefined },
    ...setting,
  });
  // The worker that writes the file knows nothing of the test's time, which stands still meanwhile.
  const begun = () => until(() => under.count('recording.started') === 1);
  const files = () => readdirSync(folder);
  return { under, begun, files };
}

const told = ({ door }: ProgramUnderTest) =>
  door.notices.map((notice) => ('status' in notice ? `${notice.of} ${notice.status}` : notice.of));

const ends = (under: ProgramUnderTest): Promise<void> =>
  under.passUntil(() => under.orders.includes('hang up'));

/** The file is whole, or gone, and the program goes on to its end. */
async function wentOn(under: ProgramUnderTest): Promise<void> {
  await until(() => under.count('recording.stopped') === 1 && told(under).length > 1);
  await settle();
  await ends(under);
}

function resultOf({ door }: ProgramUnderTest) {
  const [[at, result] = assert.fail('nothing followed')] = door.results;
  assert.ok(result.of === 'record');
  return { at, ...result };
}

test('a key ends the recording: its file is whole when the action gets the result', async (t) => {
  const { under, begun, files } = await recorded(t);
  await begun();
  under.begins();
  under.press('5#');
  await wentOn(under);
  const { at, by, key, recording } = resultOf(under);
  assert.deepEqual([at, by, key], ['result', 'key', '#']);
  assert.deepEqual(files(), [recording]);
  assert.deepEqual(told(under), ['recording in-progress', 'recording completed']);
  assert.deepEqual(spoken(under), ['Thanks.']);
});

test('silence behind speech ends the recording, and speech that goes on does not', async (t) => {
  const { under, begun } = await recorded(t);
  await begun();
  under.begins();
  under.pass(20_000);
  await settle();
  assert.deepEqual(under.door.results, []);
  under.stops();
  under.pass(4000);
  await settle();
  assert.deepEqual(under.door.results, []);
  under.pass(500);
  await until(() => under.door.results.length === 1);
  assert.deepEqual([resultOf(under).by, resultOf(under).key], ['silence', undefined]);
});

test('where nothing is said, no file is left and the next verb follows', async (t) => {
  const { under, begun, files } = await recorded(t);
  await begun();
  under.pass(5000);
  await wentOn(under);
  assert.deepEqual(under.door.results, []);
  assert.deepEqual(files(), []);
  assert.deepEqual(told(under), ['recording in-progress', 'recording absent']);
  assert.deepEqual(spoken(under), ['Next.']);
});

test('a time-out of 0 lets silence go on to the longest time', async (t) => {
  const { under, begun } = await recorded(t, { timeoutMs: 0 });
  await begun();
  under.pass(59_000);
  await settle();
  assert.deepEqual(under.door.results, []);
  under.pass(1000);
  await until(() => under.door.results.length === 1);
  assert.equal(resultOf(under).by, 'length');
});

test('a caller who hangs up is recorded to the end, and the action and the callback learn of it', async (t) => {
  const { under, begun, files } = await recorded(t);
  await begun();
  under.begins();
  await under.call.close('peer hung up');
  await under.run.over;
  assert.equal(resultOf(under).by, 'hangup');
  assert.deepEqual(files(), [resultOf(under).recording]);
  assert.deepEqual(told(under), ['recording in-progress', 'recording completed']);
  await until(() => under.door.isClosed);
  assert.deepEqual(spoken(under), []);
  assert.equal(under.time.waiting, 0);
});

test('another program stops the recording, and its action is not asked', async (t) => {
  const { under, begun, files } = await recorded(t);
  await begun();
  under.begins();
  under.run.replace({ program: program(say('Now this.')) });
  await wentOn(under);
  assert.deepEqual(under.door.results, []);
  assert.equal(files().length, 1);
  assert.deepEqual(spoken(under), ['Now this.']);
});

test('the beep comes first, and keys before its end do not count', async (t) => {
  const { under, begun } = await recorded(t, { beeps: true });
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.press('#');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  await begun();
  under.begins();
  await settle();
  assert.deepEqual(under.door.results, []);
  under.press('#');
  await until(() => under.door.results.length === 1);
});

test('a call that ends within the beep has no recording', async (t) => {
  const { under, files } = await recorded(t, { beeps: true });
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual([files(), under.door.results], [[], []]);
});

test('the text of a message comes after the call, and the door stays open for it', async (t) => {
  let tellText: (text: string) => void = () => undefined;
  const asked: string[] = [];
  const transcribe = (name: string) => {
    asked.push(name);
    return new Promise<string>((resolve) => (tellText = resolve));
  };
  const { under, begun, files } = await recorded(t, { transcript: { at: 'text' } }, { transcribe });
  await begun();
  under.begins();
  under.pass(4000);
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual([asked, under.door.isClosed], [files(), false]);
  tellText('Call me back.');
  await until(() => under.door.isClosed);
  const notice = under.door.notices.at(-1);
  assert.ok(notice?.of === 'transcription');
  assert.deepEqual([notice.status, notice.text, notice.recording], ['completed', 'Call me back.', asked[0]]);
});

test('a recogniser that fails is a warning, and the text is told as failed', async (t) => {
  const transcribe = () => Promise.reject(new Error('it is gone'));
  const { under, begun } = await recorded(t, { transcript: { at: 'text' } }, { transcribe });
  await begun();
  under.begins();
  under.pass(4000);
  under.press('#');
  await until(() => told(under).includes('transcription failed'));
  assert.equal(under.mistakes().length, 1);
});

test('the text of a recording that is too short is told as failed', async (t) => {
  const transcribe = () => assert.fail('nothing is transcribed');
  const { under, begun } = await recorded(t, { transcript: { at: 'text' } }, { transcribe });
  await begun();
  under.begins();
  under.press('#');
  await wentOn(under);
  assert.deepEqual(told(under).at(-1), 'transcription failed');
  assert.deepEqual(under.mistakes(), ['program.warning: recordings of 2 to 120 s are transcribed']);
});

test('a server that records no calls warns, and the next verb follows', async () => {
  const under = await openProgram(calls, [record(), say('Next.')]);
  await ends(under);
  assert.deepEqual(under.mistakes(), ['program.warning: this server records no calls']);
  assert.deepEqual([told(under), spoken(under)], [['recording absent'], ['Next.']]);
});
