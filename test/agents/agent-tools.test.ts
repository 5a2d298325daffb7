import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentTools, type ToolActions, type ToolOutcome } from '../../src/agents/agent-tools.js';
import type { AgentToolConfig } from '../../src/config/agent-config.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { openFunctionServer } from './function-server.js';

const NEVER = new AbortController().signal;

interface Setting {
  readonly tools?: readonly AgentToolConfig[];
  readonly transfers?: ReadonlyMap<string, string>;
  readonly hasLeg?: boolean;
  readonly refusal?: number;
  /** The person takes the caller, or not for this reason; absent: nobody can be called. */
  readonly person?: 'takes the caller' | 'busy';
}

function open({ tools = [], transfers = new Map(), hasLeg = true, refusal, person }: Setting = {}) {
  const done: string[] = [];
  const time = new ManualTime();
  const leg = {
    transfer: (target: string) => (done.push(`transfer ${target}`), Promise.resolve(refusal)),
    press: (digits: string) => (done.push(`press ${digits}`), Promise.resolve()),
  };
  const warmly: ToolActions['warmTransfer'] = async ({ to, summary }, _signal, begun) => {
    begun();
    done.push(`warm ${to}: ${summary}`);
    return person === 'busy' ? person : undefined;
  };
  const actions: ToolActions = {
    hangUp: () => (done.push('hang up'), Promise.resolve()),
    collect: (wanted) => (done.push(`collect ${JSON.stringify(wanted)}`), Promise.resolve('42')),
    ...(hasLeg ? leg : {}),
    ...(person === undefined ? {} : { warmTransfer: warmly }),
  };
  const all = new AgentTools({ call: 'call_1', config: { tools, transfers }, actions, time });
  const run = async (name: string, given: object | string, signal = NEVER) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const { result, isOver } = await all.run({ id: 'a', name, arguments: text }, signal);
    return { result: result.startsWith('{') ? (JSON.parse(result) as unknown) : result, isOver };
  };
  return { all, run, done, time };
}

test('a model is told no variable of the operator, which it would say to the caller', async () => {
  const actions: ToolActions = {
    hangUp: () => Promise.resolve(),
    collect: () => Promise.reject(new ParleyError('QUEUE_FULL', '2 wait, which is what MAX_CALLS allows')),
  };
  const all = new AgentTools({
    call: 'call_1',
    config: { tools: [], transfers: new Map() },
    actions,
    time: new ManualTime(),
  });
  const { result } = await all.run({ id: 'a', name: 'collect_digits', arguments: '{"most":2}' }, NEVER);
  assert.equal(result, '{"error":"2 wait"}');
});

const SALES = new Map([['sales', 'sip:200@pbx']]);

test('a model is offered what its call can do', () => {
  const names = (setting: Setting) => open(setting).all.definitions.map(({ name }) => name);
  assert.deepEqual(names({ hasLeg: false, transfers: SALES }), ['hang_up', 'collect_digits']);
  assert.deepEqual(names({}), ['hang_up', 'send_digits', 'collect_digits']);
  assert.deepEqual(names({ transfers: SALES }), [
    'hang_up',
    'transfer_call',
    'send_digits',
    'collect_digits',
  ]);
  const browser = { hasLeg: false, person: 'busy' } as const;
  assert.deepEqual(names({ ...browser, transfers: SALES }), ['hang_up', 'warm_transfer', 'collect_digits']);
  assert.deepEqual(names(browser), ['hang_up', 'collect_digits'], 'there is nobody to call');
});

test('a warm transfer calls a person of the configuration only, with a summary', async () => {
  const wanted = { target: 'sales', summary: 'Ms Novak wants a refund.' };
  const taken = open({ transfers: SALES, person: 'takes the caller' });
  assert.deepEqual(await taken.run('warm_transfer', wanted), { result: { transferred: true }, isOver: true });
  assert.deepEqual(taken.done, ['warm sip:200@pbx: Ms Novak wants a refund.']);
  const busy = await open({ transfers: SALES, person: 'busy' }).run('warm_transfer', wanted);
  assert.deepEqual(busy, {
    result: { error: 'the person did not take the caller (busy)' },
    isOver: false,
  });
  const { run, done } = open({ transfers: SALES, person: 'takes the caller' });
  for (const [given, error] of [
    [{ ...wanted, target: 'sip:premium@elsewhere' }, 'target must be one of sales'],
    [{ ...wanted, target: '__proto__' }, 'target must be one of sales'],
    [{ summary: 'x' }, 'target must be one of sales'],
    [{ target: 'sales' }, 'summary must be a text of at most 1000 characters'],
    [{ ...wanted, summary: ' ' }, 'summary must be a text of at most 1000 characters'],
    [{ ...wanted, summary: 'x'.repeat(1001) }, 'summary must be a text of at most 1000 characters'],
  ] as const)
    assert.deepEqual(await run('warm_transfer', given), { result: { error }, isOver: false });
  assert.deepEqual(done, []);
  const nobody = await open({ transfers: SALES }).run('warm_transfer', wanted);
  assert.deepEqual(nobody.result, { error: 'nobody can be called from here' });
});

test('the built-in functions do what they say', async () => {
  const { run, done } = open({ transfers: SALES });
  assert.deepEqual(await run('hang_up', ''), { result: { ended: true }, isOver: true });
  assert.deepEqual(await run('transfer_call', { target: 'sales' }), {
    result: { transferred: true },
    isOver: true,
  });
  assert.deepEqual(await run('send_digits', { digits: '1,2#' }), { result: { sent: '1,2#' }, isOver: false });
  assert.deepEqual(await run('collect_digits', { most: 2 }), { result: { digits: '42' }, isOver: false });
  const wanted = { most: 2, timeoutMs: 10_000 };
  assert.deepEqual(done, [
    'hang up',
    'transfer sip:200@pbx',
    'press 1,2#',
    `collect ${JSON.stringify(wanted)}`,
  ]);
});

test('a model names the key that ends the digits, or that none does; null is # as by default', async () => {
  const { run, done } = open();
  for (const until of ['*', '', null]) await run('collect_digits', { most: 2, until });
  const wanted = { most: 2, timeoutMs: 10_000 };
  assert.deepEqual(
    done.map((line) => JSON.parse(line.slice('collect '.length)) as object),
    [{ ...wanted, until: '*' }, { ...wanted, until: '' }, wanted],
  );
});

test('a transfer that is refused is told to the model, which goes on', async () => {
  const { run } = open({ transfers: SALES, refusal: 486 });
  assert.deepEqual(await run('transfer_call', { target: 'sales' }), {
    result: { error: 'the target refused the call (486)' },
    isOver: false,
  });
});

for (const [name, given, error] of [
  ['transfer_call', { target: 'sip:premium@elsewhere' }, 'target must be one of sales'],
  ['transfer_call', { target: ['sales'] }, 'target must be one of sales'],
  ['transfer_call', {}, 'target must be one of sales'],
  ['transfer_call', { target: '__proto__' }, 'target must be one of sales'],
  ['send_digits', { digits: '1; drop' }, /^digits must be 1 to 64/],
  ['send_digits', { digits: '1'.repeat(65) }, /^digits must be 1 to 64/],
  ['collect_digits', { most: 0 }, /^most must be a whole number from 1 to 32/],
  ['collect_digits', { most: 1e9 }, /^most must be a whole number from 1 to 32/],
  ['collect_digits', { most: 2, until: '12' }, 'until must be one key'],
  ['collect_digits', { most: 2, fresh: 'yes' }, 'fresh must be true or false'],
  ['collect_digits', { most: 2, seconds: 86_400 }, 'seconds must be from 1 to 60'],
  ['hang_up', 'now!', 'the arguments must be a JSON object'],
  ['hang_up', '[]', 'the arguments must be a JSON object'],
  ['rm_rf', {}, 'there is no function of this name'],
  ['constructor', {}, 'there is no function of this name'],
] as const) {
  test(`${name} with ${JSON.stringify(given).slice(0, 50)} does nothing, and says what is allowed`, async () => {
    const { run, done } = open({ transfers: SALES });
    const { result, isOver } = await run(name, given);
    const said = (result as { error: string }).error;
    if (typeof error === 'string') assert.equal(said, error);
    else assert.match(said, error);
    assert.equal(isOver, false);
    assert.deepEqual(done, []);
  });
}

test('a function of the operator gets the arguments, and its answer goes to the model as it is', async (t) => {
  const { asked, tool } = await openFunctionServer(t, (response) => response.end('{"state":"sent"}'));
  const { run, all } = open({ tools: [tool] });
  assert.ok(all.definitions.some(({ name }) => name === 'order_status'));
  assert.deepEqual(await run('order_status', { order: '7' }), { result: { state: 'sent' }, isOver: false });
  const id = 'call_1.1';
  const request = { call: 'call_1', function_call_id: id, name: 'order_status', arguments: { order: '7' } };
  assert.deepEqual(asked[0]?.body, request);
  assert.equal(asked[0]?.headers['idempotency-key'], id);
  assert.equal(asked[0]?.headers.authorization, 'Bearer secret');
});

test('each call of a function has an id of its own, whatever id the model gave it', async (t) => {
  const { asked, tool } = await openFunctionServer(t, (response) => response.end('{}'));
  const { run } = open({ tools: [tool] });
  for (let n = 0; n < 2; n++) await run('order_status', { order: '7' });
  assert.deepEqual(
    asked.map(({ headers }) => headers['idempotency-key']),
    ['call_1.1', 'call_1.2'],
  );
});

test('of a long answer the model gets 32 KiB', async (t) => {
  const { tool } = await openFunctionServer(t, (response) => response.end('x'.repeat(1_000_000)));
  const { run } = open({ tools: [tool] });
  assert.equal(((await run('order_status', {})).result as string).length, 32_768);
});

test('a function that fails, or sends the request elsewhere, is told to the model', async (t) => {
  let status = 500;
  const { tool } = await openFunctionServer(t, (response) =>
    response.writeHead(status, { location: 'http://169.254.169.254/latest/meta-data' }).end('secret'),
  );
  const { run } = open({ tools: [tool] });
  assert.deepEqual((await run('order_status', {})).result, { error: 'it answered with status 500' });
  status = 302;
  assert.deepEqual((await run('order_status', {})).result, { error: 'it could not be reached in time' });
});

test('a function that hangs is given up in time', async (t) => {
  const { asked, tool } = await openFunctionServer(t);
  const { run, time } = open({ tools: [tool] });
  const running = run('order_status', {});
  await until(() => asked.length === 1);
  time.advance(5000);
  assert.deepEqual((await running).result, { error: 'it could not be reached in time' });
  assert.equal(time.waiting, 0);
});

/** Calls a function, and notes what is told of it before its outcome. */
function start({ all }: ReturnType<typeof open>, name: string, signal = NEVER) {
  const begun: Promise<ToolOutcome>[] = [];
  const progress = { begun: (one: Promise<ToolOutcome>) => void begun.push(one), soFar: () => undefined };
  const outcome = all.run({ id: 'a', name, arguments: '{}' }, signal, progress);
  return { outcome, begun };
}

test('a function whose caller goes on runs to its end, and tells its outcome then', async (t) => {
  const { asked, tool } = await openFunctionServer(t);
  const under = open({ tools: [tool] });
  const end = new AbortController();
  const { outcome, begun } = start(under, 'order_status', end.signal);
  await until(() => asked.length === 1);
  end.abort();
  await assert.rejects(outcome, { code: 'ABORTED' });
  asked[0]?.response.end('{"state":"sent"}');
  assert.deepEqual(await Promise.all(begun), [{ result: '{"state":"sent"}', isOver: false }]);
  assert.equal(under.time.waiting, 0);
});

test('a function is not begun once the caller has gone on', async (t) => {
  const { asked, tool } = await openFunctionServer(t, (response) => response.end('{}'));
  const under = open({ tools: [tool] });
  const { outcome, begun } = start(under, 'order_status', AbortSignal.abort());
  await assert.rejects(outcome, { code: 'ABORTED' });
  await start(under, 'order_status').outcome;
  assert.deepEqual([asked.length, begun.length], [1, 0]);
});

test('eight functions of the operator run at a time, and the ninth is refused', async (t) => {
  const { asked, tool } = await openFunctionServer(t);
  const under = open({ tools: [tool] });
  const running = Array.from({ length: 8 }, () => start(under, 'order_status').outcome);
  await until(() => asked.length === 8);
  const { result } = await start(under, 'order_status').outcome;
  assert.equal(result, '{"error":"8 functions run already: wait for their results"}');
  for (const { response } of asked) response.end('{}');
  await Promise.all(running);
  const next = start(under, 'order_status').outcome;
  await until(() => asked.length === 9);
  asked[8]?.response.end('{"state":"sent"}');
  assert.equal((await next).result, '{"state":"sent"}');
});

test('the end of the call gives up what runs', async (t) => {
  const { asked, tool } = await openFunctionServer(t);
  const under = open({ tools: [tool] });
  const { outcome } = start(under, 'order_status');
  await until(() => asked.length === 1);
  under.all.close();
  await assert.rejects(outcome, { code: 'ABORTED' });
  assert.equal(under.time.waiting, 0);
});
