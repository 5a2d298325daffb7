// A call and its application: the WebSocket between them is real.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { RelayConfig } from '../../../src/config/relay-config.js';
import { openHandledCall, settle } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { CountedConnections } from '../../fakes/counted-connections.js';
import { until } from '../../fakes/until.js';
import { connectRelay, RELAY, TOKEN } from './connect-relay.js';
import { RelayBackend } from './relay-backend.js';
import { openRelay, type RelayUnderTest } from './relay-under-test.js';

const calls = openCalls();
const STORY = 'The train leaves at nine from platform two.';

const open = (t: TestContext, change: Partial<RelayConfig> = {}) => openRelay(t, calls, change);

test('the application gets a signed handshake, and the call in its first message', async (t) => {
  const { backend, app, expected } = await open(t, { hints: 'Parley' });
  const wanted = createHmac('sha1', TOKEN).update(backend.url).digest('base64');
  assert.equal(app.headers['x-twilio-signature'], wanted);
  assert.deepEqual(app.messages[0], {
    type: 'setup',
    sessionId: `VX${'07'.repeat(16)}`,
    accountSid: `AC${'0'.repeat(32)}`,
    parentCallSid: '',
    callSid: 'call-1',
    from: 'sip:anna@example.com',
    to: 'sip:100@example.com',
    forwardedFrom: '',
    callType: 'SIP',
    callerName: '',
    direction: 'inbound',
    callStatus: 'IN-PROGRESS',
    customParameters: { tenant: 'acme' },
  });
  assert.deepEqual(expected, [{ language: 'en-US', context: 'Parley' }]);
});

test('the greeting is spoken once the application is there', async (t) => {
  const under = await open(t, { welcomeGreeting: 'Welcome.' });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Welcome.']);
});

test('what the caller says is a prompt, and tokens are spoken as they come', async (t) => {
  const under = await open(t);
  under.says('Hello?');
  assert.deepEqual(await under.app.message('prompt'), {
    type: 'prompt',
    voicePrompt: 'Hello?',
    lang: 'en',
    last: true,
  });
  for (const token of ['Good mor', 'ning. It is \ud83d', '\ude00 nine']) under.say(token, {});
  await under.passUntil(() => under.count('sentence.started') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.']);
  under.say(" o'clock.", { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const spoken = under.events.find((event) => event.type === 'utterance.spoken');
  assert.ok(spoken?.type === 'utterance.spoken');
  assert.equal(spoken.text, "Good morning. It is \u{1f600} nine o'clock.");
});

test('partial prompts carry the whole turn so far, if they are wanted', async (t) => {
  const under = await open(t, { partialPrompts: true });
  under.begins();
  under.text('Hel', false);
  under.text('Hello', false);
  const shown = [await under.app.message('prompt'), await under.app.message('prompt', 1)];
  assert.deepEqual(
    shown.map(({ voicePrompt, last }) => [voicePrompt, last]),
    [
      ['Hel', false],
      ['Hello', false],
    ],
  );
});

test('an interruption says what was heard, once for all texts, and the next prompt follows it', async (t) => {
  const under = await open(t);
  under.say(STORY, { last: true, utteranceId: 'u1' });
  under.say('And another one.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.queued(STORY);
  under.pass(500);
  under.interrupts();
  const cut = await under.app.message('interrupt');
  const heard = String(cut['utteranceUntilInterrupt']);
  assert.ok(STORY.startsWith(heard) && heard.length > 5, heard);
  assert.equal(cut['utteranceId'], 'u1');
  assert.ok(Math.abs(Number(cut['durationUntilInterruptMs']) - 520) <= 60, JSON.stringify(cut));
  under.pass(1000);
  under.stops();
  under.text('Stop.');
  await under.app.message('prompt');
  assert.equal(under.app.of('interrupt').length, 1);
  assert.deepEqual(
    under.app.messages.map(({ type }) => type),
    ['setup', 'interrupt', 'prompt'],
  );
});

test('a text that was never heard is an empty text, not an absent one', async (t) => {
  const under = await open(t);
  under.engine.gate = () => new Promise(() => undefined);
  under.say(STORY);
  await until(() => under.hearing.tracks.length === 1);
  under.hearing.report({ type: 'bargein.confirmed', track: under.hearing.tracks[0] ?? 0, atMs: 0 });
  const cut = await under.app.message('interrupt');
  assert.deepEqual(cut, { type: 'interrupt', utteranceUntilInterrupt: '', durationUntilInterruptMs: 0 });
});

for (const [reported, prompts] of [
  ['none', 0],
  ['dtmf', 0],
  ['speech', 1],
  ['any', 1],
] as const) {
  test(`speech during the voice that does not interrupt is reported by "${reported}": ${prompts}`, async (t) => {
    const under = await open(t, { interruptible: 'none', reportInputDuringAgentSpeech: reported });
    under.say('It leaves at nine. '.repeat(8));
    await under.passUntil(() => under.count('utterance.started') === 1);
    under.says('uh-huh');
    under.app.send({ type: 'mark', name: 'after' });
    await under.passUntil(() => under.app.of('mark').length === 1);
    assert.equal(under.app.of('prompt').length, prompts);
  });
}

test('keys are told one by one, if they are wanted', async (t) => {
  const under = await open(t, { dtmfDetection: true });
  for (const digit of ['1', '#']) under.call.pressed(digit);
  await under.app.message('dtmf', 1);
  assert.deepEqual(under.app.of('dtmf'), [
    { type: 'dtmf', digit: '1' },
    { type: 'dtmf', digit: '#' },
  ]);
  const quiet = await open(t);
  quiet.call.pressed('1');
  await settle();
  assert.equal(quiet.app.of('dtmf').length, 0);
});

test('speaker events and played tokens are told where they are asked for', async (t) => {
  const under = await open(t, { events: new Set(['speaker-events', 'tokens-played'] as const) });
  for (const token of ['Good ', 'morning. ', 'How ', 'are you?']) under.say(token, {});
  under.say('', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Fine.');
  await under.app.message('prompt');
  const ts = 1_700_000_000_000;
  assert.deepEqual(under.app.of('info'), [
    { type: 'info', name: 'agentSpeaking', value: 'on', ts },
    { type: 'info', name: 'tokensPlayed', value: 'Good ' },
    { type: 'info', name: 'tokensPlayed', value: 'morning. ' },
    { type: 'info', name: 'tokensPlayed', value: 'How ' },
    { type: 'info', name: 'tokensPlayed', value: 'are you?' },
    { type: 'info', name: 'agentSpeaking', value: 'off', ts },
    { type: 'info', name: 'clientSpeaking', value: 'on', ts },
    { type: 'info', name: 'clientSpeaking', value: 'off', ts },
  ]);
});

test('of rapid texts that may be pre-empted only the newest survives', async (t) => {
  const under = await open(t, { preemptible: true });
  under.say(STORY);
  await under.passUntil(() => under.count('utterance.started') === 1);
  for (const text of ['One.', 'Two.', 'Three.']) under.say(text);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const spoken = under.events.filter((event) => event.type === 'utterance.spoken');
  assert.deepEqual(
    spoken.map(({ text }) => text),
    ['Three.'],
  );
  assert.equal(under.app.of('interrupt').length, 0);
});

test('a mark comes when all before it was heard, and never after a clear', async (t) => {
  const under = await open(t);
  under.say('One.');
  under.app.send({ type: 'mark', name: 'first' });
  await under.passUntil(() => under.app.of('mark').length === 1);
  assert.equal(under.count('utterance.spoken'), 1);
  under.say(STORY);
  under.app.send({ type: 'mark', name: 'second' });
  await under.passUntil(() => under.count('utterance.started') === 2);
  await under.queued(STORY);
  under.pass(500);
  under.app.send({ type: 'clear' });
  const cleared = await under.app.message('cleared');
  assert.ok(STORY.startsWith(String(cleared['utteranceUntilInterrupt'])));
  assert.ok(Number(cleared['durationUntilInterruptMs']) > 400);
  under.say('Two.');
  under.app.send({ type: 'mark', name: 'third' });
  await under.passUntil(() => under.app.of('mark').length === 2);
  assert.deepEqual(
    under.app.of('mark').map(({ name }) => name),
    ['first', 'third'],
  );
  assert.equal(under.app.of('interrupt').length, 0);
});

test('a flush speaks a sentence that has no end', async (t) => {
  const under = await open(t);
  under.say('Well, I think', {});
  under.app.send({ type: 'flush' });
  await under.passUntil(() => under.count('sentence.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Well, I think']);
});

test('sounds are played in their order, and one that is not available is an error', async (t) => {
  const under = await open(t);
  under.app.send({ type: 'play', source: 'https://sounds.example.com/a.wav', loop: 2 });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const played = under.events.find((event) => event.type === 'utterance.spoken');
  assert.ok(played?.type === 'utterance.spoken' && Math.abs(played.durationMs - 800) <= 20);
  under.app.send({ type: 'play', source: 'file:///etc/passwd' });
  assert.deepEqual(await under.app.message('error'), {
    type: 'error',
    description: 'there is no such sound',
  });
});

test('digits go out, and languages change voice and recogniser', async (t) => {
  const under = await open(t);
  under.app.send({ type: 'sendDigits', digits: '1w2' });
  under.app.send({ type: 'language', ttsLanguage: 'fr-FR', transcriptionLanguage: 'fr-FR' });
  await until(() => under.expected.length === 2);
  assert.deepEqual(under.orders, ['press 1,2']);
  assert.deepEqual(under.expected[1], { language: 'fr-FR', context: undefined });
});

test('a bad message is error 64107, and the session goes on; ten in a row end it with 1007', async (t) => {
  const under = await open(t);
  for (let n = 0; n < 9; n++) under.app.send('{');
  under.say('Still here.');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.equal(under.app.of('error').length, 9);
  assert.equal(under.app.of('error')[0]?.['description'], '64107: a message must be JSON');
  for (let n = 0; n < 10; n++) under.app.send({ type: 'nonsense' });
  await until(() => under.app.closeCode === 1007);
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
  assert.equal(under.engine.begun.at(-1), 'Sorry, goodbye.');
  assert.equal(under.backend.sockets.length, 1);
  assert.deepEqual(under.counted, ['relay opened', 'relay closed', 'relay failed: bad_messages']);
});

test('an application that writes faster than we speak is told to pause, and refused at the limit', async (t) => {
  const under = await open(t);
  under.engine.gate = () => new Promise(() => undefined);
  for (let n = 0; n < 3; n++) under.say('word. '.repeat(300), {});
  const pause = await under.app.message('pause');
  assert.ok(Number(pause['waitingCharacters']) > 4000);
  under.app.send({ type: 'text', token: 'x'.repeat(60_000), last: true });
  under.app.send({ type: 'text', token: 'x'.repeat(10_000), last: true });
  const refused = await under.app.message('error');
  assert.match(String(refused['description']), /^64000 characters wait to be spoken/);
  under.app.send({ type: 'clear' });
  assert.equal((await under.app.message('resume'))['waitingCharacters'], 0);
});

test('"end" is done after the last word, and the action gets the data, signed', async (t) => {
  const posts: { body: string; signature: unknown }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      posts.push({ body, signature: request.headers['x-twilio-signature'] });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const action = `http://127.0.0.1:${(server.address() as AddressInfo).port}/next`;
  const under = await open(t, { action });
  under.say('Goodbye.');
  under.app.send({ type: 'end', handoffData: '{"to":"sales"}' });
  await under.passUntil(() => under.orders.length === 1);
  assert.equal(under.count('utterance.spoken'), 1);
  await until(() => posts.length === 1);
  const fields = Object.fromEntries(new URLSearchParams(posts[0]?.body));
  const { SessionDuration: _duration, ...rest } = fields;
  assert.deepEqual(rest, {
    AccountSid: `AC${'0'.repeat(32)}`,
    CallSid: 'call-1',
    CallStatus: 'in-progress',
    From: 'sip:anna@example.com',
    To: 'sip:100@example.com',
    Direction: 'inbound',
    SessionId: `VX${'07'.repeat(16)}`,
    SessionStatus: 'ended',
    HandoffData: '{"to":"sales"}',
  });
  const signed = Object.keys(fields)
    .sort()
    .reduce((text, name) => `${text}${name}${fields[name]}`, action);
  assert.equal(posts[0]?.signature, createHmac('sha1', TOKEN).update(signed).digest('base64'));
  await until(() => under.app.closeCode === 1000);
});

test('a lost socket is dialled again: the caller hears a phrase, and what was said meanwhile arrives', async (t) => {
  const under = await open(t);
  under.say('Well, it is', {});
  await settle();
  under.app.socket.terminate();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(
    under.events.filter((event) => event.type === 'utterance.spoken').map(({ text }) => text),
    ['Well, it is', 'One moment.'],
  );
  const again = await under.backend.socket(1);
  const setup = await again.message('setup');
  assert.deepEqual([setup['sessionId'], setup['resumed']], [`VX${'07'.repeat(16)}`, true]);
  under.says('Are you there?');
  assert.equal((await again.message('prompt'))['voicePrompt'], 'Are you there?');
  again.send({ type: 'text', token: 'Yes.', last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 3);
  assert.deepEqual(
    under.counted,
    ['relay opened', 'relay reconnected'],
    'the connection is open all the time',
  );
});

test('prompts of the time without a socket wait for the next one', async (t) => {
  const under = await open(t);
  under.app.socket.terminate();
  await until(() => under.engine.begun.includes('One moment.'));
  under.begins();
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 500 });
  const turn = { startedMs: 0, speechMs: 500, reason: 'silence' } as const;
  under.hearing.report({ type: 'turn.ended', atMs: under.time.now(), ...turn });
  under.text('Hello?');
  under.pass(250);
  const again = await under.backend.socket(1);
  await again.message('prompt');
  assert.deepEqual(
    again.messages.map(({ type }) => type),
    ['setup', 'prompt'],
  );
});

test('an application that does not come back within half a minute has failed, and the call ends with a phrase', async (t) => {
  const under = await open(t);
  await under.backend.close();
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
  assert.deepEqual(under.engine.begun, ['One moment.', 'Sorry, goodbye.']);
  assert.ok(under.time.now() > 35_000);
});

test('with "lostSocket": "end" a lost socket is a failure at once, as with Twilio', async (t) => {
  const under = await open(t, { lostSocket: 'end' });
  under.app.socket.terminate();
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, goodbye.']);
  assert.equal(under.backend.sockets.length, 1);
  assert.deepEqual(under.counted, ['relay opened', 'relay closed', 'relay failed: lost']);
});

test('an application that cannot be reached is a failure after ten seconds', async () => {
  const under = openHandledCall(calls);
  const beganMs = under.time.now();
  const connections = new CountedConnections();
  connectRelay(under, { ...RELAY, url: 'ws://127.0.0.1:9/' }, connections);
  await under.passUntil(() => under.engine.begun.length === 1);
  const waitedMs = under.time.now() - beganMs; // frames pass while the real refusals come
  assert.ok(waitedMs >= 6000 && waitedMs < 25_000, String(waitedMs));
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, goodbye.']);
  assert.deepEqual(connections.noted, ['relay failed: unreachable'], 'it was never opened');
});

test('a redirection is not followed', async (t) => {
  const other = await RelayBackend.open(t);
  let asked = 0;
  const server = createServer();
  server.on('upgrade', (_request, socket) => {
    asked++;
    socket.end(`HTTP/1.1 302 Found\r\nLocation: ${other.url}\r\nContent-Length: 0\r\n\r\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const under = openHandledCall(calls);
  connectRelay(under, { ...RELAY, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/` });
  await under.passUntil(() => under.orders.length === 1);
  assert.ok(asked > 0);
  assert.deepEqual([other.sockets.length, under.engine.begun], [0, ['Sorry, goodbye.']]);
});

test('an application that answers no ping is lost', async (t) => {
  const under = await open(t);
  under.app.socket.pong = () => undefined; // ws answers by itself, with this
  under.pass(20_000);
  await settle();
  under.pass(20_000);
  await until(() => under.app.closeCode !== undefined);
});

test('a caller who hangs up completes the session, and leaves no timer', async (t) => {
  const under = await open(t);
  under.say(STORY);
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.call.close('caller hung up');
  await until(() => under.app.closeCode === 1000);
  assert.equal(under.time.waiting, 0);
  assert.deepEqual(under.orders, []);
  assert.deepEqual(under.counted, ['relay opened', 'relay closed']);
});

test('binary messages and messages above a mebibyte are no way to stop a call', async (t) => {
  const under = await open(t);
  under.app.socket.send(Buffer.from('{}'));
  assert.match(String((await under.app.message('error'))['description']), /64107: a message must be text/);
  under.app.socket.send('x'.repeat(1_100_000));
  await under.passUntil(() => under.backend.sockets.length === 2);
  const again = await under.backend.socket(1);
  assert.equal((await again.message('setup'))['resumed'], true);
});

test('a typed text is a prompt', async (t) => {
  const under = await open(t);
  under.talk.typed(' Hello ');
  assert.equal((await under.app.message('prompt'))['voicePrompt'], 'Hello');
});

const IDLE = { idleMs: 400, phrase: 'Are you there?', times: 1, goodbye: 'Goodbye.' };

test('a caller who says nothing is asked by the server, and the call ends', async (t) => {
  const under = await open(t, { idle: IDLE, welcomeGreeting: 'Welcome.' });
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Welcome.', 'Are you there?', 'Goodbye.']);
  assert.deepEqual(under.orders, ['hang up']);
  await until(() => under.app.closeCode !== undefined);
  assert.equal(under.time.waiting, 0);
});

for (const [what, act] of [
  ['says something', (under: RelayUnderTest) => under.says('Here.')],
  ['presses a key', (under: RelayUnderTest) => under.call.pressed('1')],
  ['types', (under: RelayUnderTest) => under.talk.typed('Here.')],
] as const) {
  test(`a caller who ${what} is there, and is asked as before`, async (t) => {
    const under = await open(t, { idle: IDLE });
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    act(under);
    await under.passUntil(() => under.count('utterance.spoken') === 2);
    assert.deepEqual(under.engine.begun, ['Are you there?', 'Are you there?']);
  });
}

test('while the application is lost, the caller is not asked', async (t) => {
  const under = await open(t, { idle: IDLE });
  await under.backend.close();
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['One moment.', 'Sorry, goodbye.']);
});
