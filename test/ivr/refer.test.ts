// The verb refer: what the target is told, and when the next verb follows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import type { ProgramCalls } from '../../src/ivr/scene.js';
import type { Refer } from '../../src/ivr/verbs.js';
import { openCalls } from '../fakes/call-under-test.js';
import { openProgram, program, say, spoken } from './program-under-test.js';

const calls = openCalls();

const REFER: Refer = { verb: 'refer', to: 'sip:bob@example.com', action: { at: 'result' } };
/** Programs may place calls. */
const ALLOWED = { problem: () => undefined } as unknown as ProgramCalls;

async function referring(setting: Parameters<typeof openProgram>[2], verb: Refer = REFER) {
  const under = await openProgram(calls, [verb, say('Next.')], {
    programs: { result: program(say('Told.')) },
    ...setting,
  });
  await under.passUntil(() => under.orders.includes('hang up'));
  return under;
}

test('a far end that was referred is told to the target', async () => {
  const under = await referring({ dialled: ALLOWED });
  assert.equal(under.orders[0], 'transfer sip:bob@example.com, if it is allowed');
  assert.deepEqual(under.door.results, [['result', { of: 'refer', isAccepted: true, status: 200 }]]);
  assert.deepEqual(spoken(under), ['Told.']);
});

test('a refusal is a warning and a result', async () => {
  const under = await referring({ dialled: ALLOWED, transferStatus: 603 });
  assert.deepEqual(under.door.results, [['result', { of: 'refer', isAccepted: false, status: 603 }]]);
  assert.deepEqual(under.mistakes(), ['program.warning: the far end was not referred: SIP status 603']);
});

test('a destination that is not allowed is a warning with the number of dial', async () => {
  const transfer = Promise.reject(new ParleyError('FORBIDDEN', 'SIP_DESTINATIONS lists it not'));
  const under = await referring({ dialled: ALLOWED, transfer });
  assert.deepEqual(
    under.events.flatMap((event) => (event.type === 'program.warning' ? [[event.code, event.message]] : [])),
    [['13224', 'SIP_DESTINATIONS lists it not']],
  );
  assert.deepEqual(under.door.results[0]?.[1], { of: 'refer', isAccepted: false, status: undefined });
});

test('a server whose programs place no calls refers nobody', async () => {
  const dialled = { problem: () => 'SIP_DESTINATIONS is not set' } as unknown as ProgramCalls;
  const under = await referring({ dialled });
  assert.deepEqual(under.orders, ['hang up']);
  assert.deepEqual(under.mistakes(), ['program.warning: SIP_DESTINATIONS is not set']);
  assert.deepEqual(under.door.results[0]?.[1], { of: 'refer', isAccepted: false, status: undefined });
});

test('without a target the next verb follows', async () => {
  const under = await referring({ dialled: ALLOWED }, { verb: 'refer', to: REFER.to });
  assert.deepEqual([under.door.results, spoken(under)], [[], ['Next.']]);
});

for (const [hangsUp, results] of [
  [true, [['result', { of: 'refer', isAccepted: true, status: 200 }]]],
  [false, []],
] as const) {
  test(`${hangsUp ? 'a far end that hangs up at once' : 'another program'} ${hangsUp ? 'keeps' : 'drops'} the result`, async () => {
    let settle: () => void = () => undefined;
    const transfer = new Promise<void>((resolve) => (settle = resolve));
    const under = await openProgram(calls, [REFER], { dialled: ALLOWED, transfer });
    await under.passUntil(() => under.orders.length === 1);
    if (hangsUp) await under.call.close('peer hung up');
    else under.run.replace({ program: program(say('Other.')) });
    if (!hangsUp) await under.passUntil(() => under.orders.includes('hang up'));
    settle();
    await under.run.over;
    assert.deepEqual(under.door.results, results);
    assert.equal(under.time.waiting, 0);
  });
}
