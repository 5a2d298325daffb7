// Gathering keys and words: what ends an input, what does not, and what is made of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { gather, openProgram, program, type ProgramUnderTest, say, spoken } from './program-under-test.js';

const calls = openCalls();
const ASK = say('Please enter your number.');

/** Lets time pass, and then everything happen that is due. */
async function wait(under: ProgramUnderTest, ms: number): Promise<void> {
  await settle();
  under.pass(ms);
  await settle();
}

/** The result of the gather, as its target got it. */
async function resultOf(under: ProgramUnderTest): Promise<unknown> {
  await under.passUntil(() => under.door.results.length > 0);
  return under.door.results[0]?.[1];
}

const keys = (digits: string, finishKey?: string) => ({ of: 'gather', by: 'keys', digits, finishKey });

test('so many keys end the input at once', async () => {
  const under = await openProgram(calls, [gather({ mostKeys: 3 })]);
  under.press('12');
  await settle();
  assert.deepEqual(under.door.results, []);
  under.press('3');
  await settle();
  assert.deepEqual(under.door.results, [['result', keys('123')]]);
});

test('the finish key ends the input and is no part of it', async () => {
  const under = await openProgram(calls, [gather()]);
  under.press('42#');
  await settle();
  assert.deepEqual(under.door.results, [['result', keys('42', '#')]]);
});

test('the finish key alone is no input: the next verb follows', async () => {
  const under = await openProgram(calls, [gather(), say('Nothing came.')]);
  under.press('#');
  await under.passUntil(() => spoken(under).length > 0);
  assert.deepEqual(spoken(under), ['Nothing came.']);
  assert.deepEqual(under.door.results, []);
});

test('without a finish key every key is data', async () => {
  const under = await openProgram(calls, [gather({ finishKeys: '', mostKeys: 3 })]);
  under.press('#*#');
  assert.deepEqual(await resultOf(under), keys('#*#'));
});

test('the keys so far count when no further one comes in time, and each key begins that time anew', async () => {
  const under = await openProgram(calls, [gather({ firstMs: 3000, betweenMs: 2000 })]);
  await wait(under, 2990);
  under.press('1');
  await wait(under, 1990);
  under.press('2');
  await wait(under, 1990);
  assert.deepEqual(under.door.results, []);
  await wait(under, 20);
  assert.deepEqual(under.door.results, [['result', keys('12')]]);
});

test('the time to the first key begins at the end of the prompt', async () => {
  const under = await openProgram(calls, [gather({ prompts: [ASK], firstMs: 1000, tellsEmpty: true })]);
  await under.passUntil(() => spoken(under).length === 1);
  assert.deepEqual(under.door.results, []);
  await wait(under, 980);
  assert.deepEqual(under.door.results, []);
  await wait(under, 40);
  assert.deepEqual(under.door.results, [['result', { of: 'gather', by: 'none' }]]);
});

test('a key stops all prompts', async () => {
  const under = await openProgram(calls, [gather({ prompts: [ASK, say('Or wait.')], mostKeys: 2 })]);
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.press('7');
  await wait(under, 100);
  assert.equal(under.count('utterance.interrupted'), 2);
  assert.equal(under.call.stats().queuedMs, 0);
  under.press('8');
  assert.deepEqual(await resultOf(under), keys('78'));
  assert.deepEqual(spoken(under), []);
});

test('where nothing stops the prompt, keys are kept, and count when it was heard', async () => {
  const under = await openProgram(calls, [gather({ prompts: [ASK], isInterruptible: false, mostKeys: 1 })]);
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.press('7');
  await wait(under, 100);
  assert.deepEqual(under.door.results, []);
  assert.deepEqual(await resultOf(under), keys('7'));
  assert.deepEqual(spoken(under), ['Please enter your number.']);
});

test('keys that were pressed ahead count, and no prompt is heard; the others are for the next gather', async () => {
  const next = program(gather({ prompts: [ASK], mostKeys: 2, action: { at: 'second' } }));
  const under = await openProgram(calls, [say('Welcome.'), gather({ prompts: [ASK], mostKeys: 1 })], {
    programs: { result: next },
  });
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.press('123');
  await under.passUntil(() => under.door.results.length === 2);
  assert.deepEqual(under.door.results, [
    ['result', keys('1')],
    ['second', keys('23')],
  ]);
  assert.deepEqual(spoken(under), ['Welcome.']);
});

test('words are an input, with their language; a gather without speech does not listen', async () => {
  const under = await openProgram(calls, [
    gather({ inputs: ['speech'], language: 'en-US', hints: ['Anna', 'Ben'] }),
  ]);
  assert.deepEqual(under.expected, [{ language: 'en-US', context: 'Anna, Ben' }]);
  under.says(' Billing, please. ');
  await settle();
  const words = { of: 'gather', by: 'speech', text: 'Billing, please.', language: 'en' };
  assert.deepEqual(under.door.results, [['result', words]]);
  const deaf = await openProgram(calls, [gather()]);
  assert.deepEqual(deaf.expected, []);
});

test('a cough is no input: the time to the first word begins anew behind it, and no key is lost', async () => {
  const under = await openProgram(calls, [
    gather({ inputs: ['keys', 'speech'], firstMs: 2000, mostKeys: 2 }),
  ]);
  await wait(under, 1900);
  under.says('');
  await wait(under, 1900);
  under.press('4');
  under.begins();
  under.press('2');
  await settle();
  assert.deepEqual(under.door.results, [['result', keys('42')]]);
});

test('while the caller speaks, no time runs out', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['speech'], firstMs: 1000 })]);
  under.begins();
  await wait(under, 5000);
  assert.equal(under.count('program.verb'), 1);
  under.stops();
  under.text('a long story');
  assert.deepEqual(((await resultOf(under)) as { text: string }).text, 'a long story');
});

test('the first key decides: words are ignored from then on', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], mostKeys: 2 })]);
  under.press('4');
  under.says('no, wait');
  await settle();
  assert.deepEqual(under.door.results, []);
  under.press('2');
  await settle();
  assert.deepEqual(under.door.results, [['result', keys('42')]]);
});

test('the silence that was asked for ends the speech, within the bounds of hearing', async () => {
  const asked = async (speechEndMs: number | undefined) => {
    const { hearing } = await openProgram(calls, [gather({ inputs: ['speech'], speechEndMs })]);
    const orders = hearing.asked.filter((one) => Array.isArray(one)) as unknown[][];
    const settings = Object.assign({}, ...orders.map((order) => order.at(-1))) as Record<string, unknown>;
    return [settings['silenceMs'], settings['minSilenceMs'], settings['maxSilenceMs'], settings['maxTurnMs']];
  };
  assert.deepEqual(await asked(2000), [2000, 2000, 2000, 60_000]);
  assert.deepEqual(await asked(60_000), [10_000, 10_000, 10_000, 60_000]);
  const usual = await asked(undefined);
  assert.notEqual(usual[1], usual[2]);
});

test('hearing ends with the gather', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['speech'] })]);
  under.says('Billing.');
  await settle();
  assert.ok(under.hearing.asked.includes('close'));
});

test('partial words go to their target, each once', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['speech'], partial: { at: 'words' } })]);
  under.begins();
  for (const text of ['I', 'I', 'I want']) under.text(text, false);
  assert.deepEqual(under.door.notices, [
    { of: 'partial', text: 'I', number: 0 },
    { of: 'partial', text: 'I want', number: 1 },
  ]);
});

test('a typed text counts as words', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['speech'] })]);
  under.run.typed('sales');
  await settle();
  assert.deepEqual(under.door.results, [
    ['result', { of: 'gather', by: 'speech', text: 'sales', language: undefined }],
  ]);
});

test('without a recogniser keys are collected, and a warning says why no speech is', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], mostKeys: 1 })], {
    isCallerRecognised: false,
  });
  under.press('1');
  assert.deepEqual(await resultOf(under), keys('1'));
  assert.deepEqual(under.mistakes(), [
    'program.warning: this server has no recogniser: no speech is gathered',
  ]);
});

test('a choice is found by its keys, or by its words among those said: the longest ones win', async () => {
  const choices = new Map(
    ['1', 'billing', 'new billing', '账单'].map((words) => [words, { at: `to ${words}` }] as const),
  );
  const chosen = async (act: (under: ProgramUnderTest) => void) => {
    const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], mostKeys: 1, choices })]);
    act(under);
    await settle();
    return under.door.results[0]?.[0];
  };
  assert.equal(await chosen((under) => under.press('1')), 'to 1');
  assert.equal(await chosen((under) => under.says('Uh, BILLING!')), 'to billing');
  assert.equal(await chosen((under) => under.says('a new billing address')), 'to new billing');
  assert.equal(await chosen((under) => under.says('我要查账单。')), 'to 账单');
  assert.equal(await chosen((under) => under.says('rebilling')), 'result');
  assert.equal(await chosen((under) => under.press('2')), 'result');
});

test('the keys of a sensitive gather are in its result, and `*` in every event; later keys are shown', async () => {
  const next = program(gather({ mostKeys: 1, action: { at: 'last' } }));
  const under = await openProgram(calls, [gather({ mostKeys: 4, isSensitive: true })], {
    programs: { result: next },
  });
  under.press('12*4');
  await settle();
  under.press('5');
  await settle();
  assert.deepEqual(under.door.results, [
    ['result', keys('12*4')],
    ['last', keys('5')],
  ]);
  const told = under.events.flatMap((event) => (event.type === 'digit' ? [event.digit] : []));
  assert.deepEqual(told, ['*', '*', '*', '*', '5']);
});

test('the words of a call are concealed from the beginning of a sensitive gather to the next verb', async () => {
  for (const inputs of [['keys'], ['keys', 'speech']] as const) {
    const next = program(gather({ action: { at: 'last' } }));
    const under = await openProgram(calls, [gather({ inputs, mostKeys: 1, isSensitive: true })], {
      programs: { result: next },
    });
    assert.ok(under.conceals());
    under.press('4');
    assert.ok(under.conceals());
    await settle();
    assert.ok(!under.conceals());
  }
});

test('sensitive words go to no partial results, which a warning says', async () => {
  const sensitive = gather({ inputs: ['speech'], isSensitive: true, partial: { at: 'words' } });
  const under = await openProgram(calls, [sensitive]);
  under.begins();
  under.text('four', false);
  assert.deepEqual(under.door.notices, []);
  assert.deepEqual(under.mistakes(), [
    'program.warning: the words of sensitive input have no partial results',
  ]);
});

test('a click that stops and is no turn ends nothing: the gather ends by its own order', async () => {
  const under = await openProgram(calls, [
    gather({ inputs: ['keys', 'speech'], firstMs: 2000, tellsEmpty: true }),
  ]);
  under.begins();
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 100 });
  await wait(under, 3400);
  assert.ok(!under.hearing.asked.includes('endTurn'));
  await wait(under, 200);
  assert.ok(under.hearing.asked.includes('endTurn'));
  await wait(under, 9100);
  assert.deepEqual(under.door.results, [['result', { of: 'gather', by: 'none' }]]);
});

test('speech after a key does not stop the time to the next key', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], betweenMs: 2000 })]);
  under.press('4');
  under.begins();
  await wait(under, 2100);
  assert.deepEqual(under.door.results, [['result', keys('4')]]);
});

test('sounds without words do not keep a gather open for ever', async () => {
  const endless = gather({ inputs: ['speech'], firstMs: 2000, mostSpeechMs: 10_000, tellsEmpty: true });
  const under = await openProgram(calls, [endless]);
  let turns = 0;
  for (; turns < 20 && under.door.results.length === 0; turns++) {
    await wait(under, 1500);
    under.says('');
    await settle();
  }
  assert.deepEqual(under.door.results, [['result', { of: 'gather', by: 'none' }]]);
  assert.ok(turns < 8, `${turns} turns`);
});

test('somebody behind the caller is no input', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['speech'] })]);
  under.begins();
  under.pass(1000);
  const atMs = under.time.now();
  under.hearing.report({ type: 'speech.stopped', atMs, durationMs: 1000 });
  const turn = { startedMs: atMs - 1000, speechMs: 1000, reason: 'silence', isDistant: true } as const;
  under.hearing.report({ type: 'turn.ended', atMs, ...turn });
  under.text('the news at ten');
  await settle();
  assert.deepEqual(under.door.results, []);
});

test('a recogniser that fails is a warning, once', async () => {
  const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], mostKeys: 1 })]);
  under.fail(new ParleyError('ENGINE_FAILED', 'the recogniser has ended'));
  under.fail(new ParleyError('ENGINE_FAILED', 'the recogniser has ended'));
  assert.deepEqual(under.mistakes(), ['program.warning: the recogniser has ended']);
  under.press('1');
  assert.deepEqual(await resultOf(under), keys('1'));
});

test('an answer of digits is told in figures where that is asked for, with the words as they were heard', async () => {
  const speech = gather({ inputs: ['keys', 'speech'], smartFormat: true });
  const result = async (said: string) => {
    const under = await openProgram(calls, [speech]);
    under.says(said);
    await settle();
    return under.door.results[0]?.[1];
  };
  const told = (text: string, heard: string) => ({ of: 'gather', by: 'speech', text, language: 'en', heard });
  assert.deepEqual(await result('Four two oh seven.'), told('4207', 'Four two oh seven.'));
  assert.deepEqual(await result("It's forty-two, please."), told('42', "It's forty-two, please."));
  const appointment = 'on the third of March at half past three';
  assert.deepEqual(await result(appointment), told('on 3 March at 3:30', appointment));
  const none = { of: 'gather', by: 'speech', text: 'one of them', language: 'en' };
  assert.deepEqual(await result('one of them'), none);
});

test('keys that are spoken choose a program where figures are asked for, and words as heard choose one', async () => {
  const choices = new Map([
    ['1', { at: 'orders' }],
    ['4207', { at: 'secret' }],
    ['twenty one', { at: 'cards' }],
  ]);
  const chosen = async (said: string, smartFormat: boolean) => {
    const under = await openProgram(calls, [gather({ inputs: ['keys', 'speech'], smartFormat, choices })]);
    under.says(said);
    await settle();
    return under.door.results[0]?.[0];
  };
  assert.equal(await chosen('One.', true), 'orders');
  assert.equal(await chosen('four two oh seven', true), 'secret');
  assert.equal(await chosen('twenty one', true), 'cards');
  assert.equal(await chosen('one of them', true), 'result');
  assert.equal(await chosen('One.', false), 'result');
});
