// The voice of a call that its caller interrupts: the test decides in place of the worker that hears.
// Everything else is real but the engine, the network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallEvent } from '../../src/call/call-events.js';
import { PCMU } from '../../src/codecs/codec.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { ParleyError } from '../../src/errors.js';
import { type CallUnderTest, FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { FakeHearing } from '../fakes/fake-hearing.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { heardOf, rising } from './heard-sound.js';

const calls = openCalls();

interface HeardCall extends CallUnderTest {
  readonly hearing: FakeHearing;
  /** Does what the worker does at an onset. */
  pause(track: number): void;
  count(type: CallEvent['type']): number;
}

function openCall(settings: Partial<HearingSettings> = {}): HeardCall {
  const hearing = new FakeHearing({ ...HEARING_SETTINGS, ...settings });
  const under = calls.open(undefined, { hearing });
  const pause = (track: number) => {
    assert.ok(hearing.tracks.includes(track), `track ${track} may not be interrupted`);
    assert.equal(under.port.playout.fade(track), true);
    hearing.report({ type: 'bargein.paused', track, onsetMs: 0, atMs: 0 });
  };
  const count = (type: CallEvent['type']) => under.events.filter((event) => event.type === type).length;
  return { ...under, hearing, pause, count };
}

const TEXT = 'alpha beta gamma'; // one second, in which "beta" begins after an estimated 344 ms

async function speakAndPass(under: HeardCall, ms: number) {
  under.engine.sounds.set(TEXT, rising(1000));
  const utterance = under.call.speak(TEXT, { interruptible: 'speech' });
  await utterance.pushed;
  under.pass(ms);
  return utterance;
}

const eventTypes = ({ events }: HeardCall) => events.map(({ type }) => type);

test('speech interrupts: the voice fades within one frame, and nothing of it comes later', async () => {
  const under = openCall();
  const utterance = await speakAndPass(under, 400);
  under.sent();
  under.pause(utterance.number);
  under.pass(FRAME_MS);
  assert.equal(
    heardOf(under.sent()).some((sample) => sample !== 0),
    true,
    'the frame that fades',
  );
  under.pass(500);
  assert.equal(
    heardOf(under.sent()).some((sample) => sample !== 0),
    false,
  );
  under.hearing.report({ type: 'bargein.confirmed', track: utterance.number, atMs: 0 });
  under.pass(2000);
  assert.equal(
    heardOf(under.sent()).some((sample) => sample !== 0),
    false,
  );
  assert.deepEqual(under.events.at(-1), {
    type: 'utterance.interrupted',
    utterance: utterance.number,
    text: 'alpha',
    heard: 'alpha',
    durationMs: 420,
  });
  assert.deepEqual((await utterance.ended).end, 'interrupted');
});

test('after a noise the voice goes on with its unfinished word, which counts once', async () => {
  const under = openCall();
  const utterance = await speakAndPass(under, 500);
  under.pause(utterance.number);
  under.pass(1000);
  under.sent();
  under.hearing.report({ type: 'bargein.false', track: utterance.number, atMs: 0, speechMs: 100 });
  under.pass(2000);
  // "beta" began after 344 ms: from frame 17 of 50 on everything comes, of it the word's part twice.
  const sounding = under.sent().filter((packet) => heardOf([packet]).some((sample) => sample !== 0));
  assert.equal(sounding.length, 50 - 17);
  assert.deepEqual(eventTypes(under).slice(2), [
    'utterance.paused',
    'utterance.resumed',
    'sentence.spoken',
    'utterance.spoken',
  ]);
  assert.deepEqual(await utterance.ended, { end: 'spoken', text: TEXT, durationMs: 1000 });
});

test('a late decision about one text does not resume another one that has faded', async () => {
  const under = openCall();
  const first = await speakAndPass(under, 200);
  under.pause(first.number);
  under.call.interrupt('next');
  const second = await speakAndPass(under, 200);
  assert.equal(under.port.playout.fade(second.number), true); // the report of it is on its way
  under.pass(2 * FRAME_MS);
  under.sent();
  under.hearing.report({ type: 'bargein.false', track: first.number, atMs: 0, speechMs: 100 });
  under.pass(500);
  const isSilent = () => !heardOf(under.sent()).some((sample) => sample !== 0);
  assert.equal(isSilent(), true);
  under.hearing.report({ type: 'bargein.paused', track: second.number, onsetMs: 0, atMs: 0 });
  under.hearing.report({ type: 'bargein.false', track: second.number, atMs: 0, speechMs: 100 });
  under.pass(500);
  assert.equal(isSilent(), false);
});

test('a text that may not be interrupted protects those before it', async () => {
  const under = openCall();
  const utterance = await speakAndPass(under, 200);
  under.pause(utterance.number);
  const protectedOne = under.call.speak('Delta.');
  assert.deepEqual(under.hearing.tracks, []);
  under.hearing.report({ type: 'bargein.confirmed', track: utterance.number, atMs: 0 });
  assert.equal(under.events.at(-1)?.type, 'utterance.resumed');
  await protectedOne.pushed;
  under.pass(5000);
  assert.equal((await protectedOne.ended).end, 'spoken');
});

test('a key interrupts what a key may interrupt, and nothing else', async () => {
  const under = openCall();
  const speech = await speakAndPass(under, 100);
  under.call.pressed('5');
  assert.equal(speech.state, 'speaking');
  under.call.interrupt('next');
  for (const interruptible of ['dtmf', 'any'] as const) {
    const utterance = under.call.speak('Press one.', { interruptible });
    under.call.pressed('5');
    assert.equal((await utterance.ended).end, 'interrupted');
  }
});

test('a key that goes down interrupts already, and is told when it is released', async () => {
  const under = openCall();
  const utterance = under.call.speak('Press one.', { interruptible: 'dtmf' });
  under.call.keyDown();
  assert.equal((await utterance.ended).end, 'interrupted');
  assert.equal(
    under.events.some(({ type }) => type === 'digit'),
    false,
  );
  const next = under.call.speak('You may not interrupt this.');
  under.call.keyDown();
  assert.equal(next.state, 'waiting');
});

test('an utterance that has not begun was heard as an empty text', async () => {
  const under = openCall();
  const utterance = under.call.speak(TEXT, { interruptible: 'any' });
  under.hearing.report({ type: 'bargein.confirmed', track: utterance.number, atMs: 0 });
  const { text, end } = await utterance.ended;
  assert.deepEqual({ text, end }, { text: '', end: 'interrupted' });
});

test('the time without input begins once nothing is spoken', async () => {
  const under = openCall();
  const utterance = await speakAndPass(under, 100);
  under.call.listen({ noInputMs: 5000 });
  assert.deepEqual(under.hearing.asked.slice(1), [['change', { noInputMs: 5000 }]]);
  under.pass(2000);
  await utterance.ended;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(under.hearing.asked.at(-1), 'awaitInput');
});

test('speech, turns and silence of the caller are events of the call', () => {
  const under = openCall();
  under.call.listen({});
  const { report } = under.hearing;
  report({ type: 'speech.started', atMs: under.time.now() - 100 });
  report({ type: 'speech.stopped', atMs: 0, durationMs: 480.4 });
  report({ type: 'turn.ended', atMs: 600, startedMs: 0, speechMs: 480.4, reason: 'silence' });
  report({ type: 'no_input', atMs: 0 });
  const [started, ...others] = under.events;
  assert.ok(started?.type === 'speech.started' && Math.abs(started.onsetAt - (Date.now() - 100)) < 1000);
  assert.deepEqual(others, [
    { type: 'speech.stopped', durationMs: 480 },
    { type: 'turn.ended', turn: 0, speechMs: 480, silenceMs: 600, reason: 'silence' },
    { type: 'no_input' },
  ]);
});

test('where no hearing worker can be started the voice speaks, and only keys interrupt it', async () => {
  const under = openCall();
  under.hearing.service.listen = () => {
    throw new ParleyError('HEARING_FAILED', 'no hearing worker can be started');
  };
  under.engine.sounds.set(TEXT, rising(1000));
  await under.call.speak(TEXT, { interruptible: 'any' }).pushed;
  under.pass(500);
  under.call.pressed('5');
  assert.deepEqual(eventTypes(under).slice(-2), ['utterance.interrupted', 'digit']);
  assert.throws(() => under.call.listen({}), { code: 'HEARING_FAILED' });
});

test('a call whose far end sends no sound says that it cannot be interrupted', () => {
  const under = calls.open();
  const message = /this server does not hear callers/;
  assert.throws(() => under.call.listen({}), { code: 'CALL_STATE', message });
  assert.throws(() => under.call.speak('Hello.', { interruptible: 'speech' }), {
    code: 'CALL_STATE',
    message,
  });
});

test('a caller whom two want heard is heard until both are done, or for as long as `listen` asks for it', () => {
  const under = openCall();
  const [first, second] = [under.call.hear(), under.call.hear()];
  first();
  first();
  assert.deepEqual(under.hearing.asked, [['listen', 'call-1', HEARING_SETTINGS]]);
  second();
  assert.deepEqual(under.hearing.asked.slice(1), ['close']);
  const third = under.call.hear();
  under.call.listen({ silenceMs: 700 });
  third();
  assert.deepEqual(under.hearing.asked.slice(3), [['change', { silenceMs: 700 }]]);
});

test('the end of the call ends its hearing', async () => {
  const under = openCall();
  under.call.listen({});
  await under.call.close('test');
  assert.deepEqual(under.hearing.asked.at(-1), 'close');
});

test('a call keeps its settings while it has a port without sound, and is heard again through the next', () => {
  const under = openCall();
  const { port, hearing } = under;
  under.call.listen({ silenceMs: 200, noInputMs: 5000 });
  const settings = { ...HEARING_SETTINGS, silenceMs: 200, minSilenceMs: 200, noInputMs: 5000 };
  assert.deepEqual(hearing.asked, [['listen', 'call-1', settings], 'awaitInput']);
  const deaf = under.openPort(PCMU, FRAME_MS);
  under.call.moveTo(deaf);
  assert.throws(() => under.call.listen({}), { code: 'CALL_STATE' });
  assert.deepEqual(hearing.asked.slice(2), ['close']);
  const { socket } = port;
  assert.ok(socket !== undefined);
  under.call.moveTo({ ...under.openPort(PCMU, FRAME_MS), socket });
  assert.deepEqual(hearing.asked.slice(3), [['listen', 'call-1', settings], 'awaitInput']);
});

test('a call that is no longer to be heard stays so when it moves, and begins with the defaults', () => {
  const under = openCall();
  const { socket } = under.port;
  assert.ok(socket !== undefined);
  under.call.listen({ silenceMs: 200 });
  under.call.listen(undefined);
  under.call.moveTo(under.openPort(PCMU, FRAME_MS));
  under.call.moveTo({ ...under.openPort(PCMU, FRAME_MS), socket });
  assert.equal(under.hearing.asked.length, 2);
  under.call.listen({});
  assert.deepEqual(under.hearing.asked.at(-1), ['listen', 'call-1', HEARING_SETTINGS]);
});

/** The caller says something short over the voice, which is paused. */
async function speakOver(under: HeardCall) {
  const utterance = await speakAndPass(under, 400);
  under.hearing.report({ type: 'speech.started', atMs: under.time.now() });
  under.pause(utterance.number);
  under.pass(300);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 300 });
  return utterance;
}

const IGNORING = { ignoreBackchannel: true };
const said = (text: string, upTo: 'now' | 'pause' | 'end', turn = 0) =>
  ({ turn, text, language: 'en', upTo }) as const;

for (const upTo of ['pause', 'end'] as const) {
  test(`a word of a turn over the voice interrupts it, back-channels do not, up to its ${upTo}`, async () => {
    const stopped = openCall(IGNORING);
    const utterance = await speakOver(stopped);
    stopped.call.words(said('Stop.', upTo));
    assert.equal((await utterance.ended).end, 'interrupted');
    assert.deepEqual(stopped.hearing.tracks, []);
    for (const text of ['Mhm.', '']) {
      const under = openCall(IGNORING);
      await speakOver(under);
      under.call.words(said(text, upTo));
      assert.equal(under.hearing.words.at(-1)?.isNoInterruption, true, text);
      assert.equal(under.count('utterance.interrupted'), 0);
    }
    const relay = openCall();
    const other = await speakOver(relay);
    relay.call.words(said('Mhm.', upTo));
    assert.equal((await other.ended).end, 'interrupted', 'where back-channels are not ignored');
  });
}

test('words that are not whole, or of another turn, decide nothing about the voice', async () => {
  const under = openCall(IGNORING);
  await speakOver(under);
  under.call.words(said('Stop', 'now'));
  under.call.words(said('Stop.', 'end', 7));
  assert.equal(under.count('utterance.interrupted'), 0);
  assert.deepEqual(
    under.hearing.words.map(({ isNoInterruption }) => isNoInterruption),
    [false],
  );
});

test('words end a voice that went on before they were known, and none that may not be interrupted', async () => {
  const under = openCall(IGNORING);
  const utterance = await speakOver(under);
  under.hearing.report({ type: 'bargein.false', track: utterance.number, atMs: 0, speechMs: 300 });
  under.call.words(said('Stop.', 'pause'));
  assert.equal((await utterance.ended).end, 'interrupted');
  const guarded = openCall(IGNORING);
  await speakOver(guarded);
  guarded.call.speak('Delta.');
  guarded.call.words(said('Stop.', 'pause'));
  assert.equal(guarded.count('utterance.interrupted'), 0);
});

test('the worker learns by the words whether the sentence is complete, of which pause they are, and the language', () => {
  const under = openCall();
  under.call.expectWords('texts of pauses');
  under.call.listen({});
  assert.equal(under.hearing.expectedWords, 'texts of pauses');
  under.hearing.report({ type: 'speech.started', atMs: 0 });
  under.call.words(said('My number is', 'now'));
  under.hearing.report({ type: 'speech.stopped', atMs: 1234, durationMs: 1234 });
  under.call.words(said('Yes.', 'pause'));
  under.hearing.report({ type: 'turn.ended', atMs: 2000, startedMs: 0, speechMs: 1234, reason: 'silence' });
  under.call.words(said('Yes.', 'end'));
  under.call.words(said('late', 'now'));
  assert.deepEqual(under.hearing.words, [
    { hint: 'unfinished', isNoInterruption: false, language: 'en' },
    { hint: 'finished', pauseMs: 1234, isNoInterruption: false, language: 'en' },
  ]);
});
