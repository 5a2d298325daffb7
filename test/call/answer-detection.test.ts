// The way from a call's events, words and tones to `answer.detected`, on a manual clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerDetection } from '../../src/call/answer-detection.js';
import type { AnswerRequest } from '../../src/call/phone-calls.js';
import type { Country } from '../../src/audio/country-tones.js';
import type { CallEvent } from '../../src/call/call-events.js';
import type { CallerListener, ExpectedSpeech } from '../../src/call/caller-texts.js';
import type { MediaPort } from '../../src/call/call-route.js';
import { ParleyError } from '../../src/errors.js';
import { SILENT_LOG } from '../../src/log.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import { ManualTime } from '../fakes/manual-time.js';

const EPOCH_MS = 1_700_000_000_000;
const REQUEST: AnswerRequest = { speechThresholdMs: 2400 };

function open(request = REQUEST, isCallerRecognised = false) {
  const time = new ManualTime(5000);
  const wallMs = () => EPOCH_MS + time.now();
  const observers = new Set<(event: CallEvent) => void>();
  const told: CallEvent[] = [];
  const asked: unknown[] = [];
  const texts = new Set<CallerListener>();
  const expected: (ExpectedSpeech | undefined)[] = [];
  const warned: unknown[] = [];
  let onPort: ((port: MediaPort) => void) | undefined;
  const countries: Country[] = [];
  let onTone: Parameters<MediaSocket['followTones']>[1] | undefined;
  let end: () => void = () => undefined;
  let refusal: ParleyError | undefined;
  let spoken: () => void = () => undefined;
  const newSocket = () => ({
    followTones: (country: Country, listener: typeof onTone) => {
      countries.push(country);
      onTone = listener;
      return () => (onTone = undefined);
    },
  });
  const moveTo = (socket?: object) => onPort?.({ socket } as MediaPort);
  const getSound = () => moveTo(newSocket());
  const call = {
    id: 'call-1',
    turn: 0,
    closed: new Promise<string>((resolve) => (end = () => resolve('over'))),
    observe: (observer: (event: CallEvent) => void) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    follow: (follower: (port: MediaPort) => void) => {
      onPort = follower;
      moveTo();
      return () => (onPort = undefined);
    },
    hear: () => {
      asked.push('hear');
      return () => void asked.push('hear no more');
    },
    words: () => undefined,
    expectWords: () => undefined,
    tell: (event: CallEvent) => told.push(event),
    speak: (text: string, options: object) => {
      if (refusal !== undefined) throw refusal;
      asked.push(['speak', text, options]);
      return { ended: new Promise<void>((resolve) => (spoken = resolve)) };
    },
  };
  const detection = new AnswerDetection(request, {
    time,
    wallMs,
    log: { ...SILENT_LOG, warn: (fields) => void warned.push(fields) },
    callerTexts: {
      isCallerRecognised,
      follow: (_call, listener, speech) => {
        texts.add(listener);
        expected.push(speech);
        return () => void texts.delete(listener);
      },
    },
  });
  const tell = (event: CallEvent) => observers.forEach((observer) => observer(event));
  return {
    time,
    detection,
    told,
    asked,
    expected,
    warned,
    moveTo,
    getSound,
    countries,
    follow: () => detection.follow(call as never),
    refuse: (error: ParleyError) => (refusal = error),
    spoken: async () => {
      spoken();
      await Promise.resolve();
      await Promise.resolve();
    },
    end: async () => {
      end();
      await Promise.resolve();
      await Promise.resolve();
    },
    /** Speech of this length, which is told 192 ms after its end. */
    speak: (durationMs: number) => {
      tell({ type: 'speech.started', onsetAt: wallMs() });
      time.advance(durationMs + 192);
      tell({ type: 'speech.stopped', durationMs });
    },
    say: (text: string) =>
      texts.forEach((one) =>
        one.text?.({ number: 0, text, language: 'en', isFinal: false, beginMs: 0, endMs: 0 }),
      ),
    tone: (kind: 'beep' | 'busy', durationMs: number) =>
      onTone?.({ kind, hz: 1000, atMs: time.now() - durationMs, durationMs }),
    followers: () => observers.size + texts.size + (onTone === undefined ? 0 : 1),
  };
}

test('a person is told with the time since the answer, and nothing is heard for it any more after a while', () => {
  const { time, detection, told, asked, speak, follow, getSound, followers } = open();
  follow();
  getSound();
  time.advance(2000);
  detection.answered();
  time.advance(500);
  speak(600);
  time.advance(1000);
  assert.deepEqual(told, [{ type: 'answer.detected', by: 'human', ms: 2100, basis: 'speech' }]);
  assert.deepEqual(asked, ['hear']);
  time.advance(5000);
  assert.deepEqual(asked, ['hear', 'hear no more']);
  assert.deepEqual([time.waiting, followers()], [0, 0]);
});

test('what is heard before the answer is told as early', () => {
  const { time, told, tone, follow, getSound } = open();
  time.advance(300);
  follow();
  getSound();
  time.advance(1000);
  tone('busy', 500);
  assert.deepEqual(told, [
    { type: 'answer.detected', by: 'tone', ms: 1000, basis: 'tone', early: true, tone: 'busy' },
  ]);
});

test('an answer before the call can be heard counts, too', () => {
  const { time, detection, told, follow, getSound } = open();
  detection.answered();
  time.advance(400);
  follow();
  getSound();
  time.advance(4600);
  assert.deepEqual(told, [{ type: 'answer.detected', by: 'silence', ms: 5000, basis: 'time' }]);
  assert.equal(time.waiting, 0);
});

test('the beep of a machine is told behind its greeting', () => {
  const { time, detection, told, asked, tone, speak, follow, getSound } = open();
  follow();
  detection.answered();
  getSound();
  speak(3000);
  time.advance(1000);
  tone('beep', 300);
  assert.deepEqual(told, [
    { type: 'answer.detected', by: 'machine', ms: 2656, basis: 'speech' },
    { type: 'answer.detected', by: 'machine_beep', ms: 4192, basis: 'tone', tone: 'beep' },
  ]);
  assert.deepEqual(asked, ['hear', 'hear no more']);
  assert.equal(time.waiting, 0);
});

test('a call that moves is heard through its next port, and not while that has no sound', () => {
  const { asked, follow, getSound, moveTo, followers } = open();
  follow();
  getSound();
  moveTo();
  assert.deepEqual([asked, followers()], [['hear', 'hear no more'], 1]);
  getSound();
  assert.deepEqual([asked.length, followers()], [3, 2]);
});

test('words are known where a recogniser is there, in the language that was stated', () => {
  const { time, detection, told, say, expected, follow, getSound } = open(
    { ...REQUEST, language: 'en' },
    true,
  );
  follow();
  getSound();
  detection.answered();
  time.advance(1500);
  say('Hello');
  say('Please leave a message');
  assert.deepEqual(told, [{ type: 'answer.detected', by: 'machine', ms: 1500, basis: 'words' }]);
  assert.deepEqual(expected, [{ language: 'en' }]);
});

const SCREENING = { ...REQUEST, screening: { text: 'This is the garage.', voice: 'slt' } };
const QUESTION = 'Hi, if you record your name and reason for calling,';

test('a screening service is answered, and whoever comes then is told', async () => {
  const { time, detection, told, asked, say, speak, spoken, follow, getSound } = open(SCREENING, true);
  follow();
  getSound();
  detection.answered();
  speak(2000);
  say(QUESTION);
  time.advance(308);
  assert.deepEqual(asked, ['hear', ['speak', 'This is the garage.', { voice: 'slt' }]]);
  time.advance(3000);
  await spoken();
  speak(500);
  time.advance(1000);
  const [type, basis] = ['answer.detected', 'words'];
  assert.deepEqual(told, [
    { type, by: 'screening', ms: 2500, basis },
    { type, by: 'human', ms: 7000, basis: 'speech' },
  ]);
});

test('a screening service that cannot be answered is logged, and one without an answer goes on', () => {
  const failing = open(SCREENING, true);
  failing.refuse(new ParleyError('QUEUE_FULL', 'too many texts wait'));
  for (const under of [failing, open(REQUEST, true)]) {
    under.follow();
    under.getSound();
    under.detection.answered();
    under.speak(2000);
    under.say(QUESTION);
    under.time.advance(308);
    under.speak(500);
    under.time.advance(1000);
    assert.deepEqual(
      under.told.map((event) => 'by' in event && event.by),
      ['screening', 'human'],
    );
  }
  assert.deepEqual(failing.warned, [{ call: 'call-1', code: 'QUEUE_FULL', detail: 'too many texts wait' }]);
});

test('the end of the call ends the detection, before it could be heard, too', async () => {
  const under = open(REQUEST, true);
  under.follow();
  under.getSound();
  under.detection.answered();
  under.speak(300);
  await under.end();
  assert.deepEqual([under.time.waiting, under.followers(), under.told], [0, 0, []]);
  const early = open();
  early.detection.answered();
  early.detection.close();
  assert.equal(early.time.waiting, 0);
});
