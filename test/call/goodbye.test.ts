// The end of a call whose engine is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { type CallUnderTest, openCalls } from '../fakes/call-under-test.js';
import { buzz } from '../fakes/engines.js';
import { until } from '../fakes/until.js';

const PHRASE = 'Goodbye.';
const calls = openCalls();

/** A call whose engine is lost at any text but the phrase. */
function openLosing(hangUpPhrase?: string): CallUnderTest {
  const under = calls.open(undefined, { hangUpPhrase });
  under.engine.sounds.set(PHRASE, buzz(100, 0.5));
  under.engine.gate = (text) =>
    text === PHRASE ? Promise.resolve() : Promise.reject(new ParleyError('ENGINE_LOST', 'it is gone'));
  return under;
}

function typesOf({ events }: CallUnderTest): string[] {
  return events.map(({ type }) => type);
}

/** Time passes until it is so; it must not run away from the encoder, which is a thread. */
async function passing(under: CallUnderTest, isSo: () => boolean): Promise<void> {
  let frames = 0;
  await until(async () => {
    under.pass(20);
    if (++frames % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return isSo();
  });
}

/** Why it ended, once it has. */
async function closing(under: CallUnderTest): Promise<string | undefined> {
  let reason: string | undefined;
  void under.call.closed.then((why) => (reason = why));
  await passing(under, () => reason !== undefined);
  return reason;
}

test('what was spoken fails, what waits is dropped, the phrase is heard, and the call ends', async () => {
  const under = openLosing(PHRASE);
  const { gate } = under.engine;
  under.engine.gate = (text) => (text === 'Two.' ? new Promise(() => undefined) : gate(text));
  under.call.speak('One.');
  under.call.speak('Two.');
  await passing(under, () => under.engine.begun.includes(PHRASE));
  assert.throws(() => under.call.speak('Three.'), { code: 'CALL_CLOSED' });
  await passing(under, () => typesOf(under).includes('utterance.spoken'));
  assert.equal(await closing(under), 'engine lost');
  const [first, second] = typesOf(under);
  assert.deepEqual([first, second], ['utterance.failed', 'utterance.interrupted']);
});

test('without a phrase the call ends at once', async () => {
  const under = openLosing();
  under.call.speak('One.');
  assert.equal(await closing(under), 'engine lost');
  assert.deepEqual(typesOf(under), ['utterance.failed']);
});

test('if no engine can say the phrase, the call ends all the same', async () => {
  const under = openLosing('Nobody says this.');
  under.call.speak('One.');
  assert.equal(await closing(under), 'engine lost');
  assert.deepEqual(typesOf(under), ['utterance.failed', 'utterance.failed']);
});

test('a held call ends although the phrase is not heard', async () => {
  const under = openLosing(PHRASE);
  under.call.speak('One.');
  await passing(under, () => under.engine.begun.includes(PHRASE));
  under.call.hold(true);
  under.pass(20_000);
  assert.equal(await closing(under), 'engine lost');
});

test('an engine that only failed at a text ends no call', async () => {
  const under = openLosing(PHRASE);
  under.engine.gate = () => Promise.resolve();
  under.engine.failing.add('One.');
  under.call.speak('One.');
  await passing(under, () => typesOf(under).includes('utterance.failed'));
  under.call.speak(PHRASE);
  await passing(under, () => typesOf(under).includes('utterance.spoken'));
});
