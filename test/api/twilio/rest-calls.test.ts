// Calls of Twilio's REST API: answering machines, callbacks, time limits, and hostile requests.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readCallOrder } from '../../../src/api/twilio/call-order.js';
import { RestForm } from '../../../src/api/twilio/rest-form.js';
import { callSid } from '../../../src/api/twiml/sids.js';
import type { AnswerDetected } from '../../../src/call/call-events.js';
import { ProgramError } from '../../../src/ivr/door.js';
import { openApp } from '../app-under-test.js';
import { restUnderTest, settled } from './rest-under-test.js';

const ACCOUNT = `/2010-04-01/Accounts/AC${'0'.repeat(32)}`;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const URL = 'http://127.0.0.1:4000/voice';

async function placed(fields: Readonly<Record<string, string>>) {
  const under = restUnderTest();
  const form = RestForm.parse(
    new URLSearchParams({ To: 'sip:anna@127.0.0.1', Url: URL, ...fields }).toString(),
  );
  const { id } = await under.calls.place(readCallOrder(form, under.calls.config, 'http://parley'), undefined);
  const answered = async () => {
    under.phone.become(id, { state: 'connected', answeredAt: 1_700_000_000_000 });
    under.phone.happen(id, { type: 'state', state: 'connected' });
    await settled();
  };
  const detected = async (by: AnswerDetected['by'], more: Partial<AnswerDetected> = {}) => {
    const event = { type: 'answer.detected', by, ms: 900, basis: 'speech', ...more } as const;
    under.phone.happen(id, { type: 'speech', event });
    await settled();
  };
  const parameters = () => {
    const source = under.conducted.get(id);
    return source?.kind === 'twiml' ? Object.fromEntries(source.parameters ?? []) : undefined;
  };
  return { ...under, id, answered, detected, parameters };
}

test('MachineDetection=Enable keeps silence until the first result, which the document gets', async () => {
  const call = await placed({ MachineDetection: 'Enable', MachineDetectionSpeechThreshold: '1900' });
  assert.deepEqual(call.phone.requests[0]?.detect, { timeoutMs: 30_000, speechThresholdMs: 1900 });
  await call.detected('announcement', { early: true });
  await call.answered();
  assert.equal(call.parameters(), undefined);
  call.time.advance(1500);
  await call.detected('machine');
  assert.deepEqual(call.parameters(), { AnsweredBy: 'machine_start', MachineDetectionDuration: '1500' });
});

test('DetectMessageEnd awaits the beep of a machine, but no more of a person', async () => {
  const machine = await placed({ MachineDetection: 'DetectMessageEnd' });
  await machine.answered();
  await machine.detected('machine');
  assert.equal(machine.parameters(), undefined);
  await machine.detected('machine_beep');
  assert.equal(machine.parameters()?.['AnsweredBy'], 'machine_end_beep');
  const person = await placed({ MachineDetection: 'DetectMessageEnd' });
  await person.answered();
  await person.detected('human');
  assert.equal(person.parameters()?.['AnsweredBy'], 'human');
});

test('a detection without a result ends: unknown, and machine_end_other behind a greeting', async () => {
  const silent = await placed({ MachineDetection: 'Enable', MachineDetectionTimeout: '3' });
  await silent.answered();
  silent.time.advance(4000);
  await settled();
  assert.equal(silent.parameters()?.['AnsweredBy'], 'unknown');
  const endless = await placed({ MachineDetection: 'DetectMessageEnd', MachineDetectionTimeout: '3' });
  await endless.answered();
  await endless.detected('machine');
  endless.time.advance(4000);
  await settled();
  assert.equal(endless.parameters()?.['AnsweredBy'], 'machine_end_other');
});

test('AsyncAmd begins the document at once, and tells its callback of the result once', async () => {
  const callback = 'http://127.0.0.1:4000/amd';
  const call = await placed({
    MachineDetection: 'Enable',
    AsyncAmd: 'true',
    AsyncAmdStatusCallback: callback,
  });
  await call.answered();
  assert.deepEqual(call.parameters(), {});
  call.time.advance(700);
  await call.detected('human');
  await call.detected('machine_beep');
  assert.deepEqual(call.sent, [
    {
      url: callback,
      form: {
        CallSid: callSid(call.id),
        AccountSid: call.calls.accountOf(undefined),
        AnsweredBy: 'human',
        MachineDetectionDuration: '700',
      },
    },
  ]);
});

test('keys are pressed before the document, and a time limit ends the call', async () => {
  const call = await placed({ SendDigits: 'ww12#W', TimeLimit: '20' });
  await call.answered();
  assert.deepEqual(call.phone.asked, [['press', call.id, { digits: ',,12#,,' }]]);
  assert.equal(call.conducted.size, 1);
  call.time.advance(20_000);
  await settled();
  assert.equal(call.phone.asked.at(-1)?.[0], 'hangUp');
  assert.equal(call.time.waiting, 0);
});

test('a failing callback is a warning of the call, and does not keep back the next one', async () => {
  const call = await placed({
    StatusCallback: 'http://127.0.0.1:4000/status',
    StatusCallbackEvent: 'ringing answered',
  });
  const refused = new ProgramError({ code: '11200', message: 'it answered with status 500' });
  call.answer.fetch = () => Promise.reject(refused);
  call.phone.happen(call.id, { type: 'state', state: 'ringing' });
  await call.answered();
  call.phone.end(call.id);
  await settled();
  assert.deepEqual(
    call.sent.map(({ form }) => [form['CallStatus'], form['SequenceNumber']]),
    [
      ['ringing', '0'],
      ['in-progress', '1'],
      ['completed', '2'],
    ],
  );
  assert.equal(call.sent[2]?.form['SipResponseCode'], '200');
  assert.deepEqual(
    call.told.map((event) => event.type === 'program.warning' && event.code),
    ['11200', '11200', '11200'],
  );
});

test('a callback that hangs is given up 30 s after the end of the call', async () => {
  const call = await placed({ StatusCallback: 'http://127.0.0.1:4000/status' });
  let isAborted = false;
  call.answer.fetch = (_request, signal) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        isAborted = true;
        reject(new Error('aborted'));
      }),
    );
  call.phone.end(call.id);
  await settled();
  call.time.advance(29_999);
  await settled();
  assert.equal(isAborted, false);
  call.time.advance(1);
  await settled();
  assert.equal(isAborted, true);
});

async function openRest(t: TestContext) {
  const under = restUnderTest();
  const { app } = await openApp(t, { restCalls: under.calls });
  const post = async (path: string, payload: string, headers: Readonly<Record<string, string>> = FORM) => {
    const response = await app.inject({ method: 'POST', url: ACCOUNT + path, headers, payload });
    const body: { code: number; message: string; more_info: string; status: number } = response.json();
    return { status: response.statusCode, body };
  };
  return { ...under, app, post };
}

test('a body of 10 MB, ten thousand parameters and another type are refused by numbers', async (t) => {
  const { post, phone } = await openRest(t);
  const large = await post('/Calls.json', `To=${'1'.repeat(10_000_000)}`);
  assert.deepEqual([large.status, large.body.code], [413, 20_413]);
  const many = await post('/Calls.json', 'a=1&'.repeat(10_000));
  assert.deepEqual([many.status, many.body.code], [400, 20_422]);
  const json = await post('/Calls.json', '{}', { 'content-type': 'application/json' });
  assert.deepEqual([json.status, json.body.code], [415, 20_415]);
  assert.equal(phone.requests.length, 0);
});

test('a value that is not allowed is named with what is allowed', async (t) => {
  const { post } = await openRest(t);
  const base = `To=100&Url=${encodeURIComponent(URL)}`;
  const cases = [
    ['Timeout=601', 21_208, /^Timeout must be a whole number from 1 to 600, not "601"$/],
    ['Method=PUT', 21_209, /^Method must be one of GET, POST, not "PUT"$/],
    ['SendDigits=1x', 21_206, /^SendDigits must be keys/],
    [
      'StatusCallback=ftp%3A%2F%2Fa',
      21_609,
      /^StatusCallback cannot be used: it must be an http or https URL/,
    ],
    ['StatusCallbackEvent=begun', 20_422, /^StatusCallbackEvent must be some of initiated, ringing/],
    ['MachineDetection=Enable&MachineDetectionTimeout=2', 20_422, /^MachineDetectionTimeout must be/],
    ['SipAuthUsername=a', 20_422, /^SipAuthUsername is not supported/],
    ['Record=true', 20_501, /^this server records no calls/],
    [
      'Url=http%3A%2F%2F169.254.169.254%2F',
      21_205,
      /^Url cannot be used: 169.254.169.254 is no allowed host/,
    ],
  ] as const;
  for (const [field, code, message] of cases) {
    const { body } = await post('/Calls.json', `${base}&${field}`);
    assert.equal(body.code, code, field);
    assert.match(body.message, message);
    assert.equal(body.more_info, `https://www.twilio.com/docs/errors/${code}`);
  }
});

test('parameters that this server does not know are ignored', async (t) => {
  const { post, phone } = await openRest(t);
  const answer = await post(
    '/Calls.json',
    `To=100&Url=${encodeURIComponent(URL)}&CallReason=a&CallToken=b&Byoc=c`,
  );
  assert.equal(answer.status, 201);
  assert.deepEqual(phone.requests, [{ to: '100', ringTimeoutMs: 60_000, headers: {} }]);
});

test('wrong SIDs, paths and pages are 404 and 400 in the form of Twilio', async (t) => {
  const { app } = await openRest(t);
  const get = async (path: string) => {
    const response = await app.inject({ url: path });
    return [response.statusCode, (response.json() as { code: number }).code];
  };
  assert.deepEqual(await get(`${ACCOUNT}/Calls/CA123.json`), [404, 20_404]);
  assert.deepEqual(await get(`${ACCOUNT}/Calls/CA${'f'.repeat(32)}.json`), [404, 20_404]);
  assert.deepEqual(await get(`${ACCOUNT}/Messages.json`), [404, 20_404]);
  assert.deepEqual(await get('/2010-04-01/Accounts/nobody/Calls.json'), [404, 20_404]);
  assert.deepEqual(await get(`${ACCOUNT}/Calls.json?PageToken=x`), [400, 20_422]);
  assert.deepEqual(await get(`${ACCOUNT}/Calls.json?Status=lost`), [400, 20_422]);
  assert.deepEqual(await get(`${ACCOUNT}/Recordings.json`), [501, 20_501]);
});

test('a call of another door is read, told of and ended, and takes no document', async (t) => {
  const { phone, calls, sent, app, post } = await openRest(t);
  const { id } = phone.add('call_1', { to: '100' });
  phone.become(id, { state: 'connected', answeredAt: 1_700_000_000_000 });
  const path = `/Calls/${callSid(id)}.json`;
  const read = await app.inject({ url: ACCOUNT + path });
  const { status, uri } = read.json() as { status: string; uri: string };
  assert.deepEqual(
    [status, uri],
    ['in-progress', `/2010-04-01/Accounts/${calls.accountOf(undefined)}${path}`],
  );
  const redirected = await post(path, `Url=${encodeURIComponent(URL)}`);
  assert.deepEqual([redirected.status, redirected.body.code], [400, 21_220]);
  await post(path, `StatusCallback=${encodeURIComponent(URL)}`);
  const ended = await post(path, 'Status=completed');
  assert.equal(ended.status, 200);
  await settled();
  assert.deepEqual(
    sent.map(({ url, form }) => [url, form['CallStatus'], form['SequenceNumber']]),
    [[URL, 'completed', '0']],
  );
});

test('a call that a program has placed names its parent, and is found by it', async (t) => {
  const { phone, app } = await openRest(t);
  const parent = phone.add('call_1', { to: '100' }).id;
  const child = phone.add('call_2', { to: '101' }).id;
  phone.become(child, { parent });
  const list = await app.inject({ url: `${ACCOUNT}/Calls.json?ParentCallSid=${callSid(parent)}` });
  const { calls } = list.json() as { calls: readonly Readonly<Record<string, unknown>>[] };
  assert.deepEqual(
    calls.map(({ sid, parent_call_sid: of, direction }) => [sid, of, direction]),
    [[callSid(child), callSid(parent), 'outbound-dial']],
  );
});

test('pages lead to the next and back, also when calls have come meanwhile', async (t) => {
  const { phone, app } = await openRest(t);
  const ids = Array.from({ length: 5 }, (_, n) => phone.add(`call_${n}`, { to: '100' }).id);
  const newestFirst = ids.toReversed().map((id) => callSid(id));
  interface Shown {
    readonly calls: readonly { readonly sid: string }[];
    readonly next_page_uri: string;
    readonly previous_page_uri: string;
  }
  const page = async (url: string) => (await app.inject({ url })).json() as Shown;
  const sidsOf = ({ calls }: Shown) => calls.map(({ sid }) => sid);
  const first = await page(`${ACCOUNT}/Calls.json?PageSize=2&To=100`);
  assert.deepEqual(sidsOf(first), newestFirst.slice(0, 2));
  phone.add('call_9', { to: '100' });
  const second = await page(first.next_page_uri);
  assert.deepEqual(sidsOf(second), newestFirst.slice(2, 4));
  assert.deepEqual(sidsOf(await page(second.previous_page_uri)), newestFirst.slice(0, 2));
  const last = await page(second.next_page_uri);
  assert.deepEqual([sidsOf(last), last.next_page_uri], [newestFirst.slice(4), null]);
});

test('an account has Basic authentication here, and nowhere else', async (t) => {
  const { calls } = restUnderTest();
  const key = 'a-key-of-this-server';
  const { app } = await openApp(t, { restCalls: calls, apiKeys: [key] });
  const get = async (url: string, user: string, password: string) => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const response = await app.inject({ url, headers: { authorization } });
    return [response.statusCode, response.headers['www-authenticate']];
  };
  const list = `${ACCOUNT}/Calls.json`;
  assert.deepEqual(await get(list, `AC${'1'.repeat(32)}`, key), [200, undefined]);
  assert.deepEqual(await get(list, `SK${'1'.repeat(32)}`, key), [200, undefined]);
  assert.deepEqual(await get(list, 'anna', key), [401, undefined]);
  assert.deepEqual(await get(list, `AC${'1'.repeat(32)}`, 'another-key'), [401, undefined]);
  const [status] = await get('/v1/calls', `AC${'1'.repeat(32)}`, key);
  assert.equal(status, 401);
});
