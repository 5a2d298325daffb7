// Runs the commands of the documents as a reader would copy them, against a server on loopback. `npm` and `ffplay` are
// replaced: `npm start` reads the configuration and ends, `npm run` looks its script up, `ffplay` counts bytes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { ServerProcess } from '../telephone/server-process.js';
import { codeBlocksOf, documents, ROOT, type CodeBlock } from './markdown.js';

const BLOCK_LIMIT_MS = 120_000;

/** Blocks that are not run, by the beginning of their first line up to `…` or by all of it, with the reason. */
const EXCUSED: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'installs packages; .ci/run and npm start itself do',
  'npm ci && npm test': 'runs all tests, this one among them',
  'npm ci': 'installs packages; .ci/run does',
  'npm test': 'runs all tests, this one among them',
  'npm test -- text': 'runs tests; test/test-selection.test.ts tests the selection',
  'baresip -e…': 'rings until somebody ends it; test/interop/telephone has baresip call',
  'pip install huggingface_hub': 'downloads a model',
  'sync && echo 1 | sudo tee…': 'empties the page cache of the whole machine',
  'cmake -S native -B /tmp/parley-tools…': 'compiles for minutes; native/test has the tools built and run',
  'docker compose up': 'needs Docker; test/container.test.ts checks the files',
  'docker build…': 'needs Docker; test/container.test.ts checks the files',
  'native/build-test/media_tests dtls': 'the native tests are there after npm test only, which runs them',
};

/** Expected status codes of documented curl commands that this server cannot fulfil. */
const REFUSED: Readonly<Record<string, readonly number[]>> = {
  'curl http://127.0.0.1:8080/v1/audio/voices -F name=Anna…': [501, 501, 400, 404], // flite cannot clone
  'curl http://127.0.0.1:8080/v1/audio/speech/clone…': [501],
};

const COUNTS = { found: 54, run: 39, refused: 2, excused: 13 };

const blocks = documents()
  .flatMap(codeBlocksOf)
  .filter(({ language }) => language === 'sh');

/** The first line without its comment. */
const firstLineOf = ({ code }: CodeBlock): string => (code.split('\n')[0] ?? '').replace(/\s+#.*/, '');

function entryOf<T>(table: Readonly<Record<string, T>>, block: CodeBlock): T | undefined {
  const line = firstLineOf(block);
  const isMeant = (start: string) =>
    start.endsWith('…') ? line.startsWith(start.slice(0, -1)) : line === start;
  return Object.entries(table).find(([start]) => isMeant(start))?.[1];
}

let folder = '';
let server: ServerProcess;
let callee: ServerProcess;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-commands-'));
  const socket = join(folder, 'parley.sock');
  [server, callee] = await Promise.all([
    ServerProcess.open({ UDS_PATH: socket, SIP_CODECS: 'PCMU' }),
    ServerProcess.open(),
  ]);
  writeStandIns();
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nshow-error\n');
  const wav = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'What Anna says in it.', response_format: 'wav', stream: false }),
  });
  const bytes = Buffer.from(await wav.arrayBuffer());
  for (const name of ['anna.wav', 'jingle.wav']) writeFileSync(join(folder, name), bytes);
});

after(async () => {
  await Promise.all([server?.close(), callee?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

function writeStandIns(): void {
  const main = join(ROOT, 'dist/src/main.js');
  const readsConfig = `import { readConfig } from ${JSON.stringify(join(ROOT, 'dist/src/config/config.js'))};
try { readConfig(process.env); } catch (error) { console.error(error.message); process.exitCode = 78; }`;
  const scripts: Readonly<Record<string, string>> = {
    npm: `while [ "\${1-}" = run ] || [ "\${1-}" = -s ]; do shift; done
case "$1" in
  start) exec node '${join(folder, 'read-config.mjs')}' ;;
  speak) shift; [ "$1" = -- ] && shift; exec node '${main}' speak "$@" ;;
  *) exec node -e 'process.exit(require("${ROOT}/package.json").scripts[process.argv[1]] ? 0 : 64)' "$1" ;;
esac`,
    npx: `[ "$1" = parley ] && shift && exec node '${main}' "$@"`,
    ffplay: '[ "$(wc -c)" -gt 1000 ]',
  };
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'read-config.mjs'), readsConfig);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
}

/** The block with the addresses of the servers under test. */
function commandsOf({ code }: CodeBlock): string {
  return code
    .replaceAll('http://127.0.0.1:8080', server.url)
    .replaceAll('/run/parley.sock', join(folder, 'parley.sock'))
    .replaceAll('sip:bob@192.0.2.7', `sip:100@127.0.0.1:${callee.port}`)
    .replaceAll('sipp -sn uac 127.0.0.1 ', `sipp -nostdin -sn uac 127.0.0.1:${server.port} `)
    .replaceAll(/\bdist\/test\//g, `${ROOT}/dist/test/`);
}

async function run(commands: string, environment: Readonly<Record<string, string>> = {}) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${commands}\nwait\n`], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      CURL_HOME: folder,
      HOME: folder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BLOCK_LIMIT_MS,
  });
  const [out, err] = await Promise.all([readAll(child.stdout), readAll(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, out, err };
}

for (const block of blocks) {
  const name = `${block.document}: ${firstLineOf(block)}`;
  const codes = entryOf(REFUSED, block);
  if (entryOf(EXCUSED, block) !== undefined) continue;
  if (codes === undefined) {
    test(`runs as it is written: ${name}`, async () => {
      const { status, out, err } = await run(commandsOf(block));
      assert.equal(status, 0, `${out}\n${err}\n${server.isOver ? server.output.slice(-2000) : ''}`);
    });
    continue;
  }
  test(`is answered ${codes.join(', ')} without a checkpoint: ${name}`, async () => {
    const home = join(folder, 'codes');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, '.curlrc'), 'write-out "\\n%{http_code}\\n"\n');
    const { out } = await run(commandsOf(block), { CURL_HOME: home });
    assert.deepEqual(
      Array.from(out.matchAll(/^(\d{3})$/gm), ([, code]) => Number(code)),
      codes,
      out,
    );
  });
}

test('no block is left out silently: what is not run has a reason, and reasons have a block', () => {
  const excused = blocks.filter((block) => entryOf(EXCUSED, block) !== undefined);
  const refused = blocks.filter((block) => entryOf(REFUSED, block) !== undefined);
  const run = blocks.length - excused.length - refused.length;
  assert.deepEqual({ found: blocks.length, run, refused: refused.length, excused: excused.length }, COUNTS);
  for (const start of [...Object.keys(EXCUSED), ...Object.keys(REFUSED)]) {
    assert.ok(
      blocks.some((block) => entryOf({ [start]: true }, block) === true),
      start,
    );
  }
});
