import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { normalizeCommand } from '../src/normalize-command.js';

async function run(
  args: readonly string[],
  input = '',
): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const stdin = (async function* () {
    yield Buffer.from(input);
  })();
  const terminal = {
    stdin,
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  return { status: await normalizeCommand(args, terminal), out, err };
}

test('a text is shown as it is spoken, and each rule that fired', async () => {
  const { status, out } = await run(['It costs $3.50.', 'Really.']);
  assert.equal(status, 0);
  assert.deepEqual(out.split('\n'), [
    'en  It costs three dollars and fifty cents.',
    '    9–14       currency      "$3.50" → "three dollars and fifty cents"',
    'en  Really.',
    '',
  ]);
});

test('a text may come from the standard input, in a stated language', async () => {
  assert.deepEqual(await run(['--language', 'de'], '5 km'), {
    status: 0,
    out: 'de  fünf Kilometer\n    0–4        measure       "5 km" → "fünf Kilometer"\n',
    err: '',
  });
});

test('silence, tones and what has no effect are shown, too', async () => {
  const body =
    'One.<break time="1s"/><say-as interpret-as="bleep">damn</say-as><emphasis>two</emphasis>.<break/>';
  const { out } = await run(['-l', 'en', `<speak>${body}</speak>`]);
  assert.deepEqual(out.split('\n'), [
    'en  One.',
    '    (1000 ms of silence)',
    '    (a tone of 300 ms)',
    '    (40 ms of silence)',
    'en  two.',
    '    (400 ms of silence)',
    '    line 1, column 72: <emphasis> has no effect',
    '',
  ]);
});

test('a lexicon may be a file, and the answer JSON', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'normalize-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'words.json'), '[{"word": "SQL", "say": "sequel"}]');
  const { out } = await run(['--json', '--lexicon', join(folder, 'words.json'), 'SQL.']);
  const [sentence] = (JSON.parse(out) as { sentences: { spoken: string }[] }).sentences;
  assert.equal(sentence?.spoken, 'sequel.');
});

test('what is wrong is told, and the status says so', async () => {
  const unknown = await run(['--lang', 'de', 'a']);
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /^parley: .*--lang.*\nusage: parley normalize/s);
  assert.equal((await run(['--ssml', '--text', 'a'])).status, 2);
  const broken = await run(['--ssml', '<speak>a']);
  assert.equal(broken.status, 1);
  assert.match(broken.err, /^parley: .*line 1, column 1: <speak> is not closed\n$/);
  assert.equal((await run(['…'])).status, 1);
});
