// The examples of the guide, as they are: two applications of ConversationRelay talk in a call, and a page
// talks with the built-in agent in Chromium.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { openHandledCall } from '../agents/handled-call.js';
import { connectRelay, RELAY } from '../api/relay/connect-relay.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const calls = openCalls();
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PYTHON = process.env['PYTHON_PATH'] ?? '/usr/bin/python3';

async function started(t: TestContext, command: string, file: string): Promise<number> {
  const port = await freePorts(1);
  const child: ChildProcess = spawn(command, [join(ROOT, file)], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let output = '';
  child.stdout?.on('data', (part: Buffer) => (output += part.toString()));
  await until(() => output.includes('listens on'));
  return port;
}

for (const [command, file] of [
  [process.execPath, 'dist/public/docs/examples/relay.js'],
  [PYTHON, 'public/docs/examples/relay.py'],
] as const) {
  test(`${file} greets, answers token by token, knows what was heard, and ends the call`, async (t) => {
    const port = await started(t, command, file);
    const under = openHandledCall(calls);
    connectRelay(under, { ...RELAY, url: `ws://127.0.0.1:${port}/` });
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    under.says('I want tea.');
    await under.passUntil(() => under.count('utterance.started') === 2);
    await under.queued('You said: I want tea. I have 1 messages');
    under.pass(300);
    under.interrupts();
    under.pass(1000);
    under.stops();
    under.text('Green tea.');
    await under.passUntil(() => under.count('utterance.spoken') === 2);
    under.says('Bye.');
    await under.passUntil(() => under.orders.length === 1);
    const spoken = under.events.filter((event) => event.type === 'utterance.spoken').map(({ text }) => text);
    assert.deepEqual(spoken, [
      'Welcome to the tea shop.',
      'You said: Green tea. I have 3 messages in mind.',
      'Goodbye.',
    ]);
  });
}

/** Serves one file as a page of an origin of its own. A reader would put the server's address into it. */
async function pageOf(t: TestContext, file: string, serverUrl: () => string): Promise<string> {
  const server = createServer((_request, response) => {
    const html = readFileSync(join(ROOT, file), 'utf8');
    assert.ok(html.includes("'http://127.0.0.1:8080/'"));
    const edited = html.replace("'http://127.0.0.1:8080/'", JSON.stringify(`${serverUrl()}/`));
    response.setHeader('content-type', 'text/html').end(edited);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('talk.html talks with the built-in agent from a page of another origin', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-example-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const chat = await ChatEndpoint.open(t);
  let serverUrl = '';
  const origin = await pageOf(t, 'public/docs/examples/talk.html', () => serverUrl);
  const file = join(folder, 'agents.json');
  const model = { url: chat.baseUrl, model: 'small', greeting: 'Good morning.' };
  writeFileSync(file, JSON.stringify({ agents: { shop: model }, default: 'shop' }));
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const own = { ICE_HOST_ADDRESSES: '127.0.0.1', CORS_ORIGINS: origin, AGENTS_FILE: file };
  const server = await startServer(readConfig({ ...environment, ...own }));
  t.after(() => server.close());
  serverUrl = server.url;
  const browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--allow-loopback-in-peer-connection',
    ],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  const lines = () => page.locator('#lines li').allTextContents();
  await page.getByRole('button', { name: 'Call' }).click();
  await until(async () => (await lines()).includes('agent: Good morning.'));
  await page.getByLabel('Say it in text').fill('Do you sell tea?');
  await page.getByRole('button', { name: 'Send' }).click();
  const answer = await chat.asked(0);
  assert.equal(answer.question.messages.at(-1)?.content, 'Do you sell tea?');
  answer.say('We do. ', 'Which one?').call('hang_up', {}).done();
  const end = 'notice: The server ended the call.';
  await until(async () => (await lines()).includes(end));
  // The typed text has interrupted the greeting: its line has what was heard of it.
  const [greeting = '', ...said] = await lines();
  assert.match(greeting, /^agent: (?:Good( morning\.?)?)? …$/);
  assert.deepEqual(said, ['caller: Do you sell tea?', 'agent: We do.', 'agent: Which one?', end]);
});
