// The playground of the page, in a real browser: the conversation with an agent, voices, files, the reading
// of a text, and programs to copy. The test plays the server's half of a call.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ParleyError } from '../../src/errors.js';
import { openServer } from '../api/app-under-test.js';
import { KEY } from '../clients/speaking-server.js';
import { until } from '../fakes/until.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const FAKE_PEER = readFileSync(
  fileURLToPath(new URL('../../../test/interop/fake-peer.js', import.meta.url)),
  'utf8',
);
const WAIT_MS = 10_000;
const PHONE = { width: 360, height: 740 };
const SENTENCE = 'It costs $42.50, Dr. Smith.';

let browser: Browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'],
  });
});
after(() => browser.close());

interface OpenOptions {
  readonly agent?: string;
  readonly apiKeys?: readonly string[];
  readonly viewport?: { readonly width: number; readonly height: number };
}

async function openPage(t: TestContext, { agent, viewport, apiKeys = [] }: OpenOptions = {}) {
  const fakes = await openServer(t, { apiKeys });
  const page = await browser.newPage(viewport === undefined ? {} : { viewport });
  t.after(() => page.close());
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
  await page.addInitScript(FAKE_PEER);
  await page.addInitScript(`server.agent = ${JSON.stringify(agent)}`);
  const send = (message: object): Promise<void> => page.evaluate(`server.send(${JSON.stringify(message)})`);
  const received = (): Promise<{ readonly type: string }[]> => page.evaluate('server.received');
  return { ...fakes, page, errors, send, received };
}

async function load(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('#voice optgroup').first().waitFor({ state: 'attached' });
}

async function startCall(page: Page): Promise<void> {
  await page.locator('#call').click();
  await page.getByText('On the line', { exact: true }).waitFor();
}

test('with an agent the page is a conversation: typed text is said to it, and both sides have captions', async (t) => {
  const { page, url, errors, send, received } = await openPage(t, { agent: 'shop' });
  await load(page, url);
  await startCall(page);
  await page.getByRole('heading', { name: 'What do you say to the agent?' }).waitFor();
  await page.getByLabel('Text to speak').fill('Do you sell tea?');
  await page.getByRole('button', { name: 'Send' }).click();
  assert.deepEqual(await received(), [{ type: 'captions' }, { type: 'prompt', text: 'Do you sell tea?' }]);
  await send({ type: 'agent.prompt', text: 'Do you sell tea?', by: 'text' });
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({ type: 'agent.answered', modelMs: 31.4, speechMs: 12, packetMs: 9.6, totalMs: 53 });
  assert.match(String(await page.locator('.entry-head').last().textContent()), /answered after 53 ms/);
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'We do.' });
  assert.deepEqual(await page.locator('.entry .said').allTextContents(), ['Do you sell tea?', 'We do.']);
  assert.equal(await page.locator('#answer').textContent(), '53');
  assert.equal(await page.locator('#answer-note').textContent(), 'model 31, speech 12, packet 10');
  await send({ type: 'utterance.interrupted', utterance: 1, text: 'We do.', heard: 'We', durationMs: 300 });
  assert.equal(await page.locator('.tag').last().textContent(), 'Interrupted');
  await send({ type: 'agent.failed', error: { code: 'AGENT_FAILED', message: 'The model is gone.' } });
  await page.getByRole('alert').filter({ hasText: 'The model is gone.' }).waitFor();
  assert.deepEqual(errors, []);
});

test("an agent's Markdown is shown as it is spoken", async (t) => {
  const { page, url, errors, send } = await openPage(t, { agent: 'shop' });
  await load(page, url);
  await startCall(page);
  const said = page.locator('.entry .said');
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  const sentences = [
    '**Two** kinds of [tea](https://tea.example):',
    '- *Green* tea',
    '```js buy();', // a block that was never closed: its words are spoken
    'That is `all`.',
  ];
  for (const [sentence, text] of sentences.entries()) {
    await send({ type: 'sentence.started', utterance: 1, sentence, text });
    if (sentence === 0) assert.equal(await page.locator('#now').textContent(), 'Two kinds of tea:');
    if (sentence === 3) break;
    await send({ type: 'sentence.spoken', utterance: 1, sentence, text });
  }
  assert.equal(await said.textContent(), 'Two kinds of tea: Green tea js buy(); That is all.');
  assert.equal(await said.locator('mark').textContent(), 'That is all.');
  await send({
    type: 'utterance.interrupted',
    utterance: 1,
    text: `${sentences.slice(0, 3).join(' ')} That`,
    heard: '**Two** kinds of [tea](https://tea.example): - *Green* tea',
    durationMs: 900,
  });
  assert.equal(await said.locator('del').textContent(), 'is all.');
  assert.equal(
    await page.locator('#announce').textContent(),
    'Stopped after: Two kinds of tea: Green tea js buy(); That',
  );
  assert.ok(!(await page.locator('#transcript').innerText()).includes('*'));
  assert.deepEqual(errors, []);
});

test('code in a typed text is shown no more than it is spoken', async (t) => {
  const { page, url, send } = await openPage(t);
  await load(page, url);
  await page.getByLabel('Text to speak').fill('Run **this**:\n```sh\nls -l\n```\nThen wait a moment.');
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  const said = page.locator('.entry .said');
  await said.waitFor();
  assert.equal(await said.textContent(), 'Run this:\nThen wait a moment.');
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'Run **this**:' });
  await send({ type: 'sentence.spoken', utterance: 1, sentence: 0, text: 'Run **this**:' });
  await send({ type: 'sentence.started', utterance: 1, sentence: 1, text: 'Then wait a moment.' });
  assert.equal(await said.locator('mark').textContent(), 'Then wait a moment.');
  const heard = 'Run **this**: Then wait';
  await send({ type: 'utterance.interrupted', utterance: 1, text: heard, heard, durationMs: 900 });
  assert.equal(await said.locator('del').textContent(), 'a moment.');
});

test('what the caller says appears while it is said, and is told once', async (t) => {
  const { page, url, errors, send, received } = await openPage(t, { agent: 'shop' });
  await load(page, url);
  await startCall(page);
  assert.deepEqual(await received(), [{ type: 'captions' }]);
  await send({ type: 'captions', caller: true, words: true });
  const says = (number: number, text: string, isFinal: boolean) =>
    send({ type: 'caller.text', number, text, isFinal, language: 'en' });
  await says(0, 'Do you', false);
  await page.locator('.entry .said.rest', { hasText: 'Do you' }).waitFor();
  await says(0, 'Do you sell tea?', true);
  await page.locator('.entry .said:not(.rest)', { hasText: 'Do you sell tea?' }).waitFor();
  await send({ type: 'agent.prompt', text: 'Do you sell tea?', by: 'speech' });
  assert.equal(await page.locator('.entry').count(), 1);
  await says(1, 'Hm', false);
  await page.locator('.entry .said.rest', { hasText: 'Hm' }).waitFor();
  await says(1, '', true); // it was a noise
  await page.locator('.entry .said.rest').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.entry').count(), 1);
  assert.deepEqual(errors, []);
});

test('what the caller says is told by the agent, if the server does not tell it while it is said', async (t) => {
  const { page, url, send } = await openPage(t, { agent: 'shop' });
  await load(page, url);
  await startCall(page);
  await send({ type: 'captions', caller: false, words: true });
  await send({ type: 'agent.prompt', text: 'Do you sell tea?', by: 'speech' });
  await page.locator('.entry .said', { hasText: 'Do you sell tea?' }).waitFor();
});

test('the word that is heard is marked at the time that the engine of the voice knows', async (t) => {
  const { page, url, errors, send } = await openPage(t);
  await page.clock.install();
  await load(page, url);
  await startCall(page);
  await page.getByLabel('Text to speak').fill(SENTENCE);
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await page.clock.pauseAt(Date.now() + 60_000);
  const word = async () => (await page.locator('b.word').allTextContents())[0];
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({ type: 'sentence.started', utterance: 1, sentence: 0, text: SENTENCE });
  const at = (text: string, startMs: number) => {
    const start = SENTENCE.indexOf(text);
    return { start, end: start + text.length, startMs };
  };
  const words = [at('It', 0), at('costs', 3000), at('$42.50', 3200), at('Dr.', 7000), at('Smith', 7500)];
  await send({ type: 'sentence.words', utterance: 1, sentence: 0, words });
  const seen = new Map<string, number>();
  for (let ms = 100; ms <= 8000; ms += 100) {
    await page.clock.runFor(100);
    const now = (await word()) ?? '';
    if (!seen.has(now)) seen.set(now, ms);
  }
  assert.deepEqual([...seen.keys()], ['It', 'costs', '$42.50,', 'Dr.', 'Smith.']);
  for (const [index, ms] of [...seen.values()].entries()) {
    const { startMs = NaN } = words[index] ?? {};
    assert.ok(Math.abs(ms - startMs) <= 200, `word ${index} at ${ms} ms`);
  }
  assert.deepEqual(errors, []);
});

test('the word that is heard is marked, at the pace of the voice, and stands still while the voice pauses', async (t) => {
  const { page, url, send } = await openPage(t);
  await page.clock.install();
  await load(page, url);
  await startCall(page);
  await page.getByLabel('Text to speak').fill(`${SENTENCE} ${SENTENCE}`);
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await page.clock.pauseAt(Date.now() + 60_000);
  const words = () => page.locator('b.word').allTextContents();
  const start = (sentence: number) =>
    send({ type: 'sentence.started', utterance: 1, sentence, text: SENTENCE });
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await start(0);
  await page.clock.runFor(10);
  assert.deepEqual(await words(), ['It', 'It'], 'on the stage and in the conversation');
  const heard = new Set<string>();
  for (let ms = 0; ms < 4000; ms += 20) {
    await page.clock.runFor(20);
    heard.add((await words())[0] ?? '');
  }
  assert.deepEqual([...heard], ['It', 'costs', '$42.50,', 'Dr.', 'Smith.']);
  await send({ type: 'sentence.spoken', utterance: 1, sentence: 0, text: SENTENCE });
  assert.deepEqual(await words(), ['Smith.'], 'of the sentence that has been spoken, none');
  // It took four seconds, and so does the same sentence again: the amount is heard in the middle.
  await start(1);
  await page.clock.runFor(1400);
  const [before] = await words();
  assert.equal(before, '$42.50,');
  await send({ type: 'utterance.paused', utterance: 1 });
  await page.clock.runFor(5000);
  assert.deepEqual(await words(), [before, before]);
  await send({ type: 'utterance.resumed', utterance: 1 });
  await page.clock.runFor(1900);
  assert.deepEqual(await words(), ['Smith.', 'Smith.']);
  assert.equal(await page.locator('.said mark').textContent(), SENTENCE);
});

test('words are found in scripts with and without spaces', async () => {
  const path = new URL('../../../public/parley-words.js', import.meta.url).href;
  const { wordsOf } = (await import(path)) as {
    wordsOf: (text: string) => { start: number; end: number; weight: number }[];
  };
  const words = (text: string) => wordsOf(text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(words(` ${SENTENCE}`), ['It', 'costs', '$42.50,', 'Dr.', 'Smith.']);
  assert.deepEqual(words('今天天气很好。'), ['今天', '天气', '很好']);
  assert.deepEqual(words(' '), []);
  const [long, short] = wordsOf('$42.50 tea');
  assert.ok(long !== undefined && short !== undefined && long.weight > 4 * short.weight);
});

test('many voices can be searched by name and language, and each has a sample', async (t) => {
  const { page, url, speech } = await openPage(t);
  const languages = ['en-US', 'de', 'fi', 'fr', 'es', 'it', 'pl', 'nl', 'pt', 'ru', 'sv', 'tr', 'uk'];
  speech.listed = languages.map((tag) => ({
    name: `v-${tag}`,
    engine: 'espeak',
    languages: [tag],
    description: '',
  }));
  speech.whole = ['sound'];
  await load(page, url);
  const voice = page.getByLabel('Voice', { exact: true });
  await page.getByLabel('Find a voice').fill('finn');
  assert.equal(await page.getByText('1 of 13 voices').count(), 1);
  assert.deepEqual(await page.locator('#voice option').allTextContents(), [
    'Automatic, by language',
    'v-fi (v-fi)',
  ]);
  assert.equal(await voice.inputValue(), 'v-fi');
  await page.getByRole('button', { name: 'Sample' }).click();
  await until(() => speech.requests.length === 1);
  const [asked] = speech.requests;
  assert.deepEqual([asked?.voice, asked?.language, asked?.text], ['v-fi', 'fi', 'suomi']);
  await page.getByLabel('Find a voice').fill('');
  assert.equal(await page.locator('#voice option').count(), 14);
  assert.equal(await voice.inputValue(), 'v-fi', 'the choice stays');
});

test('a text becomes a file with the settings of the form, without a call, and can be saved', async (t) => {
  const { page, url, speech, calls } = await openPage(t);
  speech.whole = ['sound'];
  await load(page, url);
  await page.locator('#options summary').click();
  await page.getByLabel('Language').selectOption('fr');
  await page.getByLabel('Format of files').selectOption('wav');
  await page.getByLabel('Speed of files').fill('1.5');
  assert.equal(await page.locator('#speed-value').textContent(), '1.50 ×');
  await page.getByLabel('Instructions to the voice').fill('Whisper.');
  await page.getByLabel('Text to speak').fill('Bonjour.');
  await page.getByRole('button', { name: 'Make a file' }).click();
  const link = page.getByRole('link', { name: 'Download parley.wav' });
  await link.waitFor();
  const [asked] = speech.requests;
  const { text, language, speed, container } = asked ?? assert.fail('nothing was asked for');
  assert.deepEqual([text, language, speed, container], ['Bonjour.', 'fr', 1.5, 'wav']);
  assert.equal(await page.locator('.tag').textContent(), 'File');
  assert.equal(await page.locator('.entry audio').getAttribute('controls'), '');
  assert.match(String(await page.locator('.sound .hint').textContent()), /This voice ignores: instructions/);
  const download = page.waitForEvent('download');
  await link.click();
  assert.equal(readFileSync(await (await download).path(), 'utf8'), 'sound');
  assert.equal(calls.standing.size, 0);
});

test('what was heard in a call is replayed in its voice, as far as it was heard', async (t) => {
  const { page, url, speech, send } = await openPage(t);
  await load(page, url);
  await page.getByLabel('Voice', { exact: true }).selectOption('slt');
  await page.getByLabel('Text to speak').fill('One two. Three.');
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await page.locator('.entry').waitFor();
  await send({ type: 'utterance.started', utterance: 1, firstPacketMs: 20, queuedMs: 10 });
  await send({
    type: 'utterance.interrupted',
    utterance: 1,
    text: 'One two.',
    heard: 'One',
    durationMs: 900,
  });
  speech.refusal = new ParleyError('ENGINE_BUSY', 'the queue is full');
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.locator('.entry .reason', { hasText: 'the queue is full' }).waitFor();
  speech.refusal = undefined;
  speech.whole = ['sound'];
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('link', { name: 'Download parley.mp3' }).waitFor();
  assert.equal(await page.locator('.entry .reason').count(), 0);
  const { text, voice } = speech.requests.at(-1) ?? assert.fail('nothing was asked for');
  assert.deepEqual([text, voice], ['One two.', 'slt']);
});

test('the controls of each text have names of their own, also of texts that are the same', async (t) => {
  const { page, url, speech, send } = await openPage(t);
  speech.whole = ['sound'];
  const long = `${'very '.repeat(30)}long`;
  await load(page, url);
  await startCall(page);
  for (const [index, text] of ['Hello.', 'Hello.', long].entries()) {
    await page.getByLabel('Text to speak').fill(text);
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    const utterance = index + 1;
    await send({ type: 'utterance.started', utterance, firstPacketMs: 20, queuedMs: 10 });
    await send({ type: 'utterance.spoken', utterance, text, durationMs: 900 });
    await page.getByRole('button', { name: `Replay text ${utterance}: “` }).click();
    await page.locator('.entry').last().locator('.sound').waitFor();
  }
  const names = await page.evaluate(`[...document.querySelectorAll('#transcript :is(button, audio, a)')]
    .map((control) => control.getAttribute('aria-label'))`);
  const begin = `“${'very '.repeat(12).trim()}…”`;
  assert.deepEqual(
    names,
    ['text 1: “Hello.”', 'text 2: “Hello.”', `text 3: ${begin}`].flatMap((name) => [
      `Replay ${name}`,
      `Sound of ${name}`,
      `Download parley.mp3 (1 KiB), ${name}`,
    ]),
  );
});

test('the page shows what is made of a text, and by which rule', async (t) => {
  const { page, url, errors } = await openPage(t);
  await load(page, url);
  await page.getByText('What is made of the text').click();
  await page.getByText('Type a text above to see it.').waitFor();
  await page.getByLabel('Text to speak').fill('It costs $42.50.');
  await page.locator('#reading-spoken', { hasText: 'It costs forty-two dollars and fifty cents.' }).waitFor();
  const rules = await page.locator('#reading-rules li').allTextContents();
  assert.deepEqual(rules, ['$42.50 → forty-two dollars and fifty cents currency']);
  assert.deepEqual(errors, []);
});

test('what was just done is copied as a program with the key of the user, which the page does not show', async (t) => {
  const { page, url, errors } = await openPage(t, { apiKeys: [KEY] });
  await page.goto(url);
  await page.getByLabel('This server asks for an API key').fill(KEY);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.locator('#voice optgroup').first().waitFor({ state: 'attached' });
  errors.length = 0; // the refusal before the key was known
  await page.getByLabel('Text to speak').fill('Hello there.');
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await page.locator('.entry').waitFor();
  const code = page.locator('#code');
  for (const [kind, part] of [
    ['curl', '"input":"Hello there."'],
    ['JavaScript', "call.say('Hello there.')"],
    ['Python', 'urllib.request'],
    ['SIP', 'sip:you@telephone.example.com'],
  ] as const) {
    await page.getByRole('radio', { name: kind }).check();
    const shown = String(await code.textContent());
    assert.ok(shown.includes(part) && shown.includes(url), shown);
    assert.ok(!(await page.content()).includes(KEY), 'the key is nowhere on the page');
  }
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const canWrite of [true, false]) {
    if (!canWrite) await page.evaluate('navigator.clipboard.writeText = () => Promise.reject()');
    for (const [kind, variable] of [
      ['curl', '"Authorization: Bearer $PARLEY_KEY"'],
      ['JavaScript', "'YOUR_KEY'"],
      ['Python', '"Bearer " + os.environ["PARLEY_KEY"]'],
    ] as const) {
      await page.getByRole('radio', { name: kind }).check();
      assert.ok((await code.textContent())?.includes(variable), 'what is shown reads the key');
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByText('Copied. Your API key is in it: keep it private.').waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      assert.ok(copied.includes(KEY) && !copied.includes(variable), copied);
      assert.ok(!(await page.content()).includes(KEY), 'the key is nowhere on the page');
      await page.evaluate(`document.getElementById('copy-note').textContent = ''`);
    }
  }
  assert.deepEqual(errors, []);
});

test('few figures are shown first; the others are under Details, by keyboard too', async (t) => {
  const { page, url } = await openPage(t);
  await load(page, url);
  assert.deepEqual(await page.locator('.tile dt:visible').allTextContents(), [
    'Text to first packet',
    'Round trip',
    'Quality',
  ]);
  await page.locator('#more-figures summary').focus();
  await page.keyboard.press('Enter');
  await page.getByText('Jitter', { exact: true }).waitFor();
});

test('with everything unfolded nothing sticks out of a telephone, and every control is large enough', async (t) => {
  const { page, url, speech } = await openPage(t, { viewport: PHONE });
  speech.whole = ['sound'];
  await load(page, url);
  for (const fold of await page.locator('details > summary:visible').all()) await fold.click();
  await page.getByLabel('Text to speak').fill('x'.repeat(300));
  await page.getByRole('button', { name: 'Make a file' }).click();
  await page.locator('.sound a').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width);
  const controls = page.locator(
    '#speak-panel :is(button, select, input, textarea, summary, .sound a):visible',
  );
  for (const control of await controls.all()) {
    const box = await control.boundingBox();
    assert.ok(box !== null && box.height >= 36 && box.width >= 36, await control.ariaSnapshot());
  }
});
