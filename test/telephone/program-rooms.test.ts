// Documents join whole calls in a conference and over a queue: real callers over SIP and RTP on loopback, an
// application that writes the documents, and the media plane that users have.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { callSid, conferenceSid, queueSid } from '../../src/api/twiml/sids.js';
import { type Asked, formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { until } from '../fakes/until.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy, waveLikeness } from './heard-calls.js';
import { type Caller, callTo } from './joined-callers.js';
import { hangUp } from './raw-caller.js';

/** The document for a path; the first one of a call is at the path of its callee. */
type Documents = Readonly<Record<string, string>>;

const document = (inner: string) => `<Response>${inner}</Response>`;

async function serverOf(t: TestContext, documents: Documents) {
  const answer = (response: ServerResponse, { path, body }: Asked) => {
    const callee = /^sip:([^@]+)@/.exec(String(formIn(body)['To']))?.[1];
    const inner = documents[path === '/voice' ? `/${callee ?? ''}` : path];
    response.writeHead(inner === undefined ? 204 : 200, TWIML).end(inner && document(inner));
  };
  const application = await openApplication(t, answer);
  const server = await TelephoneServer.start({ TWIML_URL: `${application.origin}/voice` });
  t.after(() => server.close());
  const { samples } = await server.rendered('Good morning, this is the first floor.');
  const forms = (path: string) =>
    application.asked.filter((one) => one.path === path).map(({ body }) => formIn(body));
  const texts = async (caller: Caller) => {
    const signal = AbortSignal.timeout(30_000);
    const events = await fetch(`${server.server.url}/v1/calls/${caller.id}/events?after=0`, { signal });
    const lines = (await events.text()).split('\n').filter((line) => line.startsWith('data: '));
    const read = lines.map(
      (line) => JSON.parse(line.slice('data: '.length)) as { type: string; text?: string },
    );
    return read.flatMap(({ type, text }) => (type === 'utterance.spoken' ? [text] : []));
  };
  /** One speaks; the others have heard that much since. */
  const says = async (caller: Caller, listeners: readonly Caller[]) => {
    const from = listeners.map(({ rtp }) => rtp.heard.length);
    await caller.stream.play(samples);
    const frames = Math.ceil(samples.length / 160) + 20;
    await until(() => listeners.every(({ rtp }, n) => rtp.heard.length >= (from[n] ?? 0) + frames));
    return listeners.map((listener, n) => heardBy(listener, from[n]));
  };
  const likeness = (heard: Float32Array | undefined) => waveLikeness(samples, heard ?? new Float32Array());
  return { server, application, forms, texts, says, likeness };
}

const isSilent = (sound: Float32Array | undefined) => sound?.every((sample) => Math.abs(sample) < 0.01);

test('a sales line: music, the announced place, a whisper, the bridge, and what both documents learn', async (t) => {
  const { server, forms, texts, says, likeness } = await serverOf(t, {
    '/sales': '<Enqueue action="/queued" waitUrl="/wait">sales</Enqueue>',
    '/wait': '<Say>You are number one.</Say><Pause length="60"/>',
    '/queued': '<Say>Thank you for calling.</Say><Hangup/>',
    '/agent': '<Dial action="/dialled"><Queue url="/whisper">sales</Queue></Dial>',
    '/whisper': '<Say>This call may be recorded.</Say>',
  });
  const caller = await callTo(server, t, { to: 'sales' });
  await until(() => forms('/wait').length === 1);
  const [wait] = forms('/wait');
  assert.deepEqual(
    [wait?.['QueuePosition'], wait?.['CurrentQueueSize'], wait?.['QueueSid']],
    ['1', '1', queueSid(undefined, 'sales')],
  );
  const agent = await callTo(server, t, { to: 'agent' });
  await until(() => forms('/whisper').length === 1);
  const [whisper] = forms('/whisper');
  assert.deepEqual(
    [whisper?.['CallSid'], whisper?.['DequeingCallSid']],
    [callSid(caller.id), callSid(agent.id)],
  );
  const bridged = async () => {
    const answer = await fetch(`${server.server.url}/v1/queues/sales`);
    return answer.status === 404;
  };
  await until(bridged);
  const heard = [...(await says(caller, [agent])), ...(await says(agent, [caller]))];
  await hangUp(agent.signalling, agent.dialog);
  await until(() => forms('/queued').length === 1);
  assert.equal(forms('/queued')[0]?.['QueueResult'], 'bridged');
  const spoken = await texts(caller);
  assert.ok(spoken.includes('This call may be recorded.'), spoken.join());
  assert.ok(spoken.includes('Thank you for calling.'), spoken.join());
  const likenesses = heard.map(likeness);
  assert.ok(Math.min(...likenesses) > 0.95, likenesses.join(' '));
});

test('a conference with a moderator and a coach: who hears whom, and what its callback is told', async (t) => {
  const member = (attributes: string) =>
    `<Dial action="/after"><Conference beep="false" waitUrl="" ${attributes}>first floor</Conference></Dial>`;
  const told = 'statusCallback="/told" statusCallbackEvent="start end join leave"';
  const { server, forms, says, likeness } = await serverOf(t, {
    '/customer': member(`startConferenceOnEnter="false" ${told}`),
    '/agent': member('startConferenceOnEnter="false" participantLabel="agent"'),
    '/boss': member('endConferenceOnExit="true"'),
    '/coach': member('coach="agent"'),
    '/after': '<Hangup/>',
  });
  const customer = await callTo(server, t, { to: 'customer' });
  const members = async () => {
    const answer = await fetch(`${server.server.url}/v1/rooms/first%20floor`);
    if (!answer.ok) return 0;
    return ((await answer.json()) as { members: unknown[] }).members.length;
  };
  await until(async () => (await members()) === 1);
  const agent = await callTo(server, t, { to: 'agent' });
  await until(async () => (await members()) === 2);
  const [before] = await says(customer, [agent]);
  const boss = await callTo(server, t, { to: 'boss' });
  await until(async () => (await members()) === 3);
  const [byAgent, byBoss] = await says(customer, [agent, boss]);
  const coach = await callTo(server, t, { to: 'coach' });
  await until(async () => (await members()) === 4);
  const [coached, uncoached] = await says(coach, [agent, customer]);
  await hangUp(boss.signalling, boss.dialog);
  await until(() => forms('/told').some((form) => form['StatusCallbackEvent'] === 'conference-end'));
  await until(() => forms('/after').length === 3);
  assert.deepEqual(
    forms('/after').map((form) => form['DialCallStatus']),
    ['answered', 'answered', 'answered'],
  );
  const all = forms('/told');
  assert.deepEqual(
    all.slice(0, 5).map((form) => [form['StatusCallbackEvent'], form['CallSid']]),
    [
      ['participant-join', callSid(customer.id)],
      ['participant-join', callSid(agent.id)],
      ['participant-join', callSid(boss.id)],
      ['conference-start', undefined],
      ['participant-join', callSid(coach.id)],
    ],
  );
  assert.deepEqual(
    all.map((form) => form['SequenceNumber']),
    all.map((_, index) => String(index + 1)),
  );
  const end = all.at(-1);
  assert.deepEqual(
    [
      end?.['ConferenceSid'],
      end?.['FriendlyName'],
      end?.['CallSidEndingConference'],
      end?.['ReasonConferenceEnded'],
    ],
    [
      conferenceSid(undefined, 'first floor'),
      'first floor',
      callSid(boss.id),
      'participant-with-end-conference-on-exit-left',
    ],
  );
  assert.ok(isSilent(before), 'nobody is heard before the conference begins');
  assert.ok(isSilent(uncoached), 'the customer does not hear the coach');
  const likenesses = [byAgent, byBoss, coached].map(likeness);
  assert.ok(Math.min(...likenesses) > 0.9, likenesses.join(' '));
});
