// The tab that listens, in a real browser: live captions of a microphone, and a file with its subtitles. The
// recogniser is scripted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ParleyError } from '../../src/errors.js';
import { LiveTranscriber } from '../../src/transcribing/live-transcriber.js';
import { systemTime } from '../../src/time.js';
import { KEY } from '../clients/speaking-server.js';
import { openServer } from '../api/app-under-test.js';
import { FakeTranscriber, piece } from '../api/fake-transcriber.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { ScriptedActivity } from '../transcribing/scripted-activity.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const WAIT_MS = 10_000;
const FAKE_MICROPHONE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];
const FILE = { name: 'talk.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('a sound') };

// Runs in the page: collects what its live regions say.
const WATCH_LIVE_REGIONS = `
  globalThis.told = [];
  for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
    const tell = () => region.textContent.trim() !== '' && told.push(region.textContent.trim());
    new MutationObserver(tell).observe(region, { childList: true, characterData: true, subtree: true });
  }
`;

let browser: Browser;

before(async () => {
  const args = [...CHROMIUM_ARGS, ...FAKE_MICROPHONE];
  browser = await chromium.launch({ executablePath: installedChromium(), args });
});
after(() => browser.close());

async function openPage(t: TestContext, { apiKeys = [] }: { apiKeys?: string[] } = {}) {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const transcriber = new FakeTranscriber();
  const translator = {
    translate: (lines: readonly string[]) => Promise.resolve(lines.map((line) => line.toUpperCase())),
  };
  const live = new LiveTranscriber({ recogniser, activity, settings: HEARING_SETTINGS, time: systemTime });
  const transcription = { transcriber, translator, maxBytes: 1000, maxRequests: 4 };
  const { url } = await openServer(t, { transcription, live, apiKeys });
  const context = await browser.newContext({ permissions: ['microphone'] });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${url}/#listen`);
  await page.getByRole('tab', { name: 'Listen', selected: true }).waitFor();
  return { page, url, recogniser, activity, transcriber, errors };
}

test('the tabs show one panel each, by mouse, by arrow key and by address', async (t) => {
  const { page, errors } = await openPage(t);
  const speak = page.getByRole('tabpanel', { name: 'Speak' });
  assert.equal(await speak.isVisible(), false);
  await page.getByRole('tab', { name: 'Speak' }).click();
  assert.equal(await speak.isVisible(), true);
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tabpanel', { name: 'Listen' }).waitFor();
  assert.match(page.url(), /#listen$/);
  assert.deepEqual(errors, []);
});

test('what is said into the microphone is grey while it may change, and black when it stays', async (t) => {
  const { page, recogniser, activity, errors } = await openPage(t);
  await page.getByRole('button', { name: 'Start listening' }).click();
  await until(() => activity.streams.length === 1);
  const [stream, session] = [activity.streams[0], recogniser.opened[0]];
  assert.ok(stream !== undefined && session !== undefined);
  await until(() => (stream.ring.status()?.written ?? 0) > 16_000); // a second of the fake microphone
  stream.analyse();
  stream.event('speech.started', 900);
  session.partial('Good mor', 0);
  const captions = page.getByRole('list', { name: 'Live captions' });
  await captions.getByText('Good mor').waitFor();
  assert.equal(await captions.locator('.partial').count(), 1);
  stream.event('turn.ended', 950);
  await captions.getByText('turn 0').waitFor();
  assert.equal(await captions.locator('.partial').count(), 0);
  assert.match(await captions.locator('time').innerText(), /^0:0\d$/);
  await page.getByRole('button', { name: 'Stop listening' }).click();
  await until(() => (stream.analyse(), session.read(), recogniser.sessions === 0));
  await page.getByRole('button', { name: 'Start listening' }).waitFor();
  assert.deepEqual(errors, []);
});

test('a screen reader is told each live caption once, when it no longer changes', async (t) => {
  const { page, recogniser, activity } = await openPage(t);
  await page.evaluate(WATCH_LIVE_REGIONS);
  await page.getByRole('button', { name: 'Start listening' }).click();
  await until(() => activity.streams.length === 1);
  const [stream, session] = [activity.streams[0], recogniser.opened[0]];
  assert.ok(stream !== undefined && session !== undefined);
  await until(() => (stream.ring.status()?.written ?? 0) > 16_000);
  stream.analyse();
  stream.event('speech.started', 900);
  const captions = page.getByRole('list', { name: 'Live captions' });
  for (const partial of ['Good', 'Good mor', 'Good morning']) {
    session.partial(partial, 0);
    await captions.getByText(partial, { exact: true }).waitFor();
  }
  assert.deepEqual(await page.evaluate('told'), []);
  stream.event('turn.ended', 950);
  await captions.getByText('turn 0').waitFor();
  assert.deepEqual(await page.evaluate('told'), ['turn 0']);
});

test('the focus goes on to the panel that is shown when the form for the key goes', async (t) => {
  const { page } = await openPage(t, { apiKeys: [KEY] });
  await page.getByLabel('This server asks for an API key').fill(KEY);
  await page.keyboard.press('Enter');
  await page.locator('#key-form').waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate('document.activeElement.id'), 'listen');
});

const DEAF = () => ({
  engines: { flite: true },
  encoders: true,
  calls: 0,
  maxCalls: 1,
  earsCommand: 'npm run parley -- pull light',
});

test('what is missing for listening is said before anything is pressed', async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const devices = `navigator.mediaDevices.enumerateDevices = async () => []`;
  const insecure = `Object.defineProperty(Navigator.prototype, 'mediaDevices', { value: undefined })`;
  const transcription = {
    transcriber: new FakeTranscriber(),
    translator: undefined,
    maxBytes: 1000,
    maxRequests: 4,
  };
  for (const [recognises, script, missing, isUsable] of [
    [
      false,
      '',
      /^This server recognises no speech\. npm run parley -- pull light fetches a recogniser for English; then restart/,
      false,
    ],
    [true, insecure, /^The browser gives the microphone only to pages over HTTPS/, false],
    [true, devices, /^There is no microphone\. Connect one and try again\.$/, true], // one may be plugged in
    [true, '', /^$/, true],
  ] as const) {
    const { url } = await openServer(t, recognises ? { transcription } : { health: DEAF });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    if (script !== '') await page.addInitScript(script);
    const asked = page.waitForResponse('**/v1/models');
    await page.goto(`${url}/#listen`);
    await asked;
    const note = page.locator('#live-missing');
    await until(async () => missing.test((await note.textContent()) ?? ''));
    assert.equal(await note.isVisible(), missing.source !== '^$');
    await until(
      async () => (await page.getByRole('button', { name: 'Start listening' }).isEnabled()) === isUsable,
    );
    assert.equal(await page.locator('#file-missing').isVisible(), !recognises);
    assert.equal(await page.getByRole('button', { name: 'Transcribe' }).isEnabled(), recognises);
    await page.close();
  }
});

test('a recogniser that fails is said in its words, and listening can begin again', async (t) => {
  const { page, recogniser } = await openPage(t);
  recogniser.refusal = new ParleyError('ENGINE_BUSY', 'too many sounds are recognised');
  await page.getByRole('button', { name: 'Start listening' }).click();
  await page.getByRole('alert').filter({ hasText: 'too many sounds are recognised' }).waitFor();
  await page.getByRole('button', { name: 'Start listening' }).waitFor();
});

async function downloaded(page: Page, name: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name }).click();
  const file = await download;
  assert.equal(file.suggestedFilename(), `talk.${name.slice(-3).toLowerCase()}`);
  return readFileSync(await file.path(), 'utf8');
}

test('a file becomes text with progress, and subtitles to download', async (t) => {
  const { page, transcriber, errors } = await openPage(t);
  let finish: () => void = () => undefined;
  transcriber.until = new Promise((resolve) => (finish = resolve));
  transcriber.pieces = [piece('Hello & good bye.', 0, 2)];
  await page.evaluate(WATCH_LIVE_REGIONS);
  await page.getByLabel('Sound or video').setInputFiles(FILE);
  await page.getByRole('button', { name: 'Transcribe' }).click();
  await page.getByText('100 % read, 4 words so far').waitFor();
  assert.deepEqual(transcriber.asked[0]?.bytes, FILE.buffer);
  finish();
  await page.getByText('Hello & good bye.', { exact: true }).waitFor();
  assert.equal(
    await downloaded(page, 'Download SRT'),
    '1\n00:00:00,000 --> 00:00:02,000\nHello & good bye.\n\n',
  );
  assert.equal(
    await downloaded(page, 'Download VTT'),
    'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nHello &amp; good bye.\n\n',
  );
  assert.deepEqual(await page.evaluate('told'), [
    'The file is being sent.',
    'The text of the file is shown.',
  ]);
  assert.deepEqual(errors, []);
});

test('a translation is shown in place of the text', async (t) => {
  const { page } = await openPage(t);
  await page.getByLabel('Sound or video').setInputFiles(FILE);
  await page.getByLabel('Translate into').selectOption('fr');
  await page.getByRole('button', { name: 'Transcribe' }).click();
  await page.getByText('HELLO THERE. HOW ARE YOU?', { exact: true }).waitFor();
});

test('a file that is refused, and one that fails in the middle, are said in words', async (t) => {
  const { page, transcriber } = await openPage(t);
  const alert = page.getByRole('alert');
  const ask = async () => {
    await page.getByLabel('Sound or video').setInputFiles(FILE);
    await page.getByRole('button', { name: 'Transcribe' }).click();
  };
  transcriber.refusal = new ParleyError('UNSUPPORTED_MEDIA_TYPE', 'the file is no sound that is known here');
  await ask();
  await alert.filter({ hasText: 'the file is no sound that is known here' }).waitFor();
  transcriber.refusal = undefined;
  transcriber.failure = new ParleyError('ENGINE_LOST', 'the device is gone');
  await ask();
  await alert.filter({ hasText: 'the device is gone' }).waitFor();
});

test('a server with keys is asked with the key that was entered', async (t) => {
  const { page } = await openPage(t, { apiKeys: [KEY] });
  const form = page.getByLabel('This server asks for an API key');
  await form.fill(KEY);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByLabel('Sound or video').setInputFiles(FILE);
  await page.getByRole('button', { name: 'Transcribe' }).click();
  await page.getByText('Hello there. How are you?', { exact: true }).waitFor();
});
