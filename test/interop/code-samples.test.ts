// The programs that the page offers to copy, run as they are: in a shell, in Node, in Python and in Chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { openServer } from '../api/app-under-test.js';
import { KEY } from '../clients/speaking-server.js';

const TEXT = `It's "$42.50", Dr. Smith.\nSay \`yes\` or \\no — 好\u{1f600}`;
const PYTHON = process.env['PYTHON_PATH'] ?? '/usr/bin/python3';
const FILE = {
  type: 'file',
  request: { input: TEXT, voice: 'slt', language: 'en', response_format: 'wav', speed: 1.25 },
};
const READING = { type: 'reading', text: 'It costs $42.50.', language: 'en' };
const SPOKEN = { type: 'text', text: TEXT, voice: 'slt', language: 'en' };
const PROMPT = { type: 'prompt', text: TEXT, conductor: { agent: 'sales' } };
const KINDS = ['curl', 'javascript', 'python', 'sip'];

interface Place {
  readonly server: string;
  readonly hasKey: boolean;
  readonly key?: string;
}

const samples = (await import(new URL('../../../public/code-samples.js', import.meta.url).href)) as {
  sampleOf(kind: string, action: object, place: Place): string;
};

/** Runs a program in a folder of its own, with the key in its environment. Returns what it prints. */
async function run(t: TestContext, command: string, ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sample-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const child = spawn(command, words, {
    cwd: folder,
    env: { ...process.env, PARLEY_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([readAll(child.stdout), once(child, 'exit')]);
  assert.equal(code, 0);
  return { output, file: (name: string) => readFileSync(join(folder, name), 'utf8') };
}

test('every address of a sample is below the path under which a proxy serves the page', () => {
  const server = 'https://example.com/voice';
  const place = { server, hasKey: true };
  for (const kind of KINDS) {
    for (const action of [FILE, READING, SPOKEN, PROMPT]) {
      const sample = samples.sampleOf(kind, action, place);
      for (const [address] of sample.matchAll(/https:\/\/[^\s'"]+/g))
        assert.ok(
          address === server || address.startsWith(`${server}/`),
          `${kind} ${action.type}: ${address}`,
        );
      assert.doesNotMatch(sample, /['" ]\/v1\//, `${kind} ${action.type}`);
    }
  }
});

for (const hasKey of [false, true]) {
  const how = hasKey ? 'with a key from a variable' : 'without a key';
  test(`the samples of a file and of a reading do what the page did, ${how}`, async (t) => {
    const { url, speech } = await openServer(t, { apiKeys: hasKey ? [KEY] : [] });
    speech.whole = ['sound'];
    const place = { server: url, hasKey };
    const sample = (kind: string, action: object) => samples.sampleOf(kind, action, place);
    const shell = await run(t, 'bash', '-c', sample('curl', FILE));
    assert.equal(shell.file('speech.wav'), 'sound');
    const python = await run(t, PYTHON, '-c', sample('python', FILE));
    assert.equal(python.file('speech.wav'), 'sound');
    const script = sample('javascript', FILE).replace('YOUR_KEY', KEY);
    const shown = `${script}\nconsole.log(await sound.text());`;
    const node = await run(t, process.execPath, '--input-type=module', '-e', shown);
    assert.equal(node.output, 'sound\n');
    assert.equal(speech.requests.length, 3);
    for (const { text, voice, language, speed, container } of speech.requests)
      assert.deepEqual([text, voice, language, speed, container], [TEXT, 'slt', 'en', 1.25, 'wav']);

    const read = await run(t, 'bash', '-c', sample('curl', READING));
    assert.match(read.output, /forty-two dollars and fifty cents/);
    assert.match((await run(t, PYTHON, '-c', sample('python', READING))).output, /forty-two dollars/);
  });
}

test('samples that are copied with a key run as they are, whatever signs the key has', async (t) => {
  const key = `it's "$(x)" \\key`.replaceAll(' ', '~');
  const { url, speech } = await openServer(t, { apiKeys: [key] });
  speech.whole = ['sound'];
  const sample = (kind: string) => samples.sampleOf(kind, FILE, { server: url, hasKey: true, key });
  assert.equal((await run(t, 'bash', '-c', sample('curl'))).file('speech.wav'), 'sound');
  assert.equal((await run(t, PYTHON, '-c', sample('python'))).file('speech.wav'), 'sound');
  const script = `${sample('javascript')}\nconsole.log(await sound.text());`;
  const node = await run(t, process.execPath, '--input-type=module', '-e', script);
  assert.equal(node.output, 'sound\n');
});

test('the telephone says the text of a call, and the agent calls a telephone', async (t) => {
  const { url, phone } = await openServer(t);
  const place = { server: url, hasKey: false };
  await run(t, 'bash', '-c', samples.sampleOf('sip', SPOKEN, place));
  await run(t, 'bash', '-c', samples.sampleOf('curl', PROMPT, place));
  await run(t, PYTHON, '-c', samples.sampleOf('python', PROMPT, place));
  const to = 'sip:you@telephone.example.com';
  const asked = phone.requests.map((request) => [request.to, request.say?.text, request.agent]);
  assert.deepEqual(asked, [
    [to, TEXT, undefined],
    [to, undefined, 'sales'],
    [to, undefined, 'sales'],
  ]);
});

test('every sample names its server, and reads the key from a variable', () => {
  const place = { server: 'https://voice.example.com/parley', hasKey: true };
  for (const action of [SPOKEN, FILE, READING, PROMPT]) {
    for (const kind of KINDS) {
      const sample = samples.sampleOf(kind, action, place);
      const dials = kind === 'sip' && action === PROMPT;
      assert.match(sample, dials ? /sip:100@voice\.example\.com/ : /https:\/\/voice\.example\.com\/parley\//);
      if (!dials) assert.match(sample, /PARLEY_KEY|YOUR_KEY/);
    }
  }
});
