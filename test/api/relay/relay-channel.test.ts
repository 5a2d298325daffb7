// Pages that are the applications of their own calls, over a data channel labelled `relay`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_MESSAGE_BYTES } from '../../../src/api/relay/relay-messages.js';
import { ParleyError } from '../../../src/errors.js';
import { settle } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { openPage, PageChannel, type PageUnderTest } from './open-page.js';

const calls = openCalls();
const open = (...opening: [session?: Readonly<Record<string, unknown>>, agent?: string]) =>
  openPage(calls, ...opening);
const spoken = (page: PageUnderTest, count = 1) =>
  page.passUntil(() => page.count('utterance.spoken') === count);
const descriptions = (page: PageUnderTest) => page.of('error').map(({ description }) => String(description));
const SOUND = 'data:audio/wav;base64,UklGRg==';

test('a page gets the setup of its call first, and nobody else conducts the call', () => {
  const page = open({ type: 'relay', parameters: { tenant: 'acme' } });
  const [setup, ...others] = page.messages;
  assert.deepEqual(others, []);
  assert.deepEqual(setup, {
    type: 'setup',
    sessionId: `VX${'07'.repeat(16)}`,
    accountSid: `AC${'0'.repeat(32)}`,
    parentCallSid: '',
    callSid: 'call-1',
    from: '',
    to: '',
    forwardedFrom: '',
    callType: 'CLIENT',
    callerName: '',
    direction: 'inbound',
    callStatus: 'IN-PROGRESS',
    customParameters: { tenant: 'acme' },
  });
  assert.deepEqual(page.conducted, ['call-1']);
});

test('the attributes of the session hold: a greeting, partial prompts, keys and events', async () => {
  const page = open({
    welcomeGreeting: 'Good morning.',
    partialPrompts: true,
    dtmfDetection: true,
    transcriptionLanguage: 'fr-FR',
    events: 'speaker-events tokens-played',
  });
  await spoken(page);
  page.begins();
  page.text('Bon', false);
  page.pass(1000);
  page.stops();
  page.text('Bonjour.');
  page.call.pressed('5');
  await page.message('dtmf');
  assert.deepEqual(page.engine.begun, ['Good morning.']);
  assert.deepEqual(page.expected, [{ language: 'fr-FR', context: undefined }]);
  const partial = { type: 'prompt', voicePrompt: 'Bon', lang: 'en', last: false };
  assert.deepEqual(page.of('prompt'), [partial, { ...partial, voicePrompt: 'Bonjour.', last: true }]);
  assert.deepEqual(page.of('dtmf'), [{ type: 'dtmf', digit: '5' }]);
  const states = page.of('info').map(({ name, value }) => `${String(name)} ${String(value)}`);
  assert.deepEqual(states, [
    'agentSpeaking on',
    'agentSpeaking off',
    'clientSpeaking on',
    'clientSpeaking off',
  ]);
});

test('a session without attributes tells no partial prompts, keys and events', async () => {
  const page = open();
  page.begins();
  page.text('Hel', false);
  page.pass(1000);
  page.stops();
  page.text('Hello.');
  page.call.pressed('5');
  page.say('Yes?');
  await spoken(page);
  assert.deepEqual(
    page.messages.map(({ type, last }) => [type, last]),
    [
      ['setup', undefined],
      ['prompt', true],
    ],
  );
});

test('tokens are spoken as one text, and those that were played are told', async () => {
  const page = open({ events: 'tokens-played' });
  page.say('How can ', {});
  page.say('I help ', {});
  page.say('you?');
  await spoken(page);
  assert.deepEqual(page.engine.begun, ['How can I help you?']);
  assert.deepEqual(
    page.of('info').map(({ name, value }) => [name, value]),
    [
      ['tokensPlayed', 'How can '],
      ['tokensPlayed', 'I help '],
      ['tokensPlayed', 'you?'],
    ],
  );
});

test('a caller who interrupts is told with what was heard, before what the caller says', async () => {
  const page = open();
  page.say('The train leaves at nine from platform two.', { last: true, utteranceId: 'train' });
  await page.passUntil(() => page.count('utterance.started') === 1);
  await page.queued('The train leaves at nine from platform two.');
  page.pass(500);
  page.interrupts();
  page.pass(1000);
  page.stops();
  page.text('Stop.');
  await page.message('prompt');
  assert.deepEqual(
    page.messages.map(({ type }) => type),
    ['setup', 'interrupt', 'prompt'],
  );
  const { utteranceUntilInterrupt: heard, utteranceId } = await page.message('interrupt');
  const [cut] = page.events.filter((event) => event.type === 'utterance.interrupted');
  assert.deepEqual([heard, utteranceId], [cut?.heard, 'train']);
  assert.match(String(heard), /^The train leaves/);
});

test('a mark comes back when all before it was heard, clear says what was heard, and flush ends a sentence', async () => {
  const page = open();
  page.say('One.');
  page.send({ type: 'mark', name: 'one' });
  assert.deepEqual(await page.message('mark'), { type: 'mark', name: 'one' });
  assert.equal(page.count('utterance.spoken'), 1);
  page.say('Two and', {});
  page.send({ type: 'flush' });
  await page.passUntil(() => page.engine.begun.length === 2);
  assert.deepEqual(page.engine.begun, ['One.', 'Two and']);
  await page.passUntil(() => page.count('sentence.spoken') === 2);
  page.send({ type: 'clear' });
  const { utteranceUntilInterrupt: heard } = await page.message('cleared');
  assert.equal(heard, 'Two and');
});

test('a language holds for the recogniser from then on', async () => {
  const page = open({ transcriptionLanguage: 'en-US' });
  page.send({ type: 'language', ttsLanguage: 'de-DE', transcriptionLanguage: 'de-DE' });
  await settle();
  assert.deepEqual(
    page.expected.map((speech) => speech?.language),
    ['en-US', 'de-DE'],
  );
});

test('a page plays the sounds that it sends, and has the server fetch none', async () => {
  const page = open();
  page.send({ type: 'play', source: 'https://sounds.example.com/a.wav' });
  await page.message('error');
  page.send({ type: 'play', source: SOUND });
  await spoken(page);
  assert.deepEqual(page.sources, [SOUND]);
  assert.deepEqual(descriptions(page), [
    '"source" must be a data: URL in base64: the server fetches no URLs for a page',
  ]);
});

test('a page is told limits without the variables of the operator, and defects without their words', () => {
  const page = open();
  for (let n = 0; n < 5; n++) page.say(`Text number ${n}.`);
  assert.deepEqual(descriptions(page).slice(0, 1), ['3 texts wait in this call already']);
  const limit = new ParleyError('CALL_LIMIT', '9 calls are open, which is what MAX_CALLS allows');
  assert.deepEqual(page.talk.errorMessage(limit), { type: 'error', description: '9 calls are open' });
  const defect = new ParleyError('WRONG_STATE', 'a secret of the operator');
  assert.doesNotMatch(JSON.stringify(page.talk.errorMessage(defect)), /secret/);
});

test('digits need a telephone line, which the call of a page does not have', () => {
  const page = open();
  page.send({ type: 'sendDigits', digits: '12' });
  assert.deepEqual(descriptions(page), ['the call has no telephone line to send digits on']);
  assert.deepEqual(page.orders, []);
});

test('a page that ends its session has its last word heard, and the call ends', async () => {
  const page = open();
  page.say('Goodbye.');
  page.send({ type: 'end', handoffData: '{"reason":"done"}' });
  page.say('Never heard.');
  await page.passUntil(() => page.orders.includes('hang up'));
  assert.deepEqual(page.engine.begun, ['Goodbye.']);
  assert.equal(await page.call.closed, 'agent hung up');
  assert.equal(page.count('utterance.spoken'), 1);
  assert.deepEqual(descriptions(page), []);
});

test('mistakes in the session are named after the setup, and nothing of that session holds', async () => {
  const page = open({
    type: 'realtime',
    interruptible: 'loudly',
    welcomeGreeting: 'Hello.',
    url: 'wss://bot.example.com',
    parameters: { count: 1 },
  });
  assert.deepEqual(
    page.messages.map(({ type }) => type),
    ['setup', 'error'],
  );
  const [named = ''] = descriptions(page);
  const mistakes = named.split('; ');
  assert.equal(mistakes.length, 4);
  assert.equal(mistakes[0], 'session.type must be relay');
  assert.match(mistakes[1] ?? '', /^session: "url" is none of welcomeGreeting, /);
  assert.match(mistakes[2] ?? '', /^session\.interruptible must be one of none, dtmf, speech, any/);
  assert.match(mistakes[3] ?? '', /^session\.parameters must be an object/);
  page.say('Good morning.');
  await spoken(page);
  assert.deepEqual(page.engine.begun, ['Good morning.']);
});

test('of very many mistakes ten are named', () => {
  const page = open(Object.fromEntries(Array.from({ length: 500 }, (_none, index) => [`x${index}`, 1])));
  const [named = ''] = descriptions(page);
  const mistakes = named.split('; ');
  assert.equal(mistakes.length, 11);
  assert.equal(mistakes[10], '490 more mistakes');
});

test('an agent that the offer names does not talk, and the page is told; the usual one is left out', () => {
  assert.deepEqual(descriptions(open({}, 'usual')), []);
  assert.deepEqual(descriptions(open({}, 'sales')), [
    'the agent "sales" does not talk in this call: the page conducts it',
  ]);
});

test('messages that cannot be read are errors, and the session goes on', async () => {
  const page = open();
  page.send('{"type":');
  page.raw(Buffer.from('{}'));
  page.send('[]');
  page.send({ type: 'dance' });
  page.send({ type: 'text', token: 1 });
  page.send({ type: 'text', token: 'a', interruptible: 'loudly' });
  page.send({ type: 'mark' });
  page.send({ type: 'end', handoffData: 'x'.repeat(5000) });
  page.send(' '.repeat(MOST_MESSAGE_BYTES + 1));
  assert.deepEqual(descriptions(page), [
    '64107: a message must be JSON',
    '64107: a message must be text, not binary',
    '64107: a message must be a JSON object',
    '64107: "type" must be one of "text", "play", "sendDigits", "language", "end", "clear", "mark", "flush"',
    '64107: "token" must be a string of at most 65536 characters',
    '64107: "interruptible" must be one of "none", "dtmf", "speech", "any"',
    '64107: "name" must be a string',
    '64107: "handoffData" must be a string of at most 4096 characters',
    `64107: a message must not be longer than ${MOST_MESSAGE_BYTES} bytes`,
  ]);
  page.say('I am here.'); // the tenth: it can be read
  page.send('{');
  await spoken(page);
  assert.deepEqual(page.orders, []);
});

test('after ten bad messages in a row the caller hears the failure phrase, and the call ends', async () => {
  const page = open({ failurePhrase: 'Sorry, goodbye.' });
  for (let count = 0; count < 10; count++) page.send('{');
  await page.passUntil(() => page.orders.includes('hang up'));
  const [bad] = descriptions(page);
  assert.equal(bad, '64107: a message must be JSON');
  assert.equal(descriptions(page).length, 11);
  assert.equal(descriptions(page).at(-1), '64107: ten messages in a row could not be read');
  assert.deepEqual(page.engine.begun, ['Sorry, goodbye.']);
});

test('what happens while the page has no channel waits for its next one, without a second setup', async () => {
  const page = open();
  page.say('Good morning.', {});
  page.session.detach(page.channel);
  page.says('Are you there?');
  await settle();
  assert.deepEqual(page.of('prompt'), []);
  page.session.attach(new PageChannel(page.messages));
  const { voicePrompt } = await page.message('prompt');
  assert.equal(voicePrompt, 'Are you there?');
  page.say(' How are you?');
  await spoken(page);
  assert.deepEqual(page.engine.begun, ['Good morning.', 'How are you?']);
  assert.equal(page.of('setup').length, 1);
});

test('of a text with a gap only what came before the gap is spoken', async () => {
  const page = open();
  page.say('One. ', {});
  for (let count = 0; count < 999; count++) page.send({ type: 'flush' });
  page.say('Two. ', {}); // the burst is over
  page.time.advance(1000);
  page.say('Three. ', {});
  page.say('Four.');
  page.say('Five.');
  await spoken(page, 2);
  assert.deepEqual(descriptions(page), ['more than 500 messages a second: this one was not read']);
  assert.deepEqual(page.engine.begun, ['One.', 'Five.']);
});

test('a caller who hangs up ends the session, and later messages do nothing', async () => {
  const page = open();
  await page.call.close('peer closed');
  await settle();
  const told = page.messages.length;
  page.say('Hello?');
  page.send('{');
  page.session.close();
  await settle();
  assert.equal(page.messages.length, told);
  assert.deepEqual([page.engine.begun, page.orders], [[], []]);
});
