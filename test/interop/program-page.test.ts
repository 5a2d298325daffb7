// The page of a whole server in Chromium: a call program conducts its call, the user presses keys, and the
// page shows the running verb.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

const WAIT_MS = 20_000;
const PROGRAMS = {
  programs: {
    main: [
      {
        gather: {
          keys: 3,
          timeout: 60,
          prompts: [{ say: 'Please enter your number.' }],
          choices: { '1*#': 'done' },
          finish: '',
          otherwise: 'main',
        },
      },
    ],
    done: [{ say: 'That is the number.' }, { hangup: {} }],
  },
};

const folder = mkdtempSync(join(tmpdir(), 'parley-program-page-'));
let server: Server;
let browser: Browser;

before(async () => {
  const file = join(folder, 'programs.json');
  writeFileSync(file, JSON.stringify(PROGRAMS));
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  server = await startServer(readConfig({ ...environment, ICE_HOST_ADDRESSES: '127.0.0.1', IVR_FILE: file }));
  browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--allow-loopback-in-peer-connection',
    ],
  });
});
after(async () => {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

test('a program of the address conducts the call: the page presses its keys, by mouse and keyboard', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(WAIT_MS);
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(`${server.url}/?program=main`);
  await page.getByRole('heading', { name: 'Call the program main' }).waitFor();
  assert.equal(await page.locator('#keypad').isVisible(), false, 'there is no call yet');
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.getByText('The program waits for your keys or words.').waitFor();
  await page.getByRole('button', { name: 'Press 1' }).click();
  await page.keyboard.press('*');
  await page.keyboard.press('#');
  await page.locator('#transcript').getByText('That is the number.').waitFor();
  await page.getByText('The server ended the call.').waitFor();
  assert.equal(await page.locator('#keypad').isVisible(), false, 'the call is over');
  assert.deepEqual(errors, []);
});

test('a program that is not there is refused in words', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`${server.url}/?program=lost`);
  await page.getByRole('button', { name: 'Start call' }).click();
  await page.locator('#problem-text').getByText('lost').waitFor();
});
