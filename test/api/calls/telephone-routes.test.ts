// Controls telephone calls over HTTP, with a fake telephone behind the routes.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { refusal, SocketClient } from '../http/socket-client.js';
import { documentOf, operationsOf } from '../openapi-document.js';
import { OFFER } from './fake-exchange.js';

type Under = Awaited<ReturnType<typeof openApp>>;

const CALLS = '/v1/calls';
const LIMITS = { limits: { maxTextLength: 100, maxNewTokens: 2048, maxUploadBytes: 4096 } };

const post = ({ app }: Under, url: string, payload?: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url, headers, ...(payload === undefined ? {} : { payload }) });

async function place(under: Under): Promise<string> {
  const id = (await post(under, CALLS, { to: '100' })).json<{ id: string }>().id;
  under.phone.become(id, { state: 'connected' });
  return id;
}

/** Browser calls have these, too; they have tests of their own. */
const OF_ALL_CALLS = [
  '/v1/calls/{id}/recording',
  '/v1/calls/{id}/captions',
  '/v1/calls/{id}/relay',
  '/v1/calls/{id}/bridge',
  '/v1/calls/{id}/supervise',
  '/v1/calls/{id}/warm_transfer',
  '/v1/calls/incoming/{id}/accept',
  '/v1/calls/incoming/{id}/reject',
];

test('a call is placed with everything that was asked for, and answered with its address', async (t) => {
  const under = await openApp(t);
  const answer = await post(under, CALLS, {
    to: '+491701234567',
    from: 'sip:shop@example.org',
    display_name: 'The Shop',
    trunk: 'main',
    say: { text: 'Hello.', voice: { id: 'slt' }, language: 'English', after: 'hangup' },
    headers: { 'X-Order': '4711', 'User-to-User': 'abc' },
    ring_timeout: 20.5,
    codecs: ['G722', 'PCMA'],
    detect: {
      speech_threshold_ms: 2000,
      speech_end_threshold_ms: 800,
      silence_timeout_ms: 4000,
      timeout: 20,
      language: 'German',
      country: 'DE',
      screening: { text: 'This is the shop.', voice: 'slt' },
    },
    agent: null,
  });
  assert.equal(answer.statusCode, 201);
  assert.equal(answer.headers.location, '/v1/calls/call_1');
  assert.equal(answer.headers['idempotent-replayed'], undefined);
  assert.deepEqual(answer.json(), {
    object: 'call',
    id: 'call_1',
    direction: 'outbound',
    state: 'dialling',
    to: '+491701234567',
    from: 'sip:shop@example.org',
    created_at: 1_700_000_000.25,
    digits: [],
  });
  assert.deepEqual(under.phone.requests, [
    {
      to: '+491701234567',
      from: 'sip:shop@example.org',
      displayName: 'The Shop',
      trunk: 'main',
      say: { text: 'Hello.', voice: 'slt', language: 'en', after: 'hangup' },
      headers: { 'X-Order': '4711', 'User-to-User': 'abc' },
      ringTimeoutMs: 20_500,
      codecs: ['G722', 'PCMA'],
      detect: {
        speechThresholdMs: 2000,
        speechEndThresholdMs: 800,
        silenceTimeoutMs: 4000,
        timeoutMs: 20_000,
        language: 'de',
        country: 'DE',
        screening: { text: 'This is the shop.', voice: 'slt' },
      },
    },
  ]);
});

test('what cannot be asked of a call is refused by field, and no call is placed', async (t) => {
  const under = await openApp(t, LIMITS);
  const cases: [object, string, RegExp][] = [
    [{}, 'to', /"to" must be a SIP or tel URI or a number/],
    [{ to: '1\r\nX: 2' }, 'to', /without spaces/],
    [{ to: '<sip:a@b>' }, 'to', /without spaces/],
    [{ to: '1', say: { voice: 'slt' } }, 'say.text', /a string of 1 to 100 characters/],
    [{ to: '1', say: { text: 'Hi.', after: 'wait' } }, 'say.after', /one of "stay", "hangup"/],
    [{ to: '1', say: { text: 'Hi.' }, agent: 'bot' }, 'agent', /absent where there is "say"/],
    [{ to: '1', ring_timeout: 181 }, 'ring_timeout', /from 1 to 180/],
    [{ to: '1', codecs: ['GSM'] }, 'codecs[0]', /"PCMU", "PCMA", "G722", "opus"/],
    [{ to: '1', codecs: ['PCMU', 'PCMU'] }, 'codecs', /each codec once/],
    [{ to: '1', codecs: [] }, 'codecs', /a list of 1 to 4/],
    [{ to: '1', detect: true }, 'detect', /"detect" must be an object/],
    [{ to: '1', detect: { speech_threshold_ms: 999 } }, 'detect.speech_threshold_ms', /from 1000 to 6000/],
    [{ to: '1', detect: { speech_end_threshold_ms: 1.5 } }, 'detect.speech_end_threshold_ms', /whole number/],
    [{ to: '1', detect: { silence_timeout_ms: 10_001 } }, 'detect.silence_timeout_ms', /from 2000 to 10000/],
    [{ to: '1', detect: { country: 'XX' } }, 'detect.country', /"AT", "AU"/],
    [{ to: '1', detect: { timeout: 60 } }, 'detect.timeout', /from 3 to 59/],
    [{ to: '1', detect: { screening: {} } }, 'detect.screening.text', /a string of 1 to 100 characters/],
    [{ to: '1', display_name: 'a\nb' }, 'display_name', /one line/],
    [{ to: '1', headers: { 'X-A': 'a\r\nVia: b' } }, 'headers.X-A', /one line of at most 512/],
    [{ to: '1', headers: { 'X-A': 'a'.repeat(513) } }, 'headers.X-A', /one line of at most 512/],
    [{ to: '1', headers: { 'X A': 'a' } }, 'headers.X A', /no name of a header/],
    [{ to: '1', headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a', /is there twice/],
    [
      { to: '1', headers: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`X-${i}`, ''])) },
      'headers',
      /at most 16/,
    ],
    [
      {
        to: '1',
        headers: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`X-${i}`, 'a'.repeat(500)])),
      },
      'headers',
      /4096 bytes/,
    ],
    [{ to: '1', idempotency: 'two words' }, 'idempotency', /a key of 1 to 255/],
  ];
  for (const [body, field, message] of cases) {
    const answer = await post(under, CALLS, body);
    const error = errorIn(answer.body);
    assert.deepEqual([answer.statusCode, error.code, error.param], [400, 'invalid_value', field], field);
    assert.match(error.message, message, field);
  }
  assert.deepEqual(under.phone.requests, []);
});

test('no header that SIP itself needs can be set, in any spelling', async (t) => {
  const under = await openApp(t);
  const names =
    'Via FROM to Call-ID CSeq Contact Route Record-Route Max-Forwards Content-Type content-length Content-X ' +
    'Authorization Proxy-Authorization Proxy-Require Require Supported Allow Session-Expires Min-SE RSeq RAck ' +
    'Replaces Refer-To v f t i m l x X';
  for (const name of names.split(' ')) {
    const answer = await post(under, CALLS, { to: '1', headers: { [name]: 'a' } });
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, `headers.${name}`], name);
    assert.match(errorIn(answer.body).message, /cannot be set: SIP itself needs it/);
  }
  assert.deepEqual(under.phone.requests, []);
});

test('calls are listed newest first, so many as are asked for, and found by id', async (t) => {
  const under = await openApp(t);
  for (let count = 0; count < 3; count++) await place(under);
  const ids = async (query: string) => {
    const { data, has_more } = (await under.app.inject(`${CALLS}${query}`)).json<{
      data: { id: string }[];
      has_more: boolean;
    }>();
    return [...data.map(({ id }) => id), has_more];
  };
  assert.deepEqual(await ids(''), ['call_3', 'call_2', 'call_1', false]);
  assert.deepEqual(await ids('?limit=2'), ['call_3', 'call_2', true]);
  for (const limit of ['0', '1001', '-1', 'x', '']) {
    const answer = await under.app.inject(`${CALLS}?limit=${limit}`);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, 'limit'], limit);
  }
  assert.equal((await under.app.inject(`${CALLS}/call_2`)).json<{ id: string }>().id, 'call_2');
  const unknown = await under.app.inject(`${CALLS}/call_9`);
  assert.deepEqual([unknown.statusCode, errorIn(unknown.body).code], [404, 'not_found']);
});

test('headers of an inbound call are in its view, its list and its first event', async (t) => {
  const under = await openApp(t);
  const headers = { 'X-Tenant': 'acme', Diversion: '<sip:a@b>' };
  under.phone.add('call_1');
  under.phone.become('call_1', { direction: 'inbound', headers });
  assert.deepEqual((await under.app.inject(`${CALLS}/call_1`)).json<{ headers: object }>().headers, headers);
  const { data } = (await under.app.inject(CALLS)).json<{ data: { headers: object }[] }>();
  assert.deepEqual(data[0]?.headers, headers);
  under.phone.happen('call_1', { type: 'state', state: 'ringing', headers });
  under.phone.end('call_1');
  const events =
    (await under.app.inject(`${CALLS}/call_1/events`)).body.match(/^data: .*ringing.*$/m)?.[0] ?? '';
  assert.deepEqual((JSON.parse(events.slice(6)) as { headers: object }).headers, headers);
});

test('a call that is over has all of its fields', async (t) => {
  const under = await openApp(t);
  const id = await place(under);
  under.phone.become(id, {
    answeredAt: 1_700_000_003_000,
    codec: 'PCMA',
    srtp: 'sdes',
    displayName: 'Anna',
    trunk: 'main',
    digits: [{ digit: '5', durationMs: 120, at: 1_700_000_004_125 }],
  });
  const answer = await under.app.inject({ method: 'DELETE', url: `${CALLS}/${id}` });
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(answer.json(), {
    object: 'call',
    id,
    direction: 'outbound',
    state: 'ended',
    to: '100',
    from: 'sip:parley@trunk.example',
    display_name: 'Anna',
    trunk: 'main',
    codec: 'PCMA',
    srtp: 'sdes',
    created_at: 1_700_000_000.25,
    answered_at: 1_700_000_003,
    ended_at: 1_700_000_009,
    end: { reason: 'we hung up', status: 200, cause: 16 },
    digits: [{ digit: '5', duration_ms: 120, at: 1_700_000_004.125 }],
  });
});

test('every command is handed to the call, and answered with what came of it', async (t) => {
  const under = await openApp(t);
  const id = await place(under);
  const url = `${CALLS}/${id}`;
  const said = await post(under, `${url}/say`, {
    text: 'Hi.',
    voice: 'slt',
    language: 'auto',
    input_format: 'text',
  });
  assert.deepEqual(
    [said.statusCode, said.json()],
    [202, { object: 'call.utterance', call: id, utterance: 1 }],
  );
  assert.deepEqual((await post(under, `${url}/interrupt`)).json(), {
    object: 'call.interruption',
    call: id,
    text: 'Press one',
    utterances: [{ utterance: 1, text: 'Press one', sent_ms: 640 }],
  });
  const keys = { digits: '1a,#', duration_ms: 200, pause_ms: 60, by: 'info' };
  assert.deepEqual((await post(under, `${url}/dtmf`, keys)).json(), {
    object: 'call.dtmf',
    call: id,
    digits: '1A,#',
  });
  assert.equal((await post(under, `${url}/hold`)).json<{ state: string }>().state, 'held');
  assert.equal((await post(under, `${url}/resume`, {})).json<{ state: string }>().state, 'connected');
  const moved = { object: 'call.transfer', call: id, accepted: true, status: 200 };
  assert.deepEqual((await post(under, `${url}/transfer`, { to: 'sip:a@b.example' })).json(), moved);
  assert.deepEqual((await post(under, `${url}/transfer`, { call: 'call_9' })).json(), moved);
  assert.deepEqual(under.phone.asked, [
    ['say', id, { text: 'Hi.', format: 'text', voice: 'slt' }],
    ['interrupt', id],
    ['press', id, { digits: '1A,#', durationMs: 200, pauseMs: 60, by: 'info' }],
    ['hold', id, true],
    ['hold', id, false],
    ['transfer', id, { to: 'sip:a@b.example' }],
    ['transfer', id, { call: 'call_9' }],
  ]);
});

test('a command that cannot be is refused by field before the call hears of it', async (t) => {
  const under = await openApp(t, LIMITS);
  const url = `${CALLS}/${await place(under)}`;
  const cases: [string, object, string][] = [
    ['say', { text: '' }, 'text'],
    ['say', { text: 'x'.repeat(101) }, 'text'],
    ['listen', { silence_ms: 50 }, 'silence_ms'],
    ['listen', { sensitivity: 'loud' }, 'sensitivity'],
    ['say', { text: 'a', interruptible: 'maybe' }, 'interruptible'],
    ['dtmf', { digits: '1x' }, 'digits'],
    ['dtmf', { digits: '1'.repeat(65) }, 'digits'],
    ['dtmf', { digits: '1', duration_ms: 39 }, 'duration_ms'],
    ['dtmf', { digits: '1', duration_ms: 5001 }, 'duration_ms'],
    ['dtmf', { digits: '1', by: 'sound' }, 'by'],
    ['transfer', {}, 'to'],
    ['transfer', { to: '1', call: 'call_2' }, 'to'],
    ['play', {}, 'audio'],
    ['play', { audio: 'no base64!' }, 'audio'],
    ['play', { audio: 'AAAA', url: 'https://a.example/b' }, 'url'],
    ['play', { url: 'file:///etc/passwd' }, 'url'],
    ['play', { audio: 'AAAA', times: 0 }, 'times'],
  ];
  for (const [name, body, field] of cases) {
    const answer = await post(under, `${url}/${name}`, body);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, field], JSON.stringify(body));
  }
  assert.deepEqual(under.phone.asked, []);
});

test('what a call refuses has the status that says whose fault it is, and the fields their names', async (t) => {
  const under = await openApp(t);
  const url = `${CALLS}/${await place(under)}`;
  const cases: [ParleyError, number, string, string | null][] = [
    [new ParleyError('WRONG_STATE', 'the call is ringing'), 409, 'call_state', null],
    [new ParleyError('CALL_CLOSED', 'call call_1 has ended'), 409, 'call_state', null],
    [
      new ParleyError('INVALID_FIELD', '"durationMs" is odd', { field: 'durationMs' }),
      400,
      'invalid_value',
      'duration_ms',
    ],
    [new ParleyError('VOICE_UNKNOWN', 'no voice "slit"', { field: 'voice' }), 400, 'voice_unknown', 'voice'],
    [new ParleyError('QUEUE_FULL', '16 texts wait'), 503, 'queue_full', null],
  ];
  for (const [error, status, code, param] of cases) {
    under.phone.refusal = error;
    const answer = await post(under, `${url}/dtmf`, { digits: '1' });
    assert.deepEqual(
      [answer.statusCode, errorIn(answer.body).code, errorIn(answer.body).param],
      [status, code, param],
    );
  }
  assert.match(errorIn((await post(under, `${url}/dtmf`, { digits: '1' })).body).message, /16 texts wait/);
  under.phone.refusal = new ParleyError('VOICE_UNKNOWN', 'there is no "voice" slit', { field: 'voice' });
  const placing = await post(under, CALLS, { to: '1', say: { text: 'Hi.', voice: 'slit' } });
  assert.deepEqual([placing.statusCode, errorIn(placing.body).param], [400, 'say.voice']);
});

test('a sound is played from JSON, from a form, and from the body itself', async (t) => {
  const under = await openApp(t, LIMITS);
  const id = await place(under);
  const url = `${CALLS}/${id}/play`;
  const bytes = Buffer.from('RIFF');
  const base64 = bytes.toString('base64');
  assert.equal((await post(under, url, { audio: base64, times: 3 })).statusCode, 202);
  assert.equal((await post(under, url, { audio: `data:audio/wav;base64,${base64}` })).statusCode, 202);
  assert.equal((await post(under, url, { url: 'https://a.example/b.wav' })).statusCode, 202);
  const form = new FormData();
  form.set('times', '2');
  form.set('file', new Blob([bytes]), 'a.wav');
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  const headers = { 'content-type': request.headers.get('content-type') ?? '' };
  assert.equal((await post(under, url, Buffer.from(await request.arrayBuffer()), headers)).statusCode, 202);
  for (const type of ['audio/wav', 'audio/ogg; codecs=opus', 'application/octet-stream']) {
    assert.equal(
      (await post(under, `${url}?times=4`, bytes, { 'content-type': type })).statusCode,
      202,
      type,
    );
  }
  const sources = under.sounds.sources.map(([field, source]) => `${field} ${String(source)}`);
  assert.deepEqual(sources, [
    'audio RIFF',
    `audio data:audio/wav;base64,${base64}`,
    'url https://a.example/b.wav',
    'file RIFF',
    'body RIFF',
    'body RIFF',
    'body RIFF',
  ]);
  const times = under.phone.asked.map(([, , sound]) => (sound as { times?: number }).times);
  assert.deepEqual(times, [3, undefined, undefined, 2, 4, 4, 4]);
});

test('a sound of this server is played by its name, and a name is no path', async (t) => {
  const under = await openApp(t, LIMITS);
  const url = `${CALLS}/${await place(under)}/play`;
  assert.equal((await post(under, url, { file: 'hold.wav', times: 2 })).statusCode, 202);
  assert.deepEqual(under.sounds.sources, [['file', 'hold.wav']]);
  for (const body of [
    { file: '../hold.wav' },
    { file: 'unknown.wav' },
    { file: 'a.wav', url: 'https://a.example/' },
  ]) {
    const answer = await post(under, url, body);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, 'file']);
  }
});

test('a sound that cannot be had is refused, and nothing is decoded for a call that nobody knows', async (t) => {
  const under = await openApp(t, LIMITS);
  const url = `${CALLS}/${await place(under)}/play`;
  const noise = await post(under, url, Buffer.from('noise'), { 'content-type': 'audio/wav' });
  assert.deepEqual([noise.statusCode, errorIn(noise.body).code], [400, 'audio_invalid']);
  const kinds = await post(under, url, Buffer.from('x'), { 'content-type': 'text/plain' });
  assert.deepEqual([kinds.statusCode, errorIn(kinds.body).code], [415, 'unsupported_media_type']);
  assert.equal((await post(under, url)).statusCode, 415);
  const empty = await post(under, url, new FormData() as never, {
    'content-type': 'multipart/form-data; boundary=x',
  });
  assert.equal(empty.statusCode, 400);
  const large = await post(under, url, Buffer.alloc(2 ** 21), { 'content-type': 'audio/wav' });
  assert.deepEqual([large.statusCode, errorIn(large.body).code], [413, 'body_too_large']);
  const unknown = await post(under, `${CALLS}/call_9/play`, Buffer.from('RIFF'), {
    'content-type': 'audio/wav',
  });
  assert.equal(unknown.statusCode, 404);
  assert.deepEqual(under.sounds.sources, []);
});

test('a call is listened to with the settings of the request, and no longer when it says so', async (t) => {
  const { url, phone } = await openServer(t);
  const { id } = phone.add('call_1');
  const listen = async (body: object) => {
    const answer = await fetch(`${url}${CALLS}/${id}/listen`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.json()] as const;
  };
  const listening = { object: 'call.listening', call: id };
  assert.deepEqual(await listen({ silence_ms: 800, no_input_ms: 5000 }), [200, { ...listening, on: true }]);
  assert.deepEqual(await listen({ on: false }), [200, { ...listening, on: false }]);
  assert.deepEqual(phone.asked, [
    ['listen', id, { silenceMs: 800, noInputMs: 5000 }],
    ['listen', id],
  ]);
});

test('without a telephone every address says so before it looks at a body, and names no variable', async (t) => {
  const document = await documentOf(await openApp(t));
  const { url } = await openServer(t, { phone: undefined });
  const operations = operationsOf(document).filter(
    ({ path }) => /^\/v1\/calls(\/|$)/.test(path) && !OF_ALL_CALLS.includes(path),
  );
  assert.equal(operations.length, 13);
  for (const { method, path } of operations) {
    const answer = await fetch(`${url}${path.replace('{id}', 'call_1')}`, {
      method,
      ...(method === 'POST' ? { body: '{"', headers: { 'content-type': 'application/json' } } : {}),
    });
    const error = errorIn(await answer.text());
    assert.deepEqual([answer.status, error.code], [501, 'telephone_off'], `${method} ${path}`);
    assert.equal(error.message, 'this server has no telephone');
  }
  const socket = await refusal(`${url}/v1/calls/call_1/socket`);
  assert.deepEqual([socket.status, errorIn(socket.body).code], [501, 'telephone_off']);
});

test('a key is wanted as at other addresses, before anybody hears whether there is a telephone', async (t) => {
  const { url } = await openServer(t, { apiKeys: ['key-one-0123456789'], phone: undefined });
  assert.equal((await fetch(`${url}${CALLS}`)).status, 401);
  assert.equal((await refusal(`${url}/v1/calls/call_1/socket`)).status, 401);
});

test('health tells of the telephone where there is one', async (t) => {
  const { app } = await openApp(t, { telephone: () => ({ trunks: { main: 'registered' } }) });
  assert.deepEqual((await app.inject('/health')).json<{ telephone: object }>().telephone, {
    trunks: { main: 'registered' },
  });
  const without = await openApp(t);
  assert.equal('telephone' in (await without.app.inject('/health')).json<object>(), false);
});

// A client may use only the calls of its own API key.

const [ACME, OTHER, ADMIN] = [
  'acme-0123456789abcdef',
  'other-0123456789abcdef',
  'admin-0123456789abcdef',
] as const;
const API_KEYS = [`acme ${ACME}`, OTHER, `admin ${ADMIN}`];
const UNKNOWN = 'call_unknown';

/** A body that each command takes. */
const BODIES: Readonly<Record<string, object>> = {
  say: { text: 'Hello.' },
  play: { url: 'https://a.example/b.wav' },
  dtmf: { digits: '1' },
  transfer: { to: '200' },
};

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const KEYED_LIMITS = { maxTextLength: 100, maxNewTokens: 2048, maxUploadBytes: 4096 };

async function open(t: TestContext) {
  const under = await openServer(t, { apiKeys: API_KEYS, limits: KEYED_LIMITS });
  const ask = (key: string, path: string, method = 'GET', body?: object) =>
    fetch(`${under.url}${path}`, {
      method,
      headers: { ...bearer(key), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const place = async (key: string) => {
    const { id } = (await (await ask(key, '/v1/calls', 'POST', { to: '100' })).json()) as { id: string };
    under.phone.become(id, { state: 'connected' });
    return id;
  };
  const listed = async (key: string) => {
    const { data } = (await (await ask(key, '/v1/calls')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id).sort();
  };
  return { ...under, ask, place, listed };
}

/** Every operation on one call that the interface has. */
async function operationsOnCalls(t: TestContext) {
  const document = await documentOf(await openApp(t));
  return operationsOf(document).filter(
    ({ path }) => path.startsWith('/v1/calls/{id}') && !OF_ALL_CALLS.includes(path),
  );
}

test('a call of another key is answered as one that does not exist, whatever is asked of it', async (t) => {
  const operations = await operationsOnCalls(t);
  assert.equal(operations.length, 11);
  const { ask, place, listed, phone } = await open(t);
  const id = await place(ACME);
  for (const { method, path } of operations) {
    const body = method === 'POST' ? (BODIES[path.split('/').at(-1) ?? ''] ?? {}) : undefined;
    const [foreign, unknown] = await Promise.all(
      [id, UNKNOWN].map((call) => ask(OTHER, path.replace('{id}', call), method, body)),
    );
    assert.ok(foreign !== undefined && unknown !== undefined);
    assert.equal(foreign.status, 404, `${method} ${path}`);
    assert.equal(unknown.status, 404, `${method} ${path}`);
    assert.deepEqual(errorIn(await foreign.text()), errorIn(await unknown.text()), `${method} ${path}`);
  }
  assert.deepEqual(phone.asked, []);
  assert.equal(phone.get(id).state, 'connected');
  assert.deepEqual(await listed(OTHER), []);
  assert.deepEqual(await listed(ACME), [id]);
});

test('the sound of a body or a form is played in a call of the own key only', async (t) => {
  const { url, place, sounds } = await open(t);
  const id = await place(ACME);
  const form = () => {
    const parts = new FormData();
    parts.append('file', new Blob(['sound']), 'a.wav');
    return parts;
  };
  for (const [body, type] of [
    [form, undefined],
    [() => 'sound', 'audio/wav'],
  ] as const) {
    const headers = (key: string) => ({
      ...bearer(key),
      ...(type === undefined ? {} : { 'content-type': type }),
    });
    const play = (key: string) =>
      fetch(`${url}/v1/calls/${id}/play`, { method: 'POST', body: body(), headers: headers(key) });
    assert.equal((await play(OTHER)).status, 404);
    assert.equal(sounds.sources.length, 0);
    assert.equal((await play(ACME)).status, 202);
    sounds.sources.length = 0;
  }
});

test('a socket is given for calls of the own key, and of any to the key named admin', async (t) => {
  const { url, place, phone } = await open(t);
  const id = await place(ACME);
  const socket = `${url}/v1/calls/${id}/socket`;
  const foreign = await refusal(socket, bearer(OTHER));
  const unknown = await refusal(`${url}/v1/calls/${UNKNOWN}/socket`, bearer(OTHER));
  assert.deepEqual([foreign.status, unknown.status], [404, 404]);
  assert.deepEqual(errorIn(foreign.body), errorIn(unknown.body));
  const other = await place(OTHER);
  for (const [key, done] of [
    [ACME, 'NOT_FOUND'],
    [ADMIN, 'done'],
  ] as const) {
    const client = await SocketClient.open(t, socket, { headers: bearer(key) });
    client.send({ type: 'transfer', id: 1, call: other });
    await until(() => client.received.some((message) => message['id'] === 1 && message['type'] !== 'state'));
    const answer = client.received.find((message) => message['id'] === 1 && message['type'] !== 'state');
    const { code } = (answer?.['error'] ?? {}) as { code?: string };
    assert.equal(code === undefined ? answer?.['type'] : code.toUpperCase(), done);
  }
  assert.deepEqual(phone.asked, [['transfer', id, { call: other }]]);
});

test('the key named admin sees and uses every call; a call without an owner is every key’s', async (t) => {
  const { ask, place, listed, phone } = await open(t);
  const [own, foreign] = [await place(ACME), await place(OTHER)];
  phone.add('inbound');
  phone.add('routed', { to: '100', owner: 'acme' });
  phone.add('server', { to: '100', owner: 'admin' });
  assert.deepEqual(await listed(ADMIN), [own, foreign, 'inbound', 'routed', 'server'].sort());
  assert.deepEqual(await listed(ACME), [own, 'inbound', 'routed'].sort());
  assert.deepEqual(await listed(OTHER), [foreign, 'inbound'].sort());
  for (const [key, call, status] of [
    [ADMIN, own, 200],
    [ADMIN, foreign, 200],
    [ADMIN, 'server', 200],
    [ACME, 'routed', 200],
    [OTHER, 'routed', 404],
    [ACME, 'inbound', 200],
    [OTHER, 'inbound', 200],
    [ACME, 'server', 404],
  ] as const) {
    assert.equal((await ask(key, `/v1/calls/${call}/interrupt`, 'POST')).status, status, `${key} ${call}`);
  }
});

test('an attended transfer takes no call of another key', async (t) => {
  const { ask, place, phone } = await open(t);
  const [own, foreign] = [await place(ACME), await place(OTHER)];
  const transfer = (call: string) => ask(ACME, `/v1/calls/${own}/transfer`, 'POST', { call });
  const [refused, unknown] = [await transfer(foreign), await transfer(UNKNOWN)];
  assert.deepEqual([refused.status, unknown.status], [404, 404]);
  assert.deepEqual(errorIn(await refused.text()), errorIn(await unknown.text()));
  assert.deepEqual(phone.asked, []);
  assert.equal((await transfer(await place(ACME))).status, 200);
});

test('two keys of one name share their calls, and a server without keys has no owners', async (t) => {
  const second = 'acme-again-0123456789abcdef';
  const shared = await openServer(t, { apiKeys: [...API_KEYS, `acme ${second}`] });
  shared.phone.add('call_1', { to: '100', owner: 'acme' });
  const got = (key: string) => fetch(`${shared.url}/v1/calls/call_1`, { headers: bearer(key) });
  assert.deepEqual([(await got(second)).status, (await got(OTHER)).status], [200, 404]);
  const { url, phone } = await openServer(t);
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/v1/calls`, { method: 'POST', headers, body: '{"to": "100"}' });
  assert.equal(phone.requests[0]?.owner, undefined);
  assert.equal((await fetch(`${url}/v1/calls/call_1`)).status, 200);
});

test('a browser call is opened for its key, and ended with the key that asks for it', async (t) => {
  const { url, calls } = await open(t);
  const offered = await fetch(`${url}/v1/realtime/calls`, {
    method: 'POST',
    headers: { ...bearer(ACME), 'content-type': 'application/sdp' },
    body: OFFER,
  });
  const address = `${url}${offered.headers.get('location') ?? ''}`;
  assert.deepEqual([...calls.owners], [['rtc_1', 'acme']]);
  await fetch(address, { method: 'DELETE', headers: bearer(ADMIN) });
  await fetch(`${address}/hangup`, { method: 'POST', headers: bearer(ACME) });
  assert.deepEqual(calls.enders, [
    ['rtc_1', 'admin'],
    ['rtc_1', 'acme'],
  ]);
});
