// Calls over AudioSocket under /v1/calls, beside those of the telephone or without one.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ApplicationCalls } from '../../src/call/listed-calls.js';
import type { PhoneCallEvent } from '../../src/call/phone-calls.js';
import { errorIn, openServer } from '../api/app-under-test.js';
import { FakePhone, FakeSounds } from '../api/calls/fake-calls.js';
import { FarEnd, UUID } from '../api/audiosocket/far-end.js';
import { openAudioSocket } from '../api/audiosocket/open-audio-socket.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';

const calls = openCalls();

async function open(t: TestContext, telephone?: FakePhone) {
  const under = await openAudioSocket(t, calls, { unansweredMs: 30_000 });
  const all = new ApplicationCalls({ telephone, listed: under.listed, openCalls: under.openCalls });
  const { url } = await openServer(t, { phone: { calls: all, sounds: new FakeSounds() } });
  const farEnd = await FarEnd.call(t, under.port);
  const { call } = await under.opened();
  const ask = async (method: string, path: string, body?: object) => {
    const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}/v1/calls${path}`, { method, ...(body === undefined ? {} : json) });
    const text = await answer.text();
    return { status: answer.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
  };
  return { ...under, all, farEnd, call, ask };
}

test('a call over AudioSocket is in the list and has an address, without a telephone', async (t) => {
  const { call, ask } = await open(t);
  const view = (await ask('GET', `/${call.id}`)).json();
  assert.deepEqual(
    [view['id'], view['protocol'], view['direction'], view['state'], view['from'], view['to']],
    [call.id, 'audiosocket', 'inbound', 'connected', `audiosocket:${UUID}`, ''],
  );
  assert.deepEqual((await ask('GET', '')).json()['data'], [view]);
  const placed = await ask('POST', '', { to: '100' });
  assert.deepEqual([placed.status, errorIn(placed.text).code], [501, 'telephone_off']);
  assert.equal((await ask('GET', '/call_other')).status, 404);
});

test('it is listed beside the calls of the telephone, which go on as before', async (t) => {
  const phone = new FakePhone();
  phone.add('call_1');
  const { call, ask } = await open(t, phone);
  const { data } = (await ask('GET', '')).json() as { data: { id: string }[] };
  assert.deepEqual(data.map(({ id }) => id).toSorted(), ['call_1', call.id].toSorted());
  assert.equal((await ask('POST', '/call_1/say', { text: 'Hello.' })).status, 202);
  assert.deepEqual(phone.asked[0]?.slice(0, 2), ['say', 'call_1']);
  const joined = await ask('POST', '/call_1/transfer', { call: call.id });
  assert.equal(joined.status, 409);
});

test('an application speaks, listens, interrupts and hangs up, and the call waits for no other one', async (t) => {
  const { call, ask, farEnd, time } = await open(t);
  const said = await ask('POST', `/${call.id}/say`, { text: 'Hello.' });
  assert.deepEqual([said.status, said.json()['utterance']], [202, 1]);
  assert.equal((await ask('POST', `/${call.id}/listen`, {})).status, 200);
  assert.equal((await ask('POST', `/${call.id}/interrupt`)).status, 200);
  time.advance(31_000);
  const ended = await ask('DELETE', `/${call.id}`);
  assert.deepEqual(
    [ended.status, ended.json()['state'], ended.json()['end']],
    [200, 'ended', { reason: 'we hung up' }],
  );
  await farEnd.hungUp();
  assert.equal((await ask('POST', `/${call.id}/say`, { text: 'Hello.' })).status, 409);
  assert.equal((await ask('DELETE', `/${call.id}`)).status, 200, 'again');
});

test('what its protocol has not is refused in words', async (t) => {
  const { call, ask } = await open(t);
  for (const [path, body] of [
    ['hold', undefined],
    ['resume', undefined],
    ['transfer', { to: '100' }],
    ['dtmf', { digits: '1' }],
  ] as const) {
    const { status, text } = await ask('POST', `/${call.id}/${path}`, body);
    const { code, message } = errorIn(text);
    assert.deepEqual([status, code], [409, 'call_state'], path);
    assert.match(message, /^the call came over audiosocket, which /);
  }
});

test('its events and keys are told, to the end and after it', async (t) => {
  const { call, all, ask, farEnd } = await open(t);
  const told: PhoneCallEvent[] = [];
  all.follow(call.id, 0, (event) => told.push(event));
  farEnd.send(0x03, Buffer.from('5'));
  await until(() => told.length === 2);
  farEnd.send(0x00);
  await until(() => told.length === 3);
  const states = told.map((event) => (event.type === 'state' ? event.state : event.type));
  assert.deepEqual(states, ['connected', 'speech', 'ended']);
  const view = (await ask('GET', `/${call.id}`)).json();
  assert.deepEqual((view['digits'] as { digit: string }[])[0]?.digit, '5');
  assert.deepEqual(view['end'], { reason: 'peer hung up' });
  const stream = await ask('GET', `/${call.id}/events`);
  assert.match(stream.text, /event: digit\n.*"digit":"5"/);
});
