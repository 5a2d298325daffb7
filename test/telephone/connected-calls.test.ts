// A document hands its call to an application of ConversationRelay, and goes on with what that hands over.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { until } from '../fakes/until.js';
import { eventsOfCall, request, storyOf } from './program-calls.js';
import { ServerProcess } from './server-process.js';

interface Received {
  readonly type: string;
  readonly customParameters?: Readonly<Record<string, string>>;
}

/** The only call of a server has heard this text. */
async function told(server: ServerProcess, text: string): Promise<void> {
  let id: string | undefined;
  await until(async () => {
    const { data } = await request<{ data: readonly { id: string }[] }>(`${server.url}/v1/calls`);
    return (id = data[0]?.id) !== undefined;
  });
  const url = `${server.url}/v1/calls/${id}/events?after=0`;
  const events = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  const decoder = new TextDecoder();
  let seen = '';
  for await (const part of events.body ?? []) {
    seen += decoder.decode(part as Uint8Array, { stream: true });
    const spoken = seen.split('\n').filter((line) => line.includes('"utterance.spoken"'));
    if (spoken.some((line) => line.includes(text))) return;
  }
  assert.fail(`the call has not heard ${text}`);
}

/** A bot of Media Streams that only hears. */
async function hearingBot(t: TestContext) {
  const heard: { readonly event: string; readonly start?: { readonly tracks: readonly string[] } }[] = [];
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as (typeof heard)[number])),
  );
  await once(server, 'listening');
  return { heard, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** It says something, and ends its session. Its messages are kept. */
async function relayApplication(t: TestContext) {
  const received: Received[] = [];
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Received;
      received.push(message);
      if (message.type !== 'setup') return;
      socket.send(JSON.stringify({ type: 'text', token: 'The bot greets you.', last: true }));
      socket.send(JSON.stringify({ type: 'end', handoffData: 'billing' }));
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { received, host: `127.0.0.1:${port}` };
}

test('an application talks, hands over, and the next document goes on', async (t) => {
  const bot = await relayApplication(t);
  const application = await openApplication(t, (response, { path }) =>
    response
      .writeHead(200, TWIML)
      .end(
        path === '/after'
          ? '<Response><Say>You are back.</Say></Response>'
          : `<Response><Connect action="/after"><ConversationRelay url="ws://${bot.host}/calls"><Parameter name="tenant" value="acme"/></ConversationRelay></Connect></Response>`,
      ),
  );
  const callee = await ServerProcess.start(t, {
    TWIML_URL: `${application.origin}/voice`,
    RELAY_ALLOWED_HOSTS: bot.host,
  });
  const caller = await ServerProcess.start(t);
  await request(`${caller.url}/v1/calls`, { to: `sip:bot@127.0.0.1:${callee.port}` });
  const after = () => application.asked.find(({ path }) => path === '/after');
  const limit = Date.now() + 30_000;
  while (after() === undefined && Date.now() < limit) await new Promise((resolve) => setImmediate(resolve));
  const form = formIn(after()?.body ?? '');
  assert.deepEqual(
    [form['SessionStatus'], form['HandoffData'], form['CallStatus']],
    ['ended', 'billing', 'in-progress'],
  );
  assert.match(String(form['SessionId']), /^VX[0-9a-f]{32}$/);
  assert.deepEqual(bot.received[0]?.customParameters, { tenant: 'acme' });
  const story = storyOf(await eventsOfCall(callee));
  assert.deepEqual(story, ['connect', '“The bot greets you.”', 'say', '“You are back.”', 'ended']);
});

test('an application at another host is a warning, and the next verb follows', async (t) => {
  const application = await openApplication(t, (response) =>
    response
      .writeHead(200, TWIML)
      .end(
        '<Response><Connect><ConversationRelay url="wss://evil.example.com/"/></Connect><Say>Nobody talks.</Say></Response>',
      ),
  );
  const environment = { TWIML_URL: `${application.origin}/voice`, RELAY_ALLOWED_HOSTS: 'bot.example.com' };
  const callee = await ServerProcess.start(t, environment);
  const caller = await ServerProcess.start(t);
  const { id } = await request<{ id: string }>(`${caller.url}/v1/calls`, {
    to: `sip:bot@127.0.0.1:${callee.port}`,
  });
  await (await fetch(`${caller.url}/v1/calls/${id}/events?after=0`)).text();
  const events = await eventsOfCall(callee);
  assert.deepEqual(storyOf(events), ['connect', 'say', '“Nobody talks.”', 'ended']);
  const warning = events.find(({ type }) => type === 'program.warning') as { message?: string } | undefined;
  assert.match(
    warning?.message ?? '',
    /"evil.example.com" is none; RELAY_ALLOWED_HOSTS lists those that are/,
  );
});

test('a stream, a recording and a transcript run beside the verbs, and end with the call', async (t) => {
  const bot = await hearingBot(t);
  const folder = temporaryFolder(t);
  const forks = `<Stream name="ear" url="ws://${bot.host}/media" track="outbound_track" statusCallback="/stream"/>
    <Recording recordingStatusCallback="/recording"/>
    <Transcription track="outbound_track" statusCallbackUrl="/texts"/>`;
  const application = await openApplication(t, (response) =>
    response
      .writeHead(200, TWIML)
      .end(`<Response><Start>${forks}</Start><Pause length="1"/><Say>All of you hear this.</Say></Response>`),
  );
  const callee = await ServerProcess.start(t, {
    TWIML_URL: `${application.origin}/voice`,
    RELAY_ALLOWED_HOSTS: bot.host,
    RECORDINGS_DIR: folder,
  });
  const caller = await ServerProcess.start(t);
  await request(`${caller.url}/v1/calls`, { to: `sip:bot@127.0.0.1:${callee.port}` });
  const formsAt = (path: string) =>
    application.asked.filter((one) => one.path === path).map(({ body }) => formIn(body));
  const isOver = () =>
    formsAt('/recording').length === 1 && formsAt('/texts').length === 3 && formsAt('/stream').length === 2;
  const limit = Date.now() + 30_000;
  while (!isOver() && Date.now() < limit) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    formsAt('/stream').map(({ StreamEvent, StreamName }) => [StreamEvent, StreamName]),
    [
      ['stream-started', 'ear'],
      ['stream-stopped', 'ear'],
    ],
  );
  const [started, content, stopped] = formsAt('/texts');
  assert.equal(started?.['TranscriptionEvent'], 'transcription-started');
  assert.equal(content?.['TranscriptionData'], '{"transcript":"All of you hear this."}');
  assert.equal(stopped?.['TranscriptionEvent'], 'transcription-stopped');
  const [recorded] = formsAt('/recording');
  assert.deepEqual([recorded?.['RecordingStatus'], recorded?.['RecordingChannels']], ['completed', '2']);
  assert.equal(readdirSync(folder).length, 1);
  const events = bot.heard.map(({ event }) => event);
  assert.deepEqual([events[0], events[1], events.at(-1)], ['connected', 'start', 'stop']);
  assert.deepEqual(bot.heard[1]?.start?.tracks, ['outbound']);
  assert.ok(events.filter((event) => event === 'media').length > 50, `${events.length} messages`);
});

test('an agent of the server talks until it hangs up, and the program goes on', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const folder = temporaryFolder(t);
  const [programs, routes] = [join(folder, 'menus.json'), join(folder, 'routes.json')];
  const main = [{ say: 'One moment.' }, { connect: { agent: 'default', next: 'after' } }];
  writeFileSync(programs, JSON.stringify({ programs: { main, after: [{ say: 'You are back.' }] } }));
  writeFileSync(routes, JSON.stringify({ routes: [{ to: '100', program: 'main' }] }));
  const callee = await ServerProcess.start(t, {
    IVR_FILE: programs,
    SIP_ROUTES: routes,
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: 'I am Anna.',
  });
  const caller = await ServerProcess.start(t);
  const { id } = await request<{ id: string }>(`${caller.url}/v1/calls`, {
    to: `sip:100@127.0.0.1:${callee.port}`,
  });
  await told(callee, 'I am Anna.');
  await request(`${caller.url}/v1/calls/${id}/dtmf`, { digits: '1' });
  (await chat.asked(0)).say('Goodbye, then.').call('hang_up', {}).done();
  const story = storyOf(await eventsOfCall(callee));
  assert.deepEqual(story, [
    'say',
    '“One moment.”',
    'connect',
    '“I am Anna.”',
    '“Goodbye, then.”',
    'say',
    '“You are back.”',
    'ended',
  ]);
});
