// The page of a server whose calls an agent answers, in a real browser: one button, what is missing and what
// cures it, and the conversation as a chat. The test plays the server's half of a call.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { ServerHealth } from '../../src/api/status/status-routes.js';
import type { AgentConfig } from '../../src/config/agent-config.js';
import { openServer } from '../api/app-under-test.js';
import { FakeTranscriber } from '../api/fake-transcriber.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const FAKE_PEER = readFileSync(
  fileURLToPath(new URL('../../../test/interop/fake-peer.js', import.meta.url)),
  'utf8',
);
const WAIT_MS = 10_000;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };
const HEALTH: ServerHealth = { engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1 };
const EARS = 'npm run parley -- pull light';
const VOICE = 'npm run parley -- pull pocket-en';

let browser: Browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'],
  });
});
after(() => browser.close());

interface Situation {
  readonly model?: string;
  readonly hears?: boolean;
  readonly health?: Partial<ServerHealth>;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Runs in the page before its own script. */
  readonly script?: string;
}

async function openPage(t: TestContext, situation: Situation = {}) {
  const { model = 'qwen3:4b', hears = true, health = {}, viewport = DESKTOP, script = '' } = situation;
  const server = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: undefined, model };
  const agents = new Map([['default', { name: 'default', model: server } as AgentConfig]]);
  const nothing = { relays: new Map(), mediaStreams: new Map() };
  const limits = { translator: undefined, maxBytes: 1, maxRequests: 1 };
  const { url } = await openServer(t, {
    agents: { agents, ...nothing, usual: 'default' },
    health: () => ({ ...HEALTH, ...health }),
    ...(hears ? { transcription: { transcriber: new FakeTranscriber(), ...limits } } : {}),
  });
  const page = await browser.newPage({ viewport });
  t.after(() => page.close());
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  await page.addInitScript(FAKE_PEER);
  await page.addInitScript(`server.agent = 'default'; ${script}`);
  await page.goto(url);
  await page.locator('body[data-talks=true]').waitFor();
  const send = (message: object): Promise<void> => page.evaluate(`server.send(${JSON.stringify(message)})`);
  return { page, errors, send };
}

async function startCall(page: Page): Promise<void> {
  await page.locator('#call').click();
  await page.getByText('On the line', { exact: true }).waitFor();
}

const texts = async (page: Page, selector: string) =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim());

test('the page says whom one talks to, and its one button asks for the microphone', async (t) => {
  const { page, errors } = await openPage(t);
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Talk to qwen3:4b');
  assert.equal(await page.title(), 'Talk to qwen3:4b');
  assert.deepEqual(await texts(page, '.stage button'), ['Start talking']);
  assert.match(String(await page.locator('#call-hint').textContent()), /^Your browser will ask for the mic/);
  assert.equal(await page.locator('#missing').isVisible(), false);
  assert.deepEqual(await page.evaluate('server.asked'), [], 'nothing is asked before the button');
  await page.getByRole('button', { name: 'Start talking' }).click();
  await page.getByText('Listening. Speak, or type.').waitFor();
  assert.equal((await page.evaluate<unknown[]>('server.asked')).length, 1);
  assert.deepEqual(await page.evaluate('server.directions'), ['sendrecv']);
  assert.deepEqual(await texts(page, '.stage button'), ['Hang up']);
  assert.deepEqual(errors, []);
});

test('while the browser asks for the microphone the page says to allow it', async (t) => {
  const { page } = await openPage(t);
  await page.evaluate('navigator.mediaDevices.getUserMedia = () => new Promise(() => undefined)');
  await page.getByRole('button', { name: 'Start talking' }).click();
  await page.getByText('If your browser asks for the microphone, allow it.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Start talking' }).waitFor();
});

test('models have the names that people give them', async () => {
  const path = new URL('../../../public/agent-view.js', import.meta.url).href;
  const { agentName } = (await import(path)) as { agentName: (agent: object) => string };
  for (const [agent, name] of [
    [{ id: 'default', model: 'qwen3:4b' }, 'qwen3:4b'],
    [{ id: 'default', model: '/models/a b/Qwen3-4B-Q4_K_M.gguf' }, 'Qwen3-4B-Q4_K_M'],
    [{ id: 'default', model: 'Qwen/Qwen3-4B' }, 'Qwen/Qwen3-4B'],
    [{ id: 'default', model: 'x'.repeat(60) }, `${'x'.repeat(40)}…`],
    [{ id: 'default', model: 'parley-demo' }, 'the demo'],
    [{ id: 'default' }, 'the agent'],
    [{ id: 'shop' }, 'shop'],
  ] as const)
    assert.equal(agentName(agent), name);
});

test('a server without ears names the command that fetches them, and asks for no microphone', async (t) => {
  const health = { earsCommand: EARS, voiceCommand: VOICE };
  const { page, errors } = await openPage(t, { hears: false, health });
  await page.locator('#missing').waitFor();
  assert.deepEqual(await texts(page, '#missing strong'), ['No ears.']);
  assert.deepEqual(await texts(page, '#missing code'), [EARS], 'which also fetches the voice');
  assert.match(String(await page.locator('#missing li').textContent()), /ears and a neural voice/);
  assert.equal(await page.getByRole('switch').count(), 0);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy the command for: No ears' }).click();
  await page.getByText('Copied.', { exact: true }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), EARS);
  await page.getByRole('button', { name: 'Start and type' }).click();
  await page.getByText('Type: the answer is spoken.').waitFor();
  assert.deepEqual(await page.evaluate('server.asked'), []);
  assert.deepEqual(errors, []);
});

test('a plain voice, and the demo in place of a model, have their commands', async (t) => {
  const plain = await openPage(t, { health: { voiceCommand: VOICE } });
  await plain.page.locator('#missing').waitFor();
  assert.deepEqual(await texts(plain.page, '#missing strong'), ['A plain voice.']);
  assert.deepEqual(await texts(plain.page, '#missing code'), [VOICE]);
  const demo = await openPage(t, { model: 'parley-demo', hears: false, health: { earsCommand: EARS } });
  await demo.page.locator('#missing').waitFor();
  assert.deepEqual(await texts(demo.page, '#missing strong'), ['No language model.', 'No ears.']);
  assert.deepEqual(await texts(demo.page, '#missing code'), ['ollama pull qwen3:4b && npm run talk', EARS]);
  assert.equal(await demo.page.getByRole('heading', { level: 1 }).textContent(), 'Talk to the demo');
});

test('without a microphone the page says what to do, and one can type', async (t) => {
  const script = 'navigator.mediaDevices.enumerateDevices = async () => []';
  const { page, send } = await openPage(t, { script });
  await page.locator('#missing', { hasText: 'There is no microphone. Connect one and try again.' }).waitFor();
  await page.evaluate(`server.refusal = 'NotFoundError'`);
  await page.getByRole('button', { name: 'Start and type' }).click();
  await page.getByText('Type, or switch your microphone on and talk.').waitFor();
  await page.getByLabel('Text to speak').fill('Do you sell tea?');
  await page.getByRole('button', { name: 'Send' }).click();
  await send({ type: 'agent.prompt', text: 'Do you sell tea?', by: 'text' });
  assert.deepEqual(await texts(page, '.entry .said'), ['Do you sell tea?']);
});

test('a microphone that the user refuses is said with what to do, and the call goes on', async (t) => {
  const { page } = await openPage(t, { script: `server.refusal = 'NotAllowedError'` });
  await startCall(page);
  await page.getByRole('alert').filter({ hasText: 'Allow it for this page and try again.' }).waitFor();
  assert.deepEqual(await page.evaluate('server.directions'), ['recvonly']);
});

test('a user who has switched the microphone off is not asked for it', async (t) => {
  const { page } = await openPage(t);
  await page.getByRole('switch', { name: 'Microphone' }).uncheck();
  await page.getByText('Your browser only listens until').waitFor();
  await page.getByRole('button', { name: 'Start and type' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  assert.deepEqual(await page.evaluate('server.asked'), []);
});

test('the conversation is a chat: the caller at the right, newest below, each answer with its latency', async (t) => {
  const { page, errors, send } = await openPage(t);
  await startCall(page);
  await send({ type: 'captions', caller: true, words: true });
  for (let turn = 0; turn < 8; turn++) {
    const question = `Question ${turn}?`;
    await send({ type: 'caller.text', number: turn, text: 'Quest', isFinal: false });
    await page.locator('.entry .said.rest', { hasText: /^Quest$/ }).waitFor();
    await send({ type: 'caller.text', number: turn, text: question, isFinal: true });
    const utterance = turn + 1;
    await send({ type: 'utterance.started', utterance, firstPacketMs: 20, queuedMs: 10 });
    await send({ type: 'agent.answered', modelMs: 200, totalMs: 500 + turn });
    await send({ type: 'sentence.started', utterance, sentence: 0, text: `Answer ${turn}.` });
    await send({ type: 'sentence.spoken', utterance, sentence: 0, text: `Answer ${turn}.` });
    await send({ type: 'utterance.spoken', utterance, text: `Answer ${turn}.`, durationMs: 900 });
  }
  const said = await texts(page, '.entry .said');
  assert.deepEqual(said.slice(0, 3), ['Question 0?', 'Answer 0.', 'Question 1?']);
  assert.equal(said.at(-1), 'Answer 7.');
  const heads = await texts(page, '.entry[data-who=agent] .entry-head');
  assert.equal(heads.length, 8);
  for (const [turn, head] of heads.entries())
    assert.match(head, new RegExp(`answered after ${500 + turn} ms`));
  const box = async (text: string) =>
    (await page.locator('.entry .said', { hasText: text }).boundingBox()) ?? assert.fail(text);
  const [question, answer, list] = [
    await box('Question 7?'),
    await box('Answer 7.'),
    (await page.locator('#transcript').boundingBox()) ?? assert.fail('no list'),
  ];
  assert.ok(answer.y > question.y, 'newest below');
  assert.ok(question.x > list.x + list.width / 2 && answer.x < list.x + list.width / 4);
  assert.ok(answer.y + answer.height <= list.y + list.height, 'the newest one is in sight');
  assert.deepEqual(errors, []);
});

test('words of an answer appear as they are heard', async (t) => {
  const { page, send } = await openPage(t);
  await startCall(page);
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  const text = 'We sell green tea.';
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }, number) => {
    return { start: index, end: index + word.length, startMs: number * 1000 };
  });
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text });
  const ahead = async () => (await texts(page, '.entry .said .ahead')).join();
  await send({ type: 'sentence.words', utterance: 1, sentence: 0, words });
  for (const rest of ['sell green tea.', 'green tea.', 'tea.', '']) {
    await page.clock.runFor(500);
    assert.equal(await ahead(), rest);
    assert.equal(await page.locator('.entry .said').textContent(), text, 'the bubble keeps its size');
    await page.clock.runFor(500);
  }
});

for (const viewport of [PHONE, { width: 820, height: 1180 }, DESKTOP]) {
  test(`nothing sticks out of a conversation ${viewport.width} pixels wide, and every control is usable`, async (t) => {
    const health = { earsCommand: EARS, voiceCommand: VOICE };
    const { page, send } = await openPage(t, { viewport, hears: false, health, model: 'm'.repeat(60) });
    await startCall(page);
    await send({ type: 'agent.prompt', text: 'x'.repeat(300), by: 'text' });
    await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
    await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'y'.repeat(300) });
    await page.locator('.entry .said mark').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
    const controls = page.locator('#speak-panel :is(button, select, input, textarea, summary):visible');
    for (const control of await controls.all()) {
      const box = await control.boundingBox();
      assert.ok(box !== null && box.height >= 36 && box.width >= 36, await control.ariaSnapshot());
    }
  });
}
