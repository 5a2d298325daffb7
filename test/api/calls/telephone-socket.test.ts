// The socket of a telephone call: events out, commands in.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { eventJson } from '../../../src/api/calls/call-json.js';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { mutated, randomFrom } from '../mutations.js';
import { refusal, SocketClient } from '../http/socket-client.js';

async function open(t: TestContext, query = '') {
  const under = await openServer(t);
  under.phone.add('call_1');
  const url = `${under.url}/v1/calls/call_1/socket${query}`;
  const client = await SocketClient.open(t, url);
  const received = async (count: number) => {
    await until(() => client.messages.length >= count);
    return client.received;
  };
  return { ...under, client, received, url };
}

/** The code of the error in a message. */
function codeOf(message: Record<string, unknown> | undefined): unknown {
  return (message?.['error'] as { code?: unknown } | undefined)?.code;
}

test('a menu of keys runs over one socket: prompt, key, answer, hang-up', async (t) => {
  const { client, phone, received } = await open(t);
  const [call, dialling] = await received(2);
  assert.deepEqual([call?.['type'], (call?.['call'] as { id?: string } | undefined)?.id], ['call', 'call_1']);
  assert.deepEqual([dialling?.['type'], dialling?.['id'], dialling?.['state']], ['state', 1, 'dialling']);
  phone.happen('call_1', { type: 'state', state: 'connected' });
  client.send({ type: 'say', id: 'prompt', text: 'Press one.', voice: 'slt' });
  await received(4);
  phone.happen('call_1', { type: 'digit', digit: '1', durationMs: 90 });
  client.send({ type: 'interrupt', id: 2 });
  client.send({ type: 'dtmf', id: 3, digits: '42#', by: 'rtp' });
  client.send({ type: 'play', id: 4, url: 'https://a.example/b.wav', times: 2 });
  client.send({ type: 'hold', id: 5 });
  client.send({ type: 'resume', id: 6 });
  client.send({ type: 'transfer', id: 7, to: '200' });
  await until(() => client.received.filter(({ type }) => type === 'done').length === 7);
  client.send({ type: 'hangup', id: 8 });
  assert.deepEqual(await client.closed(), [1000, 'the call is over']);
  const done = client.received.filter(({ type }) => type === 'done');
  assert.deepEqual(done.map(({ id }) => id).slice(0, 2), ['prompt', 2]);
  assert.deepEqual(new Set(done.map(({ id }) => id)), new Set(['prompt', 2, 3, 4, 5, 6, 7]));
  const resultOf = (id: unknown) => done.find((message) => message['id'] === id)?.['result'];
  assert.deepEqual(resultOf('prompt'), { object: 'call.utterance', call: 'call_1', utterance: 1 });
  assert.deepEqual(resultOf(7), { object: 'call.transfer', call: 'call_1', accepted: true, status: 200 });
  assert.deepEqual(phone.asked.map(([name]) => name).sort(), [
    'hangUp',
    'hold',
    'hold',
    'interrupt',
    'play',
    'press',
    'say',
    'transfer',
  ]);
  const ended = client.received.find(({ state }) => state === 'ended');
  assert.deepEqual(ended?.['end'], { reason: 'we hung up', status: 200, cause: 16 });
  assert.equal(phone.watching('call_1'), 0);
});

test('what is wrong with a message is said under its id, in the words of the routes, and the socket goes on', async (t) => {
  const { client, phone, received } = await open(t);
  await received(2);
  const cases: [object | string | Buffer, unknown, string, string | null][] = [
    ['{', undefined, 'malformed', null],
    ['[]', undefined, 'malformed', null],
    [Buffer.from('{"type":"hold"}'), undefined, 'malformed', null],
    [{ id: 1 }, 1, 'invalid_value', 'type'],
    [{ type: 'shout', id: 'a' }, 'a', 'invalid_value', 'type'],
    [{ type: 'say', id: 2 }, 2, 'invalid_value', 'text'],
    [{ type: 'say', id: 3, text: null }, 3, 'invalid_value', 'text'],
    [{ type: 'dtmf', id: 4, digits: 'hello' }, 4, 'invalid_value', 'digits'],
    [{ type: 'play', id: 5, audio: 'AAAA' }, 5, 'invalid_value', 'url'],
    [{ type: 'transfer', id: 6 }, 6, 'invalid_value', 'to'],
    [{ type: 'hold', id: { a: 1 } }, undefined, 'invalid_value', 'id'],
    [{ type: 'hold', id: 'x'.repeat(65) }, undefined, 'invalid_value', 'id'],
  ];
  for (const [index, [message, id, code, param]] of cases.entries()) {
    client.send(message);
    const answer = (await received(3 + index))[2 + index];
    const error = answer?.['error'] as { code: string; param: string | null };
    assert.deepEqual([answer?.['type'], answer?.['id'], error.code, error.param], ['error', id, code, param]);
  }
  phone.refusal = new ParleyError('WRONG_STATE', 'the call is ringing');
  client.send({ type: 'hold', id: 9 });
  const last = (await received(3 + cases.length)).at(-1);
  assert.equal(codeOf(last), 'call_state');
  phone.refusal = undefined;
  client.send({ type: 'say', text: 'Still here.' });
  const done = (await received(4 + cases.length)).at(-1);
  assert.deepEqual([done?.['type'], 'id' in (done ?? {})], ['done', false]);
});

test('commands that wait for the far end hold up no others, up to a limit', async (t) => {
  const { client, phone, received } = await open(t);
  await received(2);
  let pressed!: () => void;
  phone.ready = new Promise((resolve) => (pressed = resolve));
  for (let id = 1; id <= 15; id++) client.send({ type: 'dtmf', id, digits: '1' });
  client.send({ type: 'say', id: 'quick', text: 'Hi.' });
  assert.equal((await received(3))[2]?.['id'], 'quick');
  client.send({ type: 'dtmf', id: 16, digits: '1' });
  client.send({ type: 'dtmf', id: 17, digits: '1' });
  const refused = (await received(4))[3];
  assert.deepEqual([refused?.['id'], codeOf(refused)], [17, 'queue_full']);
  pressed();
  const ids = (await received(20)).slice(4).map(({ type, id }) => `${String(type)} ${String(id)}`);
  assert.deepEqual(
    ids,
    Array.from({ length: 16 }, (_, index) => `done ${index + 1}`),
  );
});

test('a socket goes on behind an event, and closes after the last event of a call', async (t) => {
  const { phone, client, url, received } = await open(t);
  await received(2);
  phone.happen('call_1', { type: 'digit', digit: '1', durationMs: 100 });
  const second = await SocketClient.open(t, `${url}?after=1`);
  await until(() => second.messages.length === 2);
  assert.equal(second.received[1]?.['digit'], '1');
  phone.end('call_1');
  for (const one of [client, second]) assert.deepEqual(await one.closed(), [1000, 'the call is over']);
  const late = await SocketClient.open(t, `${url}?after=3`);
  assert.deepEqual(await late.closed(), [1000, 'the call is over']);
  assert.deepEqual(
    late.received.map(({ type }) => type),
    ['call'],
  );
});

test('the call goes on when its socket closes, and what was not begun is given up', async (t) => {
  const { phone, sounds, client, received } = await open(t);
  await received(2);
  client.send({ type: 'play', id: 1, url: 'https://a.example/b.wav' });
  await received(3);
  client.socket.close();
  await client.closed();
  await until(() => phone.watching('call_1') === 0);
  assert.equal(phone.get('call_1').state, 'dialling');
  assert.deepEqual(
    sounds.signals.map(({ aborted }) => aborted),
    [true],
  );
});

test('an unknown call or event is refused before there is a socket', async (t) => {
  const { url } = await open(t);
  const unknown = await refusal(url.replace('call_1', 'call_9'));
  assert.deepEqual([unknown.status, errorIn(unknown.body).code], [404, 'not_found']);
  const odd = await refusal(`${url}?after=x`);
  assert.deepEqual([odd.status, errorIn(odd.body).param], [400, 'after']);
  const plain = await fetch(url);
  assert.equal(plain.status, 426);
});

test('2,000 damaged messages are each done or refused by code, and never the server’s fault', async (t) => {
  const { client, phone } = await open(t);
  const random = randomFrom(7);
  const samples = [
    '{"type":"say","id":1,"text":"Press one.","voice":{"id":"slt"},"language":"en"}',
    '{"type":"dtmf","id":"a","digits":"1,2#","duration_ms":100,"pause_ms":50,"by":"rtp"}',
    '{"type":"play","id":2,"url":"https://a.example/b.wav","times":2}',
    '{"type":"transfer","id":3,"to":"sip:a@b.example"}',
    '{"type":"interrupt"}',
    '{"type":"hold","id":4}',
  ];
  const answered = () => client.received.filter(({ type }) => type === 'done' || type === 'error').length;
  for (let round = 1; round <= 2000; round++) {
    const sample = samples[Math.floor(random() * samples.length)] ?? '';
    client.send(random() < 0.2 ? sample : mutated(sample, random));
    if (round % 100 === 0) {
      await until(() => answered() === round);
      phone.asked.length = 0;
    }
  }
  const errors = client.received.filter(({ type }) => type === 'error');
  const codes = new Set(errors.map(({ error }) => (error as { code: string }).code));
  codes.delete('queue_full'); // some of the messages may have exceeded the queue
  assert.deepEqual([...codes].sort(), ['invalid_value', 'malformed']);
  assert.ok(errors.length > 500 && errors.length < 1900, String(errors.length));
});

test('a mark that was heard is an event of its telephone call', () => {
  const event = { type: 'mark.reached', utterance: 2, mark: 'menu' } as const;
  assert.deepEqual(eventJson('call_1', { id: 7, at: 1500, type: 'speech', event }), {
    id: 7,
    at: 1.5,
    type: 'mark.reached',
    utterance: 2,
    mark: 'menu',
  });
});
