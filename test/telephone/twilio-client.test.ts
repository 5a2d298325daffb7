// The client library of Twilio, unchanged, places, reads, changes and ends telephone calls of a server as a
// process. Another server is called, and answers.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { until } from '../fakes/until.js';
import { request, storyOf, type Shown } from './program-calls.js';
import { ServerProcess } from './server-process.js';

const KEY = 'the-key-of-anna-which-is-long';
const OTHER = 'the-key-of-otto-which-is-long';
const ACCOUNT = `AC${'1'.repeat(32)}`;
const FROM = 'sip:shop@127.0.0.1';
const LONG = '<Response><Say>This goes on.</Say><Pause length="60"/></Response>';
const SHORT = '<Response><Say>Goodbye then.</Say></Response>';

function clientOf({ url }: ServerProcess, key = KEY) {
  const client = twilio(ACCOUNT, key);
  client.api.baseUrl = url;
  return client;
}

async function openPair(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const [caller, callee] = await Promise.all([
    ServerProcess.start(t, { API_KEYS: `anna ${KEY},otto ${OTHER}`, ...environment }),
    ServerProcess.start(t),
  ]);
  const to = (user: string) => `sip:${user}@127.0.0.1:${callee.port}`;
  return { caller, to: to('anything'), menu: to('600') };
}

/** The events of the only call of a server that has ended. */
async function eventsOf(server: ServerProcess): Promise<readonly Shown[]> {
  const headers = { authorization: `Bearer ${KEY}` };
  const listed = await fetch(`${server.url}/v1/calls`, { headers });
  const { data } = (await listed.json()) as { data: readonly { id: string }[] };
  const response = await fetch(`${server.url}/v1/calls/${data[0]?.id}/events?after=0`, { headers });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Shown);
}

test('a call is placed, redirected in mid-sentence, and ends; signed callbacks tell of it in order', async (t) => {
  const { caller, menu: to } = await openPair(t);
  const application = await openApplication(t, (response, { path }) =>
    response.writeHead(200, TWIML).end(path === '/voice' ? LONG : path === '/short' ? SHORT : ''),
  );
  const client = clientOf(caller);
  const created = await client.calls.create({
    to,
    from: FROM,
    url: `${application.origin}/voice`,
    statusCallback: `${application.origin}/status`,
    statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
  });
  assert.match(created.sid, /^CA[0-9a-f]{32}$/);
  assert.equal(created.status, 'queued');
  assert.equal(created.direction, 'outbound-api');
  assert.ok(created.dateCreated instanceof Date);
  const told = (path: string) => application.asked.filter((asked) => asked.path === path);
  await until(() => told('/voice').length === 1);
  const running = await client.calls(created.sid).fetch();
  assert.equal(running.status, 'in-progress');
  assert.ok(running.startTime instanceof Date);
  await client.calls(created.sid).update({ url: `${application.origin}/short` });
  await until(() => told('/status').some(({ body }) => body.includes('CallStatus=completed')));
  const ended = await client.calls(created.sid).fetch();
  assert.deepEqual([ended.status, ended.to, ended.price], ['completed', to, null]);
  assert.match(ended.duration, /^\d+$/);
  const forms = told('/status').map(({ headers, path, body }) => {
    const form = formIn(body);
    const signature = String(headers['x-twilio-signature']);
    assert.ok(twilio.validateRequest(KEY, signature, application.origin + path, form), 'the signature');
    return form;
  });
  assert.deepEqual(
    forms.map((form) => [form['CallStatus'], form['SequenceNumber']]),
    [
      ['initiated', '0'],
      ['ringing', '1'],
      ['in-progress', '2'],
      ['completed', '3'],
    ],
  );
  assert.ok(
    forms.every((form) => form['CallSid'] === created.sid && form['AccountSid'] === ended.accountSid),
  );
  assert.equal(forms[3]?.['CallDuration'], ended.duration);
  assert.equal(forms[3]?.['CallbackSource'], 'call-progress-events');
  const story = storyOf(await eventsOf(caller));
  assert.deepEqual(story.slice(-3), ['say', '“Goodbye then.”', 'ended']);
});

test('a document as text conducts a call, another text replaces it, and Status=completed ends it', async (t) => {
  const { caller, to } = await openPair(t);
  const client = clientOf(caller);
  const { sid } = await client.calls.create({ to, from: FROM, twiml: LONG });
  await until(async () => (await client.calls(sid).fetch()).status === 'in-progress');
  const text = new twilio.twiml.VoiceResponse();
  text.pause({ length: 50 });
  await until(async () => (await client.calls(sid).update({ twiml: text })).status === 'in-progress');
  const ended = await client.calls(sid).update({ status: 'completed' });
  assert.equal(ended.status, 'completed');
  await assert.rejects(client.calls(sid).update({ twiml: SHORT }), { code: 21220, status: 400 });
  assert.equal(await client.calls(sid).remove(), true);
  await assert.rejects(client.calls(sid).fetch(), { code: 20404, status: 404 });
});

test('a key sees its own calls only, and lists them in pages', async (t) => {
  const { caller, to } = await openPair(t);
  const [anna, otto] = [clientOf(caller), clientOf(caller, OTHER)];
  const sids: string[] = [];
  for (let count = 0; count < 5; count++)
    sids.unshift((await anna.calls.create({ to, from: FROM, twiml: LONG })).sid);
  const listed = await anna.calls.list({ pageSize: 2 });
  assert.deepEqual(
    listed.map(({ sid }) => sid),
    sids,
  );
  const page = await anna.calls.page({ pageSize: 2 });
  const [next] = (await page.nextPage())?.instances ?? [];
  assert.equal(next?.sid, sids[2]);
  assert.deepEqual(await otto.calls.list(), []);
  const [first = ''] = sids;
  await assert.rejects(otto.calls(first).fetch(), { code: 20404 });
  await assert.rejects(otto.calls(first).update({ status: 'completed' }), { code: 20404 });
  await assert.rejects(clientOf(caller, 'a-key-of-nobody-at-all').calls.list(), { code: 20003, status: 401 });
  for (const sid of sids) await anna.calls(sid).update({ status: 'completed' });
  const completed = await anna.calls.list({ status: 'completed', to });
  const canceled = await anna.calls.list({ status: 'canceled', to });
  assert.equal(completed.length + canceled.length, 5);
});

test('a thousand changes of one call at once: few documents are fetched, and the last one conducts it', async (t) => {
  const { caller, to } = await openPair(t);
  const application = await openApplication(t, (response) => response.writeHead(200, TWIML).end(LONG));
  const client = clientOf(caller);
  const { sid } = await client.calls.create({ to, from: FROM, url: `${application.origin}/first` });
  await until(() => application.asked.length === 1);
  const url = (count: number) => `${application.origin}/change/${count}`;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: 1000 }, (_, count) => client.calls(sid).update({ url: url(count) })),
  );
  await client.calls(sid).update({ url: url(1000) });
  await until(() => application.asked.at(-1)?.path === '/change/1000');
  const seconds = (performance.now() - began) / 1000;
  assert.ok(application.asked.length <= 3 + seconds * 10, `${application.asked.length} in ${seconds} s`);
  assert.equal((await client.calls(sid).fetch()).status, 'in-progress');
});

test('a forbidden destination, a foreign host and missing parameters are refused with numbers of Twilio', async (t) => {
  const caller = await ServerProcess.start(t, { SIP_DESTINATIONS: '+49' });
  const client = clientOf(caller);
  const refused = (parameters: Parameters<typeof client.calls.create>[0], code: number) =>
    assert.rejects(client.calls.create(parameters), { code, status: 400 });
  await refused({ to: 'sip:+1900@127.0.0.1', from: FROM, twiml: SHORT }, 21216);
  await refused({ to: 'client:anna', from: FROM, twiml: SHORT }, 21211);
  await refused({ to: 'sip:+49@127.0.0.1', from: FROM }, 21205);
  await refused({ to: 'sip:+49@127.0.0.1', from: FROM, url: 'http://ivr.example.com/' }, 21205);
  await refused({ to: '', from: FROM, twiml: SHORT }, 21201);
  assert.equal((await request<{ data: [] }>(`${caller.url}/v1/calls`)).data.length, 0);
});

test('a call is recorded from its answer, paused and stopped; its file is listed, read and deleted', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-rest-'));
  t.after(() => rm(folder, { recursive: true }));
  const { caller, to } = await openPair(t, { RECORDINGS_DIR: folder });
  const application = await openApplication(t, (response) => response.writeHead(204).end());
  const client = clientOf(caller);
  const told = (status: string) =>
    application.asked.map(({ body }) => formIn(body)).find((form) => form['RecordingStatus'] === status);
  const { sid } = await client.calls.create({
    to,
    from: FROM,
    twiml: LONG,
    record: true,
    recordingStatusCallback: `${application.origin}/recorded`,
    recordingStatusCallbackEvent: ['in-progress', 'completed'],
  });
  await until(() => told('in-progress') !== undefined);
  const current = client.calls(sid).recordings('Twilio.CURRENT');
  assert.equal((await current.update({ status: 'paused' })).status, 'paused');
  assert.equal((await current.update({ status: 'in-progress' })).status, 'in-progress');
  assert.equal((await current.update({ status: 'stopped' })).status, 'stopped');
  await until(() => told('completed') !== undefined);
  await client.calls(sid).update({ status: 'completed' });
  const recording = String(told('completed')?.['RecordingSid']);
  const listed = await client.calls(sid).recordings.list();
  assert.deepEqual(
    listed.map((one) => [one.sid, one.callSid, one.status]),
    [[recording, sid, 'completed']],
  );
  assert.deepEqual(
    (await client.recordings.list()).map((one) => one.sid),
    [recording],
  );
  assert.deepEqual(await clientOf(caller, OTHER).recordings.list(), []);
  const { mediaUrl } = await client.recordings(recording).fetch();
  const authorization = `Basic ${Buffer.from(`${ACCOUNT}:${KEY}`).toString('base64')}`;
  for (const end of ['', '.wav']) {
    const file = await fetch(mediaUrl + end, { headers: { authorization } });
    assert.equal(file.headers.get('content-type'), 'audio/wav');
    assert.equal(Buffer.from(await file.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
  }
  assert.equal(told('completed')?.['RecordingUrl'], mediaUrl);
  const mp3 = await fetch(`${mediaUrl}.mp3`, { headers: { authorization } });
  assert.deepEqual([mp3.status, ((await mp3.json()) as { code: number }).code], [415, 20_415]);
  assert.equal((await fetch(mediaUrl)).status, 401);
  assert.equal(await client.recordings(recording).remove(), true);
  await assert.rejects(client.recordings(recording).fetch(), { code: 20404 });
});

test('a server that closes ends its calls, and still sends their last callbacks', async (t) => {
  const { caller, to } = await openPair(t);
  const application = await openApplication(t, (response) => response.writeHead(204).end());
  const client = clientOf(caller);
  const statusCallback = `${application.origin}/status`;
  const { sid } = await client.calls.create({ to, from: FROM, twiml: LONG, statusCallback });
  await until(async () => (await client.calls(sid).fetch()).status === 'in-progress');
  caller.signal('SIGINT');
  assert.equal(await caller.exited, 0);
  assert.deepEqual(
    application.asked.map(({ body }) => formIn(body)['CallStatus']),
    ['completed'],
  );
});
