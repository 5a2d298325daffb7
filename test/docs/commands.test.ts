// Runs the commands of the documents as a reader would copy them, against a server on loopback. `npm` and
// `ffplay` are replaced: `npm ci` does nothing, `npm start` reads the configuration and ends, `npm run` looks
// its script up, `npm run parley` is the program, `ffplay` counts bytes. There is no `npx`.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { GOLDEN } from '../engines/golden.js';
import { ServerProcess } from '../telephone/server-process.js';
import { codeBlocksOf, documents, ROOT, type CodeBlock } from './markdown.js';

const BLOCK_LIMIT_MS = 120_000;

/** Commands that are not run, by their beginning up to `…` or by the whole first line, with the reason. */
const EXCUSED: Readonly<Record<string, string>> = {
  'gst-launch-1.0 audiotestsrc…': 'needs plug-ins that Debian does not have',
  'turnserver…': 'serves until somebody ends it',
  'node menu.mjs…': 'serves until somebody ends it; test/docs/pages parses the example',
  'baresip -e…': 'rings until somebody ends it; test/interop/telephone has baresip call',
  'curl -N http://127.0.0.1:8080/v1/calls/call_1234/captions…':
    'needs a call; test/call and test/api have one captioned',
  'curl -s http://127.0.0.1:8080/v1/calls/$CALL/bridge…': 'needs two calls; test/api/calls joins them',
  'curl -s http://127.0.0.1:8080/v1/calls/$CALL/warm_transfer…':
    'needs a call and a trunk; test/telephone hands a caller over',
  'curl -s -X DELETE http://127.0.0.1:8080/v1/calls/$CALL/warm_transfer…':
    'needs a transfer; test/api/calls has one cancelled',
  'curl -s http://127.0.0.1:8080/v1/calls/$CALL/supervise…': 'needs two calls; test/telephone supervises one',
  'curl -s -X DELETE http://127.0.0.1:8080/v1/calls/$CALL/supervise…':
    'needs a supervisor; test/api/calls has one',
  'curl -s http://127.0.0.1:8080/v1/rooms/weekly…': 'needs calls; test/api/calls has them in a room',
  'curl -s -X PATCH http://127.0.0.1:8080/v1/rooms/weekly…': 'needs a room; test/api/calls has one',
  'curl -s -X DELETE http://127.0.0.1:8080/v1/rooms/weekly…': 'needs a room; test/api/calls has one',
  'curl -s http://127.0.0.1:8080/v1/queues/support…': 'needs calls; test/api/calls has them wait',
  'curl -s -X DELETE http://127.0.0.1:8080/v1/queues/support…': 'needs a queue; test/api/calls has one',
  'curl -N http://127.0.0.1:8080/v1/events…': 'follows until somebody ends it; test/api/calls follows',
  'ASR_MODEL_ID=Qwen/Qwen3-ASR-0.6B…': 'needs fetched checkpoints; test/engines starts with tiny ones',
  'npm run parley -- pull…': 'downloads a model; test/models has it fetched from a hub on loopback',
  'cp -rL hf/hub/…': 'needs a fetched checkpoint; test/models has one fetched',
  'curl http://127.0.0.1:8080/v1/calls -H \'content-type: application/json\' -d \'{"to": "+14155550123"…':
    'needs a trunk; test/interop/telephone calls through one',
  'sync && echo 1 | sudo tee…': 'empties the page cache of the whole machine',
  'FUZZ_SECONDS=3600…': 'takes an hour; npm run test:full runs the file',
  'cmake -S native -B /tmp/parley-tools…': 'compiles for minutes; native/test has the tools built and run',
  'cmake --build /tmp/parley-tools…': 'compiles for minutes; native/test has the tools built and run',
  '/tmp/parley-tools/…': 'needs the tools that the excused cmake would build',
  'git config core.hooksPath…': 'changes the checkout of whoever runs the test',
  'docker…': 'needs Docker; test/container.test.ts checks the files',
  'MODEL=/srv/Qwen3-TTS-12Hz-0.6B-CustomVoice docker…':
    'needs Docker; test/container.test.ts checks the files',
  'native/build/media_tests…': 'the native tests are there after npm test only, which runs them',
};

/** Expected status codes of documented curl commands that this server cannot fulfil. */
const REFUSED: Readonly<Record<string, readonly number[]>> = {
  'curl -s -X POST http://127.0.0.1:8080/v1/calls/call_1234/relay…': [404], // no such call
  'curl http://127.0.0.1:8080/v1/audio/voices -F name=Anna…': [501, 501, 400, 404], // flite cannot clone
  'curl http://127.0.0.1:8080/v1/audio/speech/clone…': [501],
  'curl http://127.0.0.1:8080/v1/audio/translations…': [501], // no chat server
};

const COUNTS = { blocks: 115, commands: 186, run: 117, refused: 7, excused: 62 };

const blocks = documents()
  .flatMap(codeBlocksOf)
  .filter(({ language }) => language === 'sh')
  .map((block) => ({ document: block.document, commands: commandsIn(block) }));

/** The commands of a block. Each ends with the first line after which bash finds it complete. */
function commandsIn({ document, code }: CodeBlock): readonly string[] {
  const commands: string[] = [];
  let command = '';
  for (const line of code.trimEnd().split('\n')) {
    command += command === '' ? line : `\n${line}`;
    if (line.endsWith('\\') || spawnSync('bash', ['-n', '-c', command]).status !== 0) continue;
    commands.push(command);
    command = '';
  }
  assert.equal(command, '', `${document}: an incomplete command`);
  return commands;
}

/** The first line without its comment. */
const firstLineOf = (command: string): string => (command.split('\n')[0] ?? '').replace(/\s+#.*/, '');

function keyOf(table: Readonly<Record<string, unknown>>, command: string): string | undefined {
  const line = firstLineOf(command);
  const isMeant = (start: string) =>
    start.endsWith('…') ? line.startsWith(start.slice(0, -1)) : line === start;
  return Object.keys(table).find(isMeant);
}

const isExcused = (command: string): boolean => keyOf(EXCUSED, command) !== undefined;
const refusalOf = (commands: readonly string[]): string | undefined => keyOf(REFUSED, commands[0] ?? '');

let folder = '';
let server: ServerProcess;
let callee: ServerProcess;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-commands-'));
  const socket = join(folder, 'parley.sock');
  [server, callee] = await Promise.all([
    ServerProcess.open({
      UDS_PATH: socket,
      SIP_CODECS: 'PCMU',
      RECORDINGS_DIR: join(folder, 'recordings'),
      ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-a'),
    }),
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
  ci) ;;
  start) exec node '${join(folder, 'read-config.mjs')}' ;;
  speak) shift; [ "$1" = -- ] && shift; exec node '${main}' speak "$@" ;;
  parley) shift; [ "$1" = -- ] && shift; exec node '${main}' "$@" ;;
  *) exec node -e 'process.exit(require("${ROOT}/package.json").scripts[process.argv[1]] ? 0 : 64)' "$1" ;;
esac`,
    npx: 'echo "npx runs packages of strangers outside of a checkout" >&2; exit 64',
    ffplay: '[ "$(wc -c)" -gt 1000 ]',
  };
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'read-config.mjs'), readsConfig);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
}

/** The commands with the addresses of the servers under test. */
function scriptOf(commands: readonly string[]): string {
  return commands
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', server.url)
    .replaceAll('/run/parley.sock', join(folder, 'parley.sock'))
    .replaceAll('sip:bob@192.0.2.7', `sip:100@127.0.0.1:${callee.port}`)
    .replaceAll('sipp -sn uac 127.0.0.1 ', `sipp -nostdin -sn uac 127.0.0.1:${server.port} `)
    .replaceAll(/\bdist\/(?=src\/|test\/)/g, `${ROOT}/dist/`);
}

async function runScript(script: string, environment: Readonly<Record<string, string>> = {}) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${script}\nwait\n`], {
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

for (const { document, commands } of blocks) {
  const run = commands.filter((command) => !isExcused(command));
  if (run[0] === undefined) continue;
  const name = `${document}: ${firstLineOf(run[0])}`;
  const refusal = refusalOf(run);
  if (refusal === undefined) {
    test(`runs as it is written: ${name}`, async () => {
      const { status, out, err } = await runScript(scriptOf(run));
      assert.equal(status, 0, `${out}\n${err}\n${server.isOver ? server.output.slice(-2000) : ''}`);
    });
    continue;
  }
  const codes = REFUSED[refusal];
  test(`is answered ${codes?.join(', ')} without a checkpoint: ${name}`, async () => {
    const home = join(folder, 'codes');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, '.curlrc'), 'write-out "\\n%{http_code}\\n"\n');
    const { out } = await runScript(scriptOf(run), { CURL_HOME: home });
    assert.deepEqual(
      Array.from(out.matchAll(/^(\d{3})$/gm), ([, code]) => Number(code)),
      codes,
      out,
    );
  });
}

test('no command is left out silently: what is not run has a reason, and reasons have a command', () => {
  const commands = blocks.flatMap((block) => block.commands);
  const excused = commands.filter(isExcused).length;
  const refused = blocks.flatMap((block) =>
    refusalOf(block.commands) === undefined ? [] : block.commands,
  ).length;
  const run = commands.length - excused - refused;
  const counts = { blocks: blocks.length, commands: commands.length, run, refused, excused };
  assert.deepEqual(counts, COUNTS);
  const used = new Set(commands.flatMap((command) => [keyOf(EXCUSED, command), keyOf(REFUSED, command)]));
  for (const start of [...Object.keys(EXCUSED), ...Object.keys(REFUSED)]) assert.ok(used.has(start), start);
});
