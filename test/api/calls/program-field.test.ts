// The fields `twiml` and `program` of POST /v1/calls: the program that conducts the call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorIn, openApp } from '../app-under-test.js';

async function open(t: Parameters<typeof openApp>[0]) {
  const under = await openApp(t);
  const place = (body: object) =>
    under.app.inject({ method: 'POST', url: '/v1/calls', payload: { to: '100', ...body } });
  return { ...under, place };
}

test('a call is placed with the program of the file or the document that conducts it', async (t) => {
  const under = await open(t);
  const url = 'https://ivr.example.com/voice?tenant=acme#rc=2';
  for (const body of [{ program: 'main', say: null }, { twiml: { url } }, { twiml: { url, method: 'GET' } }])
    assert.equal((await under.place(body)).statusCode, 201);
  assert.equal((await under.place({})).statusCode, 201);
  assert.deepEqual(
    under.phone.requests.map(({ program }) => program),
    [
      { kind: 'program', name: 'main' },
      { kind: 'twiml', url, method: 'POST' },
      { kind: 'twiml', url, method: 'GET' },
      undefined,
    ],
  );
});

test('what is no program is refused by field, and so are two that talk', async (t) => {
  const under = await open(t);
  const twiml = { url: 'https://ivr.example.com/voice' };
  const cases: [object, string, RegExp][] = [
    [{ program: '' }, 'program', /"program" must be a string of 1 to 100 characters/],
    [{ twiml: 'https://ivr.example.com/' }, 'twiml', /"twiml" must be an object/],
    [{ twiml: {} }, 'twiml.url', /"twiml\.url"/],
    [{ twiml: { url: 'ftp://ivr.example.com/' } }, 'twiml.url', /must be an http or https URL/],
    [{ twiml: { url: 'https://a:b@ivr.example.com/' } }, 'twiml.url', /without a user name or password/],
    [{ twiml: { ...twiml, method: 'PUT' } }, 'twiml.method', /"GET", "POST"/],
    [{ twiml, program: 'main' }, 'program', /"program" must be absent where there is "twiml"/],
    [{ twiml, say: { text: 'Hi.' } }, 'twiml', /"twiml" must be absent where there is "say"/],
    [{ program: 'main', agent: 'sales' }, 'program', /"program" must be absent where there is "agent"/],
  ];
  for (const [body, field, message] of cases) {
    const answer = await under.place(body);
    const error = errorIn(answer.body);
    assert.deepEqual([answer.statusCode, error.code, error.param], [400, 'invalid_value', field], field);
    assert.match(error.message, message, field);
  }
  assert.deepEqual(under.phone.requests, []);
});
