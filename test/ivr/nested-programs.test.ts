// Programs within a verb, over the same leg and over the leg of another call: what they may do, and how they
// end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgramError, type Program } from '../../src/ivr/door.js';
import { answeredCaller } from '../../src/ivr/answered-caller.js';
import { ProgramLeg } from '../../src/ivr/program-leg.js';
import type { NestedProgram } from '../../src/ivr/scene.js';
import type { Verb } from '../../src/ivr/verbs.js';
import { SILENT_LOG } from '../../src/log.js';
import { type HandledCallUnderTest, openHandledCall, settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { gather, NOTHING_TO_JOIN, program, say, ScriptedDoor, spoken } from './program-under-test.js';

const calls = openCalls();

interface LegUnderTest extends HandledCallUnderTest {
  readonly door: ScriptedDoor;
  readonly leg: ProgramLeg;
  /** The verb that the program is within. */
  readonly verb: AbortController;
  readonly nested: NestedProgram;
  warnings(): string[];
}

const ALLOWED = ['say', 'pause', 'gather', 'redirect', 'hangup', 'leave'] as const;

function openLeg(programs: Readonly<Record<string, Program | (() => Promise<Program>)>>): LegUnderTest {
  const under = openHandledCall(calls);
  const { handled, callerTexts, time } = under;
  const door = new ScriptedDoor();
  for (const [at, one] of Object.entries(programs)) door.programs.set(at, one);
  const leg = new ProgramLeg(answeredCaller(handled, 'key'), () => door, {
    callerTexts,
    joining: NOTHING_TO_JOIN,
    time,
    log: SILENT_LOG,
  });
  return {
    ...under,
    door,
    leg,
    verb: new AbortController(),
    nested: { target: { at: 'wait' }, result: { of: 'redirect' }, allowed: ALLOWED },
    warnings: () =>
      under.events.flatMap((event) => (event.type === 'program.warning' ? [event.message] : [])),
  };
}

/** Lets time pass until the program within the verb has ended. */
async function endOf(under: LegUnderTest, ending: Promise<string>): Promise<string> {
  let end: string | undefined;
  void ending.then((one) => (end = one));
  await under.passUntil(() => end !== undefined);
  return ending;
}

for (const [verbs, end] of [
  [[say('Wait.')], 'done'],
  [[say('Wait.'), { verb: 'hangup' }, say('Never.')], 'hangup'],
  [[say('Wait.'), { verb: 'leave' }, say('Never.')], 'leave'],
] as readonly (readonly [readonly Verb[], string])[]) {
  const names = verbs.map(({ verb }) => verb).join(', ');
  test(`a program within a verb of ${names} ends with "${end}", and the call goes on`, async () => {
    const under = openLeg({ wait: program(...verbs) });
    assert.equal(await endOf(under, under.leg.within(under.nested, under.verb.signal)), end);
    assert.deepEqual(spoken(under), ['Wait.']);
    assert.deepEqual(under.orders, []);
    assert.deepEqual(under.door.results, [['wait', { of: 'redirect' }]]);
    under.leg.close();
  });
}

test('a program within a verb goes on with the program of a result, and takes keys', async () => {
  const under = openLeg({ wait: program(gather({ mostKeys: 1 })), result: program(say('You pressed one.')) });
  const ending = under.leg.within(under.nested, under.verb.signal);
  await settle();
  under.call.pressed('1');
  assert.equal(await endOf(under, ending), 'done');
  assert.deepEqual(spoken(under), ['You pressed one.']);
  assert.deepEqual(
    under.door.results.map(([at]) => at),
    ['wait', 'result'],
  );
  under.leg.close();
});

test('a verb that a program within a verb may not have is a warning, and the rest goes on', async () => {
  const under = openLeg({ wait: program({ verb: 'press', digits: '1' }, say('Wait.')) });
  assert.equal(await endOf(under, under.leg.within(under.nested, under.verb.signal)), 'done');
  assert.deepEqual(under.warnings(), [
    'a program within another verb may have say, pause, gather, redirect, hangup, leave, not press; ' +
      'the verb is skipped',
  ]);
  assert.deepEqual(spoken(under), ['Wait.']);
  under.leg.close();
});

for (const by of ['the verb that it is in', 'its own signal'] as const)
  test(`${by} stops a program in the middle of a sentence`, async () => {
    const under = openLeg({ wait: program(say('You are number one in the queue.'), say('Never.')) });
    const own = new AbortController();
    const ending = under.leg.within({ ...under.nested, signal: own.signal }, under.verb.signal);
    await under.passUntil(() => under.count('utterance.started') === 1);
    (by === 'its own signal' ? own : under.verb).abort();
    assert.equal(await ending, 'stopped');
    assert.equal(under.count('utterance.interrupted'), 1);
    assert.deepEqual(under.warnings(), []);
    under.leg.close();
    assert.equal(under.time.waiting, 0);
  });

test('a program within a verb that is over does not begin', async () => {
  const under = openLeg({ wait: program(say('Wait.')) });
  under.verb.abort();
  assert.equal(await under.leg.within(under.nested, under.verb.signal), 'stopped');
  assert.deepEqual(under.door.results, []);
  under.leg.close();
});

test('a program within a verb that cannot be had fails with a warning, and nobody apologises', async () => {
  const failing = () => Promise.reject(new ProgramError({ code: '11200', message: 'status 500' }));
  const under = openLeg({ wait: failing });
  assert.equal(await under.leg.within(under.nested, under.verb.signal), 'failed');
  assert.deepEqual(under.warnings(), ['status 500']);
  assert.deepEqual(spoken(under), []);
  under.leg.close();
});

test('programs within a verb that go round fail after 100 in a minute', async () => {
  const under = openLeg({ wait: program({ verb: 'redirect', to: { at: 'wait' } }) });
  assert.equal(await under.leg.within(under.nested, under.verb.signal), 'failed');
  assert.match(under.warnings().at(-1) ?? '', /more than 100 programs have begun within a minute/);
  assert.equal(under.door.results.length, 100);
  under.leg.close();
});

test('leave in the program of a call is a warning: it is in no queue', async () => {
  const under = openLeg({ first: program({ verb: 'leave' }, say('Here.')) });
  const chain = under.leg.chain();
  assert.equal(
    await endOf(
      under,
      chain.perform(() => under.door.begin()),
    ),
    'done',
  );
  assert.deepEqual(under.warnings(), [
    'there is nothing to leave: the call waits in no queue; the verb is skipped',
  ]);
  assert.deepEqual(spoken(under), ['Here.']);
  under.leg.close();
});

test('a program over another leg is about that call, which it neither hangs up nor keeps', async () => {
  const under = openLeg({ whisper: program(say('A caller from sales.')) });
  const other = openHandledCall(calls);
  const nested = { ...under.nested, target: { at: 'whisper' } };
  let end: string | undefined;
  void under.leg.onLeg(other.handled, nested, under.verb.signal).then((one) => (end = one));
  await other.passUntil(() => end !== undefined);
  assert.equal(end, 'done');
  assert.deepEqual(spoken(other), ['A caller from sales.']);
  assert.deepEqual(spoken(under), []);
  assert.deepEqual(other.orders, []);
  const [about] = under.door.legs.map((call) => call.about);
  assert.equal(about?.parent, under.call.id);
  assert.equal(about?.owner, 'key');
  under.leg.close();
});

test('the other call hangs up during the program over it, which stops, and this call goes on', async () => {
  const under = openLeg({ whisper: program(gather({ prompts: [say('Press one.')] })) });
  const other = openHandledCall(calls);
  const ending = under.leg.onLeg(
    other.handled,
    { ...under.nested, target: { at: 'whisper' } },
    under.verb.signal,
  );
  await other.passUntil(() => other.count('utterance.started') === 1);
  await other.call.close('peer hung up');
  assert.equal(await ending, 'stopped');
  assert.deepEqual(under.orders, []);
  under.leg.close();
});
