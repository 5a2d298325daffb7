// Opens the pages of the server in a real browser. The test plays the server's half of a call.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { openServer } from '../api/app-under-test.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const FAKE_PEER = readFileSync(
  fileURLToPath(new URL('../../../test/interop/fake-peer.js', import.meta.url)),
  'utf8',
);
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };
const WAIT_MS = 10_000;
const STORY = 'There was a server. It never stopped. Then somebody pressed a button.';

let browser: Browser;

before(async () => {
  browser = await chromium.launch({ executablePath: installedChromium(), args: [...CHROMIUM_ARGS] });
});
after(() => browser.close());

interface OpenPage {
  readonly page: Page;
  /** Errors of scripts and of the console. */
  readonly errors: string[];
  readonly requests: string[];
  /** A message from the server on the data channel. */
  readonly send: (message: Record<string, unknown>) => Promise<void>;
  /** Messages received from the page on the data channel. */
  readonly received: () => Promise<unknown[]>;
}

async function openPage(url: string, viewport = DESKTOP): Promise<OpenPage> {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  page.on('request', (request) => requests.push(request.url()));
  await page.addInitScript(FAKE_PEER);
  await page.goto(url);
  await page.locator('#voice optgroup, #key-form:not([hidden])').first().waitFor({ state: 'attached' });
  return {
    page,
    errors,
    requests,
    send: (message) => page.evaluate(`server.send(${JSON.stringify(message)})`),
    received: () => page.evaluate('server.received'),
  };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Text to speak').fill(text);
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
}

test('the page loads everything from its own server, without an error, and offers the voices by language', async (t) => {
  const { url } = await openServer(t);
  const { page, errors, requests } = await openPage(url);
  assert.deepEqual(
    requests.filter((request) => !request.startsWith(url) && !request.startsWith('data:')),
    [],
  );
  assert.deepEqual(await page.locator('#voice option').allTextContents(), [
    'Automatic, by language',
    'American, female (slt)',
    'French (fr)',
  ]);
  assert.equal(await page.locator('optgroup').first().getAttribute('label'), 'English · flite');
  assert.deepEqual(errors, []);
  await page.close();
});

test('every control has a name, and is large enough for a finger', async (t) => {
  const { url } = await openServer(t);
  const { page } = await openPage(url, PHONE);
  const controls = await page.locator('button:visible, textarea:visible, select:visible').all();
  assert.equal(controls.length, 8);
  for (const control of controls) {
    assert.match(await control.ariaSnapshot(), /^- (button|textbox|combobox) "[^"]+"/);
    const box = await control.boundingBox();
    assert.ok(box !== null && box.height >= 36 && box.width >= 36, await control.ariaSnapshot());
  }
  await page.close();
});

for (const viewport of [PHONE, { width: 820, height: 1180 }, DESKTOP]) {
  test(`nothing sticks out of a page ${viewport.width} pixels wide, with a long text without spaces`, async (t) => {
    const { url } = await openServer(t);
    const { page } = await openPage(url, viewport);
    await say(page, 'x'.repeat(600));
    await page.locator('.entry').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
    await page.close();
  });
}

test('a call shows what is being spoken now, what was spoken, and what was cut off', async (t) => {
  const { url, calls } = await openServer(t);
  const { page, errors, send, received } = await openPage(url);
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  assert.equal(calls.standing.size, 1);

  await page.getByLabel('Voice').selectOption('slt');
  await say(page, STORY);
  assert.deepEqual(await received(), [{ type: 'text', token: STORY, last: true, voice: 'slt' }]);
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 21.4, queuedMs: 12 });
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'There was a server.' });
  assert.equal(await page.locator('#now').textContent(), 'There was a server.');
  assert.equal(await page.locator('#state-text').textContent(), 'Speaking');
  assert.equal(await page.locator('#first-packet').textContent(), '21');
  assert.equal(await page.locator('.said mark').textContent(), 'There was a server.');

  await send({ type: 'sentence.spoken', utterance: 1, sentence: 0, text: 'There was a server.' });
  await send({ type: 'sentence.started', utterance: 1, sentence: 1, text: 'It never stopped.' });
  assert.equal(await page.locator('.said mark').textContent(), 'It never stopped.');
  await page.getByRole('button', { name: 'Interrupt', exact: true }).click();
  assert.deepEqual((await received()).at(-1), { type: 'clear' });
  await send({
    type: 'utterance.interrupted',
    utterance: 1,
    text: 'There was a server. It',
    durationMs: 1900,
  });
  assert.equal(
    await page.locator('.said del').textContent(),
    'never stopped. Then somebody pressed a button.',
  );
  assert.equal(await page.locator('.tag').textContent(), 'Interrupted');
  assert.equal(await page.locator('#announce').textContent(), 'Stopped after: There was a server. It');
  assert.equal(await page.getByRole('button', { name: 'Interrupt', exact: true }).isDisabled(), true);

  await send({ type: 'stats', underruns: 3 });
  assert.equal(await page.locator('#underruns').textContent(), '3');
  assert.equal(await page.locator('#mos').textContent(), '–');
  await send({ type: 'stats', remote: { loss: 0.031, jitterMs: 12.4, rttMs: null, mos: 3.94 } });
  assert.equal(await page.locator('#mos').textContent(), '3.9');
  assert.equal(await page.locator('#remote').textContent(), '3.1 % lost, 12 ms jitter');
  await page.locator('#packets', { hasText: '1,284,' }).waitFor();
  assert.equal(await page.locator('#round-trip').textContent(), '12');

  const hungUp = page.waitForRequest((request) => request.method() === 'DELETE');
  await page.getByRole('button', { name: 'Hang up' }).click();
  assert.equal(new URL((await hungUp).url()).pathname, '/v1/realtime/calls/rtc_1');
  assert.equal(await page.evaluate('server.closed'), true);
  assert.deepEqual(errors, []);
  await page.close();
});

test('hanging up asks what was heard, and ends the call when the server has said it or does not', async (t) => {
  const { url } = await openServer(t);
  const { page, send, received } = await openPage(url);
  for (const answers of [true, false]) {
    await say(page, STORY);
    await page.locator('.entry').first().waitFor();
    await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
    await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'There was a server.' });
    const hungUp = page.waitForRequest((request) => request.method() === 'DELETE');
    await page.getByRole('button', { name: 'Hang up' }).click();
    assert.deepEqual((await received()).at(-1), { type: 'clear' });
    if (answers) {
      await send({ type: 'utterance.interrupted', utterance: 1, text: 'There was', durationMs: 400 });
      await send({ type: 'cleared', text: 'There was', utterances: [] });
    }
    await hungUp;
    await page.getByText('Not in a call', { exact: true }).waitFor();
    const cutOff = await page.locator('.said del').first().textContent();
    assert.equal(cutOff, STORY.slice(answers ? 'There was '.length : 0));
  }
  await page.close();
});

test('a text typed before the call opens it, and is spoken once it is open', async (t) => {
  const { url } = await openServer(t);
  const { page, received } = await openPage(url);
  await page.getByLabel('Text to speak').fill('Hello there.');
  await page.getByLabel('Text to speak').press('Enter');
  await page.locator('.entry').waitFor();
  assert.deepEqual(await received(), [{ type: 'text', token: 'Hello there.', last: true }]);
  assert.equal(await page.getByLabel('Text to speak').inputValue(), '');
  await page.close();
});

test('a text longer than one message may be goes in pieces, with its voice in the first one', async (t) => {
  const { url } = await openServer(t);
  const { page, send, received } = await openPage(url);
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  await send({ type: 'ready', call: 'rtc_1', codec: 'opus', limits: { textLength: 20_000 } });
  await page.getByLabel('Voice').selectOption('slt');
  await say(page, `${'a'.repeat(7999)}\u{1f600}${'b'.repeat(100)}`);
  assert.deepEqual(await received(), [
    { type: 'text', token: `${'a'.repeat(7999)}\u{1f600}`, last: false, voice: 'slt' },
    { type: 'text', token: 'b'.repeat(100), last: true },
  ]);
  await page.getByLabel('Text to speak').fill('x'.repeat(20_001));
  assert.equal(await page.locator('#count').textContent(), '20,001 of 20,000 characters');
  assert.equal(await page.getByRole('button', { name: 'Speak', exact: true }).isDisabled(), true);
  await page.close();
});

test('a text that the server refuses is marked as such, and the numbers of the others stay right', async (t) => {
  const { url } = await openServer(t);
  const { page, send } = await openPage(url);
  await say(page, 'Bonjour.');
  await page.locator('.entry').waitFor();
  await send({ type: 'error', error: { code: 'LANGUAGE_UNAVAILABLE', message: 'No voice for French.' } });
  assert.equal(
    await page
      .getByRole('alert')
      .textContent()
      .then((text) => text?.trim()),
    'No voice for French.',
  );
  assert.equal(await page.locator('.tag').textContent(), 'Refused');
  await say(page, 'Hello.');
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 9, queuedMs: 5 });
  await send({
    type: 'utterance.failed',
    utterance: 1,
    text: '',
    error: { code: 'X', message: 'The engine failed.' },
  });
  assert.deepEqual(await page.locator('.tag').allTextContents(), ['Failed', 'Refused']);
  assert.deepEqual(await page.locator('.reason').allTextContents(), [
    'The engine failed.',
    'No voice for French.',
  ]);
  await page.close();
});

test('a server with keys is asked with the one that the user gives', async (t) => {
  const key = 'key-one-0123456789';
  const { url } = await openServer(t, { apiKeys: [key] });
  const { page } = await openPage(url);
  await page.getByLabel('This server asks for an API key').fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.locator('#key-form').waitFor({ state: 'hidden' });
  assert.equal(await page.locator('#voice option').count(), 3);
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  await page.close();
});

for (const [what, wrong] of [
  ['a key that the server does not know', 'key-two-0123456789'],
  ['a key that no header can carry', 'clé-une-–-0123456789'],
] as const) {
  test(`${what} is said to be wrong, and asked for again`, async (t) => {
    const key = 'key-one-0123456789';
    const { url } = await openServer(t, { apiKeys: [key] });
    const { page } = await openPage(url);
    const problem = page.getByRole('alert');
    assert.equal(await problem.isVisible(), false); // no key was entered yet
    const field = page.getByLabel('This server asks for an API key');
    await field.fill(wrong);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await problem.filter({ hasText: 'The server does not accept this API key' }).waitFor();
    assert.equal(await field.isVisible(), true);
    await page.getByRole('button', { name: 'Start call' }).click();
    await page.getByText('Call ended', { exact: true }).waitFor();
    await problem.filter({ hasText: 'The server does not accept this API key' }).waitFor();
    await field.fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.locator('#key-form').waitFor({ state: 'hidden' });
    assert.equal(await problem.isVisible(), false);
    await page.close();
  });
}

test('voices that cannot be listed are said to be missing for the reason that the server gives', async (t) => {
  const { url } = await openServer(t, { rateLimit: 1 });
  await fetch(`${url}/v1/audio/voices`);
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByRole('alert').filter({ hasText: 'requests a minute' }).waitFor();
  await page.close();
});

test('a call that cannot be opened, and one that is lost, are said in plain words', async (t) => {
  const { url, calls, server } = await openServer(t);
  const { page } = await openPage(url);
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  let letRestart = () => undefined as void;
  const restartAllowed = new Promise<void>((resolve) => (letRestart = resolve));
  await page.route('**/v1/realtime/calls/*', (route) => restartAllowed.then(() => route.continue()));
  await page.evaluate('server.lose()');
  await page.getByText('Reconnecting…', { exact: true }).waitFor();
  await page
    .getByRole('alert')
    .filter({ hasText: 'The connection is interrupted. Trying to reconnect.' })
    .waitFor();
  letRestart();
  await page.getByText('On the line', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').isVisible(), false);
  assert.equal(calls.fragments.length, 1);
  calls.sessions.clear();
  await page.evaluate('server.lose()');
  await page.getByText('Call ended', { exact: true }).waitFor();
  assert.match(String(await page.getByRole('alert').textContent()), /the call is over on the server/);

  calls.open = () => Promise.reject(new Error('unexpected'));
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByRole('alert').filter({ hasText: 'the server failed while answering' }).waitFor();

  await server.close();
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByRole('alert').filter({ hasText: 'The server does not answer' }).waitFor();
  await page.close();
});

test('the end of a sentence is found in a text whatever the spaces between its words are', async () => {
  const path = new URL('../../../public/transcript.js', import.meta.url).href;
  const { endOf } = (await import(path)) as { endOf: (part: string, text: string, from: number) => number };
  const text = ' One  two.\nThree. One two.';
  assert.equal(endOf('One two.', text, 0), 10);
  assert.equal(endOf('Three.', text, 10), 17);
  assert.equal(endOf('One two.', text, 17), text.length);
  assert.equal(endOf('One two. Th', text, 0), 13);
  assert.equal(endOf('', text, 5), 5);
  assert.equal(endOf('four', text, 0), undefined);
});

test('the page shows every address without an error of its own, and can speak', async (t) => {
  const { url, speech } = await openServer(t);
  speech.whole = ['sound'];
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  const elsewhere: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      elsewhere.push(request.url());
  });
  for (const path of ['/docs', '/docs/']) {
    await page.goto(`${url}${path}`);
    await page.locator('.opblock-summary-path', { hasText: '/v1/audio/speech' }).first().waitFor();
  }
  assert.ok((await page.locator('.opblock-summary-path').count()) > 8);
  assert.deepEqual(errors, []);
  await page.locator('#operations-Text_to_speech-post_v1_audio_speech .opblock-summary').click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  assert.deepEqual(
    speech.requests.map(({ text, voice }) => [text, voice]),
    [['Your order has shipped.', 'alloy']],
  );
  assert.deepEqual(elsewhere, []);
  await page.close();
});
