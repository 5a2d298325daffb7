// GET /v1/events and decisions about calls that come in, as an application uses them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { IncomingCalls } from '../../../src/call/incoming-calls.js';
import { OpenCalls } from '../../../src/call/open-calls.js';
import { ServerEvents } from '../../../src/call/server-events.js';
import type { RecordingEvent } from '../../../src/recording/call-recording.js';
import { ParleyError } from '../../../src/errors.js';
import { openHandledCall } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';

const calls = openCalls();
const [SHOP, OTHER] = ['shop-key-0123456789', 'other-key-0123456789'];
const PARTIES = { direction: 'inbound', protocol: 'sip', from: 'sip:anna@a', to: 'sip:100@b' } as const;
const CALL = { ...PARTIES, callId: 'a84b', route: 'sales' };

interface Told {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** `decider`: name of the key that decides. */
async function open(t: TestContext, apiKeys: readonly string[] = [], decider: string | undefined = 'shop') {
  const time = new ManualTime();
  const events = new ServerEvents(() => 1_795_731_642_000);
  let count = 0;
  const incoming = new IncomingCalls({ events, decider, time, newId: () => String(++count) });
  const { url } = await openServer(t, { apiKeys, follow: { events, incoming } });
  const headersOf = (key?: string) => (key === undefined ? {} : { authorization: `Bearer ${key}` });
  return {
    time,
    events,
    incoming,
    ask: () =>
      incoming.ask({
        about: CALL,
        call: 'call-7',
        timeoutMs: 3000,
        read: (rule) => {
          if (typeof rule === 'object' && rule !== null && 'wrong' in rule)
            throw new ParleyError('INVALID_FIELD', '"wrong" is none of agent, say, wait');
          return rule;
        },
      }),
    /** Resolves once the stream is open. */
    follow: async (query = '', key?: string, more: Record<string, string> = {}) => {
      const request = get(`${url}/v1/events${query}`, { headers: { ...headersOf(key), ...more } });
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      t.after(() => request.destroy());
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      const told = () =>
        [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as Told);
      return { told, text: () => text, status: answer.statusCode };
    },
    decide: async (verb: string, id: string, rule: object, key?: string) => {
      const answer = await fetch(`${url}/v1/calls/incoming/${id}/${verb}`, {
        method: 'POST',
        headers: { ...headersOf(key), 'content-type': 'application/json' },
        body: JSON.stringify(rule),
      });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

test('a call that comes in is told, and the rule of the application decides', async (t) => {
  const under = await open(t);
  const stream = await under.follow();
  const deciding = under.ask();
  await until(() => stream.told().length === 1);
  assert.deepEqual(stream.told()[0], {
    type: 'call.incoming',
    at: new Date(1_795_731_642_000).toISOString(),
    incoming: 'inc_1',
    call_id: 'call-7',
    decide_within: 3,
    call: { id: 'call-7', ...PARTIES, sip_call_id: 'a84b', route: 'sales' },
  });
  assert.equal((await under.decide('accept', 'inc_1', { agent: 'sales' })).status, 204);
  assert.deepEqual(await deciding, { agent: 'sales' });
  assert.equal((await under.decide('accept', 'inc_1', { agent: 'sales' })).status, 404, 'it waits no more');
  assert.equal(under.time.waiting, 0);
});

test('a rule that cannot be used is refused with the reason, and the call waits on', async (t) => {
  const under = await open(t);
  await under.follow();
  const deciding = under.ask();
  const refused = await under.decide('accept', 'inc_1', { wrong: 1 });
  assert.deepEqual(
    [refused.status, errorIn(refused.text).message],
    [400, '"wrong" is none of agent, say, wait'],
  );
  assert.equal((await under.decide('reject', 'inc_1', {})).status, 204);
  assert.deepEqual(await deciding, { reject: { status: 486 } });
});

test('a call is refused with the status that the application names, which must be one of SIP', async (t) => {
  const under = await open(t);
  await under.follow();
  const deciding = under.ask();
  assert.equal((await under.decide('reject', 'inc_1', { status: 200 })).status, 400);
  assert.equal((await under.decide('reject', 'inc_1', { status: 603 })).status, 204);
  assert.deepEqual(await deciding, { reject: { status: 603 } });
});

test('nobody is waited for who does not follow, or longer than the limit', async (t) => {
  const under = await open(t);
  await assert.rejects(under.ask(), { code: 'WRONG_STATE', message: /nobody follows/ });
  await under.follow();
  const deciding = under.ask();
  under.time.advance(3000);
  await assert.rejects(deciding, { code: 'TIMEOUT' });
  assert.equal((await under.decide('accept', 'inc_1', {})).status, 404);
});

test('only the key that decides sees a call that comes in, and decides about it', async (t) => {
  const under = await open(t, [`shop ${SHOP}`, `other ${OTHER}`]);
  assert.equal((await under.follow()).status, 401);
  const other = await under.follow('', OTHER);
  await assert.rejects(under.ask(), { code: 'WRONG_STATE' });
  const shop = await under.follow('', SHOP);
  const deciding = under.ask();
  await until(() => shop.told().length === 1);
  assert.equal((await under.decide('accept', 'inc_1', {}, OTHER)).status, 404);
  assert.equal((await under.decide('accept', 'inc_1', {}, SHOP)).status, 204);
  assert.deepEqual([await deciding, other.told()], [{}, []]);
});

test('a call is told when it starts and when it ends, to its owner, and what was missed is told again', async (t) => {
  const under = await open(t, [`shop ${SHOP}`, `other ${OTHER}`]);
  const [shop, other] = [await under.follow('', SHOP), await under.follow('', OTHER)];
  const { handled, call } = openHandledCall(calls);
  const matched = { ...handled, callId: 'a84b', route: 'sales' };
  new OpenCalls({ ownerOf: () => 'shop', events: under.events }).opened(matched);
  await call.close('peer hung up');
  await until(() => shop.told().length === 2);
  const [started, ended] = shop.told();
  const { from, to } = handled;
  const ids = { sip_call_id: 'a84b', route: 'sales' };
  const about = { id: 'call-1', direction: 'inbound', protocol: 'test', from, to, ...ids };
  assert.deepEqual([started?.type, started?.['call']], ['call.started', about]);
  assert.deepEqual([started?.['call_id'], ended?.['call_id']], ['call-1', 'call-1']);
  assert.deepEqual(
    [ended?.type, ended?.['call'], ended?.['reason']],
    ['call.ended', { id: 'call-1', ...ids }, 'peer hung up'],
  );
  assert.deepEqual(other.told(), []);
  const late = await under.follow('?after=1', SHOP);
  await until(() => late.told().length === 1);
  assert.match(late.text(), /id: 2\nevent: call\.ended\n/);
  const again = await under.follow('', SHOP, { 'last-event-id': '0' });
  await until(() => again.told().length === 2);
});

test('the recording of a room is told with the room, to the key of the room', async (t) => {
  const under = await open(t, [`shop ${SHOP}`, `other ${OTHER}`]);
  const [shop, other] = [await under.follow('', SHOP), await under.follow('', OTHER)];
  const name = 'weekly.wav';
  const tell = (recording: RecordingEvent) =>
    under.events.add({ type: recording.type, room: 'weekly', recording }, 'shop');
  tell({ type: 'recording.started', name, format: 'wav' });
  tell({ type: 'recording.stopped', name, reason: 'stopped', durationMs: 2000, bytes: 128_044 });
  await until(() => shop.told().length === 2);
  assert.deepEqual(
    shop.told().map(({ at: _at, ...event }) => event),
    [
      { type: 'recording.started', room: 'weekly', name, format: 'wav' },
      {
        type: 'recording.stopped',
        room: 'weekly',
        name,
        duration_ms: 2000,
        bytes: 128_044,
        reason: 'stopped',
      },
    ],
  );
  assert.deepEqual(other.told(), []);
});

test('no more than a thousand events are kept', () => {
  const events = new ServerEvents(() => 0);
  for (let n = 0; n < 1500; n++)
    events.add({ type: 'call.ended', call: `call-${n}`, reason: 'x' }, undefined);
  const ids: number[] = [];
  events.follow(undefined, 0, ({ id }) => ids.push(id));
  assert.deepEqual([ids.length, ids[0], ids.at(-1)], [1000, 501, 1500]);
});

test('a client that knows an id of before a restart gets all that is kept', () => {
  const events = new ServerEvents(() => 0);
  events.add({ type: 'call.ended', call: 'call-1', reason: 'x' }, undefined);
  const ids: number[] = [];
  events.follow(undefined, 5000, ({ id }) => ids.push(id));
  assert.deepEqual(ids, [1]);
});

test('a follower that throws keeps no other from the events', async () => {
  const events = new ServerEvents(() => 0);
  events.follow(undefined, 0, () => {
    throw new Error('a defect');
  });
  const ids: number[] = [];
  events.follow(undefined, 0, ({ id }) => ids.push(id));
  const rejections = await rejectionsOf(() =>
    events.add({ type: 'call.ended', call: 'call-1', reason: 'x' }, undefined),
  );
  assert.deepEqual(ids, [1]);
  assert.deepEqual(rejections.map(String), ['Defect: call events: a defect']);
});
