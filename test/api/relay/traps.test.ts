// Traps in which other servers were caught, for applications of the ConversationRelay protocol. The engine
// speaks 20 ms a character, so that what was heard can be counted in packets.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CallEvent } from '../../../src/call/call-events.js';
import type { RelayConfig } from '../../../src/config/relay-config.js';
import { settle } from '../../agents/handled-call.js';
import { FRAME_MS, openCalls, type SentPacket } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import { openRelay, type RelayUnderTest } from './relay-under-test.js';

const calls = openCalls();
const open = (t: TestContext, change: Partial<RelayConfig> = {}) => openRelay(t, calls, change);
const STORY = 'The train leaves at nine from platform two.';
const MS_PER_CHARACTER = 20;
const SILENCE = 0xff; // of PCMU

const isLoud = ({ payload }: SentPacket): boolean => payload.some((code) => code !== SILENCE);
const soundMs = (packets: readonly SentPacket[]): number => FRAME_MS * packets.filter(isLoud).length;

/** Speaks a text until all of it is queued and `ms` of it were sent; returns the packets. */
async function speak(under: RelayUnderTest, text: string, ms: number): Promise<SentPacket[]> {
  const begun = under.count('utterance.started');
  under.sent();
  under.say(text);
  await under.passUntil(() => under.count('utterance.started') === begun + 1);
  await under.queued(text);
  const packets = under.sent();
  under.pass(Math.max(0, ms - soundMs(packets)));
  return [...packets, ...under.sent()];
}

/** The caller interrupts and says a turn. */
async function cutIn(under: RelayUnderTest, words: string): Promise<void> {
  const prompts = under.app.of('prompt').length;
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text(words);
  await under.app.message('prompt', prompts);
}

const interruptions = (under: RelayUnderTest) =>
  under.events.filter(
    (event): event is Extract<CallEvent, { type: 'utterance.interrupted' }> =>
      event.type === 'utterance.interrupted',
  );

test('a mark that waits when the caller interrupts never comes, and later ones come once', async (t) => {
  const under = await open(t);
  under.app.send({ type: 'mark', name: 'idle' });
  await under.app.message('mark');
  await speak(under, STORY, 200);
  under.app.send({ type: 'mark', name: 'cut' });
  await settle();
  await cutIn(under, 'Stop.');
  under.say('Yes?');
  under.app.send({ type: 'mark', name: 'heard' });
  await under.passUntil(() => under.app.of('mark').length === 2);
  under.pass(1000);
  await settle();
  const names = under.app.of('mark').map(({ name }) => name);
  assert.deepEqual(names, ['idle', 'heard']);
});

test('after an interruption nothing of the old text is told or sent, however late its engine is', async (t) => {
  const under = await open(t, { events: new Set(['tokens-played'] as const) });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  under.engine.gate = (text) => (text === 'Second one.' ? held : Promise.resolve());
  for (const token of ['First one. ', 'Second one. ', 'Third.']) under.say(token, {});
  await under.passUntil(() => under.count('sentence.spoken') === 1);
  await until(() => under.engine.begun.includes('Second one.'));
  await cutIn(under, 'Stop.');
  const told = under.app.messages.length;
  under.sent();
  const before = under.events.length;
  release();
  under.say(' and the rest', {}); // the tokens of the old text that are on their way
  await settle();
  under.pass(2000);
  await settle();
  assert.equal(soundMs(under.sent()), 0);
  const late = under.events.slice(before).filter(({ type }) => type.startsWith('sentence.'));
  assert.deepEqual([late, under.app.messages.slice(told)], [[], []]);
  assert.deepEqual(
    under.app.of('info').map(({ value }) => value),
    ['First one. '],
  );
});

test('ten interruptions within a minute use nothing up', async (t) => {
  const under = await open(t);
  const fromMs = under.time.now();
  for (let turn = 0; turn < 10; turn++) {
    await speak(under, STORY, 300);
    await cutIn(under, `Turn ${turn}.`);
  }
  assert.ok(under.time.now() - fromMs < 60_000);
  assert.equal(under.app.of('interrupt').length, 10);
  assert.equal(under.app.of('error').length, 0);
  under.say('Now listen.');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
});

test('an interruption empties the count of what waits: the application may go on at once', async (t) => {
  const under = await open(t);
  under.engine.gate = () => new Promise(() => undefined);
  for (let n = 0; n < 3; n++) under.say('word. '.repeat(300), {});
  await under.app.message('pause');
  await until(() => under.hearing.tracks.length > 0);
  under.hearing.report({ type: 'bargein.confirmed', track: under.hearing.tracks[0] ?? 0, atMs: 0 });
  assert.equal((await under.app.message('resume'))['waitingCharacters'], 0);
  under.engine.gate = () => Promise.resolve();
  under.stops();
  under.text('Stop.');
  await under.app.message('prompt');
  under.say('All is gone.');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
});

test('played tokens are never told before their packets have left', async (t) => {
  const under = await open(t, { events: new Set(['tokens-played'] as const) });
  const tokens = ['It is ', 'nine. ', 'The train ', 'leaves ', 'soon.'];
  for (const token of tokens) under.say(token, {});
  under.say('', { last: true });
  let sentMs = 0;
  await under.passUntil(() => {
    sentMs += soundMs(under.sent());
    const played = under.app
      .of('info')
      .map(({ value }) => value)
      .join('');
    assert.ok(played.trim().length * MS_PER_CHARACTER <= sentMs + FRAME_MS, `"${played}" after ${sentMs} ms`);
    return under.count('utterance.spoken') === 1 && under.app.of('info').length === tokens.length;
  });
});

test('an interruption stops the engine, not only what it has made', async (t) => {
  const under = await open(t);
  const { engine } = under;
  const ends: string[] = [];
  const synthesize = engine.synthesize.bind(engine);
  engine.synthesize = (request, out, signal) =>
    synthesize(request, out, signal).finally(() => {
      ends.push(`${request.text} ${signal.aborted ? 'given up' : 'made'}`);
    });
  engine.gate = (text) => (text.startsWith('Second') ? new Promise(() => undefined) : Promise.resolve());
  under.say('First one. Second one. Third one.');
  await under.passUntil(() => under.count('sentence.spoken') === 1);
  await until(() => engine.begun.includes('Second one.'));
  await cutIn(under, 'Stop.');
  await until(() => ends.length === 2);
  assert.deepEqual(ends, ['First one. made', 'Second one. given up']);
  assert.deepEqual(engine.begun, ['First one.', 'Second one.']);
});

test('the greeting is heard before the answer to a caller who speaks at once', async (t) => {
  const under = await open(t, {
    welcomeGreeting: 'Welcome to the shop.',
    welcomeGreetingInterruptible: 'none',
    reportInputDuringAgentSpeech: 'any',
  });
  under.says('Hello?');
  await under.app.message('prompt');
  under.say('Good morning.');
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  const spoken = under.events.filter((event) => event.type === 'utterance.spoken').map(({ text }) => text);
  assert.deepEqual(spoken, ['Welcome to the shop.', 'Good morning.']);
});

test('tokens that cut words, numbers and characters are one text before it is cut into sentences', async (t) => {
  const under = await open(t);
  const text =
    'It costs $42.50 at www.example.com, Mr. Ødegård \u{1f600}\u{1f468}\u200d\u{1f469}. Is that fine?';
  for (let at = 0; at < text.length; at++) under.say(text.charAt(at), {}); // surrogates alone, too
  under.say('', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const spoken = under.events.find((event) => event.type === 'utterance.spoken');
  assert.ok(spoken?.type === 'utterance.spoken');
  assert.equal(spoken.text, text);
  const sentences = under.events.filter((event) => event.type === 'sentence.spoken');
  assert.equal(sentences.length, 2);
});

test('text that comes slower than speech is spoken once, with silence and not with padding between', async (t) => {
  const under = await open(t);
  const words = ['One ', 'is ', 'here. ', 'Two ', 'is ', 'there. '];
  for (const word of words) {
    under.say(word, {});
    await settle();
    under.pass(800);
    await settle();
  }
  under.say('', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['One is here.', 'Two is there.']);
  const text = under.engine.begun.join('');
  assert.equal(soundMs(under.sent()), text.length * MS_PER_CHARACTER);
});

for (const cutAtMs of [60, 240, 500, 780]) {
  test(`what an interruption after ${cutAtMs} ms says was heard agrees with the packets`, async (t) => {
    const under = await open(t);
    const packets = await speak(under, STORY, cutAtMs);
    await cutIn(under, 'Stop.');
    const [cut] = interruptions(under);
    const message = await under.app.message('interrupt');
    const sentMs = soundMs([...packets, ...under.sent()]);
    // The frames in which the voice fades out are sent, too.
    assert.ok(Math.abs(Number(message['durationUntilInterruptMs']) - sentMs) <= 2 * FRAME_MS, `${sentMs} ms`);
    const heard = String(message['utteranceUntilInterrupt']);
    assert.equal(heard, cut?.heard);
    assert.ok(STORY.startsWith(heard), heard);
    const wordsIn = (part: string) => part.split(' ').filter(Boolean).length;
    const sentWords = wordsIn(STORY.slice(0, Math.round(sentMs / MS_PER_CHARACTER)));
    assert.ok(Math.abs(wordsIn(heard) - sentWords) <= 1, `"${heard}" after ${sentMs} ms`);
  });
}
