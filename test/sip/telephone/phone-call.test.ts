import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEnd } from '../../../sip/session/session.js';
import type { CallerListener } from '../../../src/call/caller-texts.js';
import { EventLog, SilenceLimit } from '../../../sip/telephone/call-state.js';
import { PhoneBook } from '../../../sip/telephone/phone-book.js';
import { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import {
  aCall,
  asCall,
  busy,
  EPOCH_MS,
  FakeMedia,
  FakeSession,
  FIGURES,
  legOf,
  newPort,
  settled,
} from './fake-legs.js';

const WRONG_STATE = { code: 'WRONG_STATE' };

void test('a call that came in rings, is connected once acknowledged, and ends once', async () => {
  const { phone, session, media, call, states, records, time } = aCall({ connected: false, route: 'sales' });
  time.advance(300);
  session.user.accepted?.();
  time.advance(50);
  media.agree();
  phone.talks(asCall(call));
  session.establish();
  time.advance(40);
  call.emit({ type: 'utterance.started', utterance: 1, firstPacketMs: 1, queuedMs: 0 });
  time.advance(10);
  session.end({ by: 'peer', reason: { protocol: 'q.850', cause: 16, text: 'bye' } });
  session.end({ by: 'transport' });
  await phone.over;
  await phone.end({ reason: 'failed' });
  assert.deepEqual(states(), ['ringing', 'connected', 'ended']);
  assert.deepEqual([media.closed, records.length], [1, 1]);
  assert.deepEqual(records[0], {
    id: 'call-1',
    protocol: 'sip',
    direction: 'inbound',
    from: 'sip:anna@a',
    to: 'sip:100@parley',
    route: 'sales',
    callId: 'c1',
    startedAt: EPOCH_MS + 1000,
    answeredAt: EPOCH_MS + 1350,
    endedAt: EPOCH_MS + 1400,
    totalMs: 400,
    setupMs: 300,
    connectedMs: 50,
    firstAudioMs: 40,
    end: { reason: 'peer hung up', cause: 16, detail: 'bye' },
    digits: 0,
    ...FIGURES,
    sent: { packets: 5, silencePackets: 2, underruns: 1 },
  });
});

for (const [end, direction, reason, setupMs] of [
  [{ by: 'cancelled' }, 'inbound', 'cancelled', 700],
  [{ by: 'us', status: 404 }, 'inbound', 'rejected', 700],
  [{ by: 'us', status: 500 }, 'outbound', 'failed', 700],
  [{ by: 'rejected', status: 486 }, 'outbound', 'rejected', 700],
  [{ by: 'unanswered', status: 408 }, 'outbound', 'no answer', 700],
  [{ by: 'unacknowledged', status: 504 }, 'inbound', 'failed', 700],
  [{ by: 'transport' }, 'outbound', 'failed', undefined],
] as const satisfies readonly (readonly [SessionEnd, string, string, number | undefined])[]) {
  void test(`${end.by} before the answer of an ${direction} call: ${reason}, set up in ${setupMs ?? 'no'} ms`, async () => {
    const { phone, session, records, time, media } = aCall({ connected: false, direction });
    time.advance(700);
    session.end(end);
    assert.equal((await phone.over).reason, reason);
    assert.deepEqual([records[0]?.setupMs, records[0]?.answeredAt, media.closed], [setupMs, undefined, 1]);
    assert.equal(time.waiting, 0);
  });
}

for (const connected of [false, true]) {
  void test(`hanging up a call that is ${connected ? 'connected' : 'ringing'} tells the far end and frees everything once`, async () => {
    const { phone, session, media, call, records, states, time } = aCall({ connected });
    await Promise.all([phone.end({ reason: 'we hung up' }), phone.end({ reason: 'silence' })]);
    assert.deepEqual(session.asked, ['hangUp Normal call clearing']);
    assert.deepEqual([media.closed, records.length, records[0]?.end], [1, 1, { reason: 'we hung up' }]);
    assert.deepEqual(
      call.asked.filter((what) => what.startsWith('close')),
      connected ? ['close we hung up'] : [],
    );
    assert.equal(states().at(-1), 'ended');
    assert.equal(time.waiting, 0);
    assert.throws(() => phone.speak('x'), WRONG_STATE);
  });
}

void test('a call whose conversation begins after it ended closes that, too', async () => {
  const { phone, call, media } = aCall({ connected: false });
  await phone.end({ reason: 'we hung up' });
  await assert.rejects(phone.port, { code: 'ABORTED' });
  phone.talks(asCall(call));
  assert.deepEqual([call.asked, media.closed], [['close we hung up'], 1]);
});

void test('silence ends a call, but neither ringing, speech nor hold is silence', async () => {
  const ringing = aCall({ connected: false });
  ringing.time.advance(600_000);
  assert.equal(ringing.phone.state, 'ringing');
  const { phone, time, call, media } = aCall();
  phone.speak('long');
  time.advance(90_000);
  call.heard();
  await settled();
  time.advance(59_999);
  media.onHeld?.(true);
  time.advance(900_000);
  assert.equal(phone.state, 'held');
  media.onHeld?.(false);
  media.onDigit?.('1', 100, 0);
  time.advance(59_999);
  assert.equal(phone.state, 'connected');
  time.advance(1);
  assert.equal((await phone.over).reason, 'silence');
});

void test('the voice of an agent is no silence, either', async () => {
  const { phone, time, call } = aCall();
  time.advance(59_000);
  call.emit({ type: 'utterance.started', utterance: 1, firstPacketMs: 1, queuedMs: 1 });
  time.advance(90_000);
  call.emit({ type: 'utterance.spoken', utterance: 1, text: 'Long.', durationMs: 90_000 });
  time.advance(59_999);
  assert.equal(phone.state, 'connected');
  time.advance(1);
  assert.equal((await phone.over).reason, 'silence');
});

void test('the media of every leg logs the id of the call', () => {
  const { phone, media } = aCall();
  const [next, port] = [new FakeSession(), new FakeMedia()];
  next.state = 'confirmed';
  phone.carriedBy(legOf(next, port));
  assert.deepEqual([media.call, port.call], [phone.info.id, phone.info.id]);
});

void test('a digit is told and kept once, of whichever leg carries the call', () => {
  const { phone, media, session, events } = aCall();
  media.onDigit?.('1', 100, 0);
  session.user.digit?.('#', 160);
  const [next, port] = [new FakeSession(), new FakeMedia()];
  next.state = 'confirmed';
  phone.carriedBy(legOf(next, port));
  media.onDigit?.('9', 100, 0);
  port.onDigit?.('2', 80, 0);
  assert.deepEqual(
    phone.view.digits.map(({ digit, durationMs }) => [digit, durationMs]),
    [
      ['1', 100],
      ['#', 160],
      ['2', 80],
    ],
  );
  assert.equal(events.filter(({ type }) => type === 'digit').length, 3);
});

void test('hold and resume change the state; refused, everything is as before', async () => {
  const { phone, session, media, states } = aCall();
  await phone.hold(true);
  assert.equal(phone.state, 'held');
  session.reoffered = busy;
  await assert.rejects(phone.hold(false), WRONG_STATE);
  assert.equal(phone.state, 'held');
  session.reoffered = { value: undefined };
  await phone.hold(false);
  await phone.hold(false);
  assert.deepEqual(media.asked, ['hold true', 'hold false', 'hold true', 'hold false']);
  assert.deepEqual(states(), ['ringing', 'connected', 'held', 'connected']);
});

void test('resuming while the hold is still being asked for waits for its turn, and is asked for', async () => {
  const { phone, session, media, states } = aCall();
  const answers: (() => void)[] = [];
  session.reoffer = () => {
    session.asked.push('reoffer');
    return new Promise((resolve) => answers.push(() => resolve({ value: undefined })));
  };
  const asked = [phone.hold(true), phone.hold(false), phone.hold(true), phone.hold(true)];
  for (const held of ['held', 'connected', 'held']) {
    await settled();
    assert.equal(answers.length, 1, 'one at a time');
    answers.shift()?.();
    await settled();
    assert.equal(phone.state, held);
  }
  await Promise.all(asked);
  assert.deepEqual(media.asked, ['hold true', 'hold false', 'hold true']);
  assert.deepEqual(states(), ['ringing', 'connected', 'held', 'connected', 'held']);
});

void test('a hold that is refused leaves those that wait behind it their turn', async () => {
  const { phone, session } = aCall();
  session.reoffered = busy;
  const first = phone.hold(true);
  const second = phone.hold(true);
  await assert.rejects(first, WRONG_STATE);
  await assert.rejects(second, WRONG_STATE);
  assert.deepEqual(session.asked, ['reoffer', 'reoffer']);
  session.reoffered = { value: undefined };
  const third = phone.hold(true);
  const ended = phone.hold(false);
  void phone.end({ reason: 'we hung up' });
  await assert.rejects(third, WRONG_STATE);
  await assert.rejects(ended, WRONG_STATE);
});

void test('a hold that another leg comes in the way of is asked of that one', async () => {
  const { phone, session } = aCall();
  let answer = (): void => undefined;
  session.reoffer = () => new Promise((resolve) => (answer = () => resolve({ value: undefined })));
  const held = phone.hold(true);
  await settled();
  const [next, port] = [new FakeSession(), new FakeMedia()];
  next.state = 'confirmed';
  phone.carriedBy(legOf(next, port));
  answer();
  await held;
  assert.deepEqual([next.asked, port.asked, phone.state], [['reoffer'], ['hold true'], 'held']);
});

void test('a port that changes before there is a conversation is the one it goes on with', async () => {
  const { phone, media, call, session } = aCall({ connected: false });
  media.agree();
  assert.equal(await phone.port, media.port);
  const [second, third] = [newPort(), newPort()];
  media.onPort?.(second);
  phone.talks(asCall(call));
  session.establish();
  media.onPort?.(third);
  assert.deepEqual(call.ports, [second, third]);
  call.refusal = new ParleyError('CALL_CLOSED', 'closing');
  assert.doesNotThrow(() => media.onPort?.(newPort()));
  assert.equal(phone.state, 'connected');
});

void test('first words that can no longer be spoken end the call, and nothing is thrown at the network', async () => {
  const { phone, media, call, session } = aCall({ connected: false });
  phone.onceTalking(() => void phone.speak('Hello.'));
  media.agree();
  phone.talks(asCall(call));
  call.refusal = new ParleyError('ENGINE_UNAVAILABLE', 'no engine; TTS_API_KEY is not set');
  assert.doesNotThrow(() => session.establish());
  assert.deepEqual(await phone.over, { reason: 'failed', detail: 'no engine' });
});

void test('early media is spoken before the answer, and no more once the call is over', async () => {
  const { phone, media, call } = aCall({ connected: false });
  const said: string[] = [];
  phone.onceAudible(() => said.push('audible'));
  phone.onceTalking(() => said.push('talking'));
  assert.throws(() => phone.speakEarly({ text: 'One moment.' }), WRONG_STATE);
  media.agree();
  phone.talks(asCall(call));
  phone.speakEarly({ text: 'One moment.' });
  assert.deepEqual([said, call.asked.at(-1), phone.state], [['audible'], 'speak One moment.', 'ringing']);
  assert.throws(() => phone.speak('x'), WRONG_STATE);
  await phone.end({ reason: 'cancelled' });
  assert.throws(() => phone.speakEarly({ text: 'x' }), WRONG_STATE);
});

void test('a leg that comes while the other side holds begins unheld, and one that comes too late is ended', async () => {
  const { phone, media, session } = aCall();
  media.onHeld?.(true);
  const [next, port] = [new FakeSession(), new FakeMedia()];
  next.state = 'confirmed';
  phone.carriedBy(legOf(next, port));
  assert.equal(phone.state, 'connected');
  session.end({ by: 'peer' });
  media.onSilent?.();
  assert.equal(phone.state, 'connected', 'the leg before is no longer listened to');
  await phone.end({ reason: 'we hung up' });
  assert.deepEqual([port.closed, media.closed], [1, 0]);
  const [late, lateMedia] = [new FakeSession(), new FakeMedia()];
  phone.carriedBy(legOf(late, lateMedia));
  await settled();
  assert.deepEqual([late.asked, lateMedia.closed, phone.leg], [['hangUp'], 1, undefined]);
});

void test('a transfer that succeeds ends the call, one that does not leaves it', async () => {
  const { phone, session, records, events } = aCall();
  session.referred = { value: 486 };
  assert.deepEqual(await phone.transfer({ uri: 'sip:c@d' }, 'c'), { accepted: false, status: 486 });
  session.referred = busy;
  assert.deepEqual(await phone.transfer({ uri: 'sip:c@d' }, 'c'), { accepted: false, status: 491 });
  assert.equal(phone.state, 'connected');
  session.referred = { value: 200 };
  assert.deepEqual(await phone.transfer({ uri: 'sip:c@d' }, 'c'), { accepted: true, status: 200 });
  assert.deepEqual([records[0]?.end.reason, records[0]?.transferredTo], ['transferred', 'c']);
  const told = events.flatMap((event) => (event.type === 'transfer' ? [[event.status, event.done]] : []));
  assert.deepEqual(told, [
    [100, false],
    [486, true],
    [100, false],
    [491, true],
    [100, false],
    [200, true],
  ]);
});

for (const [name, tell, reason] of [
  ['media that stays away', (media: FakeMedia) => media.onSilent?.(), 'media timeout'],
  [
    'media without keys',
    (media: FakeMedia) => media.onFailed?.(new ParleyError('WRONG_STATE', 'no keys')),
    'failed',
  ],
] as const) {
  void test(`${name} ends the call`, async () => {
    const { phone, media } = aCall();
    tell(media);
    assert.equal((await phone.over).reason, reason);
    assert.equal(media.closed, 1);
  });
}

void test('a conversation that the closing server ends takes its call along', async () => {
  const { phone } = aCall();
  await phone.call?.close('server closing');
  assert.equal((await phone.over).reason, 'server closing');
});

void test('keys are pressed in order: in RTP, else in INFO, else in the sound', async () => {
  const { phone, media, session, time, call } = aCall();
  await phone.press({ digits: '1#', durationMs: 80 });
  assert.deepEqual(media.asked, ['press 1 80 80', 'press # 80 80']);
  media.takesEvents = false;
  await assert.rejects(phone.press({ digits: '2', by: 'rtp' }), WRONG_STATE);
  const pressed = phone.press({ digits: '3' });
  await settled();
  time.advance(240);
  await pressed;
  assert.deepEqual(session.asked, ['info 3 160']);
  session.takesInfo = false;
  await assert.rejects(phone.press({ digits: '4', by: 'info' }), WRONG_STATE);
  const played = phone.press({ digits: '45', durationMs: 100 });
  await settled();
  call.heard();
  await settled();
  call.heard();
  await played;
  assert.deepEqual(call.asked.slice(-2), ['play 180 ms', 'play 180 ms']);
  assert.deepEqual(session.asked, ['info 3 160', 'info 4 160']); // it refused INFO once
  const interrupted = phone.press({ digits: '6', by: 'audio' });
  await settled();
  call.playEnds = 'interrupted';
  call.heard();
  await assert.rejects(interrupted, WRONG_STATE);
  await assert.rejects(phone.press({ digits: '1x' }), { code: 'INVALID_FIELD' });
  media.takesEvents = true;
  const waits = phone.press({ digits: ',5' });
  await settled();
  assert.equal(media.asked.at(-1), 'press # 80 80');
  time.advance(500);
  await waits;
  assert.equal(media.asked.at(-1), 'press 5 160 80');
});

void test('keys that cannot be pressed leave the silence limit as it was', async () => {
  const { phone, time } = aCall();
  await assert.rejects(phone.press({ digits: 'x' }), { code: 'INVALID_FIELD' });
  const waiting = Array.from({ length: 16 }, () => phone.press({ digits: ',' }));
  await assert.rejects(phone.press({ digits: '1' }), { code: 'QUEUE_FULL' });
  for (let n = 0; n < 16; n++) {
    await settled();
    time.advance(500);
  }
  await Promise.all(waiting);
  await settled();
  time.advance(59_999);
  assert.equal(phone.state, 'connected');
  time.advance(1);
  assert.equal((await phone.over).reason, 'silence');
});

void test('keys that are not pressed when the call ends are refused, and leave no timer', async () => {
  const { phone, time, media, session } = aCall();
  session.sendDigit = () => new Promise(() => undefined); // a far end that does not answer
  const pressed = [phone.press({ digits: ',1' }), phone.press({ digits: '2', by: 'info' })];
  await settled();
  void phone.end({ reason: 'we hung up' });
  for (const one of pressed) await assert.rejects(one, WRONG_STATE);
  await phone.over;
  assert.deepEqual([time.waiting, media.asked], [0, []]);
  const unanswered = aCall();
  unanswered.session.sendDigit = session.sendDigit;
  const late = unanswered.phone.press({ digits: '2', by: 'info' });
  await settled();
  void unanswered.phone.end({ reason: 'we hung up' });
  await assert.rejects(late, WRONG_STATE);
});

void test('calls are listed newest first, found by their session, and forgotten ten minutes after they ended', async () => {
  const first = aCall();
  const { time } = first;
  const book = new PhoneBook(time);
  book.add(first.phone);
  const { session } = first.phone.leg ?? assert.fail();
  assert.equal(book.carriedBy(session), first.phone);
  await first.phone.end({ reason: 'we hung up' });
  await settled();
  assert.deepEqual([book.open.length, book.get('call-1').state, book.list().length], [0, 'ended', 1]);
  assert.equal(book.carriedBy(session), undefined);
  time.advance(599_999);
  assert.equal(book.list().length, 1);
  time.advance(1);
  assert.equal(book.list().length, 0);
  assert.throws(() => book.get('call-1'), { code: 'NOT_FOUND' });
});

void test('of calls that ended the latest thousand are known', async () => {
  const { time } = aCall();
  const book = new PhoneBook(time);
  for (let n = 0; n < 1002; n++) {
    const { phone } = aCall({ id: `call-${n}` });
    book.add(phone);
    await phone.end({ reason: 'we hung up' });
  }
  await settled();
  assert.equal(book.list().length, 1000);
  assert.throws(() => book.get('call-1'), { code: 'NOT_FOUND' });
  assert.equal(book.get('call-2').state, 'ended');
});

void test('who has answered is an event, in the view of the call and in its record', async () => {
  const { phone, media, call, session, events, records, time } = aCall({
    connected: false,
    direction: 'outbound',
  });
  phone.detect({ speechThresholdMs: 2400 });
  media.agree();
  phone.talks(asCall(call));
  time.advance(500);
  assert.equal('answer' in phone.view, false);
  session.establish();
  call.emit({ type: 'speech.started', onsetAt: EPOCH_MS + time.now() });
  time.advance(2656);
  const answer = { by: 'machine', ms: 2656, basis: 'speech' } as const;
  assert.deepEqual(phone.view.answer, answer);
  await phone.end({ reason: 'we hung up' });
  assert.deepEqual([phone.view.answer, records[0]?.answer], [answer, answer]);
  const told = events.flatMap((event) => (event.type === 'speech' ? [event.event] : []));
  assert.deepEqual(told.at(-1), { type: 'answer.detected', ...answer });
  assert.equal(time.waiting, 0);
});

void test('the recordings of a call are in its view, and stay there and in its record when it is over', async () => {
  const { phone, call, records } = aCall();
  assert.equal('recordings' in phone.view, false);
  call.recordings = ['first.wav', 'second.wav'];
  assert.deepEqual(phone.view.recordings, ['first.wav', 'second.wav']);
  await phone.end({ reason: 'we hung up' });
  assert.deepEqual(phone.view.recordings, ['first.wav', 'second.wav']);
  assert.deepEqual(records[0]?.recordings, ['first.wav', 'second.wav']);
});

void test('a turn has its text in the events of the call, and none that waits is told after the end', async () => {
  let listener: CallerListener | undefined;
  const callerTexts = {
    isCallerRecognised: true,
    follow: (_call: unknown, given: CallerListener) => ((listener = given), () => undefined),
  };
  const { phone, call, events } = aCall({}, { callerTexts });
  const turn = { type: 'turn.ended', turn: 0, speechMs: 100, silenceMs: 600, reason: 'silence' } as const;
  call.emit({ type: 'speech.started', onsetAt: 0 });
  call.emit(turn);
  const times = { isByOrder: false, isDistant: false, endOfSpeechMs: 0, decidedMs: 600, textMs: 700 };
  listener?.said?.({ number: 0, text: 'Hello.', language: undefined, ...turn, ...times });
  const next = { ...turn, turn: 1 };
  call.emit(next);
  await phone.end({ reason: 'we hung up' });
  const told = events.flatMap((event) => (event.type === 'speech' ? [event.event] : []));
  assert.deepEqual(told.slice(1), [{ ...turn, text: 'Hello.' }, next]);
  assert.equal(events.at(-1)?.type, 'state');
});

void test('whoever comes back goes on behind the event that it saw last', () => {
  const events = new EventLog(() => 5);
  events.add({ type: 'state', state: 'ringing' });
  events.add({ type: 'state', state: 'connected' });
  const seen: number[] = [];
  const stop = events.follow(1, ({ id }) => seen.push(id));
  events.add({ type: 'digit', digit: '1', durationMs: 100 });
  stop();
  events.add({ type: 'digit', digit: '2', durationMs: 100 });
  assert.deepEqual(seen, [2, 3]);
});

void test('the latest thousand events are kept', () => {
  const events = new EventLog(() => 5);
  for (let n = 0; n < 1500; n++) events.add({ type: 'digit', digit: '1', durationMs: 100 });
  const seen: number[] = [];
  events.follow(0, ({ id }) => seen.push(id))();
  assert.deepEqual([seen.length, seen[0], seen.at(-1)], [1000, 501, 1500]);
});

function limit(ms: number) {
  const time = new ManualTime();
  let reached = 0;
  return { time, limit: new SilenceLimit(time, ms, () => reached++), reached: () => reached };
}

void test('a call in which nothing happens for the limit is told once', () => {
  const { time, reached } = limit(60_000);
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(120_000);
  assert.equal(reached(), 1);
});

void test('what is heard begins the limit anew', () => {
  const { time, limit: silence, reached } = limit(60_000);
  time.advance(50_000);
  silence.restart();
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(1);
  assert.equal(reached(), 1);
});

void test('there is no silence while anything goes on, and the limit counts from the end of the last', () => {
  const { time, limit: silence, reached } = limit(60_000);
  const [first, second] = [silence.during(), silence.during()];
  time.advance(600_000);
  first();
  first();
  time.advance(600_000);
  assert.equal(reached(), 0);
  second();
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(1);
  assert.equal(reached(), 1);
});

void test('without a limit and after the end no timer is left', () => {
  const none = limit(0);
  assert.equal(none.time.waiting, 0);
  const closed = limit(1000);
  closed.limit.during()();
  closed.limit.close();
  closed.limit.restart();
  assert.equal(closed.time.waiting, 0);
});

void test('a key in INFO that was heard in the sound counts once', () => {
  const { phone, media, session } = aCall();
  media.onDigit?.('1', 100, 0);
  media.isNewKey = false;
  session.user?.digit?.('1', 100);
  media.isNewKey = true;
  session.user?.digit?.('2', 100);
  assert.deepEqual(
    phone.view.digits.map(({ digit }) => digit),
    ['1', '2'],
  );
});
