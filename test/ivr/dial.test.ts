// Dial: who is called, who is joined, what becomes of the others, and what the result tells.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { ProgramError } from '../../src/ivr/door.js';
import { dial as performDial } from '../../src/ivr/dial.js';
import type { Scene } from '../../src/ivr/scene.js';
import type { Dial, DialResult, DialTarget, VerbResult } from '../../src/ivr/verbs.js';
import { openHandledCall, settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { DialledCalls } from './dialled-calls.js';
import { gather, openProgram, program, type ProgramUnderTest, say, spoken } from './program-under-test.js';

const calls = openCalls();

const dial = (targets: readonly (string | DialTarget)[], more: Partial<Dial> = {}): Dial => ({
  verb: 'dial',
  targets: targets.map((one) => (typeof one === 'string' ? { to: one } : one)),
  isSequential: false,
  ringMs: 30_000,
  talkMs: 14_400_000,
  endsByStar: false,
  answersLate: false,
  action: { at: 'result' },
  ...more,
});

interface DialUnderTest extends ProgramUnderTest {
  readonly dialled: DialledCalls;
  result(): VerbResult | undefined;
}

async function dialling(
  verb: Dial,
  setting: Parameters<typeof openProgram>[2] & { readonly prepare?: (dialled: DialledCalls) => void } = {},
): Promise<DialUnderTest> {
  const dialled = new DialledCalls();
  const { prepare, programs = {}, ...more } = setting;
  prepare?.(dialled);
  const wait = { verb: 'pause', ms: 600_000 } as const;
  const under = await openProgram(calls, [verb, wait], {
    ...more,
    dialled,
    programs: { result: program(wait), ...programs },
  });
  return { ...under, dialled, result: () => under.door.results.find(([at]) => at === 'result')?.[1] };
}

test('the one that answers is joined with the caller, who heard ringing, and the result tells of the talk', async () => {
  const under = await dialling(dial(['+491']), { from: 'sip:+4930@example.com' });
  const { dialled } = under;
  assert.deepEqual(dialled.orders, ['ring back', 'place +491']);
  assert.deepEqual(dialled.placed[0]?.request, {
    to: '+491',
    ringTimeoutMs: 30_000,
    from: '+4930',
    parent: 'call-1',
  });
  dialled.state('+491', 'ringing');
  dialled.state('+491', 'connected');
  await settle();
  assert.deepEqual(dialled.orders.slice(2), ['silent', 'join +491']);
  under.time.advance(61_500);
  dialled.endBridge('hung up');
  await settle();
  assert.deepEqual(under.result(), {
    of: 'dial',
    status: 'completed',
    isBridged: true,
    call: 'to +491',
    durationMs: 61_500,
    sipCallId: 'dialog +491',
    sipStatus: 200,
  } satisfies DialResult);
});

test('without an action the next verb follows', async () => {
  const under = await dialling(dial(['+491'], { action: undefined }));
  under.dialled.state('+491', 'ended', { reason: 'rejected', status: 486 });
  await settle();
  assert.deepEqual(
    under.events.flatMap((event) => (event.type === 'program.verb' ? [event.verb] : [])),
    ['dial', 'pause'],
  );
});

for (const [end, status] of [
  [{ reason: 'rejected', status: 486 }, 'busy'],
  [{ reason: 'rejected', status: 600 }, 'busy'],
  [{ reason: 'rejected', status: 603 }, 'busy'],
  [{ reason: 'rejected', status: 480 }, 'no-answer'],
  [{ reason: 'no answer', status: 408 }, 'no-answer'],
  [{ reason: 'no answer' }, 'no-answer'],
  [{ reason: 'rejected', status: 404 }, 'failed'],
  [{ reason: 'failed', status: 503 }, 'failed'],
  [{ reason: 'failed' }, 'failed'],
] as const)
  test(`a call that ends as ${JSON.stringify(end)} has the status ${status}`, async () => {
    const under = await dialling(dial(['+491']));
    under.dialled.state('+491', 'ended', end);
    await settle();
    const result = under.result() as DialResult;
    assert.deepEqual([result.status, result.isBridged, result.call], [status, false, 'to +491']);
    assert.equal(result.sipStatus, 'status' in end ? end.status : undefined);
  });

test('all ring at once; the first that answers wins, and the others are hung up', async () => {
  const under = await dialling(dial(['+491', '+492', '+493']));
  const { dialled } = under;
  dialled.state('+493', 'ended', { reason: 'rejected', status: 486 });
  dialled.state('+492', 'connected');
  await settle();
  assert.deepEqual(dialled.orders.slice(-3), ['hang up +491', 'silent', 'join +492']);
});

test('nobody answers at once: the result is that of the one who was nearest', async () => {
  const under = await dialling(dial(['+491', '+492']));
  under.dialled.state('+491', 'ended', { reason: 'rejected', status: 486 });
  under.dialled.state('+492', 'ended', { reason: 'failed' });
  await settle();
  assert.equal((under.result() as DialResult).status, 'busy');
});

test('one after another: the second is called when the first has not answered in time', async () => {
  const under = await dialling(dial(['+491', '+492'], { isSequential: true, ringMs: 10_000 }));
  const { dialled } = under;
  assert.deepEqual(dialled.orders, ['ring back', 'place +491']);
  under.time.advance(10_000);
  await settle();
  assert.deepEqual(dialled.orders.slice(2), ['hang up +491', 'place +492']);
  dialled.state('+492', 'connected');
  await settle();
  assert.equal(dialled.orders.at(-1), 'join +492');
});

test('a target that never answers is given up after the time, with the status no-answer', async () => {
  const under = await dialling(dial(['+491']));
  under.time.advance(29_999);
  await settle();
  assert.equal(under.result(), undefined);
  under.time.advance(1);
  await settle();
  assert.deepEqual(under.dialled.orders.slice(2), ['hang up +491', 'silent']);
  assert.equal((under.result() as DialResult).status, 'no-answer');
});

test('the two are parted after the longest time of a talk', async () => {
  const under = await dialling(dial(['+491'], { talkMs: 60_000 }));
  under.dialled.state('+491', 'connected');
  await settle();
  under.time.advance(60_000);
  await settle();
  assert.deepEqual(under.dialled.orders.slice(-2), ['part', 'hang up +491']);
  const { status, durationMs } = under.result() as DialResult;
  assert.deepEqual([status, durationMs], ['completed', 60_000]);
});

test('a star ends the talk where the verb says so, and its keys are no input of the next verb', async () => {
  const under = await dialling(dial(['+491'], { endsByStar: true }), {
    programs: { result: program(gather({ mostKeys: 1, action: { at: 'keys' } })) },
  });
  under.dialled.state('+491', 'connected');
  await settle();
  assert.equal(under.dialled.orders.at(-1), 'join +491 until *');
  under.press('5*');
  under.dialled.endBridge('key');
  await settle();
  assert.equal((under.result() as DialResult).status, 'completed');
  assert.equal(
    under.door.results.some(([at]) => at === 'keys'),
    false,
  );
  under.press('7');
  await settle();
  assert.deepEqual(under.door.results.at(-1), [
    'keys',
    { of: 'gather', by: 'keys', digits: '7', finishKey: undefined },
  ]);
});

test('a caller who is answered late is answered when a target has accepted, and not if none does', async () => {
  const under = await dialling(dial(['+491'], { answersLate: true }), { isAnswered: false });
  assert.deepEqual([under.signals, under.dialled.orders], [[], ['place +491']]);
  under.dialled.state('+491', 'connected');
  await settle();
  assert.deepEqual([under.signals, under.dialled.orders.at(-1)], [['answered'], 'join +491']);
  const busy = await dialling(dial(['+491'], { answersLate: true, action: { at: 'busy' } }), {
    isAnswered: false,
    programs: { busy: program({ verb: 'reject', reason: 'busy' }) },
  });
  busy.dialled.state('+491', 'ended', { reason: 'rejected', status: 486 });
  await settle();
  assert.deepEqual(busy.signals, ['refused 486']);
});

test('voicemail answers first and presses no key; the person who presses one is joined', async () => {
  const [voicemail, person] = [openHandledCall(calls), openHandledCall(calls)];
  const whisper = { at: 'whisper' };
  const under = await dialling(
    dial([
      { to: '+491', whisper },
      { to: '+492', whisper },
    ]),
    {
      prepare: ({ legs }) => {
        legs.set('to +491', { ...voicemail.handled, call: renamed(voicemail.call, 'to +491') });
        legs.set('to +492', { ...person.handled, call: renamed(person.call, 'to +492') });
      },
      programs: {
        whisper: program(
          gather({ prompts: [say('Press one.')], mostKeys: 1, firstMs: 5000, action: { at: 'accept' } }),
          { verb: 'hangup' },
        ),
        accept: program(),
      },
    },
  );
  const { dialled } = under;
  dialled.state('+491', 'connected');
  await settle();
  dialled.state('+492', 'connected');
  await settle();
  assert.equal(
    dialled.orders.some((order) => order.startsWith('join')),
    false,
  );
  person.call.pressed('1');
  await settle();
  assert.deepEqual(dialled.orders.slice(-3), ['hang up +491', 'silent', 'join +492']);
  assert.deepEqual(
    under.door.legs.map(({ about }) => about.parent),
    [under.call.id, under.call.id, under.call.id, under.call.id],
  );
});

for (const [how, screen] of [
  ['hangs up', program({ verb: 'hangup' })],
  ['cannot be had', () => Promise.reject(new ProgramError({ code: '11200', message: 'status 500' }))],
] as const)
  test(`a program over the call of the target that ${how} declines, and the caller goes on`, async () => {
    const person = openHandledCall(calls);
    const under = await dialling(dial([{ to: '+491', whisper: { at: 'whisper' } }]), {
      prepare: ({ legs }) => void legs.set('to +491', person.handled),
      programs: { whisper: screen },
    });
    under.dialled.state('+491', 'connected');
    await settle();
    assert.deepEqual(under.dialled.orders.slice(2), ['hang up +491', 'silent']);
    const { status, isBridged } = under.result() as DialResult;
    assert.deepEqual([status, isBridged], ['no-answer', false]);
    assert.deepEqual(spoken(under), []);
  });

test('keys are pressed towards the target before it is joined', async () => {
  const person = openHandledCall(calls);
  const under = await dialling(dial([{ to: '+491', digits: ',,12#' }]), {
    prepare: ({ legs }) =>
      void legs.set('to +491', { ...person.handled, call: renamed(person.call, 'to +491') }),
  });
  under.dialled.state('+491', 'connected');
  await settle();
  assert.deepEqual(person.orders, ['press ,,12#']);
  assert.equal(under.dialled.orders.at(-1), 'join +491');
});

test('the states of a call are told in order, each with its number', async () => {
  const told = ['initiated', 'ringing', 'answered', 'completed'] as const;
  const under = await dialling(dial([{ to: '+491', states: { target: { at: 'states' }, told } }]));
  under.dialled.state('+491', 'ringing');
  under.dialled.state('+491', 'connected');
  await settle();
  under.time.advance(4000);
  under.dialled.state('+491', 'ended', { reason: 'peer hung up' });
  under.dialled.endBridge('hung up');
  await settle();
  assert.deepEqual(under.door.notices, [
    { of: 'dialled', state: 'initiated', number: 0, at: 1000, sipStatus: undefined },
    { of: 'dialled', state: 'ringing', number: 1, at: 2000, sipStatus: undefined },
    { of: 'dialled', state: 'answered', number: 2, at: 2000, sipStatus: 200 },
    {
      of: 'dialled',
      state: 'completed',
      number: 3,
      at: 2000,
      sipStatus: undefined,
      status: 'completed',
      durationMs: 4000,
    },
  ]);
});

test('a program may not dial where SIP_DESTINATIONS is not set: 13224, and the caller goes on', async () => {
  const reason = 'SIP_DESTINATIONS must list the destinations that it may call';
  const under = await dialling(dial(['+491']), { prepare: (dialled) => (dialled.reason = reason) });
  assert.deepEqual(under.dialled.orders, []);
  assert.deepEqual(under.result(), { of: 'dial', status: 'failed', isBridged: false });
  const [warning] = under.events.filter(({ type }) => type === 'program.warning');
  assert.deepEqual(warning, {
    type: 'program.warning',
    code: '13224',
    message: `a program cannot dial here: ${reason}`,
  });
});

for (const [code, field, number] of [
  ['FORBIDDEN', 'to', '13224'],
  ['RATE_LIMITED', 'to', '13224'],
  ['INVALID_FIELD', 'from', '13214'],
  ['ENGINE_UNAVAILABLE', undefined, undefined],
] as const)
  test(`a call that is refused with ${code} is a warning ${number ?? 'without a number'}, and fails`, async () => {
    const error = new ParleyError(code, 'it is refused', field === undefined ? {} : { field });
    const under = await dialling(dial(['+491']), {
      prepare: ({ refused }) => void refused.set('+491', error),
    });
    assert.deepEqual(under.result(), {
      of: 'dial',
      status: 'failed',
      isBridged: false,
      call: undefined,
      sipCallId: undefined,
      sipStatus: undefined,
    });
    const warning = under.events.find((event) => event.type === 'program.warning');
    assert.deepEqual(warning, {
      type: 'program.warning',
      ...(number === undefined ? {} : { code: number }),
      message: '"+491": it is refused',
    });
  });

test('a server without a telephone warns, and the caller goes on', async () => {
  const under = await openProgram(calls, [dial(['+491']), { verb: 'pause', ms: 1000 }]);
  assert.deepEqual(under.mistakes(), [
    'program.warning: a program cannot dial here: this server has no telephone',
  ]);
  assert.deepEqual(under.door.results, [['result', { of: 'dial', status: 'failed', isBridged: false }]]);
});

test('a caller who hangs up while others ring ends their calls, and the result is told', async () => {
  const under = await dialling(dial(['+491', '+492']));
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual(under.dialled.orders.slice(3).toSorted(), ['hang up +491', 'hang up +492', 'silent']);
  const { status, isBridged } = under.result() as DialResult;
  assert.deepEqual([status, isBridged], ['canceled', false]);
  assert.equal(under.time.waiting, 0);
});

test('another program takes the place of a talk at once: the two are parted, and the other is hung up', async () => {
  const under = await dialling(dial(['+491']), { programs: { other: program(say('Elsewhere.')) } });
  under.dialled.state('+491', 'connected');
  await settle();
  under.run.replace({ target: { at: 'other' } });
  await settle();
  assert.deepEqual(under.dialled.orders.slice(-2), ['hang up +491', 'part'].toSorted());
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(spoken(under), ['Elsewhere.']);
});

test('a call that an application has parted goes on without the caller', async () => {
  const under = await dialling(dial(['+491']));
  under.dialled.state('+491', 'connected');
  await settle();
  under.dialled.endBridge('parted');
  await settle();
  assert.equal((under.result() as DialResult).status, 'completed');
  assert.equal(under.dialled.orders.includes('hang up +491'), false);
});

test('a verb that is stopped while the caller is being answered calls nobody', async () => {
  const stopping = new AbortController();
  const dialled = new DialledCalls();
  const scene = {
    calls: dialled,
    signal: stopping.signal,
    isAnswered: true,
    answered: async () => (stopping.abort(), openHandledCall(calls).handled),
  } as unknown as Scene;
  const outcome = await performDial(dial(['+491']), scene);
  assert.deepEqual(dialled.orders, []);
  assert.equal(typeof outcome === 'object' && (outcome.result as DialResult).isBridged, false);
});

test('a verb that is stopped while the caller is answered late joins nobody, and hangs up', async () => {
  const stopping = new AbortController();
  const dialled = new DialledCalls();
  const scene = {
    calls: dialled,
    signal: stopping.signal,
    isAnswered: false,
    about: { id: 'call-0' },
    time: new ManualTime(),
    door: { ofLeg: () => ({ tell: () => undefined }) },
    answered: async () => (stopping.abort(), openHandledCall(calls).handled),
  } as unknown as Scene;
  const performed = performDial(dial(['+491'], { answersLate: true }), scene);
  await settle();
  dialled.state('+491', 'connected');
  await performed;
  assert.deepEqual(dialled.orders, ['place +491', 'hang up +491']);
});

/** The call under the id that the test's telephone gave it. */
function renamed<T extends object>(call: T, id: string): T {
  return new Proxy(call, {
    get: (target, name) => {
      if (name === 'id') return id;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
