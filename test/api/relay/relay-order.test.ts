// In which order a call and its application learn of each other: endings, interruptions, sounds, lost
// sockets.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RelayConfig } from '../../../src/config/relay-config.js';
import { ParleyError } from '../../../src/errors.js';
import { settle } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import { openRelay } from './relay-under-test.js';

const calls = openCalls();
const open = (t: TestContext, change?: Partial<RelayConfig>) => openRelay(t, calls, change);
const STORY = 'The train leaves at nine from platform two.';
const SOUND = 'https://sounds.example.com/a.wav';

test('an application may close its socket after "end": the caller hears the last word and nothing else', async (t) => {
  const under = await open(t);
  under.say('Goodbye.');
  under.app.send({ type: 'end' });
  under.app.socket.close(1000);
  await until(() => under.app.closeCode !== undefined);
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Goodbye.']);
  assert.equal(under.backend.sockets.length, 1);
});

test('"end" waits for a sound and for a text whose tokens were still coming', async (t) => {
  const under = await open(t);
  under.app.send({ type: 'play', source: SOUND });
  under.say('Good night', {});
  under.app.send({ type: 'end' });
  await under.passUntil(() => under.orders.length === 1);
  assert.equal(under.count('utterance.spoken'), 2);
  assert.deepEqual(under.engine.begun, ['Good night']);
});

test('a close without a code is the end of the session, as one with 1000 is', async (t) => {
  const under = await open(t);
  under.app.socket.close();
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, goodbye.']);
  assert.equal(under.backend.sockets.length, 1);
});

test('an application that drops every socket at once is given half a minute in all', async (t) => {
  const under = await open(t);
  const drop = () => {
    for (const { socket } of under.backend.sockets) socket.terminate();
  };
  const beganMs = under.time.now();
  await under.passUntil(() => (drop(), under.engine.begun.includes('Sorry, goodbye.')));
  assert.ok(under.time.now() - beganMs < 40_000, String(under.time.now() - beganMs));
  assert.deepEqual(under.engine.begun, ['One moment.', 'Sorry, goodbye.']);
  assert.ok(under.backend.sockets.length < 14, `${under.backend.sockets.length} sockets`);
  await under.passUntil(() => under.orders.length === 1);
});

test('what a key or a typed text interrupts is told before it', async (t) => {
  const under = await open(t, { dtmfDetection: true });
  const types = () => under.app.messages.slice(1).map(({ type }) => type);
  under.say(STORY);
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.talk.typed('Stop');
  await under.app.message('prompt');
  assert.deepEqual(types(), ['interrupt', 'prompt']);
  under.say(STORY);
  await under.passUntil(() => under.count('utterance.started') === 2);
  under.call.pressed('1');
  await under.app.message('dtmf');
  assert.deepEqual(types().slice(2), ['interrupt', 'dtmf']);
});

test('played tokens never run ahead of what was heard', async (t) => {
  const under = await open(t, { events: new Set(['tokens-played'] as const) });
  const [first, second] = ['Good morning. ', 'The next train to the city leaves at nine.'];
  under.say(first, {});
  for (const word of second.match(/\S+\s*/g) ?? []) under.say(word, {});
  under.say('', { last: true });
  await under.passUntil(() => under.count('sentence.started') === 2);
  await under.queued(`${second}`);
  under.pass(200);
  under.interrupts();
  const heard = String((await under.app.message('interrupt'))['utteranceUntilInterrupt']);
  const played = under.app.of('info').map(({ value }) => String(value));
  assert.ok(heard.length < first.length + second.length - 10, heard);
  assert.ok(heard.startsWith(played.join('').trim()), `${played.join('')} is more than ${heard}`);
});

test('an application that never closes its interrupted text is heard again after the next prompt', async (t) => {
  const under = await open(t);
  under.say(`${STORY} And`, {});
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.interrupts();
  await under.app.message('interrupt');
  under.say('These words are late. ', {});
  under.app.send({ type: 'mark', name: 'late' });
  await under.app.message('mark');
  under.pass(1000);
  under.stops();
  under.text('Stop.');
  await under.app.message('prompt');
  under.say('Yes, I stop.');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun.slice(1), ['Yes, I stop.']);
});

test('another "utteranceId" begins another text at once', async (t) => {
  const under = await open(t);
  under.say(`${STORY} And`, { utteranceId: 'a' });
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.interrupts();
  await under.app.message('interrupt');
  under.say('Too late.', { utteranceId: 'a' });
  under.say('In time.', { utteranceId: 'b', last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun.slice(1), ['In time.']);
});

test('a text after a sound is heard after it, and a clear ends both', async (t) => {
  const under = await open(t);
  under.app.send({ type: 'play', source: SOUND });
  under.say('After the sound.');
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  const order = under.events.flatMap((event) => (event.type === 'utterance.spoken' ? [event.text] : []));
  assert.deepEqual(order, ['', 'After the sound.']);
  under.app.send({ type: 'play', source: SOUND });
  under.say('Never heard', {});
  under.app.send({ type: 'clear' });
  await under.app.message('cleared');
  await settle();
  under.say(', nor is this.', { last: true });
  under.say('This is.');
  await under.passUntil(() => under.count('utterance.spoken') === 3);
  assert.equal(under.engine.begun.includes('Never heard'), false);
});

test('a text that may not be pre-empted is heard to its end, whatever waits behind it', async (t) => {
  const under = await open(t);
  under.say('Please hold on.', { last: true, preemptible: false });
  under.say('Nobody hears this.', { last: true, preemptible: true });
  under.say('The next one.');
  await under.passUntil(() => under.count('utterance.spoken') >= 2);
  assert.equal(under.engine.begun[0], 'Please hold on.');
  assert.equal(under.count('utterance.interrupted'), 0);
});

test('a voice that no engine has gives way to the default one, which is told once', async (t) => {
  const under = await open(t, { voice: 'en-US-Journey-O' });
  const { engine } = under;
  engine.resolve = (request) => {
    const { voice } = request ?? {};
    if (voice !== 'en-US-Journey-O') return { engine, voice: 'buzz', language: 'en' };
    throw new ParleyError('VOICE_UNKNOWN', `there is no voice "${voice}"`);
  };
  under.say('One.');
  under.say('Two.');
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  const errors = under.app.of('error').map(({ description }) => String(description));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', /^64106: .*en-US-Journey-O/);
});
