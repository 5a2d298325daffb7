// Opens the pages of the server in a real browser. The test plays the server's half of a call.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { openServer } from '../api/app-under-test.js';
import { until } from '../fakes/until.js';
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
  /** Messages received from the page on the data channel, but for its wish for captions. */
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
    received: () => page.evaluate(`server.received.filter(({ type }) => type !== 'captions')`),
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

test('the page has the command that fetches a neural voice, where the server has none', async (t) => {
  const health = () => ({ engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1 });
  const command = 'npm run parley -- pull pocket-de';
  const without = await openServer(t, { health: () => ({ ...health(), voiceCommand: command }) });
  const plain = await openPage(without.url);
  const hint = plain.page.locator('#voice-command-hint');
  await hint.waitFor({ state: 'visible' });
  assert.equal(
    (await hint.innerText()).trim(),
    `No voice here is neural. ${command} fetches one; then restart the server.`,
  );
  const neural = await openPage((await openServer(t, { health })).url);
  await neural.page.waitForLoadState('networkidle');
  assert.equal(await neural.page.locator('#voice-command-hint').isVisible(), false);
  assert.deepEqual([...plain.errors, ...neural.errors], []);
  await Promise.all([plain.page.close(), neural.page.close()]);
});

test('the page names the languages that are spoken and not understood', async (t) => {
  const health = () => ({ engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1 });
  const unheardLanguages = ['fr', 'it'];
  const { url } = await openServer(t, { health: () => ({ ...health(), unheardLanguages }) });
  const { page, errors } = await openPage(url);
  const hint = page.locator('#unheard-hint');
  await hint.waitFor({ state: 'visible' });
  assert.equal((await hint.textContent())?.trim(), 'Spoken here and not understood: fr, it.');
  assert.deepEqual(errors, []);
  await page.close();
});

test('the page gives licence and credit of the models in use', async (t) => {
  const one = { language: 'en', bytes: 1, licence: 'CC BY 4.0', link: 'https://example.org/terms' };
  const voice = [{ ...one, name: 'pocket-en', credit: 'Pocket TTS by Kyutai' }];
  const { url } = await openServer(t, { weights: { voice, recogniser: [] } });
  const { page, errors } = await openPage(url);
  const hint = page.locator('#weights-hint');
  await hint.waitFor({ state: 'visible' });
  assert.equal(
    (await hint.textContent())?.trim(),
    'Models in use: pocket-en: Pocket TTS by Kyutai, CC BY 4.0.',
  );
  assert.equal(await hint.locator('a').getAttribute('href'), one.link);
  assert.deepEqual(errors, []);
  await page.close();
});

test('every control has a name, and is large enough for a finger', async (t) => {
  const { url } = await openServer(t);
  const { page } = await openPage(url, PHONE);
  const controls = await page
    .locator('button:visible, textarea:visible, select:visible, input:visible, summary:visible')
    .all();
  assert.equal(controls.length, 22);
  for (const control of controls) {
    assert.match(
      await control.ariaSnapshot(),
      /^- (button|textbox|combobox|switch|tab|radio) "[^"]+"|^- text: \w+/,
    );
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

  await page.getByLabel('Voice', { exact: true }).selectOption('slt');
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
  await send({ type: 'stats', remote: { loss: 0.031, jitterMs: 12.4, rttMs: 48.2, mos: 3.94 } });
  assert.equal(await page.locator('#remote').textContent(), '3.1 % lost, 12 ms jitter');
  await page.locator('#more-figures summary').click();
  await page.locator('#packets', { hasText: '1,284,' }).waitFor();
  assert.equal(await page.locator('#round-trip').textContent(), '12');
  const told = await page.locator('.figures').innerText();
  assert.deepEqual(told.match(/round trip|to the server and back/gi)?.length, 2, 'the name and its note');

  const hungUp = page.waitForRequest((request) => request.method() === 'DELETE');
  await page.getByRole('button', { name: 'Hang up' }).click();
  assert.equal(new URL((await hungUp).url()).pathname, '/v1/realtime/calls/rtc_1');
  assert.equal(await page.evaluate('server.closed'), true);
  assert.deepEqual(errors, []);
  await page.close();
});

test('a user who starts a call by key goes on by typing, and no key of the text ends the call', async (t) => {
  const { url, calls } = await openServer(t);
  const { page, received, send } = await openPage(url);
  const focused = () => page.evaluate('document.activeElement.id');
  for (const key of ['Enter', 'Space']) {
    await page.getByRole('button', { name: 'Start call' }).focus();
    await page.keyboard.press(key);
    assert.equal(await focused(), 'text', 'also while the call is being opened');
    await page.keyboard.type(`Hello there, ${key}.`);
    await page.getByText('On the line', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    assert.deepEqual((await received()).at(-1), { type: 'text', token: `Hello there, ${key}.`, last: true });
    assert.equal(calls.standing.size, 1);
    await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
    await page.getByRole('button', { name: 'Interrupt', exact: true }).focus();
    await page.keyboard.press('Space');
    await send({ type: 'utterance.interrupted', utterance: 1, text: 'Hello', durationMs: 300 });
    assert.equal(await focused(), 'text', 'a button that is disabled keeps no focus');
    const hungUp = page.waitForRequest((request) => request.method() === 'DELETE');
    await page.getByRole('button', { name: 'Hang up' }).click();
    await hungUp;
    await until(() => calls.standing.size === 0);
  }
  await page.close();
});

test('the newest turn is at the bottom and in sight, unless the reader has scrolled up', async (t) => {
  const { url } = await openServer(t);
  const { page, send } = await openPage(url);
  const list = page.locator('#transcript');
  const fromEnd = () =>
    list.evaluate((node) => Math.round(node.scrollHeight - node.scrollTop - node.clientHeight));
  for (let n = 1; n <= 14; n++) {
    await say(page, `Text ${n}.`);
    await list.getByText(`Text ${n}.`, { exact: true }).waitFor();
  }
  assert.equal(await list.locator('.said').last().textContent(), 'Text 14.');
  assert.ok((await list.evaluate((node) => node.scrollTop)) > 0);
  await until(async () => (await fromEnd()) <= 1);
  await list.evaluate((node) => (node.scrollTop = 10));
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await say(page, 'Text 15.');
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await list.getByText('Text 15.', { exact: true }).waitFor();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  assert.equal(await list.evaluate((node) => node.scrollTop), 10);
  await list.evaluate((node) => (node.scrollTop = node.scrollHeight));
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await say(page, 'Text 16.');
  await until(async () => (await fromEnd()) <= 1);
  await page.close();
});

// Text outside of these is in no landmark; dialogs of the browser and the skip link need none.
const OUTSIDE = `[...document.querySelectorAll('body *')].filter((one) =>
  [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '') &&
  one.closest('header, main, footer, nav, script, .skip') === null).map((one) => one.outerHTML)`;
// Links within a sentence are as tall as its line (WCAG 2.2, success criterion 2.5.8).
const SMALL = `[...document.querySelectorAll('a, button, input, select, textarea, summary')].filter((one) => {
  const { width, height } = one.getBoundingClientRect();
  const isInText = one.matches('a') && one.closest('p, li, td') !== null &&
    getComputedStyle(one).display === 'inline' && one.closest('nav, header, footer, .steps, .found') === null;
  return width > 0 && !isInText && !one.matches('.skip') && (width < 24 || height < 24);
}).map((one) => one.outerHTML)`;

test('each page has one heading of the first level, landmarks, and targets of 24 pixels', async (t) => {
  const { url } = await openServer(t);
  const { page } = await openPage(url, PHONE);
  for (const path of ['/#speak', '/#listen', '/guide', '/guide/webrtc', '/guide/search?q=voice']) {
    await page.goto(`${url}${path}`);
    assert.equal(await page.locator('h1:visible').count(), 1, path);
    assert.equal(await page.getByRole('main').count(), 1, path);
    assert.equal(await page.getByRole('banner').count(), 1, path);
    assert.deepEqual(await page.evaluate(OUTSIDE), [], path);
    assert.deepEqual(await page.evaluate(SMALL), [], path);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width, path);
  }
  await page.close();
});

test('the guide is searched by keyboard, and a result leads to its heading', async (t) => {
  const { url } = await openServer(t);
  const page = await browser.newPage({ viewport: DESKTOP });
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`${url}/guide/voices`);
  await page.getByRole('search').getByRole('searchbox', { name: 'Search the guide' }).focus();
  await page.keyboard.type('messages to the server');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor();
  const result = page.getByRole('main').getByRole('link', { name: 'Messages to the server' });
  await result.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/guide/webrtc#messages-to-the-server');
  const heading = page.getByRole('heading', { name: 'Messages to the server' });
  await heading.getByRole('link', { name: 'Link to this section' }).click();
  assert.match(page.url(), /#messages-to-the-server$/);
  const box = await heading.boundingBox();
  assert.ok(box !== null && box.y >= 0 && box.y < DESKTOP.height, 'the heading is in sight');
  await page.close();
});

test('the page uses the microphone when its switch is on, and a call without it only receives', async (t) => {
  const { url, calls } = await openServer(t);
  const { page, errors, send, received } = await openPage(url);
  const microphone = page.getByRole('switch', { name: 'Microphone' });
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  await say(page, STORY);
  assert.deepEqual(await page.evaluate('[server.asked, server.directions]'), [[], ['recvonly']]);
  assert.deepEqual(await received(), [{ type: 'text', token: STORY, last: true }]);
  assert.equal(await page.locator('#caller-meter').isHidden(), true);

  await microphone.check();
  await page.locator('#caller-meter:visible').waitFor();
  assert.deepEqual(await page.evaluate('server.asked'), [
    { audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } },
  ]);
  // The call is the same, on a connection that sends.
  assert.deepEqual(await page.evaluate('server.directions'), ['recvonly', 'sendrecv']);
  assert.equal(await page.evaluate('server.sent.readyState'), 'live');
  assert.deepEqual([calls.standing.size, calls.resumed.length], [1, 1]);
  assert.deepEqual((await received()).at(-1), { type: 'listen' });
  await page.getByText('On the line', { exact: true }).waitFor();

  await send({ type: 'speech.started', onsetAt: 1_795_731_642_000 });
  await page.getByText('You speak', { exact: true }).waitFor();
  const levels = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.meter')].map((level) => level.clientHeight)`,
  );
  assert.ok(levels.length === 2 && levels.every((height) => height > 40 && height < 120), String(levels));
  await page.evaluate('window.sentBefore = server.sent');
  await microphone.uncheck();
  await page.getByText('Nobody speaks', { exact: true }).waitFor();
  assert.deepEqual(await page.evaluate('[server.sent, sentBefore.readyState]'), [null, 'ended']);
  assert.deepEqual((await received()).at(-1), { type: 'listen', on: false });
  assert.equal(await page.locator('#caller-meter').isHidden(), true);

  await microphone.check();
  await page.locator('#caller-meter:visible').waitFor();
  assert.deepEqual(await page.evaluate('[server.sent.readyState, server.directions.length]'), ['live', 2]);
  await page.evaluate('window.sentBefore = server.sent');
  await page.getByRole('button', { name: 'Hang up' }).click();
  assert.equal(await page.evaluate('sentBefore.readyState'), 'ended');
  assert.deepEqual(errors, []);
  await page.close();
});

test('a text is interrupted by speech if its switch is on, which the page tells in plain words', async (t) => {
  const { url } = await openServer(t);
  const { page, send, received } = await openPage(url);
  await page.getByRole('switch', { name: 'Interrupt by speech' }).check();
  assert.equal(await page.getByRole('switch', { name: 'Microphone' }).isChecked(), true);
  assert.deepEqual(await page.evaluate('server.asked'), [], 'no call has begun');
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  assert.deepEqual(await page.evaluate('server.directions'), ['sendrecv']);
  await say(page, STORY);
  assert.deepEqual(await received(), [
    { type: 'listen' },
    { type: 'text', token: STORY, last: true, interruptible: 'speech' },
  ]);
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'There was a server.' });
  assert.equal(await page.locator('#who').textContent(), 'The voice speaks');
  await send({ type: 'utterance.paused', utterance: 1 });
  await send({ type: 'speech.started', onsetAt: 1_795_731_642_000 });
  assert.equal(await page.locator('#state-text').textContent(), 'Paused');
  assert.equal(await page.locator('#who').textContent(), 'You speak');
  assert.equal(await page.locator('.pauses').textContent(), 'Paused, because you began to speak.');
  await send({ type: 'speech.stopped', durationMs: 120 });
  await send({ type: 'utterance.resumed', utterance: 1 });
  assert.equal(await page.locator('#state-text').textContent(), 'Speaking');
  assert.equal(
    await page.locator('.pauses').textContent(),
    'Paused and went on with the unfinished word: the sound was no speech, or too short.',
  );
  await send({ type: 'utterance.paused', utterance: 1 });
  await send({
    type: 'utterance.interrupted',
    utterance: 1,
    text: 'There was a',
    heard: 'There',
    durationMs: 640,
  });
  assert.equal(await page.locator('.tag').textContent(), 'Interrupted');
  assert.equal(
    await page.locator('.pauses').textContent(),
    'Stopped, because you spoke. “was a” had not reached you yet.',
  );
  await send({ type: 'turn.ended', speechMs: 1840, reason: 'silence' });
  assert.equal(await page.locator('.entry').last().innerText(), 'You\nspoke for 1.8 s');
  await page.close();
});

test('a screen reader hears who speaks when it has been so for a second, and not that the voice speaks', async (t) => {
  const { url } = await openServer(t);
  const { page, send } = await openPage(url);
  await page.clock.install();
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  const sign = page.locator('#who-announce');
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await page.clock.runFor(1000);
  assert.equal(await sign.textContent(), '');
  for (let word = 0; word < 3; word++) {
    await send({ type: 'speech.started', onsetAt: 0 });
    await page.clock.runFor(500);
    await send({ type: 'speech.stopped', durationMs: 500 });
    await page.clock.runFor(200);
  }
  await page.clock.runFor(1000);
  assert.equal(await sign.textContent(), '');
  await send({ type: 'speech.started', onsetAt: 0 });
  await page.clock.runFor(1000);
  assert.equal(await sign.textContent(), 'You and the voice speak.');
  assert.equal(await sign.getAttribute('role'), 'status');
  await send({ type: 'utterance.spoken', utterance: 1, text: STORY, durationMs: 4000 });
  await send({ type: 'speech.stopped', durationMs: 900 });
  await page.clock.runFor(1000);
  assert.equal(await sign.textContent(), 'Nobody speaks.');
  await page.close();
});

test('a microphone that the browser does not give is said to be missing, and the call goes on', async (t) => {
  const { url } = await openServer(t);
  const { page, received } = await openPage(url);
  await page.evaluate(`server.refusal = 'NotAllowedError'`);
  const microphone = page.getByRole('switch', { name: 'Microphone' });
  await microphone.check();
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'The browser may not use the microphone.' }).waitFor();
  assert.equal(await microphone.isChecked(), false);
  await page.evaluate(`server.refusal = 'NotFoundError'`);
  await page.getByRole('switch', { name: 'Interrupt by speech' }).click();
  await page.getByRole('alert').filter({ hasText: 'There is no microphone.' }).waitFor();
  assert.equal(await page.getByRole('switch', { name: 'Interrupt by speech' }).isChecked(), false);
  await say(page, 'Hello.');
  assert.deepEqual(await received(), [{ type: 'text', token: 'Hello.', last: true }]);
  assert.deepEqual(await page.evaluate('server.directions'), ['recvonly']);
  await page.close();
});

test('a server that cannot hear the caller refuses no other text, and the switch goes off', async (t) => {
  const { url } = await openServer(t);
  const { page, send } = await openPage(url);
  const interrupt = page.getByRole('switch', { name: 'Interrupt by speech' });
  await say(page, 'Hello.');
  await page.locator('.entry').waitFor();
  await interrupt.check();
  await page.locator('#caller-meter:visible').waitFor();
  await interrupt.uncheck();
  const message = 'this server does not hear callers';
  await send({ type: 'error', error: { code: 'CALL_STATE', message } });
  await page.getByRole('alert').filter({ hasText: message }).waitFor();
  assert.equal(await page.locator('.tag').textContent(), 'Waiting');
  await interrupt.check();
  await say(page, 'Goodbye.');
  await send({ type: 'error', error: { code: 'CALL_STATE', message } });
  assert.deepEqual(await page.locator('.tag').allTextContents(), ['Waiting', 'Refused']);
  assert.equal(await interrupt.isChecked(), false);
  await page.close();
});

test('the browser may give the microphone to the page itself, and nothing else', async (t) => {
  const { url } = await openServer(t);
  const { page } = await openPage(url);
  const allowed = await page.evaluate(
    `['microphone', 'camera', 'geolocation'].filter((name) => document.featurePolicy.allowsFeature(name))`,
  );
  assert.deepEqual(allowed, ['microphone']);
  await page.close();
});

test('hanging up asks what was heard, and ends the call when the server has said it or does not', async (t) => {
  const { url } = await openServer(t);
  const { page, send, received } = await openPage(url);
  for (const answers of [true, false]) {
    await say(page, STORY);
    // In the second round the entries of the first are there still.
    const text = { type: 'text', token: STORY, last: true };
    await until(async () => isDeepStrictEqual((await received()).at(-1), text));
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
    const cutOff = await page.locator('.said del').last().textContent();
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
  await page.getByLabel('Voice', { exact: true }).selectOption('slt');
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
  assert.deepEqual(await page.locator('.tag').allTextContents(), ['Refused', 'Failed']);
  assert.deepEqual(await page.locator('.reason').allTextContents(), [
    'No voice for French.',
    'The engine failed.',
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

test('the focus goes back to where it was when a problem or the form for the key goes', async (t) => {
  const key = 'key-one-0123456789';
  const { url } = await openServer(t, { apiKeys: [key] });
  const { page, send } = await openPage(url);
  const focused = () => page.evaluate('document.activeElement.id');
  const problem = page.getByRole('alert');
  assert.equal(await focused(), 'key');
  await page.keyboard.type('key-two-0123456789');
  await page.keyboard.press('Enter');
  await problem.filter({ hasText: 'The server does not accept this API key' }).waitFor();
  await page.getByRole('button', { name: 'Close this message' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await problem.isVisible(), false);
  assert.equal(await focused(), 'key', 'the key is still asked for');
  await page.getByLabel('This server asks for an API key').fill(key);
  await page.keyboard.press('Enter');
  await page.locator('#key-form').waitFor({ state: 'hidden' });
  assert.equal(await focused(), 'text', 'nothing had the focus before');
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('On the line', { exact: true }).waitFor();
  await page.getByLabel('Voice', { exact: true }).focus();
  await send({ type: 'agent.failed', error: { code: 'AGENT_FAILED', message: 'The model is gone.' } });
  await page.getByRole('button', { name: 'Close this message' }).click();
  assert.equal(await focused(), 'voice');
  await send({ type: 'agent.failed', error: { code: 'AGENT_FAILED', message: 'The model is gone.' } });
  await problem.filter({ hasText: 'The model is gone.' }).waitFor();
  assert.equal(await focused(), 'voice', 'a problem takes no focus');
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
  const path = new URL('../../../public/transcript-entry.js', import.meta.url).href;
  const { endOf } = (await import(path)) as { endOf: (part: string, text: string, from: number) => number };
  const text = ' One  two.\nThree. One two.';
  assert.equal(endOf('One two.', text, 0), 10);
  assert.equal(endOf('Three.', text, 10), 17);
  assert.equal(endOf('One two.', text, 17), text.length);
  assert.equal(endOf('One two. Th', text, 0), 13);
  assert.equal(endOf('', text, 5), 5);
  assert.equal(endOf('four', text, 0), undefined);
  const code = 'Run:\n```sh\nls\n```\nDone now.';
  assert.equal(endOf('Run: Done', code, 0), code.indexOf(' now'), 'code is in no sentence');
  assert.equal(endOf('Run: ```sh ls ``` Done', code, 0), code.indexOf(' now'));
});

test('marks of Markdown and blocks of code are no part of what is spoken; other signs are', async () => {
  const path = new URL('../../../public/spoken-text.js', import.meta.url).href;
  const { spokenText, SENTENCE_BREAK: next } = (await import(path)) as {
    spokenText: (text: string, from?: number, to?: number) => string;
    SENTENCE_BREAK: string;
  };
  for (const [written, spoken] of [
    ['**Hello** _you_, ***dear*** ~~old~~ `x`', 'Hello you, dear old x'],
    ['# Head\n> quote\n- [ ] one\n* two', 'Head\nquote\none\ntwo'],
    ['See [the site](https://x.example/y).', 'See the site.'],
    ['(*note*) "*why*" *7 days* left', '(note) "why" 7 days left'],
    ['2 * 3, 2*3*4, snake_case, \\*', '2 * 3, 2*3*4, snake_case, *'],
    ['Press *. Dial *67 or *123#. Press * or #.', 'Press *. Dial *67 or *123#. Press * or #.'],
    ['Here:\n\n```js\na = **1**;\n```\n\nDone.', 'Here:\n\nDone.'],
    ['Here:\n~~~\na\n~~~\nDone.', 'Here:\nDone.'],
    ['Here:\n```js\nnever closed', 'Here:\njs\nnever closed'],
    [`One.${next}Two \`\`\`x\`\`\`.${next}Three.`, 'One. Two x. Three.'],
    ['```code``` in a line', 'code in a line'],
    [`**One.${next}Two.**`, 'One. Two.'],
    ['<b>One</b><br>', 'One'],
    ['---\n|a|\n|---|\n|b|', '|a|\n|b|'],
  ] as const)
    assert.equal(spokenText(written), spoken, written);
  assert.equal(spokenText('**One** two', 2, 8), 'One ');
  assert.equal(spokenText('**One** two', 6), ' two');
});

test('who speaks follows from the events of the call, in any order', async () => {
  const path = new URL('../../../public/speakers.js', import.meta.url).href;
  const { Speakers } = (await import(path)) as {
    Speakers: new () => { readonly now: string; apply(message: object): void; callerLeft(): void };
  };
  const speakers = new Speakers();
  const after = (type: string, utterance?: number) => {
    speakers.apply({ type, utterance });
    return speakers.now;
  };
  assert.equal(speakers.now, 'nobody');
  assert.equal(after('utterance.started', 1), 'voice');
  assert.equal(after('speech.started'), 'both');
  assert.equal(after('utterance.paused', 1), 'caller');
  assert.equal(after('utterance.resumed', 1), 'both');
  assert.equal(after('speech.stopped'), 'voice');
  assert.equal(after('utterance.failed', 2), 'voice', 'another one that waited');
  assert.equal(after('utterance.paused', 1), 'nobody');
  assert.equal(after('utterance.interrupted', 1), 'nobody');
  assert.equal(after('utterance.started', 3), 'voice');
  assert.equal(after('utterance.spoken', 3), 'nobody');
  assert.equal(after('speech.started'), 'caller');
  speakers.callerLeft();
  assert.equal(speakers.now, 'nobody');
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
