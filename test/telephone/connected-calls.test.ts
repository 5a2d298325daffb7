// A document hands its call to an application of ConversationRelay, and goes on with what that hands over.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { eventsOfCall, request, storyOf } from './program-calls.js';
import { ServerProcess } from './server-process.js';

interface Received {
  readonly type: string;
  readonly customParameters?: Readonly<Record<string, string>>;
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
