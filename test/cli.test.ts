import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { normalizeCommand, readCommandLine, TerminalLog } from '../src/cli.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

async function read(args: readonly string[], env: Record<string, string> = {}) {
  let [out, err] = ['', ''];
  const stdin = (async function* () {
    yield Buffer.from('5 km');
  })();
  const terminal = {
    stdin,
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  return { asked: await readCommandLine(args, env, terminal), out, err };
}

for (const command of ['normalize', 'speak', 'talk', 'pull', 'models', 'ivr']) {
  test(`${command} --help tells its usage`, async () => {
    for (const args of [
      [command, '--help'],
      [command, 'x', '-h'],
    ]) {
      const { asked, out, err } = await read(args);
      assert.deepEqual([asked, err], [{ status: 0 }, '']);
      assert.match(out, new RegExp(`^usage: parley ${command}`));
    }
  });
}

test('without arguments the server is started with the environment as it is', async () => {
  const env = { PORT: '1', OTHER: 'x' };
  assert.deepEqual(await read([], env), { asked: { env }, out: '', err: '' });
});

test('--host and --port go before HOST and PORT', async () => {
  const { asked } = await read(['--port', '9000', '--host=0.0.0.0'], { PORT: '1', HOST: '::1', OTHER: 'x' });
  assert.deepEqual(asked, { env: { PORT: '9000', HOST: '0.0.0.0', OTHER: 'x' } });
});

test('--help tells the usage, --version the version', async () => {
  for (const flag of ['--help', '-h']) {
    const { asked, out } = await read([flag]);
    assert.deepEqual(asked, { status: 0 });
    assert.match(out, /^usage: parley \[--host ADDRESS\] \[--port PORT\][^]*parley normalize/);
  }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  assert.deepEqual(await read(['--version']), { asked: { status: 0 }, out: `parley ${version}\n`, err: '' });
});

test('--help names the models for a machine without a GPU, and pull --help all models', async () => {
  const { out } = await read(['--help']);
  assert.match(out, /parley pull light fetches pocket-en .*, moonshine-small-en .* and\nturn-en /);
  const pull = await read(['pull', '--help']);
  for (const name of ['qwen3-tts-0.6b', 'pocket-de', 'moonshine-small-ja', 'turn-23', 'light'])
    assert.match(pull.out, new RegExp(`^NAME is .*\\b${name}\\b`, 'm'));
});

test('anything else is refused with what was wrong and the usage, status 64', async () => {
  const wrong: [args: string[], what: RegExp][] = [
    [['--bogus'], /--bogus/],
    [['serve'], /serve/],
    [['--port'], /--port/],
    [['--port', ''], /--port must be a number from 0 to 65535, not ""/],
    [['--port', '65536'], /0 to 65535, not "65536"/],
    [['--port', '80a'], /not "80a"/],
    [['--port=-1'], /not "-1"/],
    [['--host', ' '], /--host must be an address/],
    [['--version=1'], /--version/],
    [['--help', 'now'], /now/],
    [['-p', '1'], /-p/],
  ];
  for (const [args, what] of wrong) {
    const { asked, out, err } = await read(args);
    assert.deepEqual([asked, out], [{ status: 64 }, ''], args.join(' '));
    assert.match(err, what);
    assert.match(err, /^parley: .*\nusage: parley /);
  }
});

test('sub-commands stay', async () => {
  const { asked, out } = await read(['normalize', '--language', 'de']);
  assert.deepEqual(asked, { status: 0 });
  assert.match(out, /^de {2}fünf Kilometer\n/);
});

test('pull without a name is refused with its usage, status 2', async () => {
  const { asked, out, err } = await read(['pull']);
  assert.deepEqual([asked, out], [{ status: 2 }, '']);
  assert.match(err, /^parley: state one NAME\nusage: parley pull NAME/);
});

test('the program itself ends with these statuses and starts nothing', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { timeout: 30_000, encoding: 'utf8' });
  const refused = run('--bogus');
  assert.deepEqual([refused.status, refused.stdout], [64, '']);
  assert.match(run('--version').stdout, /^parley \d+\.\d+\.\d+\n$/);
});

test('at a terminal the first line is for people, and log lines follow it', () => {
  const lines: string[] = [];
  const log = new TerminalLog((text) => lines.push(text));
  log.write('{"msg":"engine loaded"}\n');
  assert.deepEqual(lines, []);
  const advice = {
    languages: 'this server speaks English only',
    voiceCommand: 'npm run parley -- pull pocket-en',
  };
  log.ready({ url: 'http://127.0.0.1:8080', advice });
  log.write('{"msg":"parley closes"}\n');
  log.failed();
  assert.deepEqual(lines, [
    'Parley is ready: http://127.0.0.1:8080 (API: http://127.0.0.1:8080/docs). Ctrl-C ends it. Note: this server speaks English only. A neural voice comes with: npm run parley -- pull pocket-en\n',
    '{"msg":"engine loaded"}\n',
    '{"msg":"parley closes"}\n',
  ]);
});

test('a server that cannot start tells a terminal what it logged', () => {
  const lines: string[] = [];
  const log = new TerminalLog((text) => lines.push(text));
  log.write('{"msg":"no"}\n');
  log.failed();
  log.write('{"msg":"more"}\n');
  assert.deepEqual(lines, ['{"msg":"no"}\n', '{"msg":"more"}\n']);
});

async function run(
  args: readonly string[],
  input = '',
  env: Readonly<Record<string, string>> = {},
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
  return { status: await normalizeCommand(args, terminal, env), out, err };
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

test('word tables come from --tables, or from TEXT_TABLES_DIR', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tables-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'it'));
  writeFileSync(join(folder, 'it', 'patterns.tsv'), '{n} loc.\t{n} locali\n');
  const stated = ['--language', 'it', 'Sono 5 loc. qui'];
  assert.match((await run(['--tables', folder, ...stated])).out, /cinque locali/);
  assert.match((await run(stated, '', { TEXT_TABLES_DIR: folder })).out, /cinque locali/);
  writeFileSync(join(folder, 'it', 'patterns.tsv'), '{x} loc.\t{n} locali\n');
  const { status, err } = await run(['--tables', folder, ...stated]);
  assert.equal(status, 1);
  assert.match(err, /^parley: .*it\/patterns\.tsv, line 1, column "written": has "\{x\}/);
});

test('a text may come from the standard input, in a stated language', async () => {
  assert.deepEqual(await run(['--language', 'de'], '5 km'), {
    status: 0,
    out: 'de  fünf Kilometer\n    0–4        measure       "5 km" → "fünf Kilometer"\n',
    err: '',
  });
});

test('a text of no known language is shown in English, without invisible characters', async () => {
  const { out } = await run(['1\u200B5 km.']);
  assert.equal(
    out,
    'en  fifteen kilometers.\n    0–6        measure       "1\u200B5 km" → "fifteen kilometers"\n',
  );
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

test('the JSON of markup has its public field names', async () => {
  const slow = '<prosody rate="slow"><voice name="slt"><lang xml:lang="de">5 km</lang></voice></prosody>';
  const bleep = '<say-as interpret-as="bleep">x</say-as>';
  const body = `<mark name="a"/>${slow}${bleep}<emphasis>two</emphasis><mark name="z"/><break/>`;
  const { out } = await run(['--json', '-l', 'en', `<speak>${body}</speak>`]);
  const slt = { rate: 0.75, gain: 1, language: 'de', voice: 'slt' };
  const plain = { rate: 1, gain: 1 };
  const rule = { rule: 'measure', written: '5 km', spoken: 'fünf Kilometer', place: { start: 82, end: 86 } };
  const first = { kind: 'sentence', written: '5 km', spoken: 'fünf Kilometer', language: 'de' };
  const last = { kind: 'sentence', written: 'two', spoken: 'two', language: 'en' };
  assert.deepEqual(JSON.parse(out), {
    sentences: [
      { ...first, place: { start: 82, end: 86 }, rules: [rule], manner: slt, marksBefore: ['a'] },
      { kind: 'bleep', ms: 300, manner: plain, pauseBeforeMs: 40 },
      {
        ...last,
        place: { start: 160, end: 163 },
        rules: [],
        manner: plain,
        pauseBeforeMs: 40,
        marksAfter: ['z'],
      },
    ],
    endPauseMs: 400,
    unheeded: [{ what: '<emphasis>', line: 1, column: 151 }],
  });
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
