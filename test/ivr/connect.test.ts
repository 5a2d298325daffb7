// The verb connect: the call is lent to the one who talks, and comes back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HandledCall } from '../../src/call/call-handler.js';
import { ParleyError } from '../../src/errors.js';
import type { ConnectEnd, Connect } from '../../src/ivr/verbs.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { openProgram, program, say, spoken } from './program-under-test.js';

const calls = openCalls();
const CONNECT: Connect = { verb: 'connect', to: { kind: 'agent', name: 'anna' }, action: { at: 'result' } };

/** The call is lent to the test. */
async function connected(verb = CONNECT) {
  const lent: { handled?: HandledCall; told?: (end: ConnectEnd) => void } = {};
  const [typed, left, closed]: [string[], string[], string[]] = [[], [], []];
  const under = await openProgram(calls, [verb, say('Next.')], {
    programs: { result: program(say('Back.')) },
    talks: {
      connect: (to, handled, told) => {
        if (to.kind === 'agent' && to.name === 'nobody')
          throw new ParleyError('NOT_FOUND', 'there is no agent "nobody"');
        Object.assign(lent, { handled, told });
        void handled.call.closed.then((reason) => closed.push(reason));
        return { typed: (text) => void typed.push(text) };
      },
      stream: () => assert.fail(),
      left: (call) => void left.push(call),
    },
  });
  const ends = () => under.passUntil(() => under.orders.includes('hang up'));
  const { handled = assert.fail(), told = assert.fail() } = lent;
  return { under, handled, told, typed, left, closed, ends };
}

test('the one who talks speaks in the call, and by hanging up gives it back', async () => {
  const { under, handled, told, typed, left, closed, ends } = await connected();
  const { ended } = handled.call.speak('I am Anna.');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  await ended;
  under.run.typed('Hello.');
  under.press('1');
  told({ status: 'ended', handoffData: 'billing' });
  await handled.hangUp();
  await ends();
  assert.deepEqual([typed, closed, left], [['Hello.'], ['given back'], [under.call.id]]);
  const [[at, result] = assert.fail()] = under.door.results;
  assert.ok(at === 'result' && result.of === 'connect');
  assert.deepEqual([result.status, result.handoffData], ['ended', 'billing']);
  assert.deepEqual(spoken(under), ['I am Anna.', 'Back.']);
});

test('without a target the next verb follows', async () => {
  const { under, handled, ends } = await connected({ ...CONNECT, action: undefined });
  await handled.hangUp();
  await ends();
  assert.deepEqual(spoken(under), ['Next.']);
});

test('a caller who hangs up ends the session, and the target learns of it', async () => {
  const { under, closed } = await connected();
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual(closed, ['peer hung up']);
  const [[, result] = assert.fail()] = under.door.results;
  assert.ok(result.of === 'connect' && result.status === 'completed');
});

test('another program takes the call back in the middle of a sentence', async () => {
  const { under, handled, closed, ends } = await connected();
  void handled.call.speak('This is a long story, which goes on and on.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.run.replace({ program: program(say('Other.')) });
  await settle();
  assert.equal(under.count('utterance.interrupted'), 1);
  await ends();
  assert.deepEqual([closed, under.door.results, spoken(under)], [['given back'], [], ['Other.']]);
});

test('nobody of that name is a warning, and the next verb follows', async () => {
  const under = await openProgram(
    calls,
    [{ ...CONNECT, to: { kind: 'agent', name: 'nobody' } }, say('Next.')],
    {
      talks: {
        connect: () => {
          throw new ParleyError('NOT_FOUND', 'there is no agent "nobody"');
        },
        stream: () => assert.fail(),
        left: () => assert.fail(),
      },
    },
  );
  await under.passUntil(() => under.orders.includes('hang up'));
  assert.deepEqual(under.mistakes(), ['program.warning: there is no agent "nobody"']);
  assert.deepEqual(spoken(under), ['Next.']);
});
